/* Results beside those of another report: the same kernels, before. */
#ifndef SONDE_KERNEL_RESULTS_BASELINE_H
#define SONDE_KERNEL_RESULTS_BASELINE_H

#include <stdio.h>

#include "kernel/metrics/formula.h"
#include "kernel/results/results.h"

/* Launches of a kernel are compared with the mean over those of the same name, grid and block; where there are none, of the same name; else of
 * a function of the same name with the same grid and block. */
struct baseline {
	struct kernel_results results;
	const struct kernel_result *of; /* whose counterparts are at hand */
	const struct kernel_result **matches;
	size_t match_count;
};

/* Takes the results over; they are released with it. -ENOMEM: they are not taken. */
int baseline_begin(struct baseline *ret, struct kernel_results *results);
void baseline_release(struct baseline *b);

size_t baseline_matches(struct baseline *b, const struct kernel_result *k);
/* Not a number where the kernel or the value is not there. */
double baseline_number(struct baseline *b, const struct kernel_result *k, const char *metric);
double baseline_formula(struct baseline *b, const struct kernel_result *k, const struct formula *f);
/* Percent of the baseline by which a value changed; not a number where that says nothing. */
double baseline_change(double before, double now);

/* "metric=5": it may change by so many percent; "metric=+5" grow, "metric=-5" shrink. */
struct threshold {
	char metric[256];
	double percent;
	int direction; /* 1, -1, or 0 for both */
};
int threshold_parse(struct threshold *ret, const char *text, struct error *err);
/* A line for each value that changed by more; how many there are. */
size_t baseline_check(FILE *out, const struct kernel_results *results, struct baseline *b, const struct threshold *thresholds,
		      size_t count);

#endif
