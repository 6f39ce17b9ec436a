#include "query/index/cuda_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"

#define SHAPE_FIRST COLUMN_CUDA_LAUNCH_GRID_X
#define SHAPE_LAST COLUMN_CUDA_LAUNCH_BLOCK_Z
#define SHAPE_WIDTH (SHAPE_LAST - SHAPE_FIRST + 2)
#define VM_ID ((int64_t)1 << 48)
#define FAULT_OF_CPU 3    /* CUPTI's counter of unified memory */
#define API_NAME_MAX 4096 /* names that are kept; CUPTI has some hundreds */

/* clang-format off */
static const char *const labels[LABEL_COUNT] = {
	[LABEL_EMPTY_LIST] = "[]",
	[LABEL_GRAPH_CREATED] = "CUDA graph creation",
	[LABEL_GRAPH_CLONED] = "CUDA graph clone",
	[LABEL_GRAPH_MADE_EXECUTABLE] = "CUDA graph exec creation",
	[LABEL_NODE_KERNEL] = "Kernel", [LABEL_NODE_KERNEL + 1] = "Memcpy", [LABEL_NODE_KERNEL + 2] = "Memset",
	[LABEL_NODE_KERNEL + 3] = "Host function", [LABEL_NODE_KERNEL + 4] = "Child graph",
	[LABEL_NODE_KERNEL + 5] = "Empty", [LABEL_NODE_KERNEL + 6] = "Event wait",
	[LABEL_NODE_KERNEL + 7] = "Event record", [LABEL_NODE_KERNEL + 8] = "Semaphore signal",
	[LABEL_NODE_KERNEL + 9] = "Semaphore wait", [LABEL_NODE_KERNEL + 10] = "Memory allocation",
	[LABEL_NODE_KERNEL + 11] = "Memory release", [LABEL_NODE_KERNEL + 12] = "Batch of memory operations",
	[LABEL_NODE_LAST] = "Conditional",
	[LABEL_NODE_OTHER] = "Unknown node",
#define OVERHEAD_KIND(number, NAME, word, text) [LABEL_OVERHEAD_##NAME] = text,
#include "fmt/gpu_enums.def"
};
/* clang-format on */

static int allocate(struct index_table *t, unsigned width, uint64_t rows)
{
	t->width = width;
	if (rows > SIZE_MAX / sizeof(*t->rows) / width)
		return -ENOMEM;
	t->rows = rows ? calloc((size_t)rows, width * sizeof(*t->rows)) : NULL;
	return rows && !t->rows ? -ENOMEM : 0;
}

struct launch_loader {
	struct cuda_index *x;
	uint64_t rows;
};

static int take_launch(void *context, const int64_t *values, uint32_t present)
{
	struct launch_loader *l = context;
	const int64_t *function = index_find(&l->x->functions, values[COLUMN_CUDA_LAUNCH_FUNCTION]);
	uint64_t bits = present | 1ull << LAUNCH_SHAPE;
	int64_t *row;

	if (!(present & 1) || l->x->launches.count == l->rows)
		return 0;
	row = l->x->launches.rows + l->x->launches.count++ * LAUNCH_WIDTH;
	memcpy(row, values, LAUNCH_NAME * sizeof(*row));
	/* nsys shows the configuration that was used. */
	row[COLUMN_CUDA_LAUNCH_CACHE_CONFIG] = row[COLUMN_CUDA_LAUNCH_CACHE_CONFIG] >> 4 & 15;
	for (unsigned i = 0; function && i < 3; i++) {
		row[LAUNCH_NAME + i] = function[FUNCTION_NAME + i];
		bits |= (uint64_t)(row[LAUNCH_NAME + i] != 0) << (LAUNCH_NAME + i);
	}
	row[LAUNCH_PRESENT] = (int64_t)bits;
	return 0;
}

/* Launches in the order of their shapes: the first of each stands for it. */
static int number_shapes(struct cuda_index *x)
{
	struct index_table shapes = { 0 };
	int64_t *row, *launch, first = 0;

	TRY(allocate(&shapes, SHAPE_WIDTH, x->launches.count));
	for (size_t i = 0; i < x->launches.count; i++) {
		row = shapes.rows + i * SHAPE_WIDTH;
		launch = x->launches.rows + i * LAUNCH_WIDTH;
		memcpy(row, launch + SHAPE_FIRST, (SHAPE_WIDTH - 1) * sizeof(*row));
		row[SHAPE_WIDTH - 1] = (int64_t)i;
	}
	shapes.count = x->launches.count;
	index_sort(&shapes);
	for (size_t i = 0; i < shapes.count; i++) {
		row = shapes.rows + i * SHAPE_WIDTH;
		launch = x->launches.rows + (size_t)row[SHAPE_WIDTH - 1] * LAUNCH_WIDTH;
		if (i == 0 || memcmp(row, row - SHAPE_WIDTH, (SHAPE_WIDTH - 1) * sizeof(*row)) != 0)
			first = launch[COLUMN_CUDA_LAUNCH_ID];
		launch[LAUNCH_SHAPE] = first;
	}
	free(shapes.rows);
	return 0;
}

