/* GPUs and what CUDA made on them, one row each. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/macros.h"
#include "fmt/cuda_wire.h"
#include "query/facts.h"

#define MAX_GPUS 256
/* Those of the attributes that TARGET_INFO_GPU has, in its order: all up to the grid's limits. */
#define SHOWN_ATTRIBUTES (CUDA_ATTRIBUTE_GRID_Z + 1)
/* A file of nsys's was imported: texts and lists are as it has them. */
#define OF_NSYS "EXISTS (SELECT 1 FROM sonde_meta WHERE key = 'imported' AND value = 'nsys-sqlite')"
/* nsys writes them without the first letters. */
#define SHOWN_UUID "CASE WHEN substr(uuid, 1, 4) = 'GPU-' AND NOT " OF_NSYS " THEN substr(uuid, 5) ELSE uuid END"
/* Where a compute capability is of one chip alone. */
#define SHOWN_CHIP "coalesce(chip, CASE major * 10 + minor WHEN 60 THEN 'GP100' WHEN 62 THEN 'GP10B' WHEN 70 THEN 'GV100' " \
	"WHEN 72 THEN 'GV11B' WHEN 80 THEN 'GA100' WHEN 87 THEN 'GA10B' WHEN 90 THEN 'GH100' WHEN 100 THEN 'GB100' END)"
/* NVTX's types of the driver's and of the runtime's devices and streams, and of contexts. */
#define NVTX_DEVICES "262145, 327680"
#define NVTX_STREAMS "262147, 327681"
#define NVTX_CONTEXTS "262146"

static const char *const attribute_names[] = {
#define CUDA_ATTRIBUTE(NAME, name) name,
#include "fmt/cuda_attributes.def"
#undef CUDA_ATTRIBUTE
};

struct limits {
	int64_t set; /* arg.set */
	int64_t gpu; /* uid */
	int64_t values[CUDA_ATTRIBUTE_COUNT];
	int known[CUDA_ATTRIBUTE_COUNT];
};

struct gpus {
	struct limits *limits;
	size_t count;
};

static int take_gpu(void *context, const int64_t *values, uint32_t present)
{
	struct gpus *gpus = context;

	for (size_t i = 0; i < gpus->count; i++)
		if (gpus->limits[i].gpu == values[COLUMN_GPU_UID])
			return 0;
	if (gpus->count < MAX_GPUS)
		gpus->limits[gpus->count++] =
			(struct limits){ .set = values[COLUMN_GPU_ATTRIBUTES], .gpu = values[COLUMN_GPU_UID] };
	return 0;
}

static void take_limit(struct query *q, struct gpus *gpus, int64_t set, int64_t key, int64_t value)
{
	const char *name = report_text(q->report, (uint64_t)key, NULL);

	for (size_t i = 0; name && i < gpus->count; i++)
		for (unsigned a = 0; gpus->limits[i].set == set && a < CUDA_ATTRIBUTE_COUNT; a++)
			if (strcmp(name, attribute_names[a]) == 0) {
				gpus->limits[i].values[a] = value;
				gpus->limits[i].known[a] = 1;
			}
}

static int is_wanted(const struct gpus *gpus, int64_t set)
{
	for (size_t i = 0; i < gpus->count; i++)
		if (set && gpus->limits[i].set == set)
			return 1;
	return 0;
}

/* There may be many arguments of other things: only the groups that have some of a GPU's are decoded whole. */
static int load_limits(struct query *q, struct gpus *gpus, size_t group)
{
	uint32_t rows = report_group(q->report, TABLE_ARG, group)->rows, first;
	int64_t *values = malloc((size_t)rows * 3 * sizeof(*values));
	int64_t *keys = values + rows, *numbers = keys + rows;
	int r = values ? report_column(q->report, TABLE_ARG, group, COLUMN_ARG_SET, values, NULL) : -ENOMEM;

	for (first = 0; r >= 0 && first < rows && !is_wanted(gpus, values[first]); first++)
		;
	if (r >= 0 && first < rows)
		r = report_column(q->report, TABLE_ARG, group, COLUMN_ARG_KEY, keys, NULL);
	if (r >= 0 && first < rows)
		r = report_column(q->report, TABLE_ARG, group, COLUMN_ARG_INTEGER, numbers, NULL);
	for (; r >= 0 && first < rows; first++)
		if (is_wanted(gpus, values[first]))
			take_limit(q, gpus, values[first], keys[first], numbers[first]);
	free(values);
	return r == -ENOMEM ? r : 0;
}

