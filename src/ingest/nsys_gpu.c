/* Work of GPUs: kernels, copies, sets, synchronisation, graphs, events. Numbers that exports count otherwise than
 * CUPTI become CUPTI's. */
#include <string.h>

#include "fmt/gpu_enums.h"
#include "ingest/nsys_internal.h"

/* What all records of a device's work begin with. */
enum { START, END, DEVICE, CONTEXT, GREEN, STREAM, PROCESS, OWN };
#define OTHER(name) { name, NSYS_OTHER, 0, 0 }
#define WORK_COLUMNS                                                                                   \
	OTHER("start"), OTHER("end"), OTHER("deviceId"), OTHER("contextId"), OTHER("greenContextId"),  \
	OTHER("streamId"), OTHER("globalPid")
#define PUT(name, target) { name, NSYS_NUMBER, COLUMN_##target, 0 }

static uint64_t stream_of(const struct nsys_rows *rows, uint64_t process)
{
	int64_t id = nsys_number_or(rows, STREAM, NSYS_NOT_TOLD), context = nsys_number_or(rows, CONTEXT, NSYS_NOT_TOLD);

	/* Unified memory moves outside of all contexts. */
	if (id == NSYS_NO_NUMBER || (id == 0 && context == 0))
		id = NSYS_NOT_TOLD;
	return nsys_stream(rows->n, process, nsys_number_or(rows, DEVICE, NSYS_NOT_TOLD), context ? context : NSYS_NOT_TOLD,
			   nsys_number_or(rows, GREEN, 0), id);
}

static void put_work(struct nsys_rows *rows, enum track_kind kind, enum table_id table, const int64_t *values,
		     uint32_t present)
{
	uint64_t process = nsys_row_process(rows, PROCESS);
	uint64_t stream = stream_of(rows, process);

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

enum { KERNEL_NAME = OWN, KERNEL_SHORT_NAME, KERNEL_MANGLED, KERNEL_CORRELATION, KERNEL_GRID, KERNEL_GRAPH_NODE,
       KERNEL_GRAPH, KERNEL_TENSORS, KERNEL_LAUNCH };
static const struct nsys_column kernel_columns[] = {
	WORK_COLUMNS, OTHER("demangledName"), OTHER("shortName"), OTHER("mangledName"), OTHER("correlationId"),
	OTHER("gridId"), OTHER("graphNodeId"), OTHER("graphId"), OTHER("tensorSizeMinusOneElements"),
	/* Those of the launch. */
	{ "launchType", NSYS_NUMBER, COLUMN_CUDA_LAUNCH_LAUNCH_TYPE, -1 },
	PUT("cacheConfig", CUDA_LAUNCH_CACHE_CONFIG), PUT("registersPerThread", CUDA_LAUNCH_REGISTERS),
	PUT("gridX", CUDA_LAUNCH_GRID_X), PUT("gridY", CUDA_LAUNCH_GRID_Y), PUT("gridZ", CUDA_LAUNCH_GRID_Z),
	PUT("blockX", CUDA_LAUNCH_BLOCK_X), PUT("blockY", CUDA_LAUNCH_BLOCK_Y), PUT("blockZ", CUDA_LAUNCH_BLOCK_Z),
	PUT("staticSharedMemory", CUDA_LAUNCH_STATIC_SHARED), PUT("dynamicSharedMemory", CUDA_LAUNCH_DYNAMIC_SHARED),
	PUT("localMemoryPerThread", CUDA_LAUNCH_LOCAL_PER_THREAD), PUT("localMemoryTotal", CUDA_LAUNCH_LOCAL_TOTAL),
	PUT("sharedMemoryExecuted", CUDA_LAUNCH_SHARED_EXECUTED),
	PUT("sharedMemoryLimitConfig", CUDA_LAUNCH_SHARED_LIMIT), PUT("clusterX", CUDA_LAUNCH_CLUSTER_X),
	PUT("clusterY", CUDA_LAUNCH_CLUSTER_Y), PUT("clusterZ", CUDA_LAUNCH_CLUSTER_Z),
	PUT("clusterSchedulingPolicy", CUDA_LAUNCH_CLUSTER_POLICY),
	PUT("maxPotentialClusterSize", CUDA_LAUNCH_CLUSTER_POTENTIAL),
	PUT("maxActiveClusters", CUDA_LAUNCH_CLUSTER_ACTIVE),
	PUT("sharedMemoryRequestedPercentage", CUDA_LAUNCH_CARVEOUT),
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

static void put(const struct nsys_rows *rows, unsigned from, int64_t *values, uint32_t *present, unsigned column)
{
	if (nsys_number(rows, from, &values[column]))
		*present |= SINK_BIT(column);
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
	put(rows, KERNEL_CORRELATION, v, &present, COLUMN_GPU_KERNEL_CORRELATION);
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

enum { COPY_SOURCE = OWN, COPY_TARGET };
static const struct nsys_column copy_columns[] = {
	WORK_COLUMNS, OTHER("srcKind"), OTHER("dstKind"), PUT("correlationId", GPU_COPY_CORRELATION),
	PUT("bytes", GPU_COPY_BYTES), PUT("copyKind", GPU_COPY_KIND), PUT("srcDeviceId", GPU_COPY_SOURCE_DEVICE),
	PUT("srcContextId", GPU_COPY_SOURCE_CONTEXT), PUT("dstDeviceId", GPU_COPY_TARGET_DEVICE),
	PUT("dstContextId", GPU_COPY_TARGET_CONTEXT), PUT("migrationCause", GPU_COPY_CAUSE),
	PUT("graphNodeId", GPU_COPY_GRAPH_NODE), PUT("virtualAddress", GPU_COPY_ADDRESS), PUT("copyCount", GPU_COPY_COUNT),
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

enum { SET_MEMORY = OWN };
static const struct nsys_column set_columns[] = {
	WORK_COLUMNS, OTHER("memKind"), PUT("correlationId", GPU_SET_CORRELATION), PUT("value", GPU_SET_VALUE),
	PUT("bytes", GPU_SET_BYTES), PUT("graphNodeId", GPU_SET_GRAPH_NODE),
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

enum { SYNC_OLD_KIND = OWN, SYNC_EVENT };
static const struct nsys_column sync_columns[] = {
	WORK_COLUMNS, OTHER("deprecatedSyncType"), OTHER("eventId"), PUT("syncType", GPU_SYNC_KIND),
	PUT("eventSyncId", GPU_SYNC_EVENT_SYNC), PUT("correlationId", GPU_SYNC_CORRELATION),
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
	WORK_COLUMNS, PUT("correlationId", GPU_GRAPH_CORRELATION), PUT("graphId", GPU_GRAPH_GRAPH),
	PUT("graphExecId", GPU_GRAPH_EXEC),
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
	OTHER("timestamp"), OTHER("no end"), OTHER("deviceId"), OTHER("contextId"), OTHER("greenContextId"),
	OTHER("streamId"), OTHER("globalPid"), PUT("correlationId", CUDA_EVENT_CORRELATION), PUT("eventId", CUDA_EVENT_EVENT),
	PUT("eventSyncId", CUDA_EVENT_EVENT_SYNC),
};

static void event(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = 0;

	nsys_fill(rows, v, &present);
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
