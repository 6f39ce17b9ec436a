/* /api/groups: launches summed up by kernel, by NVTX range, or by PyTorch's operator. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "kernel/summary/group.h"
#include "view/request/routes.h"
#include "view/kernels/kernels.h"

#define DURATION "gpu__time_duration.sum"

static const struct {
	const char *name;
	enum page_summary by;
} ways[] = { { "kernel", SUMMARY_PER_KERNEL }, { "nvtx", SUMMARY_PER_NVTX }, { "operator", SUMMARY_PER_OPERATOR } };
#define WAYS COUNT_OF(ways)

/* Sums over a group; of shares, by how long each launch took. */
static const struct {
	const char *key, *metric, *otherwise;
	bool is_share;
} columns[] = {
	{ "compute", "sm__throughput.avg.pct_of_peak_sustained_elapsed", NULL, true },
	{ "memory", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", NULL, true },
	{ "instructions", "smsp__inst_executed.sum", "sm__inst_executed.sum", false },
	{ "dram_read", "dram__bytes_read.sum", NULL, false },
	{ "dram_write", "dram__bytes_write.sum", NULL, false },
};

static double find_number_or(const struct kernel_result *k, const char *metric, const char *otherwise)
{
	double number = result_number(k, metric);

	return isfinite(number) || !otherwise ? number : result_number(k, otherwise);
}

/* Not a number where no launch has one. */
static double sum_launch_column(const struct summary_item *items, size_t count, size_t column)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < count; i++) {
		double number = find_number_or(items[i].k, columns[column].metric, columns[column].otherwise);
		double time = columns[column].is_share ? result_number(items[i].k, DURATION) : 1;
		double weight = time > 0 ? time : 1;

		if (!isfinite(number))
			continue;
		sum += number * weight;
		weights += weight;
	}
	return weights <= 0 ? NAN : columns[column].is_share ? sum / weights : sum;
}

static void put_launch_times(struct json_out *j, const struct summary_item *items, size_t count, double *room)
{
	struct spread s = { 0 };
	double saved = NAN;

	for (size_t i = 0; i < count; i++) {
		double time = result_number(items[i].k, DURATION), gain = result_gain(items[i].k) / 100 * time;

		if (isfinite(gain))
			saved = isfinite(saved) ? saved + gain : gain;
		if (!isfinite(time))
			continue;
		room[s.count] = time;
		spread_add(&s, time);
	}
	put_json_number(j, "time", s.count ? s.sum : NAN);
	put_json_number(j, "least", s.count ? s.min : NAN);
	put_json_number(j, "median", s.count ? median_of(room, s.count) : NAN);
	put_json_number(j, "most", s.count ? s.max : NAN);
	put_json_number(j, "spread", s.count ? spread_percent(&s) : NAN);
	put_json_number(j, "improvement", saved);
}

/* What the launches took in the baseline; not a number where one of them is not there. */
static double time_before(const struct kernel_view *kv, const struct summary_item *items, size_t count, const struct kernel_before *before)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += before[items[i].k - kv->results->items].numbers[0];
	return sum;
}

static void put_group(struct kernel_view *kv, enum page_summary by, const struct summary_item *items, size_t count, double *room,
		      const struct kernel_before *before)
{
	const struct kernel_result *first = items[0].k;
	struct json_out *j = kv->j;

	out_open(j, '{');
	out_put_text(j, "name", by == SUMMARY_PER_KERNEL ? first->name : items[0].key);
	if (by == SUMMARY_PER_KERNEL) {
		put_size_triple(j, "grid", first->grid);
		put_size_triple(j, "block", first->block);
		out_put_integer(j, "device", first->device);
	}
	out_put_integer(j, "launches", (int64_t)count);
	put_launch_times(j, items, count, room);
	if (before)
		put_json_number(j, "time_before", time_before(kv, items, count, before));
	for (size_t i = 0; i < COUNT_OF(columns); i++)
		put_json_number(j, columns[i].key, sum_launch_column(items, count, i));
	out_key(j, "places");
	out_open(j, '[');
	for (size_t i = 0; i < count; i++)
		out_integer(j, items[i].k - kv->results->items);
	out_close(j, ']');
	out_close(j, '}');
}

static int put_groups(struct kernel_view *kv, size_t way)
{
	struct summary_items all;
	struct json_out *j = kv->j;
	int r = summary_items_make(&all, kv->results, ways[way].by);
	double *room = calloc(all.count + 1, sizeof(*room));
	struct kernel_before *before = kv->options.baseline ? kernel_view_all_before(kv) : NULL;

	if (!room || (kv->options.baseline && !before))
		r = -ENOMEM;
	out_open(j, '{');
	out_put_text(j, "by", ways[way].name);
	out_key(j, "groups");
	out_open(j, '[');
	for (size_t i = 0, end; r >= 0 && i < all.count; i = end) {
		for (end = i + 1; end < all.count && summary_same_group(ways[way].by, &all.items[i], &all.items[end]); end++)
			;
		put_group(kv, ways[way].by, &all.items[i], end - i, room, before);
	}
	out_close(j, ']');
	out_close(j, '}');
	free(room);
	free(before);
	summary_items_release(&all);
	TRY(r);
	return j->r;
}

int answer_groups(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *by = params_text(p, "by");
	CLEANUP(kernel_view_end) struct kernel_view kv = { 0 };
	struct json_out j;
	size_t way = 0;

	while (way < WAYS && (!by || strcmp(by, ways[way].name) != 0))
		way++;
	if (way == WAYS)
		return error_set(err, EINVAL, "Launches can be summed by kernel, nvtx or operator");
	TRY(kernel_view_begin(&kv, v, p, false, err));
	out_begin(&j, &a->body);
	kv.j = &j;
	return put_groups(&kv, way);
}
