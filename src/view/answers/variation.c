/* /api/variation: how much each value differs between the launches of a kernel that ought to be alike. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kernel/results/variation.h"
#include "view/request/routes.h"
#include "view/kernels/kernels.h"

#define MOST_METRIC 512

/* Launches like the one that is asked for, itself among them, in their order. */
struct same {
	const struct kernel_result **items;
	size_t *at;      /* where in its values each launch is: these are by name, and asked for in that order */
	double *numbers; /* of one metric; not a number where a launch has none */
	double *room;    /* those that are there, for the median */
	size_t count;
};

static int find_same_names(struct same *ret, const struct kernel_results *results, const struct kernel_result *k)
{
	*ret = (struct same){
		.items = calloc(results->count + 1, sizeof(*ret->items)),
		.at = calloc(results->count + 1, sizeof(*ret->at)),
		.numbers = calloc(results->count + 1, sizeof(*ret->numbers)),
		.room = calloc(results->count + 1, sizeof(*ret->room)),
	};
	if (!ret->items || !ret->at || !ret->numbers || !ret->room)
		return -ENOMEM;
	for (size_t i = 0; i < results->count; i++)
		if (compare_launch_kinds(&results->items[i], k) == 0)
			ret->items[ret->count++] = &results->items[i];
	return 0;
}

static void release_same_names(struct same *all)
{
	free(all->items);
	free(all->at);
	free(all->numbers);
	free(all->room);
}

/* Goes on from where the launch was for the metric before. */
static double next_number(struct same *all, size_t i, const char *metric)
{
	const struct kernel_result *k = all->items[i];
	int order = -1;

	while (all->at[i] < k->value_count && (order = strcmp(k->values[all->at[i]].name, metric)) < 0)
		all->at[i]++;
	return all->at[i] < k->value_count && order == 0 ? value_number(&k->values[all->at[i]]) : NAN;
}

static struct spread take_numbers(struct same *all, const char *metric, double *ret_median)
{
	struct spread s = { 0 };

	for (size_t i = 0; i < all->count; i++) {
		all->numbers[i] = next_number(all, i, metric);
		if (!isfinite(all->numbers[i]))
			continue;
		all->room[s.count] = all->numbers[i];
		spread_add(&s, all->numbers[i]);
	}
	*ret_median = s.count ? median_of(all->room, s.count) : NAN;
	return s;
}

static void put_spread(struct kernel_view *kv, const struct metric_value *v, const struct spread *s, double median)
{
	struct json_out *j = kv->j;
	char unit[UNIT_MAX];

	page_unit(kv->results, v, "", unit);
	out_open(j, '{');
	out_put_text(j, "metric", v->name);
	out_put_text(j, "unit", unit);
	out_put_integer(j, "launches", (int64_t)s->count);
	put_json_number(j, "value", value_number(v));
	put_json_number(j, "least", s->min);
	put_json_number(j, "median", median);
	put_json_number(j, "most", s->max);
	put_json_number(j, "mean", spread_mean(s));
	put_json_number(j, "deviation", spread_deviation(s));
	put_json_number(j, "percent", spread_percent(s));
	if (kv->options.baseline)
		put_json_number(j, "before", baseline_number(&kv->baseline, kv->k, v->name));
	out_close(j, '}');
}

static void put_points(struct kernel_view *kv, struct same *all, const char *metric)
{
	struct json_out *j = kv->j;

	out_put_text(j, "metric", metric ? metric : "");
	out_key(j, "points");
	out_open(j, '[');
	for (size_t i = 0; i < all->count; i++) {
		out_open(j, '{');
		out_put_integer(j, "place", all->items[i] - kv->results->items);
		out_put_integer(j, "id", all->items[i]->number);
		put_json_number(j, "value", metric ? result_number(all->items[i], metric) : NAN);
		out_close(j, '}');
	}
	out_close(j, ']');
}

/* Those that two launches or more have, by name. */
static void put_variation(struct kernel_view *kv, struct same *all, const char *metric)
{
	struct json_out *j = kv->j;

	out_open(j, '{');
	out_put_integer(j, "launches", (int64_t)all->count);
	out_key(j, "metrics");
	out_open(j, '[');
	for (size_t i = 0; i < kv->k->value_count && all->count > 1; i++) {
		const struct metric_value *v = &kv->k->values[i];
		double median;
		struct spread s;

		if (!isfinite(value_number(v)))
			continue;
		s = take_numbers(all, v->name, &median);
		if (s.count > 1)
			put_spread(kv, v, &s, median);
	}
	out_close(j, ']');
	put_points(kv, all, metric && result_find(kv->k, metric) ? metric : time_metric(all->items, all->count));
	out_close(j, '}');
}

int answer_variation(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *metric = params_text(p, "metric");
	CLEANUP(kernel_view_end) struct kernel_view kv = { 0 };
	CLEANUP(release_same_names) struct same all = { 0 };
	struct json_out j;

	if (metric && strlen(metric) > MOST_METRIC)
		return error_set(err, EINVAL, "The name of the metric is too long");
	TRY(kernel_view_begin(&kv, v, p, true, err));
	out_begin(&j, &a->body);
	kv.j = &j;
	TRY(find_same_names(&all, kv.results, kv.k));
	put_variation(&kv, &all, metric);
	return j.r;
}
