#include "kernel/results/baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/metrics/units.h"

int baseline_begin(struct baseline *ret, struct kernel_results *results)
{
	*ret = (struct baseline){ .matches = calloc(results->count + 1, sizeof(*ret->matches)) };
	if (!ret->matches)
		return -ENOMEM;
	ret->results = *results;
	*results = (struct kernel_results){ 0 };
	return 0;
}

void baseline_release(struct baseline *b)
{
	kernel_results_release(&b->results);
	free(b->matches);
	*b = (struct baseline){ 0 };
}

static bool has_shape(const struct kernel_result *x, const struct kernel_result *y)
{
	return memcmp(x->grid, y->grid, sizeof(x->grid)) == 0 && memcmp(x->block, y->block, sizeof(x->block)) == 0;
}

/* Tools write the parameters of a function differently: its name alone is enough with the same grid and block. */
static bool is_counterpart(const struct kernel_result *x, const struct kernel_result *y, unsigned attempt)
{
	if (attempt == 2)
		return strcmp(x->function, y->function) == 0 && has_shape(x, y);
	return strcmp(x->name, y->name) == 0 && (attempt == 1 || has_shape(x, y));
}

size_t baseline_matches(struct baseline *b, const struct kernel_result *k)
{
	if (b->of == k)
		return b->match_count;
	b->of = k;
	b->match_count = 0;
	for (unsigned attempt = 0; attempt < 3 && !b->match_count; attempt++)
		for (size_t i = 0; i < b->results.count; i++)
			if (is_counterpart(&b->results.items[i], k, attempt))
				b->matches[b->match_count++] = &b->results.items[i];
	return b->match_count;
}

static double compute_mean(double sum, size_t count)
{
	return count ? sum / (double)count : NAN;
}

double baseline_number(struct baseline *b, const struct kernel_result *k, const char *metric)
{
	size_t matches = baseline_matches(b, k), count = 0;
	double sum = 0, number;

	for (size_t i = 0; i < matches; i++) {
		number = result_number(b->matches[i], metric);
		if (!isfinite(number))
			continue;
		sum += number;
		count++;
	}
	return compute_mean(sum, count);
}

static double find_result_number(void *context, const char *metric)
{
	return result_number(context, metric);
}

double baseline_formula(struct baseline *b, const struct kernel_result *k, const struct formula *f)
{
	size_t matches = baseline_matches(b, k), count = 0;
	double sum = 0, number;

	for (size_t i = 0; i < matches; i++) {
		number = formula_value(f, find_result_number, (void *)b->matches[i]);
		if (!isfinite(number))
			continue;
		sum += number;
		count++;
	}
	return compute_mean(sum, count);
}

double baseline_change(double before, double now)
{
	if (!isfinite(before) || !isfinite(now))
		return NAN;
	if (before == now)
		return 0;
	return before == 0 ? NAN : 100 * (now - before) / fabs(before);
}

int threshold_parse(struct threshold *ret, const char *text, struct error *err)
{
	const char *equals = strrchr(text, '='), *number = equals ? equals + 1 : "";
	char *end;

	if (!equals || equals == text || (size_t)(equals - text) >= sizeof(ret->metric))
		return error_set(err, EINVAL, "'%s' is not a threshold; write METRIC=PERCENT", text);
	memcpy(ret->metric, text, (size_t)(equals - text));
	ret->metric[equals - text] = '\0';
	ret->direction = *number == '+' ? 1 : *number == '-' ? -1 : 0;
	number += ret->direction != 0;
	ret->percent = strtod(number, &end);
	if (*end == '%')
		end++;
	if (end == number || *end || !(ret->percent >= 0) || !isfinite(ret->percent))
		return error_set(err, EINVAL, "'%s': the threshold of %s is not a percentage", text, ret->metric);
	return 0;
}

static bool is_beyond(const struct threshold *t, double before, double now)
{
	double change = baseline_change(before, now);

	/* From nothing to something is more than any percentage. */
	if (isnan(change))
		change = isfinite(before) && isfinite(now) ? (now > before ? INFINITY : -INFINITY) : 0;
	return t->direction ? t->direction * change > t->percent : fabs(change) > t->percent;
}

size_t baseline_check(FILE *out, const struct kernel_results *results, struct baseline *b, const struct threshold *thresholds, size_t count)
{
	char before_text[NUMBER_MAX], now_text[NUMBER_MAX];
	size_t beyond = 0;

	for (size_t i = 0; i < results->count; i++)
		for (size_t j = 0; j < count; j++) {
			const struct kernel_result *k = &results->items[i];
			double before = baseline_number(b, k, thresholds[j].metric), now = result_number(k, thresholds[j].metric);

			if (!is_beyond(&thresholds[j], before, now))
				continue;
			number_text(before, false, before_text);
			number_text(now, false, now_text);
			fprintf(out, "==BASELINE== %s (%" PRId64 "): %s was %s and is %s: %+.2f%%, more than %s%g%%\n", k->function,
				k->number, thresholds[j].metric, before_text, now_text, baseline_change(before, now),
				thresholds[j].direction > 0 ? "+" :
				thresholds[j].direction < 0 ? "-" :
							      "",
				thresholds[j].percent);
			beyond++;
		}
	return beyond;
}