static int load_launches(struct cuda_index *x, struct report *report)
{
	static const uint8_t columns[] = { COLUMN_CUDA_FUNCTION_ID, COLUMN_CUDA_FUNCTION_NAME, COLUMN_CUDA_FUNCTION_SHORT_NAME,
					   COLUMN_CUDA_FUNCTION_MANGLED };
	struct launch_loader l = { x, report_row_count(report, TABLE_CUDA_LAUNCH) };
	int r = index_load(&x->functions, report, TABLE_CUDA_FUNCTION, FUNCTION_WIDTH, columns);

	if (r >= 0) {
		index_sort(&x->functions);
		r = allocate(&x->launches, LAUNCH_WIDTH, l.rows);
	}
	if (r >= 0)
		r = report_each_row(report, TABLE_CUDA_LAUNCH, LAUNCH_NAME, take_launch, &l);
	if (r == -ENOMEM)
		return r;
	index_sort(&x->launches);
	return number_shapes(x);
}

/* Contexts by process and number; of some of the same number the first is at the end. */
static int list_contexts(const struct cuda_index *x, struct index_table *ret)
{
	int r = allocate(ret, 3, x->contexts.count);

	for (size_t i = 0; r >= 0 && i < x->contexts.count; i++) {
		const int64_t *context = x->contexts.rows + i * CONTEXT_WIDTH;
		int64_t *row = ret->rows + ret->count++ * ret->width;

		row[0] = context[CONTEXT_PROCESS];
		row[1] = context[CONTEXT_ID];
		row[2] = -(int64_t)i;
	}
	if (r >= 0)
		index_sort(ret);
	return r;
}

static void complete_stream(const struct cuda_index *x, const struct index_table *contexts, int64_t *stream)
{
	int64_t key[] = { stream[STREAM_PROCESS], stream[STREAM_DEVICE] };
	int64_t context_key[] = { stream[STREAM_PROCESS], stream[STREAM_CONTEXT] };
	const int64_t *listed = index_find_last(contexts, context_key, 2), *device;
	const int64_t *context = listed ? x->contexts.rows + (size_t)-listed[2] * CONTEXT_WIDTH : NULL;

	device = index_find_last(&x->devices, key, 2);
	stream[STREAM_GPU] = device ? device[DEVICE_GPU] : 0;
	stream[STREAM_GREEN] = 0;
	if (!context || !context[CONTEXT_IS_GREEN] || !context[CONTEXT_PARENT])
		return;
	stream[STREAM_GREEN] = stream[STREAM_CONTEXT];
	stream[STREAM_CONTEXT] = context[CONTEXT_PARENT];
}

/* NVTX's types of the driver's and of the runtime's streams, and its kind of what is named and not destroyed. */
enum { NVTX_DRIVER_STREAM = 262147, NVTX_RUNTIME_STREAM = 327681, NVTX_NAMED = 1 };

/* Type and kind give way to the place among all, so that of those with the same handle the last is at the end. */
enum { NAMED_PROCESS, NAMED_HANDLE, NAMED_TYPE, NAMED_KIND, NAMED_NAME, NAMED_WIDTH, NAMED_PLACE = NAMED_TYPE };

static int load_named(struct index_table *named, struct report *report)
{
	static const uint8_t columns[] = { COLUMN_NVTX_RESOURCE_PROCESS, COLUMN_NVTX_RESOURCE_IDENTIFIER,
					   COLUMN_NVTX_RESOURCE_IDENTIFIER_TYPE, COLUMN_NVTX_RESOURCE_KIND, COLUMN_NVTX_RESOURCE_NAME };
	int r = index_load(named, report, TABLE_NVTX_RESOURCE, NAMED_WIDTH, columns);
	size_t kept = 0;

	for (size_t i = 0; r >= 0 && i < named->count; i++) {
		int64_t *row = named->rows + i * NAMED_WIDTH, *to = named->rows + kept * NAMED_WIDTH;

		if ((row[NAMED_TYPE] != NVTX_DRIVER_STREAM && row[NAMED_TYPE] != NVTX_RUNTIME_STREAM) || row[NAMED_KIND] != NVTX_NAMED)
			continue;
		memmove(to, row, NAMED_WIDTH * sizeof(*row));
		to[NAMED_PLACE] = (int64_t)kept++;
	}
	named->count = kept;
	if (r >= 0)
		index_sort(named);
	return r;
}

