/* Work of GPUs: kernels, copies, sets, synchronisation, graphs, events. Numbers that exports count otherwise than
 * CUPTI become CUPTI's. */
#include <string.h>

#include "fmt/gpu_enums.h"
#include "ingest/nsys/internal.h"

/* Where work ran and which call started it: the same columns in all of these tables, behind their times. */
enum { DEVICE, CONTEXT, GREEN, STREAM, CORRELATION, PROCESS };
#define PLACE_IN(TABLE, from) \
	_Static_assert(NSYS_AT(TABLE, deviceId) == from && NSYS_AT(TABLE, greenContextId) == from + GREEN && \
			       NSYS_AT(TABLE, streamId) == from + STREAM && NSYS_AT(TABLE, globalPid) == from + PROCESS, \
		       "read by their place")
enum { WORK_PLACE = 2, EVENT_PLACE = 1 };
PLACE_IN(CUPTI_ACTIVITY_KIND_KERNEL, WORK_PLACE);
PLACE_IN(CUPTI_ACTIVITY_KIND_MEMCPY, WORK_PLACE);
PLACE_IN(CUPTI_ACTIVITY_KIND_MEMSET, WORK_PLACE);
PLACE_IN(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, WORK_PLACE);
PLACE_IN(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, WORK_PLACE);
PLACE_IN(CUPTI_ACTIVITY_KIND_CUDA_EVENT, EVENT_PLACE);

static uint64_t find_nsys_stream(const struct nsys_rows *rows, unsigned place, uint64_t process)
{
	int64_t id = nsys_number_or(rows, place + STREAM, NSYS_NOT_TOLD);
	int64_t context = nsys_number_or(rows, place + CONTEXT, NSYS_NOT_TOLD);

	/* Unified memory moves outside of all contexts. */
	if (id == NSYS_NO_NUMBER || (id == 0 && context == 0))
		id = NSYS_NOT_TOLD;
	return nsys_stream(rows->n, process, nsys_number_or(rows, place + DEVICE, NSYS_NOT_TOLD), context ? context : NSYS_NOT_TOLD,
			   nsys_number_or(rows, place + GREEN, 0), id);
}

static void put_work(struct nsys_rows *rows, enum track_kind kind, enum table_id table, int64_t *values, uint32_t present)
{
	uint64_t process = nsys_row_process(rows, WORK_PLACE + PROCESS);
	uint64_t stream = find_nsys_stream(rows, WORK_PLACE, process);

	nsys_put(rows, WORK_PLACE + CORRELATION, values, &present, (unsigned)table_column(table, ROLE_WORK));
	sink_event(&rows->n->sink, nsys_track(rows->n, kind, table, process, 0, stream, 0), values, present);
}

static void put_extras(struct nsys_rows *rows, int64_t *values, uint32_t *present, unsigned column)
{
	uint64_t set = nsys_extras(rows);

	values[column] = (int64_t)set;
	*present |= set ? SINK_BIT(column) : 0;
}

uint32_t nsys_function(struct nsys *n, uint64_t name, uint64_t short_name, uint64_t mangled)
{
	const uint64_t key[] = { name, short_name, mangled };
	uint32_t count = n->function_keys.count, number = keymap_number(&n->function_keys, key, sizeof(key));
	int64_t v[TABLE_MAX_COLUMNS];

	if (number == KEYMAP_NONE || number < count)
		return number + 1;
	v[COLUMN_CUDA_FUNCTION_ID] = number + 1;
	v[COLUMN_CUDA_FUNCTION_NAME] = (int64_t)name;
	v[COLUMN_CUDA_FUNCTION_SHORT_NAME] = (int64_t)short_name;
	v[COLUMN_CUDA_FUNCTION_MANGLED] = (int64_t)mangled;
	sink_row(&n->sink, TABLE_CUDA_FUNCTION, v,
		 SINK_BIT(COLUMN_CUDA_FUNCTION_ID) | (name ? SINK_BIT(COLUMN_CUDA_FUNCTION_NAME) : 0) |
			 (short_name ? SINK_BIT(COLUMN_CUDA_FUNCTION_SHORT_NAME) : 0) |
			 (mangled ? SINK_BIT(COLUMN_CUDA_FUNCTION_MANGLED) : 0));
	return number + 1;
}

#define KERNEL_AT(column) NSYS_AT(CUPTI_ACTIVITY_KIND_KERNEL, column)
static int64_t launch_of(const struct nsys_rows *rows)
{
	struct nsys *n = rows->n;
	uint32_t present = SINK_BIT(COLUMN_CUDA_LAUNCH_FUNCTION), count = n->launch_keys.count, number;
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	_Static_assert(COLUMN_CUDA_LAUNCH_FROM_DEVICE < TABLE_MAX_COLUMNS - 1, "the last place is free");
	nsys_fill(rows, v, &present);
	v[COLUMN_CUDA_LAUNCH_CACHE_CONFIG] = (v[COLUMN_CUDA_LAUNCH_CACHE_CONFIG] & 15) << 4; /* the one in force */
	v[COLUMN_CUDA_LAUNCH_FUNCTION] = nsys_function(n, nsys_string(rows, KERNEL_AT(demangledName)),
						       nsys_string(rows, KERNEL_AT(shortName)), nsys_string(rows, KERNEL_AT(mangledName)));
	v[TABLE_MAX_COLUMNS - 1] = present;
	number = keymap_number(&n->launch_keys, v, sizeof(v));
	if (number == KEYMAP_NONE || number < count)
		return (int64_t)number + 1;
	v[COLUMN_CUDA_LAUNCH_ID] = (int64_t)number + 1;
	sink_row(&n->sink, TABLE_CUDA_LAUNCH, v, present | SINK_BIT(COLUMN_CUDA_LAUNCH_ID));
	return (int64_t)number + 1;
}

