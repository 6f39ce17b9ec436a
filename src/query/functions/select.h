/* Order statistics of whole numbers without sorting all of them. */
#ifndef SONDE_QUERY_FUNCTIONS_SELECT_H
#define SONDE_QUERY_FUNCTIONS_SELECT_H

#include <stddef.h>
#include <stdint.h>

/* Reorders values so that values[k] is the one a sort would put there, none before it is
 * larger and none behind it smaller; returns it. */
int64_t select_nth(int64_t *values, size_t count, size_t k);

/* The two neighbours between which the quantile `fraction` (0 to 1) lies, and how far
 * from the first to the second: the median of an even number of values is
 * half-way between the middle two. count must not be 0. */
struct quantile {
	int64_t low;
	int64_t high;
	double between;
};

/* Fills ret[i] for fractions[i]; fractions must ascend. Reorders values. */
void select_quantiles(int64_t *values, size_t count, const double *fractions, size_t fraction_count, struct quantile *ret);
void select_quantiles_narrow(uint32_t *values, size_t count, const double *fractions, size_t fraction_count, struct quantile *ret);

#endif
