#include "kernel/results/variation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/sort.h"

/* Welford's way: no difference of large sums. */
void spread_add(struct spread *s, double number)
{
	double distance = number - s->mean;

	s->min = s->count ? fmin(s->min, number) : number;
	s->max = s->count ? fmax(s->max, number) : number;
	s->sum += number;
	s->count++;
	s->mean += distance / (double)s->count;
	s->squares += distance * (number - s->mean);
}

double spread_mean(const struct spread *s)
{
	return s->count ? s->sum / (double)s->count : NAN;
}

double spread_deviation(const struct spread *s)
{
	return s->count > 1 && s->squares > 0 ? sqrt(s->squares / (double)(s->count - 1)) : 0;
}

double spread_percent(const struct spread *s)
{
	double deviation = spread_deviation(s), mean = fabs(spread_mean(s));

	return deviation == 0 ? 0 : mean > 0 ? 100 * deviation / mean : NAN;
}

int compare_launch_kinds(const struct kernel_result *x, const struct kernel_result *y)
{
	int order = strcmp(x->name, y->name);

	if (!order)
		order = memcmp(x->grid, y->grid, sizeof(x->grid));
	if (!order)
		order = memcmp(x->block, y->block, sizeof(x->block));
	return order ? order : (x->device > y->device) - (x->device < y->device);
}

static int by_likeness(const void *a, const void *b)
{
	const struct kernel_result *x = *(const struct kernel_result *const *)a, *y = *(const struct kernel_result *const *)b;
	int order = compare_launch_kinds(x, y);

	return order ? order : (x->id > y->id) - (x->id < y->id);
}

const char *time_metric(const struct kernel_result *const *same, size_t count)
{
	static const char *const times[] = { "gpu__time_duration.sum", "gpc__cycles_elapsed.max", "sm__cycles_elapsed.max",
					     "sm__cycles_active.avg" };
	size_t n;

	for (size_t i = 0; i < COUNT_OF(times); i++) {
		for (n = 0; n < count && isfinite(result_number(same[n], times[i])); n++)
			;
		if (n == count)
			return times[i];
	}
	return NULL;
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median_of(double *numbers, size_t count)
{
	sort_items(numbers, count, sizeof(*numbers), by_number);
	return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

static void compare_times(const struct kernel_results *results, const struct kernel_result *const *same, size_t count, double *room,
			  struct typical *all)
{
	struct typical t = { .same = count, .metric = time_metric(same, count), .median = NAN, .percent = NAN };
	double number;

	for (size_t i = 0; t.metric && i < count; i++)
		room[i] = result_number(same[i], t.metric);
	if (t.metric)
		t.median = median_of(room, count);
	for (size_t i = 0; t.metric && i < count; i++)
		if (!t.nearest || fabs(result_number(same[i], t.metric) - t.median) < fabs(result_number(t.nearest, t.metric) - t.median))
			t.nearest = same[i];
	for (size_t i = 0; i < count; i++) {
		number = t.metric ? result_number(same[i], t.metric) : NAN;
		t.percent = t.median > 0 ? 100 * (number - t.median) / t.median : NAN;
		all[same[i] - results->items] = t;
	}
}

struct typical *find_typical(const struct kernel_results *results)
{
	struct typical *all = calloc(results->count + 1, sizeof(*all));
	const struct kernel_result **order = calloc(results->count + 1, sizeof(*order));
	double *room = calloc(results->count + 1, sizeof(*room));

	if (all && order && room) {
		for (size_t i = 0; i < results->count; i++)
			order[i] = &results->items[i];
		sort_items(order, results->count, sizeof(*order), by_likeness);
		for (size_t i = 0, end; i < results->count; i = end) {
			for (end = i + 1; end < results->count && compare_launch_kinds(order[i], order[end]) == 0; end++)
				;
			compare_times(results, order + i, end - i, room, all);
		}
	} else {
		free(all);
		all = NULL;
	}
	free(order);
	free(room);
	return all;
}
