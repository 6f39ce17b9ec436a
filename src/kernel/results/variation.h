/* How much a value differs between launches that ought to be alike: same kernel, grid, block and device. */
#ifndef SONDE_KERNEL_RESULTS_VARIATION_H
#define SONDE_KERNEL_RESULTS_VARIATION_H

#include <stddef.h>

#include "kernel/results/results.h"

/* Numbers as they come; begins as all zero. */
struct spread {
	size_t count;
	double min, max, sum;
	double mean, squares; /* of the distances from the mean */
};
void spread_add(struct spread *s, double number);
double spread_mean(const struct spread *s);
/* Of a sample; 0 for fewer than two numbers. */
double spread_deviation(const struct spread *s);
/* The deviation in percent of the mean; not a number where the mean is 0 and not all are. */
double spread_percent(const struct spread *s);

/* Puts them in order. */
double median_of(double *numbers, size_t count);

/* Kernels by what makes them alike: negative, 0 or positive. */
int compare_launch_kinds(const struct kernel_result *x, const struct kernel_result *y);

/* The first metric of time that all of them have; NULL: none. */
const char *time_metric(const struct kernel_result *const *same, size_t count);

/* How long each launch took beside those like it. */
struct typical {
	size_t same;        /* launches, this one among them */
	const char *metric; /* that was compared; NULL: none that they have */
	double median;
	double percent;                      /* by which this one is above (below: negative) the median; not a number: not known */
	const struct kernel_result *nearest; /* the one nearest to the median; NULL: not known */
};
/* One for each result, in their order; the caller frees it. NULL: no memory. */
struct typical *find_typical(const struct kernel_results *results);

#endif
