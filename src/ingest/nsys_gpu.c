/* Work of GPUs: kernels, copies, sets, synchronisation, graphs, events. Numbers that exports count otherwise than
 * CUPTI become CUPTI's. */
#include <string.h>

#include "fmt/gpu_enums.h"
#include "ingest/nsys_internal.h"

/* What all records of a device's work begin with. */
enum { START, END, DEVICE, CONTEXT, GREEN, STREAM, CORRELATION, PROCESS, OWN };
#define OTHER(name) { name, NSYS_OTHER, 0, 0 }
/* What TAKEN says of an import, as a column of its own and as its number. */
#define TAKEN_AS_ASIDE(number) NSYS_OTHER, 0, 0
#define TAKEN_AS_NUMBER(TARGET, plus) NSYS_NUMBER, COLUMN_##TARGET, plus
#define AT_ASIDE(number) number
#define AT_NUMBER(TARGET, plus) AT_##TARGET

static uint64_t stream_of(const struct nsys_rows *rows, uint64_t process)
{
	int64_t id = nsys_number_or(rows, STREAM, NSYS_NOT_TOLD), context = nsys_number_or(rows, CONTEXT, NSYS_NOT_TOLD);

	/* Unified memory moves outside of all contexts. */
	if (id == NSYS_NO_NUMBER || (id == 0 && context == 0))
		id = NSYS_NOT_TOLD;
	return nsys_stream(rows->n, process, nsys_number_or(rows, DEVICE, NSYS_NOT_TOLD), context ? context : NSYS_NOT_TOLD,
			   nsys_number_or(rows, GREEN, 0), id);
}

static void put(const struct nsys_rows *rows, unsigned from, int64_t *values, uint32_t *present, unsigned column)
{
	if (nsys_number(rows, from, &values[column]))
		*present |= SINK_BIT(column);
}