/* A list of no elements says nothing. */
static void put_tensors(struct nsys_rows *rows, uint64_t *set)
{
	size_t len;
	const char *text = nsys_cell_text(rows, KERNEL_AT(tensorSizeMinusOneElements), &len);

	if (text && strcmp(text, "[]") != 0)
		nsys_arg(rows->n, set, rows->columns[KERNEL_AT(tensorSizeMinusOneElements)].name,
			 sqlite3_column_value(rows->statement, KERNEL_AT(tensorSizeMinusOneElements)));
}

static void kernel(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;
	uint64_t set;

	if (!nsys_times(rows, v, &present))
		return;
	v[COLUMN_GPU_KERNEL_LAUNCH] = launch_of(rows);
	present |= SINK_BIT(COLUMN_GPU_KERNEL_LAUNCH);
	nsys_put(rows, KERNEL_AT(gridId), v, &present, COLUMN_GPU_KERNEL_GRID);
	nsys_put(rows, KERNEL_AT(graphNodeId), v, &present, COLUMN_GPU_KERNEL_GRAPH_NODE);
	nsys_put(rows, KERNEL_AT(graphId), v, &present, COLUMN_GPU_KERNEL_GRAPH);
	set = nsys_extras(rows);
	put_tensors(rows, &set);
	v[COLUMN_GPU_KERNEL_ARGS] = (int64_t)set;
	present |= set ? SINK_BIT(COLUMN_GPU_KERNEL_ARGS) : 0;
	put_work(rows, TRACK_GPU_KERNEL, TABLE_GPU_KERNEL, v, present);
}

static void put_memory_kind(const struct nsys_rows *rows, unsigned from, int64_t *values, uint32_t *present, unsigned column)
{
	int64_t kind;

	if (!nsys_number(rows, from, &kind))
		return;
	values[column] = gpu_memory_kind_of_nsys(kind);
	*present |= SINK_BIT(column);
}

#define COPY_AT(column) NSYS_AT(CUPTI_ACTIVITY_KIND_MEMCPY, column)
static void add_nsys_copy(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	nsys_fill(rows, v, &present);
	put_memory_kind(rows, COPY_AT(srcKind), v, &present, COLUMN_GPU_COPY_SOURCE);
	put_memory_kind(rows, COPY_AT(dstKind), v, &present, COLUMN_GPU_COPY_TARGET);
	put_extras(rows, v, &present, COLUMN_GPU_COPY_ARGS);
	put_work(rows, TRACK_GPU_COPY, TABLE_GPU_COPY, v, present);
}

static void set(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	nsys_fill(rows, v, &present);
	put_memory_kind(rows, NSYS_AT(CUPTI_ACTIVITY_KIND_MEMSET, memKind), v, &present, COLUMN_GPU_SET_MEMORY);
	put_extras(rows, v, &present, COLUMN_GPU_SET_ARGS);
	put_work(rows, TRACK_GPU_SET, TABLE_GPU_SET, v, present);
}

#define SYNC_AT(column) NSYS_AT(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, column)
static void sync_row(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	nsys_put(rows, SYNC_AT(deprecatedSyncType), v, &present, COLUMN_GPU_SYNC_KIND);
	nsys_fill(rows, v, &present);
	nsys_put(rows, SYNC_AT(eventId), v, &present, COLUMN_GPU_SYNC_EVENT);
	if (present & SINK_BIT(COLUMN_GPU_SYNC_EVENT) && v[COLUMN_GPU_SYNC_EVENT] == NSYS_NO_NUMBER)
		present &= ~SINK_BIT(COLUMN_GPU_SYNC_EVENT);
	put_extras(rows, v, &present, COLUMN_GPU_SYNC_ARGS);
	put_work(rows, TRACK_GPU_SYNC, TABLE_GPU_SYNC, v, present);
}

static void graph(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	nsys_fill(rows, v, &present);
	put_work(rows, TRACK_GPU_GRAPH, TABLE_GPU_GRAPH, v, present);
}

static void add_nsys_cuda_event(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = 0;

	nsys_fill(rows, v, &present);
	nsys_put(rows, EVENT_PLACE + CORRELATION, v, &present, COLUMN_CUDA_EVENT_CORRELATION);
	/* 0: it was not asked for. */
	if (nsys_time(rows, NSYS_AT(CUPTI_ACTIVITY_KIND_CUDA_EVENT, timestamp), &v[COLUMN_CUDA_EVENT_TIME]) && v[COLUMN_CUDA_EVENT_TIME])
		present |= SINK_BIT(COLUMN_CUDA_EVENT_TIME);
	v[COLUMN_CUDA_EVENT_STREAM] = (int64_t)find_nsys_stream(rows, EVENT_PLACE, nsys_row_process(rows, EVENT_PLACE + PROCESS));
	sink_row(&rows->n->sink, TABLE_CUDA_EVENT, v, present | SINK_BIT(COLUMN_CUDA_EVENT_STREAM));
}

void nsys_read_work(struct nsys *n)
{
	static const struct nsys_reading tables[] = {
		{ NSYS_CUPTI_ACTIVITY_KIND_KERNEL, kernel },     { NSYS_CUPTI_ACTIVITY_KIND_MEMCPY, add_nsys_copy },
		{ NSYS_CUPTI_ACTIVITY_KIND_MEMSET, set },        { NSYS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sync_row },
		{ NSYS_CUPTI_ACTIVITY_KIND_GRAPH_TRACE, graph }, { NSYS_CUPTI_ACTIVITY_KIND_CUDA_EVENT, add_nsys_cuda_event },
	};

	nsys_read_tables(n, tables, COUNT_OF(tables));
}
