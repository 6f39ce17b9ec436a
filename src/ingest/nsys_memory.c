/* Memory of GPUs: what was allocated, pools, and faults of unified memory. */
#include "fmt/gpu_enums.h"
#include "ingest/nsys_internal.h"

#define OTHER(name) { name, NSYS_OTHER, 0, 0 }
#define PUT(name, target) { name, NSYS_NUMBER, COLUMN_##target, 0 }
enum { POOL_LOCAL = 1, POOL_IMPORTED = 2 };
enum { FAULT_OF_CPU = 3, FAULT_OF_GPU = 4 };

enum { USAGE_TIME, USAGE_PROCESS, USAGE_DEVICE, USAGE_CONTEXT, USAGE_KIND, USAGE_LOCAL, USAGE_THRESHOLD, USAGE_SIZE,
       USAGE_USED, USAGE_IMPORTED, USAGE_IMPORTED_PID };
static const struct nsys_column usage_columns[] = {
	OTHER("start"), OTHER("globalPid"), OTHER("deviceId"), OTHER("contextId"), OTHER("memKind"),
	OTHER("localMemoryPoolAddress"), OTHER("localMemoryPoolReleaseThreshold"), OTHER("localMemoryPoolSize"),
	OTHER("localMemoryPoolUtilizedSize"), OTHER("importedMemoryPoolAddress"), OTHER("importedMemoryPoolProcessId"),
	PUT("address", GPU_MEMORY_ADDRESS), PUT("pc", GPU_MEMORY_PC), PUT("bytes", GPU_MEMORY_BYTES),
	{ "memoryOperationType", NSYS_NUMBER, COLUMN_GPU_MEMORY_OPERATION, 1 },
	{ "name", NSYS_TEXT, COLUMN_GPU_MEMORY_NAME, 0 }, PUT("correlationId", GPU_MEMORY_CORRELATION),
	PUT("streamId", GPU_MEMORY_STREAM),
};

static void put(const struct nsys_rows *rows, unsigned from, int64_t *values, uint32_t *present, unsigned column)
{
	if (nsys_number(rows, from, &values[column]))
		*present |= SINK_BIT(column);
}

static void put_pool(const struct nsys_rows *rows, int64_t *values, uint32_t *present)
{
	put(rows, USAGE_LOCAL, values, present, COLUMN_GPU_MEMORY_POOL);
	if (*present & SINK_BIT(COLUMN_GPU_MEMORY_POOL)) {
		values[COLUMN_GPU_MEMORY_POOL_TYPE] = POOL_LOCAL;
		put(rows, USAGE_THRESHOLD, values, present, COLUMN_GPU_MEMORY_POOL_THRESHOLD);
		put(rows, USAGE_SIZE, values, present, COLUMN_GPU_MEMORY_POOL_SIZE);
		put(rows, USAGE_USED, values, present, COLUMN_GPU_MEMORY_POOL_USED);
	} else {
		put(rows, USAGE_IMPORTED, values, present, COLUMN_GPU_MEMORY_POOL);
		values[COLUMN_GPU_MEMORY_POOL_TYPE] = POOL_IMPORTED;
		put(rows, USAGE_IMPORTED_PID, values, present, COLUMN_GPU_MEMORY_POOL_SIZE);
	}
	if (*present & SINK_BIT(COLUMN_GPU_MEMORY_POOL))
		*present |= SINK_BIT(COLUMN_GPU_MEMORY_POOL_TYPE);
}

static void usage(struct nsys_rows *rows)
{
	uint64_t process = nsys_row_process(rows, USAGE_PROCESS), context;
	int64_t v[TABLE_MAX_COLUMNS], kind;
	uint32_t present = 1;

	if (!nsys_time(rows, USAGE_TIME, &v[0])) {
		rows->n->untimed++;
		return;
	}
	nsys_fill(rows, v, &present);
	if (nsys_number(rows, USAGE_KIND, &kind)) {
		v[COLUMN_GPU_MEMORY_KIND] = gpu_memory_kind_of_nsys(kind);
		present |= SINK_BIT(COLUMN_GPU_MEMORY_KIND);
	}
	put_pool(rows, v, &present);
	context = nsys_context(rows->n, process, nsys_number_or(rows, USAGE_DEVICE, NSYS_NOT_TOLD),
			       nsys_number_or(rows, USAGE_CONTEXT, 0));
	sink_event(&rows->n->sink, nsys_track(rows->n, TRACK_GPU_MEMORY, TABLE_GPU_MEMORY, process, 0, context, 0), v, present);
}