/* Handles of streams become the names that the program gave them; the last one counts. */
static int name_streams(struct cuda_index *x, struct report *report)
{
	struct index_table named = { 0 };
	int r = load_named(&named, report);

	for (size_t i = 0; i < x->streams.count; i++) {
		int64_t *stream = x->streams.rows + i * STREAM_WIDTH;
		int64_t key[] = { stream[STREAM_PROCESS], stream[STREAM_NAME] };
		const int64_t *row = r >= 0 && key[1] ? index_find_last(&named, key, 2) : NULL;

		stream[STREAM_NAME] = row ? row[NAMED_NAME] : 0;
	}
	free(named.rows);
	return r;
}

static int load_streams(struct cuda_index *x, struct report *report)
{
	static const uint8_t device_columns[] = { COLUMN_CUDA_DEVICE_PROCESS, COLUMN_CUDA_DEVICE_ID, COLUMN_CUDA_DEVICE_GPU };
	static const uint8_t context_columns[] = { COLUMN_CUDA_CONTEXT_UID,    COLUMN_CUDA_CONTEXT_PROCESS, COLUMN_CUDA_CONTEXT_ID,
						   COLUMN_CUDA_CONTEXT_DEVICE, COLUMN_CUDA_CONTEXT_PARENT,  COLUMN_CUDA_CONTEXT_GREEN };
	/* The two before the last are put in behind; the last, a handle, becomes a name. */
	/* clang-format off */
	static const uint8_t stream_columns[] = { COLUMN_CUDA_STREAM_UID, COLUMN_CUDA_STREAM_PROCESS,
						  COLUMN_CUDA_STREAM_ID, COLUMN_CUDA_STREAM_CONTEXT,
						  COLUMN_CUDA_STREAM_DEVICE, COLUMN_CUDA_STREAM_UID,
						  COLUMN_CUDA_STREAM_UID, COLUMN_CUDA_STREAM_HANDLE };
	/* clang-format on */
	struct index_table contexts = { 0 };
	int r;

	TRY(index_load(&x->devices, report, TABLE_CUDA_DEVICE, DEVICE_WIDTH, device_columns));
	TRY(index_load(&x->contexts, report, TABLE_CUDA_CONTEXT, CONTEXT_WIDTH, context_columns));
	TRY(index_load(&x->streams, report, TABLE_CUDA_STREAM, STREAM_WIDTH, stream_columns));
	index_sort(&x->devices);
	index_sort(&x->contexts);
	r = list_contexts(x, &contexts);
	for (size_t i = 0; r >= 0 && i < x->streams.count; i++)
		complete_stream(x, &contexts, x->streams.rows + i * STREAM_WIDTH);
	free(contexts.rows);
	TRY(r);
	TRY(name_streams(x, report));
	index_sort(&x->streams);
	return cuda_gpus_load(x, report);
}

/* nsys's ids of types: VM, then a number of the source, then the GPU. */
static int load_metrics(struct cuda_index *x, struct report *report)
{
	static const uint8_t columns[] = { COLUMN_GPU_METRIC_TRACK, COLUMN_GPU_METRIC_GPU, COLUMN_GPU_METRIC_SOURCE, COLUMN_GPU_METRIC_ID,
					   COLUMN_GPU_METRIC_TRACK };
	int r = index_load(&x->metrics, report, TABLE_GPU_METRIC, METRIC_WIDTH, columns);
	int64_t *row;

	if (r < 0)
		return r;
	for (size_t i = 0; i < x->metrics.count; i++) {
		row = x->metrics.rows + i * METRIC_WIDTH;
		row[METRIC_TYPE] = VM_ID | (row[METRIC_SOURCE] & 0xffff) << 32 | (int64_t)(((uint64_t)row[METRIC_GPU] - 1) & 0xff);
	}
	index_sort(&x->metrics);
	return 0;
}

/* What nsys's own reports do: the last six characters go, where they begin with _v. */
size_t cuda_clean_length(const char *name, size_t len)
{
	return len > 6 && memcmp(name + len - 6, "_v", 2) == 0 ? len - 6 : len;
}

int64_t cuda_add_text(struct cuda_index *x, const char *text, size_t len)
{
	char *copy = strndup(text, len);

	if (!copy || !ARRAY_ROOM(x->texts, x->text_count, x->text_cap, 1)) {
		free(copy);
		return -ENOMEM;
	}
	x->texts[x->text_count++] = copy;
	return STRING_ID_MADE + LABEL_COUNT + (int64_t)x->text_count - 1;
}

