/* Kernels of a graph are read before the program launches it: its steps are made one by one, those that are wanted in several passes;
 * then memory is put back, and the program's own launch does what it would have done. */
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"

struct reading {
	const struct kernel_request *request;
	struct kernel_counters *counters;
	struct kernel_graph *graph;
	size_t end; /* one more than the last that is wanted */
	size_t wanted;
	struct record_kernel *records;
	uint8_t *is_wanted;
	uint8_t *is_reported;
	char why[KERNEL_WHY_SIZE];
};

static int is_of_one_context(const struct kernel_graph *g, const void *context)
{
	for (size_t i = 0; i < g->step_count; i++)
		if (g->steps[i].type == CUDA_NODE_KERNEL && g->steps[i].launch.context && g->steps[i].launch.context != context)
			return 0;
	return 1;
}

/* Each of its kernels is a launch, where the program launches the graph. */
static void bind_graph_steps(struct kernel_graph *g, const struct kernel_launch *launch)
{
	for (size_t i = 0; i < g->step_count; i++) {
		struct kernel_step *s = &g->steps[i];

		s->launch.stream = s->config.stream = launch->stream;
		s->launch.context = launch->context;
		s->launch.context_id = launch->context_id;
		s->launch.correlation = launch->correlation;
	}
}

static void select_graph_kernels(struct reading *r)
{
	for (size_t i = 0; i < r->graph->step_count; i++) {
		const struct kernel_step *s = &r->graph->steps[i];

		if (s->type != CUDA_NODE_KERNEL || kernel_choose_done() || !kernel_choose(&s->launch))
			continue;
		r->is_wanted[i] = 1;
		r->wanted++;
		r->end = i + 1;
		kernel_replay_describe(&kernel_agent.replay, &s->launch, &r->records[i]);
	}
}

/* Those that have no values: why, once, where that is so for good. */
static void report_rest(struct reading *r, const void *context)
{
	int timed = kernel_counters_hopeless(context) && !r->why[0];

	for (size_t i = 0; i < r->end; i++) {
		if (!r->is_wanted[i] || r->is_reported[i])
			continue;
		kernel_report(&r->records[i], KERNEL_BEGUN, r->graph->steps[i].launch.name);
		kernel_report(&r->records[i], timed ? KERNEL_TIMED : KERNEL_FAILED, timed ? NULL : r->why);
		timed = kernel_counters_hopeless(context);
	}
}

/* As many kernels as can be read together; then they are made once more, for what comes after them. Returns where that is; 0: trouble. */
static size_t read_graph_batch(struct reading *r, size_t first)
{
	const struct kernel_step *steps = r->graph->steps;
	size_t end = first;

	if (kernel_batch_open_now(r->counters, r->request, r->why) < 0)
		return 0;
	while (end < r->end && steps[end].type == CUDA_NODE_KERNEL &&
	       kernel_batch_add_now(&steps[end].launch, r->is_wanted[end] ? &r->records[end] : NULL)) {
		r->is_reported[end] = r->is_wanted[end];
		end++;
	}
	kernel_batch_read_now();
	for (size_t i = first; i < end && end < r->end; i++)
		if (kernel_step_make(&steps[i], r->why) < 0)
			return 0;
	return end;
}

static void read_steps(struct reading *r)
{
	size_t at = 0;
	int result = 0;

	while (at < r->end && result == 0) {
		if (r->is_wanted[at]) {
			at = read_graph_batch(r, at);
			result = at ? 0 : -1;
		} else {
			result = kernel_step_make(&r->graph->steps[at++], r->why);
		}
	}
}

/* PC sampling has to see the first launch of each kernel: where that is a graph's, its steps are made once more before they are read. */
static void meet_kernels(const struct reading *r)
{
	char ignored[KERNEL_WHY_SIZE];
	int is_new = 0;

	for (size_t i = 0; i < r->end; i++)
		if (r->is_wanted[i])
			is_new |= kernel_source_is_new(&r->graph->steps[i].launch, r->request);
	if (!is_new || !kernel_source_meet(&r->graph->steps[r->end - 1].launch, r->request, NULL, NULL))
		return;
	for (size_t i = 0; i < r->end; i++) {
		if (r->graph->steps[i].type == CUDA_NODE_KERNEL)
			kernel_source_note_met(&r->graph->steps[i].launch);
		if (kernel_step_make(&r->graph->steps[i], ignored) < 0)
			break;
	}
	kernel_source_met();
	kernel_memory_restore(KERNEL_MEMORY_GRAPH, ignored);
}

static void read_kernels(struct reading *r, const struct kernel_launch *launch)
{
	char lost[KERNEL_WHY_SIZE];
	size_t first = 0;

	while (!r->is_wanted[first])
		first++;
	if (!kernel_counters_hopeless(launch->context))
		r->counters = kernel_replay_prepare(&kernel_agent.replay, &r->graph->steps[first].launch, &r->records[first], r->request,
						    r->why);
	if (!r->counters)
		return;
	if (kernel_memory_save(KERNEL_MEMORY_GRAPH, launch->context, r->why) < 0)
		return;
	meet_kernels(r);
	read_steps(r);
	if (kernel_memory_put_back(KERNEL_MEMORY_GRAPH, lost) < 0) {
		memcpy(r->why, lost, sizeof(lost));
		r->counters->hopeless = 1;
	}
	kernel_memory_forget(KERNEL_MEMORY_GRAPH);
}

static void read_nodes(struct kernel_graph *g, const struct kernel_launch *launch, const struct kernel_request *request)
{
	struct reading r = { .request = request, .graph = g };

	bind_graph_steps(g, launch);
	r.records = calloc(g->step_count + 1, sizeof(*r.records));
	r.is_wanted = calloc(g->step_count + 1, 1);
	r.is_reported = calloc(g->step_count + 1, 1);
	if (r.records && r.is_wanted && r.is_reported) {
		select_graph_kernels(&r);
		if (r.wanted) {
			read_kernels(&r, launch);
			report_rest(&r, launch->context);
		}
	}
	free(r.records);
	free(r.is_wanted);
	free(r.is_reported);
}

static int read_whole(const struct kernel_graph *g, const struct kernel_launch *launch, const struct kernel_request *request)
{
	struct kernel_launch l = *launch;

	for (size_t i = 0; i < g->step_count; i++)
		l.launches += g->steps[i].type == CUDA_NODE_KERNEL;
	return l.launches && kernel_choose(&l) ? kernel_replay_enter(&kernel_agent.replay, &l, request) : 0;
}

int kernel_graph_launch(const struct kernel_launch *launch, const struct kernel_request *request)
{
	const struct cuda_launch_graph *p = launch->parameters;
	const char *why = "only launches of the program itself are read";
	struct kernel_graph *g = request->graphs == KERNEL_GRAPHS_NONE ? NULL : kernel_graph_of(p->exec, &why);

	if (g && request->graphs == KERNEL_GRAPHS_NODES && !is_of_one_context(g, launch->context)) {
		why = "they are of several contexts";
		g = NULL;
	}
	if (g && request->graphs == KERNEL_GRAPHS_WHOLE && g->copies_out) {
		why = "it copies to the host, which each pass would do again";
		g = NULL;
	}
	if (!g)
		kernel_report_left_alone(why);
	else if (request->graphs == KERNEL_GRAPHS_WHOLE)
		return read_whole(g, launch, request);
	else
		read_nodes(g, launch, request);
	return 0;
}