enum { POOL_TIME, POOL_PROCESS };
static const struct nsys_column pool_columns[] = {
	OTHER("start"), OTHER("globalPid"), PUT("deviceId", GPU_POOL_DEVICE), PUT("address", GPU_POOL_ADDRESS),
	PUT("operationType", GPU_POOL_OPERATION), PUT("poolType", GPU_POOL_TYPE), PUT("correlationId", GPU_POOL_CORRELATION),
	PUT("minBytesToKeep", GPU_POOL_KEEP), PUT("localMemoryPoolReleaseThreshold", GPU_POOL_THRESHOLD),
	PUT("localMemoryPoolSize", GPU_POOL_SIZE), PUT("localMemoryPoolUtilizedSize", GPU_POOL_USED),
};

static void pool(struct nsys_rows *rows)
{
	uint64_t process = nsys_row_process(rows, POOL_PROCESS);
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = SINK_BIT(COLUMN_GPU_POOL_TIME);

	if (!nsys_time(rows, POOL_TIME, &v[COLUMN_GPU_POOL_TIME])) {
		rows->n->untimed++;
		return;
	}
	nsys_fill(rows, v, &present);
	v[COLUMN_GPU_POOL_PROCESS] = (int64_t)process;
	present |= process ? SINK_BIT(COLUMN_GPU_POOL_PROCESS) : 0;
	sink_row(&rows->n->sink, TABLE_GPU_POOL, v, present);
}

enum { FAULT_START, FAULT_END, FAULT_PROCESS, FAULT_SYMBOL, FAULT_MODULE, FAULT_UNRESOLVED, FAULT_PC };
static const struct nsys_column fault_columns[] = {
	OTHER("start"), OTHER("end"), OTHER("globalPid"), OTHER("CpuInstruction"), OTHER("module"), OTHER("unresolvedFaultPc"),
	OTHER("originalFaultPc"), PUT("deviceId", GPU_FAULT_DEVICE), PUT("address", GPU_FAULT_ADDRESS),
	PUT("numberOfPageFaults", GPU_FAULT_COUNT), PUT("faultAccessType", GPU_FAULT_ACCESS), OTHER("sourceFile"),
	OTHER("sourceLine"),
};

static void put_code(const struct nsys_rows *rows, int64_t *values, uint32_t *present)
{
	int64_t symbol, pc = nsys_number_or(rows, FAULT_PC, 0);
	uint64_t frame = 0;

	put(rows, FAULT_PC, values, present, COLUMN_GPU_FAULT_PC);
	if (nsys_number(rows, FAULT_SYMBOL, &symbol) && !nsys_number_or(rows, FAULT_UNRESOLVED, 0))
		frame = nsys_frame(rows->n, symbol, nsys_number_or(rows, FAULT_MODULE, -1), pc, 0, 0);
	values[COLUMN_GPU_FAULT_FRAME] = (int64_t)frame;
	*present |= frame ? SINK_BIT(COLUMN_GPU_FAULT_FRAME) : 0;
}

static void fault(struct nsys_rows *rows, int of_gpu)
{
	uint64_t process = nsys_row_process(rows, FAULT_PROCESS);
	uint32_t present;
	int64_t v[TABLE_MAX_COLUMNS];

	if (!nsys_times(rows, v, &present))
		return;
	present = SINK_BIT(COLUMN_GPU_FAULT_START) | (of_gpu ? SINK_BIT(COLUMN_GPU_FAULT_END) : 0) |
		  SINK_BIT(COLUMN_GPU_FAULT_KIND);
	v[COLUMN_GPU_FAULT_KIND] = of_gpu ? FAULT_OF_GPU : FAULT_OF_CPU;
	nsys_fill(rows, v, &present);
	v[COLUMN_GPU_FAULT_PROCESS] = (int64_t)process;
	present |= process ? SINK_BIT(COLUMN_GPU_FAULT_PROCESS) : 0;
	if (!of_gpu)
		put_code(rows, v, &present);
	sink_row(&rows->n->sink, TABLE_GPU_FAULT, v, present);
}

static void fault_of_cpu(struct nsys_rows *rows)
{
	fault(rows, 0);
}

static void fault_of_gpu(struct nsys_rows *rows)
{
	fault(rows, 1);
}

void nsys_read_memory(struct nsys *n)
{
	static const struct nsys_table tables[] = {
		{ "CUDA_GPU_MEMORY_USAGE_EVENTS", usage_columns, NSYS_COUNT(usage_columns), usage },
		{ "CUDA_GPU_MEMORY_POOL_EVENTS", pool_columns, NSYS_COUNT(pool_columns), pool },
		{ "CUDA_UM_CPU_PAGE_FAULT_EVENTS", fault_columns, NSYS_COUNT(fault_columns), fault_of_cpu },
		{ "CUDA_UM_GPU_PAGE_FAULT_EVENTS", fault_columns, NSYS_COUNT(fault_columns), fault_of_gpu },
	};

	nsys_read_tables(n, tables, NSYS_COUNT(tables));
}
