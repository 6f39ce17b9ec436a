/* TARGET_INFO_GPU: limits of a GPU are arguments. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fmt/cuda_wire.h"
#include "query/nsys/facts.h"

#define MAX_GPUS 256
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
		gpus->limits[gpus->count++] = (struct limits){ .set = values[COLUMN_GPU_ATTRIBUTES], .gpu = values[COLUMN_GPU_UID] };
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

static int is_gpu_limit_set(const struct gpus *gpus, int64_t set)
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

	for (first = 0; r >= 0 && first < rows && !is_gpu_limit_set(gpus, values[first]); first++)
		;
	if (r >= 0 && first < rows)
		r = report_column(q->report, TABLE_ARG, group, COLUMN_ARG_KEY, keys, NULL);
	if (r >= 0 && first < rows)
		r = report_column(q->report, TABLE_ARG, group, COLUMN_ARG_INTEGER, numbers, NULL);
	for (; r >= 0 && first < rows; first++)
		if (is_gpu_limit_set(gpus, values[first]))
			take_limit(q, gpus, values[first], keys[first], numbers[first]);
	free(values);
	return r == -ENOMEM ? r : 0;
}

static void bind(sqlite3_stmt *statement, const char *name, int64_t value)
{
	char parameter[48];
	int at;

	snprintf(parameter, sizeof(parameter), "@%s", name);
	at = sqlite3_bind_parameter_index(statement, parameter);
	if (at)
		sqlite3_bind_int64(statement, at, value);
}

static int insert_gpu(sqlite3_stmt *statement, const struct limits *limits)
{
	bind(statement, "gpu", limits->gpu);
	bind(statement, attribute_names[CUDA_ATTRIBUTE_INTEGRATED], limits->values[CUDA_ATTRIBUTE_INTEGRATED]);
	for (unsigned a = 0; a < CUDA_ATTRIBUTE_COUNT; a++)
		if (limits->known[a])
			bind(statement, attribute_names[a], limits->values[a]);
	sqlite3_step(statement);
	return sqlite3_reset(statement);
}

int fill_gpus(struct query *q, const struct fact_table *t)
{
	struct gpus gpus = { calloc(MAX_GPUS, sizeof(*gpus.limits)), 0 };
	int r = gpus.limits ? report_each_row(q->report, TABLE_GPU, COLUMN_GPU_ATTRIBUTES + 1, take_gpu, &gpus) : -ENOMEM;
	sqlite3_stmt *statement = NULL;

	for (size_t i = 0; r != -ENOMEM && gpus.count && i < report_group_count(q->report, TABLE_ARG); i++)
		r = load_limits(q, &gpus, i);
	r = r == -ENOMEM ? SQLITE_NOMEM : SQLITE_OK;
	for (size_t i = 0; r == SQLITE_OK && i < gpus.count; i++) {
		r = facts_prepare(q, t, "sonde_gpu g WHERE uid = @gpu LIMIT 1", &statement);
		if (r == SQLITE_OK)
			r = insert_gpu(statement, &gpus.limits[i]);
		sqlite3_finalize(statement);
	}
	free(gpus.limits);
	return r;
}
