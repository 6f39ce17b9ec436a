#include "cli/profile/cuda.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ring/ring_layout.h"

#define USUAL_BACKTRACE_NS 1000

/* Places in the values of the options in table.c. */
enum { GRAPH_NODE = 1, GRAPH_NODE_HOST = 4, GRAPH_NODE_DEVICE = 5 };
enum { EVENTS_FALSE = 2 };

static bool is_word(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* One of "kernel", "kernel:500", "all", "true", "none" ...: the table has checked it. */
static void set_backtrace(const char *piece, size_t length, int64_t *backtrace_ns)
{
	static const char *const kinds[RING_CUDA_CALL_KINDS] = {
		[RING_CUDA_CALL_KERNEL] = "kernel",
		[RING_CUDA_CALL_MEMORY] = "memory",
		[RING_CUDA_CALL_SYNC] = "sync",
		[RING_CUDA_CALL_OTHER] = "other",
	};
	const char *colon = memchr(piece, ':', length);
	size_t word = colon ? (size_t)(colon - piece) : length;
	int64_t ns = colon ? strtoll(colon + 1, NULL, 10) : USUAL_BACKTRACE_NS;
	bool all = is_word(piece, word, "all") || is_word(piece, word, "true");

	for (unsigned i = 0; i < RING_CUDA_CALL_KINDS; i++)
		if (all || is_word(piece, word, kinds[i]))
			backtrace_ns[i] = ns;
}

static void fill_backtraces(struct cuda_options *cuda, const char *text)
{
	size_t length;

	for (unsigned i = 0; i < RING_CUDA_CALL_KINDS; i++)
		cuda->backtrace_ns[i] = -1;
	for (; *text; text += length + (text[length] == ',')) {
		length = strcspn(text, ",");
		set_backtrace(text, length, cuda->backtrace_ns);
	}
}

void profile_cuda_fill(struct profile_options *o, const struct profile_fields *fields, bool trace_given)
{
	o->cuda = fields->cuda;
	o->cuda.asked = trace_given && o->trace & TRACE_BIT(TRACE_CUDA);
	o->cuda.graph_nodes = fields->cuda_graph == GRAPH_NODE || fields->cuda_graph == GRAPH_NODE_HOST ||
			      fields->cuda_graph == GRAPH_NODE_DEVICE;
	o->cuda.event_times = fields->cuda_events != EVENTS_FALSE;
	fill_backtraces(&o->cuda, fields->cuda_backtrace);
}

int profile_cuda_notes(const struct profile_fields *fields, struct string_list *notes)
{
	if (!(fields->trace & (TRACE_BIT(TRACE_CUDA_HW) | TRACE_BIT(TRACE_CUDA_SW))))
		return 0;
	return string_list_addf(notes, "--trace: cuda-hw and cuda-sw are cuda here: kernels have the times that CUPTI takes");
}