/* A pair of numbers, the second a text. */
static int add_pair(struct cuda_index *x, struct index_table *t, int64_t number, const char *text, size_t len)
{
	int64_t id = cuda_add_text(x, text, len);

	if (id < 0)
		return (int)id;
	t->rows[t->count * t->width] = number;
	t->rows[t->count * t->width + 1] = id;
	t->count++;
	return 0;
}

/* A fault's columns are loaded into rows first, then those that have neither frame nor a neighbour alike go on. */
static int load_addresses(struct cuda_index *x, struct report *report)
{
	static const uint8_t columns[] = { COLUMN_GPU_FAULT_PC, COLUMN_GPU_FAULT_KIND, COLUMN_GPU_FAULT_FRAME };
	struct index_table faults = { 0 };
	int r = index_load(&faults, report, TABLE_GPU_FAULT, 3, columns);
	const int64_t *row;
	char text[32];

	if (r >= 0)
		r = allocate(&x->addresses, ADDRESS_WIDTH, faults.count);
	if (r >= 0)
		index_sort(&faults);
	for (size_t i = 0; r >= 0 && i < faults.count; i++) {
		row = faults.rows + i * faults.width;
		if (row[1] != FAULT_OF_CPU || row[2] || !row[0] ||
		    (x->addresses.count && x->addresses.rows[(x->addresses.count - 1) * ADDRESS_WIDTH] == row[0]))
			continue;
		snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)row[0]);
		r = add_pair(x, &x->addresses, row[0], text, strlen(text));
	}
	free(faults.rows);
	return r;
}

/* Names of calls are few: those among the strings that look like one. */
static int load_api_names(struct cuda_index *x, struct report *report)
{
	const char *name;
	size_t len = 0;
	int r;

	if (report_row_count(report, TABLE_CUDA_API) == 0 && report_absent_count(report, TABLE_CUDA_API) == 0)
		return 0;
	r = allocate(&x->api_names, API_NAME_WIDTH, API_NAME_MAX);
	for (uint64_t id = 1; r >= 0 && id < report_string_limit(report) && x->api_names.count < API_NAME_MAX; id++) {
		name = report_text(report, id, &len);
		if (name && len < 256 && strncmp(name, "cu", 2) == 0 && cuda_clean_length(name, len) < len)
			r = add_pair(x, &x->api_names, (int64_t)id, name, cuda_clean_length(name, len));
	}
	return r;
}

int cuda_index_load(struct cuda_index **ret, struct report *report)
{
	struct cuda_index *x = calloc(1, sizeof(*x));
	int r;

	*ret = x;
	if (!x)
		return -ENOMEM;
	r = load_launches(x, report);
	if (r >= 0)
		r = load_streams(x, report);
	if (r >= 0)
		r = load_metrics(x, report);
	if (r >= 0)
		r = load_addresses(x, report);
	if (r >= 0)
		r = load_api_names(x, report);
	x->uses_labels = report_row_count(report, TABLE_CUDA_GRAPH) || report_row_count(report, TABLE_CUDA_GRAPH_NODE) ||
			 report_row_count(report, TABLE_CUDA_OVERHEAD);
	return r;
}

static void release_tables(struct cuda_index *x)
{
	/* clang-format off */
	struct index_table *all[] = { &x->launches, &x->functions, &x->streams, &x->contexts, &x->devices,
				      &x->gpus, &x->metrics, &x->addresses, &x->api_names };
	/* clang-format on */

	for (size_t i = 0; i < COUNT_OF(all); i++)
		free(all[i]->rows);
}

void cuda_index_free(struct cuda_index *x)
{
	if (!x)
		return;
	release_tables(x);
	for (size_t i = 0; i < x->text_count; i++)
		free(x->texts[i]);
	free(x->texts);
	free(x);
}

int64_t cuda_made_end(const struct cuda_index *x)
{
	return STRING_ID_MADE + (x->uses_labels || x->addresses.count ? LABEL_COUNT + (int64_t)x->addresses.count : 0);
}

const char *cuda_made_text(const struct cuda_index *x, int64_t id, size_t *ret_len)
{
	uint64_t number = (uint64_t)(id - STRING_ID_MADE);
	const char *text = NULL;

	if (id < STRING_ID_MADE)
		return NULL;
	if (number < LABEL_COUNT)
		text = labels[number];
	else if (number - LABEL_COUNT < x->text_count)
		text = x->texts[number - LABEL_COUNT];
	if (text)
		*ret_len = strlen(text);
	return text;
}
