/* Memory of GPUs: what was allocated, pools, and faults of unified memory. */
#include "fmt/gpu_enums.h"
#include "ingest/nsys/internal.h"

enum { POOL_LOCAL = 1, POOL_IMPORTED = 2 };
enum { FAULT_OF_CPU = 3, FAULT_OF_GPU = 4 };

#define USAGE_AT(column) NSYS_AT(CUDA_GPU_MEMORY_USAGE_EVENTS, column)

static void put_pool(const struct nsys_rows *rows, int64_t *values, uint32_t *present)
{
	nsys_put(rows, USAGE_AT(localMemoryPoolAddress), values, present, COLUMN_GPU_MEMORY_POOL);
	if (*present & SINK_BIT(COLUMN_GPU_MEMORY_POOL)) {
		values[COLUMN_GPU_MEMORY_POOL_TYPE] = POOL_LOCAL;
		nsys_put(rows, USAGE_AT(localMemoryPoolReleaseThreshold), values, present, COLUMN_GPU_MEMORY_POOL_THRESHOLD);
		nsys_put(rows, USAGE_AT(localMemoryPoolSize), values, present, COLUMN_GPU_MEMORY_POOL_SIZE);
		nsys_put(rows, USAGE_AT(localMemoryPoolUtilizedSize), values, present, COLUMN_GPU_MEMORY_POOL_USED);
	} else {
		nsys_put(rows, USAGE_AT(importedMemoryPoolAddress), values, present, COLUMN_GPU_MEMORY_POOL);
		values[COLUMN_GPU_MEMORY_POOL_TYPE] = POOL_IMPORTED;
		nsys_put(rows, USAGE_AT(importedMemoryPoolProcessId), values, present, COLUMN_GPU_MEMORY_POOL_SIZE);
	}
	if (*present & SINK_BIT(COLUMN_GPU_MEMORY_POOL))
		*present |= SINK_BIT(COLUMN_GPU_MEMORY_POOL_TYPE);
}

static void usage(struct nsys_rows *rows)
{
	uint64_t process = nsys_row_process(rows, USAGE_AT(globalPid)), context;
	int64_t v[TABLE_MAX_COLUMNS], kind;
	uint32_t present = 1;

	if (!nsys_time(rows, USAGE_AT(start), &v[0])) {
		rows->n->untimed++;
		return;
	}
	nsys_fill(rows, v, &present);
	if (nsys_number(rows, USAGE_AT(memKind), &kind)) {
		v[COLUMN_GPU_MEMORY_KIND] = gpu_memory_kind_of_nsys(kind);
		present |= SINK_BIT(COLUMN_GPU_MEMORY_KIND);
	}
	put_pool(rows, v, &present);
	context = nsys_context(rows->n, process, nsys_number_or(rows, USAGE_AT(deviceId), NSYS_NOT_TOLD),
			       nsys_number_or(rows, USAGE_AT(contextId), 0));
	sink_event(&rows->n->sink, nsys_track(rows->n, TRACK_GPU_MEMORY, TABLE_GPU_MEMORY, process, 0, context, 0), v, present);
}

#define POOL_AT(column) NSYS_AT(CUDA_GPU_MEMORY_POOL_EVENTS, column)

static void pool(struct nsys_rows *rows)
{
	uint64_t process = nsys_row_process(rows, POOL_AT(globalPid));
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = SINK_BIT(COLUMN_GPU_POOL_TIME);

	if (!nsys_time(rows, POOL_AT(start), &v[COLUMN_GPU_POOL_TIME])) {
		rows->n->untimed++;
		return;
	}
	nsys_fill(rows, v, &present);
	v[COLUMN_GPU_POOL_PROCESS] = (int64_t)process;
	present |= process ? SINK_BIT(COLUMN_GPU_POOL_PROCESS) : 0;
	sink_row(&rows->n->sink, TABLE_GPU_POOL, v, present);
}

#define CPU_FAULT_AT(column) NSYS_AT(CUDA_UM_CPU_PAGE_FAULT_EVENTS, column)

static void put_code(const struct nsys_rows *rows, int64_t *values, uint32_t *present)
{
	int64_t symbol, pc = nsys_number_or(rows, CPU_FAULT_AT(originalFaultPc), 0);
	uint64_t frame = 0;

	nsys_put(rows, CPU_FAULT_AT(originalFaultPc), values, present, COLUMN_GPU_FAULT_PC);
	if (nsys_number(rows, CPU_FAULT_AT(CpuInstruction), &symbol) && !nsys_number_or(rows, CPU_FAULT_AT(unresolvedFaultPc), 0))
		frame = nsys_frame(rows->n, symbol, nsys_number_or(rows, CPU_FAULT_AT(module), -1), pc, 0, 0);
	values[COLUMN_GPU_FAULT_FRAME] = (int64_t)frame;
	*present |= frame ? SINK_BIT(COLUMN_GPU_FAULT_FRAME) : 0;
}

static void put_fault(struct nsys_rows *rows, int64_t kind, uint64_t process, int64_t *values, uint32_t present)
{
	values[COLUMN_GPU_FAULT_KIND] = kind;
	values[COLUMN_GPU_FAULT_PROCESS] = (int64_t)process;
	present |= SINK_BIT(COLUMN_GPU_FAULT_KIND) | (process ? SINK_BIT(COLUMN_GPU_FAULT_PROCESS) : 0);
	sink_row(&rows->n->sink, TABLE_GPU_FAULT, values, present);
}

static void fault_of_cpu(struct nsys_rows *rows)
{
	uint64_t process = nsys_row_process(rows, CPU_FAULT_AT(globalPid));
	uint32_t present = SINK_BIT(COLUMN_GPU_FAULT_START);
	int64_t v[TABLE_MAX_COLUMNS];

	if (!nsys_time(rows, CPU_FAULT_AT(start), &v[COLUMN_GPU_FAULT_START])) {
		rows->n->untimed++;
		return;
	}
	nsys_fill(rows, v, &present);
	put_code(rows, v, &present);
	put_fault(rows, FAULT_OF_CPU, process, v, present);
}

static void fault_of_gpu(struct nsys_rows *rows)
{
	uint64_t process = nsys_row_process(rows, NSYS_AT(CUDA_UM_GPU_PAGE_FAULT_EVENTS, globalPid));
	uint32_t present;
	int64_t v[TABLE_MAX_COLUMNS];

	if (!nsys_times(rows, v, &present))
		return;
	nsys_fill(rows, v, &present);
	put_fault(rows, FAULT_OF_GPU, process, v, present);
}

void nsys_read_memory(struct nsys *n)
{
	static const struct nsys_reading tables[] = {
		{ NSYS_CUDA_GPU_MEMORY_USAGE_EVENTS, usage },
		{ NSYS_CUDA_GPU_MEMORY_POOL_EVENTS, pool },
		{ NSYS_CUDA_UM_CPU_PAGE_FAULT_EVENTS, fault_of_cpu },
		{ NSYS_CUDA_UM_GPU_PAGE_FAULT_EVENTS, fault_of_gpu },
	};

	nsys_read_tables(n, tables, COUNT_OF(tables));
}
