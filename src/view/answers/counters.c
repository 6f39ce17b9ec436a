/* /api/counters: what a report of `sonde kernel` has of a kernel, by its whole name. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "view/request/routes.h"
#include "view/internal.h"
#include "view/request/json_out.h"

#define MAX_RESULTS 64

/* Those that say the most; all are in the report. */
static const char *const shown[] = {
	"gpu__time_duration.sum",
	"sm__throughput.avg.pct_of_peak_sustained_elapsed",
	"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
	"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
	"l1tex__t_sector_hit_rate.pct",
	"lts__t_sector_hit_rate.pct",
	"dram__bytes_read.sum",
	"dram__bytes_write.sum",
	"smsp__inst_executed.sum",
	"sm__warps_active.avg.pct_of_peak_sustained_active",
	"launch__registers_per_thread",
};
#define SHOWN COUNT_OF(shown)

struct value {
	uint64_t unit; /* text */
	double number;
	bool known;
};

struct counted {
	int64_t id;
	int64_t number;
	int64_t grid[3], block[3];
	struct value values[SHOWN];
};

struct counters {
	struct view_report *r;
	const char *name;
	size_t name_len;
	uint64_t functions[MAX_RESULTS]; /* of that name */
	size_t function_count;
	struct counted results[MAX_RESULTS];
	size_t count;
	size_t all;
};

static bool is_report_text(struct view_report *r, int64_t id, const char *text, size_t len)
{
	size_t own_len = 0;
	const char *own = id > 0 ? view_report_text(r, (uint64_t)id, &own_len) : NULL;

	return own && own_len == len && memcmp(own, text, len) == 0;
}

static int take_named_function(void *context, const int64_t *v, uint32_t present)
{
	struct counters *c = context;

	if (c->function_count < MAX_RESULTS && is_report_text(c->r, v[COLUMN_CUDA_FUNCTION_NAME], c->name, c->name_len))
		c->functions[c->function_count++] = (uint64_t)v[COLUMN_CUDA_FUNCTION_ID];
	return 0;
}

static bool is_kernel_wanted(const struct counters *c, const int64_t *v, uint32_t present)
{
	if (present >> COLUMN_KERNEL_RESULT_NAME & 1 && is_report_text(c->r, v[COLUMN_KERNEL_RESULT_NAME], c->name, c->name_len))
		return true;
	for (size_t i = 0; i < c->function_count && present >> COLUMN_KERNEL_RESULT_FUNCTION & 1; i++)
		if (c->functions[i] == (uint64_t)v[COLUMN_KERNEL_RESULT_FUNCTION])
			return true;
	return false;
}

static int take_result(void *context, const int64_t *v, uint32_t present)
{
	struct counters *c = context;
	struct counted *k;

	if (!is_kernel_wanted(c, v, present) || c->all++ >= MAX_RESULTS)
		return 0;
	k = &c->results[c->count++];
	*k = (struct counted){ .id = v[COLUMN_KERNEL_RESULT_ID], .number = v[COLUMN_KERNEL_RESULT_NUMBER] };
	for (unsigned i = 0; i < 3; i++) {
		k->grid[i] = v[COLUMN_KERNEL_RESULT_GRID_X + i];
		k->block[i] = v[COLUMN_KERNEL_RESULT_BLOCK_X + i];
	}
	return 0;
}

static struct counted *result_of(struct counters *c, int64_t id)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->results[i].id == id)
			return &c->results[i];
	return NULL;
}

static int take_counter_metric(void *context, const int64_t *v, uint32_t present)
{
	struct counters *c = context;
	struct counted *k = result_of(c, v[COLUMN_KERNEL_METRIC_RESULT]);
	struct value value = { 0 };

	if (!k || v[COLUMN_KERNEL_METRIC_KIND] != KERNEL_METRIC_VALUE || present >> COLUMN_KERNEL_METRIC_INSTANCE & 1)
		return 0;
	value.unit = present >> COLUMN_KERNEL_METRIC_UNIT & 1 ? (uint64_t)v[COLUMN_KERNEL_METRIC_UNIT] : 0;
	value.known = true;
	if (present >> COLUMN_KERNEL_METRIC_INTEGER & 1)
		value.number = (double)v[COLUMN_KERNEL_METRIC_INTEGER];
	else if (present >> COLUMN_KERNEL_METRIC_REAL & 1)
		memcpy(&value.number, &v[COLUMN_KERNEL_METRIC_REAL], sizeof(value.number));
	else
		return 0;
	for (size_t i = 0; i < SHOWN; i++)
		if (is_report_text(c->r, v[COLUMN_KERNEL_METRIC_NAME], shown[i], strlen(shown[i])))
			k->values[i] = value;
	return 0;
}

static void put_counter_triple(struct json_out *j, const char *key, const int64_t *values)
{
	out_key(j, key);
	out_open(j, '[');
	for (unsigned i = 0; i < 3; i++)
		out_exact(j, values[i]);
	out_close(j, ']');
}

static void put_named_value(struct counters *c, struct json_out *j, size_t which, const struct value *value)
{
	size_t len = 0;
	const char *unit = value->unit ? view_report_text(c->r, value->unit, &len) : NULL;

	out_open(j, '{');
	out_put_text(j, "metric", shown[which]);
	out_key(j, "unit");
	out_text(j, unit, len);
	out_put_real(j, "value", value->number);
	out_close(j, '}');
}

static void put_result(struct counters *c, struct json_out *j, const struct counted *k)
{
	out_open(j, '{');
	out_put_integer(j, "number", k->number);
	put_counter_triple(j, "grid", k->grid);
	put_counter_triple(j, "block", k->block);
	out_key(j, "values");
	out_open(j, '[');
	for (size_t i = 0; i < SHOWN; i++)
		if (k->values[i].known)
			put_named_value(c, j, i, &k->values[i]);
	out_close(j, ']');
	out_close(j, '}');
}

static int each_counter_row(struct counters *c, enum table_id table, report_row_fn take)
{
	int r = report_each_row(c->r->report, table, table_schema(table)->column_count, take, c);

	return r == -ENOMEM ? r : 0;
}

int answer_counters(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct counters c = { 0 };
	struct json_out j;

	TRY(view_asked_report(v, p, &c.r, err));
	c.name = params_text(p, "name");
	TRY(params_all_used(p, err));
	if (!c.name)
		return error_set(err, EINVAL, "The name of a kernel is missing");
	c.name_len = strlen(c.name);
	TRY(each_counter_row(&c, TABLE_CUDA_FUNCTION, take_named_function));
	TRY(each_counter_row(&c, TABLE_KERNEL_RESULT, take_result));
	if (c.count)
		TRY(each_counter_row(&c, TABLE_KERNEL_METRIC, take_counter_metric));
	out_begin(&j, &a->body);
	out_open(&j, '{');
	out_put_integer(&j, "launches", (int64_t)c.all);
	out_key(&j, "kernels");
	out_open(&j, '[');
	for (size_t i = 0; i < c.count; i++)
		put_result(&c, &j, &c.results[i]);
	out_close(&j, ']');
	out_close(&j, '}');
	return j.r;
}