static void put_work(struct nsys_rows *rows, enum track_kind kind, enum table_id table, int64_t *values, uint32_t present)
{
	uint64_t process = nsys_row_process(rows, PROCESS);
	uint64_t stream = stream_of(rows, process);

	put(rows, CORRELATION, values, &present, (unsigned)table_column(table, ROLE_WORK));
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

enum {
	BEFORE_KERNELS = OWN - 1,
#define NSYS_KERNELS
#include "ingest/nsys_as_numbers.h"
};
static const struct nsys_column kernel_columns[] = {
#define NSYS_KERNELS
#include "ingest/nsys_as_columns.h"
};

static int64_t launch_of(const struct nsys_rows *rows)
{
	struct nsys *n = rows->n;
	uint32_t present = SINK_BIT(COLUMN_CUDA_LAUNCH_FUNCTION), count = n->launch_keys.count, number;
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	_Static_assert(COLUMN_CUDA_LAUNCH_FROM_DEVICE < TABLE_MAX_COLUMNS - 1, "the last place is free");
	nsys_fill(rows, v, &present);
	v[COLUMN_CUDA_LAUNCH_CACHE_CONFIG] = (v[COLUMN_CUDA_LAUNCH_CACHE_CONFIG] & 15) << 4; /* the one in force */
	v[COLUMN_CUDA_LAUNCH_FUNCTION] = nsys_function(n, nsys_string(rows, KERNEL_NAME), nsys_string(rows, KERNEL_SHORT_NAME),
						       nsys_string(rows, KERNEL_MANGLED));
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
	const char *text = nsys_cell_text(rows, KERNEL_TENSORS, &len);

	if (text && strcmp(text, "[]") != 0)
		nsys_arg(rows->n, set, "tensorSizeMinusOneElements", sqlite3_column_value(rows->statement, KERNEL_TENSORS));
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
	put(rows, KERNEL_GRID, v, &present, COLUMN_GPU_KERNEL_GRID);
	put(rows, KERNEL_GRAPH_NODE, v, &present, COLUMN_GPU_KERNEL_GRAPH_NODE);
	put(rows, KERNEL_GRAPH, v, &present, COLUMN_GPU_KERNEL_GRAPH);
	set = nsys_extras(rows);
	put_tensors(rows, &set);
	v[COLUMN_GPU_KERNEL_ARGS] = (int64_t)set;
	present |= set ? SINK_BIT(COLUMN_GPU_KERNEL_ARGS) : 0;
	put_work(rows, TRACK_GPU_KERNEL, TABLE_GPU_KERNEL, v, present);
}

static void put_memory_kind(const struct nsys_rows *rows, unsigned from, int64_t *values, uint32_t *present,
			    unsigned column)
{
	int64_t kind;

	if (!nsys_number(rows, from, &kind))
		return;
	values[column] = gpu_memory_kind_of_nsys(kind);
	*present |= SINK_BIT(column);
}

enum {
	BEFORE_COPIES = OWN - 1,
#define NSYS_COPIES
#include "ingest/nsys_as_numbers.h"
};
static const struct nsys_column copy_columns[] = {
#define NSYS_COPIES
#include "ingest/nsys_as_columns.h"
};

static void copy(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	nsys_fill(rows, v, &present);
	put_memory_kind(rows, COPY_SOURCE, v, &present, COLUMN_GPU_COPY_SOURCE);
	put_memory_kind(rows, COPY_TARGET, v, &present, COLUMN_GPU_COPY_TARGET);
	put_extras(rows, v, &present, COLUMN_GPU_COPY_ARGS);
	put_work(rows, TRACK_GPU_COPY, TABLE_GPU_COPY, v, present);
}

enum {
	BEFORE_SETS = OWN - 1,
#define NSYS_SETS
#include "ingest/nsys_as_numbers.h"
};
static const struct nsys_column set_columns[] = {
#define NSYS_SETS
#include "ingest/nsys_as_columns.h"
};

static void set(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	nsys_fill(rows, v, &present);
	put_memory_kind(rows, SET_MEMORY, v, &present, COLUMN_GPU_SET_MEMORY);
	put_extras(rows, v, &present, COLUMN_GPU_SET_ARGS);
	put_work(rows, TRACK_GPU_SET, TABLE_GPU_SET, v, present);
}

enum {
	BEFORE_SYNCS = OWN - 1,
#define NSYS_SYNCS
#include "ingest/nsys_as_numbers.h"
};
static const struct nsys_column sync_columns[] = {
#define NSYS_SYNCS
#include "ingest/nsys_as_columns.h"
};

static void sync_row(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	put(rows, SYNC_OLD_KIND, v, &present, COLUMN_GPU_SYNC_KIND);
	nsys_fill(rows, v, &present);
	put(rows, SYNC_EVENT, v, &present, COLUMN_GPU_SYNC_EVENT);
	if (present & SINK_BIT(COLUMN_GPU_SYNC_EVENT) && v[COLUMN_GPU_SYNC_EVENT] == NSYS_NO_NUMBER)
		present &= ~SINK_BIT(COLUMN_GPU_SYNC_EVENT);
	put_extras(rows, v, &present, COLUMN_GPU_SYNC_ARGS);
	put_work(rows, TRACK_GPU_SYNC, TABLE_GPU_SYNC, v, present);
}

static const struct nsys_column graph_columns[] = {
#define NSYS_GRAPH_TRACES
#include "ingest/nsys_as_columns.h"
};

static void graph(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	nsys_fill(rows, v, &present);
	put_work(rows, TRACK_GPU_GRAPH, TABLE_GPU_GRAPH, v, present);
}

/* The first of the two times is the event's; there is no second. */
static const struct nsys_column event_columns[] = {
#define NSYS_CUDA_EVENTS
#include "ingest/nsys_as_columns.h"
};

static void event(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = 0;

	nsys_fill(rows, v, &present);
	put(rows, CORRELATION, v, &present, COLUMN_CUDA_EVENT_CORRELATION);
	/* 0: it was not asked for. */
	if (nsys_time(rows, START, &v[COLUMN_CUDA_EVENT_TIME]) && v[COLUMN_CUDA_EVENT_TIME])
		present |= SINK_BIT(COLUMN_CUDA_EVENT_TIME);
	v[COLUMN_CUDA_EVENT_STREAM] = (int64_t)stream_of(rows, nsys_row_process(rows, PROCESS));
	sink_row(&rows->n->sink, TABLE_CUDA_EVENT, v, present | SINK_BIT(COLUMN_CUDA_EVENT_STREAM));
}

void nsys_read_work(struct nsys *n)
{
	static const struct nsys_table tables[] = {
		{ "CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns, NSYS_COUNT(kernel_columns), kernel },
		{ "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, NSYS_COUNT(copy_columns), copy },
		{ "CUPTI_ACTIVITY_KIND_MEMSET", set_columns, NSYS_COUNT(set_columns), set },
		{ "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync_columns, NSYS_COUNT(sync_columns), sync_row },
		{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph_columns, NSYS_COUNT(graph_columns), graph },
		{ "CUPTI_ACTIVITY_KIND_CUDA_EVENT", event_columns, NSYS_COUNT(event_columns), event },
	};

	nsys_read_tables(n, tables, NSYS_COUNT(tables));
}