static int insert_gpu(struct query *q, const struct limits *limits)
{
	struct buf list = BUF_INIT;
	int r = 0;

	for (unsigned a = 0; a < SHOWN_ATTRIBUTES && r >= 0; a++)
		r = limits->known[a] ? buf_printf(&list, "%" PRId64 ",", limits->values[a]) : buf_puts(&list, "NULL,");
	r = r < 0 ? SQLITE_NOMEM :
	    facts_execute(q, "INSERT OR IGNORE INTO TARGET_INFO_GPU SELECT %lld, uid - 1, name, bus, %d, l2, memory, bandwidth, "
			     "clock, sm_count, uid - 1, " SHOWN_UUID ", NULL, " SHOWN_CHIP ", (SELECT id FROM sonde_cuda_device d "
			     "WHERE d.gpu = g.uid ORDER BY process, id LIMIT 1), NULL, NULL, NULL, NULL, %s major, minor, major, minor "
			     "FROM sonde_gpu g WHERE uid = %lld LIMIT 1",
			  (long long)index_global_id(&q->index, 0), !limits->values[CUDA_ATTRIBUTE_INTEGRATED], buf_cstr(&list),
			  (long long)limits->gpu);
	buf_release(&list);
	return r;
}

static int create_gpus(struct query *q)
{
	struct gpus gpus = { calloc(MAX_GPUS, sizeof(*gpus.limits)), 0 };
	int r = gpus.limits ? report_each_row(q->report, TABLE_GPU, COLUMN_GPU_ATTRIBUTES + 1, take_gpu, &gpus) : -ENOMEM;

	for (size_t i = 0; r != -ENOMEM && gpus.count && i < report_group_count(q->report, TABLE_ARG); i++)
		r = load_limits(q, &gpus, i);
	r = r == -ENOMEM ? SQLITE_NOMEM :
	    facts_execute(q, "CREATE TABLE TARGET_INFO_GPU(vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, "
			     "busLocation TEXT, isDiscrete INTEGER, l2CacheSize INTEGER, totalMemory INTEGER, "
			     "memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER, uuid TEXT, "
			     "luid INTEGER, chipName TEXT, cuDevice INTEGER, ctxswDevPath TEXT, ctrlDevPath TEXT, "
			     "revision INTEGER, nodeMask INTEGER, constantMemory INTEGER, maxIPC INTEGER, "
			     "maxRegistersPerBlock INTEGER, maxShmemPerBlock INTEGER, maxShmemPerBlockOptin INTEGER, "
			     "maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, threadsPerWarp INTEGER, "
			     "asyncEngines INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, "
			     "maxThreadsPerBlock INTEGER, maxBlockDimX INTEGER, maxBlockDimY INTEGER, "
			     "maxBlockDimZ INTEGER, maxGridDimX INTEGER, maxGridDimY INTEGER, maxGridDimZ INTEGER, "
			     "computeMajor INTEGER, computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER)");
	for (size_t i = 0; r == SQLITE_OK && i < gpus.count; i++)
		r = insert_gpu(q, &gpus.limits[i]);
	free(gpus.limits);
	return r;
}

/* What should have one row for each id may have many in a damaged report: the first counts, as everywhere. */
#define PROCESSES "(SELECT uid, pid, machine, min(rowid) FROM sonde_process GROUP BY uid) p"
#define GPUS "(SELECT uid, name, min(rowid) FROM sonde_gpu GROUP BY uid) g"
/* Those that a row comes of for each name of their handle: no program has so many. */
#define NAMED(what) "(SELECT * FROM sonde_cuda_" what " WHERE id IS NOT NULL AND process IN (SELECT uid FROM sonde_process))"
#define MOST_NAMES " LIMIT 65536"
/* hwId and vmId of a process p. */
#define MACHINE_IDS "ifnull(p.machine, 1) >> 8, ifnull(p.machine, 1) & 255"

/* Tables that a statement makes from those of the report. */
static const struct {
	const char *name;
	const char *sql;
} made_tables[] = {
	{ "TARGET_INFO_CUDA_DEVICE",
	  "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, "
	  "uuid TEXT, numMultiprocessors INTEGER);"
	  "INSERT OR IGNORE INTO TARGET_INFO_CUDA_DEVICE SELECT gpu - 1, id, pid, " SHOWN_UUID ", sm_count FROM sonde_cuda_device d "
	  "CROSS JOIN " PROCESSES " ON p.uid = d.process" },
	{ "TARGET_INFO_CUDA_CONTEXT_INFO",
	  "CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO(nullStreamId INTEGER NOT NULL, hwId INTEGER NOT NULL, "
	  "vmId INTEGER NOT NULL, processId INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
	  "parentContextId INTEGER, isGreenContext INTEGER, numMultiprocessors INTEGER, numTpcs INTEGER, tpcMask TEXT, "
	  "workqueueResourceId INTEGER, workqueueConcurrencyLimit INTEGER, workqueueSharingScope INTEGER);"
	  "INSERT OR IGNORE INTO TARGET_INFO_CUDA_CONTEXT_INFO SELECT ifnull(null_stream, 0), " MACHINE_IDS ", pid, device, id, c.parent, "
	  "ifnull(green, 0), sm_count, NULL, NULL, NULL, NULL, NULL FROM sonde_cuda_context c "
	  "CROSS JOIN " PROCESSES " ON p.uid = c.process" },
	/* Priorities are shown as CUPTI has them, without a sign. What stands for all streams of a context has no id and is none.
	 * nsys names device 0 for what waits on any: a stream may be known on two. Of an import those that its list has. */
	{ "TARGET_INFO_CUDA_STREAM",
	  "CREATE TABLE TARGET_INFO_CUDA_STREAM(streamId INTEGER NOT NULL, hwId INTEGER NOT NULL, "
	  "vmId INTEGER NOT NULL, processId INTEGER NOT NULL, contextId INTEGER NOT NULL, priority INTEGER NOT NULL, "
	  "flag INTEGER NOT NULL);"
	  "INSERT OR IGNORE INTO TARGET_INFO_CUDA_STREAM SELECT id, " MACHINE_IDS ", pid, context, "
	  "ifnull(max(priority), 0) & 4294967295, ifnull(max(flag), 0) FROM sonde_cuda_stream s JOIN " PROCESSES " "
	  "ON p.uid = s.process WHERE id IS NOT NULL GROUP BY p.uid, context, id HAVING max(flag) IS NOT NULL OR NOT " OF_NSYS
	  " ORDER BY min(s.uid)" },
	{ "TARGET_INFO_NVTX_CUDA_STREAM",
	  "CREATE TABLE TARGET_INFO_NVTX_CUDA_STREAM(name TEXT NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL, "
	  "processId INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
	  "streamId INTEGER NOT NULL);"
	  "INSERT OR IGNORE INTO TARGET_INFO_NVTX_CUDA_STREAM SELECT r.name, " MACHINE_IDS ", pid, device, context, s.id "
	  "FROM sonde_nvtx_resource r JOIN " NAMED("stream") " s ON s.process = r.process AND s.handle = r.identifier "
	  "JOIN " PROCESSES " ON p.uid = s.process "
	  "WHERE r.identifier_type IN (" NVTX_STREAMS ") AND r.kind = 1 AND r.name IS NOT NULL" MOST_NAMES },
	{ "TARGET_INFO_NVTX_CUDA_CONTEXT",
	  "CREATE TABLE TARGET_INFO_NVTX_CUDA_CONTEXT(name TEXT NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL, "
	  "processId INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL);"
	  "INSERT OR IGNORE INTO TARGET_INFO_NVTX_CUDA_CONTEXT SELECT r.name, " MACHINE_IDS ", pid, device, c.id "
	  "FROM sonde_nvtx_resource r JOIN " NAMED("context") " c ON c.process = r.process AND c.handle = r.identifier "
	  "JOIN " PROCESSES " ON p.uid = c.process "
	  "WHERE r.identifier_type IN (" NVTX_CONTEXTS ") AND r.kind = 1 AND r.name IS NOT NULL" MOST_NAMES },
	{ "TARGET_INFO_NVTX_CUDA_DEVICE",
	  "CREATE TABLE TARGET_INFO_NVTX_CUDA_DEVICE(name TEXT NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL, "
	  "deviceId INTEGER NOT NULL);"
	  "INSERT OR IGNORE INTO TARGET_INFO_NVTX_CUDA_DEVICE SELECT r.name, " MACHINE_IDS ", identifier FROM sonde_nvtx_resource r "
	  "LEFT JOIN " PROCESSES " ON p.uid = r.process WHERE identifier_type IN (" NVTX_DEVICES ") AND kind = 1 AND r.name IS NOT NULL" },
	/* The same number as GPU_METRICS.typeId: cuda_index.c. */
	{ "TARGET_INFO_GPU_METRICS",
	  "CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER NOT NULL, sourceId INTEGER NOT NULL, "
	  "typeName TEXT NOT NULL, metricId INTEGER NOT NULL, metricName TEXT NOT NULL);"
	  "INSERT OR IGNORE INTO TARGET_INFO_GPU_METRICS SELECT (1 << 48) | ((source & 65535) << 32) | (gpu - 1 & 255), "
	  "(1 << 48) | ((source & 65535) << 32), CASE source WHEN 1 THEN 'NVML' ELSE 'GPU Metrics' END || ' [' || "
	  "ifnull(g.name, 'GPU ' || (gpu - 1)) || ']', id, m.name FROM sonde_gpu_metric m "
	  "LEFT JOIN " GPUS " ON g.uid = m.gpu" },
};

static const char *cuda_fact_name(struct query *q, unsigned i)
{
	return i == 0 ? "TARGET_INFO_GPU" : i <= COUNT_OF(made_tables) ? made_tables[i - 1].name : NULL;
}

static int make_cuda_fact(struct query *q, unsigned i)
{
	int r = i == 0 ? create_gpus(q) : sqlite3_exec(q->db, made_tables[i - 1].sql, NULL, NULL, NULL);

	return r == SQLITE_OK ? facts_set_aside_if_empty(q, cuda_fact_name(q, i)) : r;
}

const struct listed_family cuda_fact_family = { cuda_fact_name, make_cuda_fact };
