#include "query/select.h"

#include <math.h>
#include <stdlib.h>

#define SMALL 600 /* below this, sampling costs more than it saves */

static void swap(int64_t *a, int64_t *b)
{
	int64_t t = *a;

	*a = *b;
	*b = t;
}

/* Hoare's partition of [left, right] around the value at k, as in Floyd and Rivest's
 * SELECT; returns where the pivot came to rest. */
static ptrdiff_t partition(int64_t *values, ptrdiff_t left, ptrdiff_t right, ptrdiff_t k)
{
	int64_t pivot = values[k];
	ptrdiff_t i = left, j = right;

	swap(&values[left], &values[k]);
	if (values[right] > pivot)
		swap(&values[left], &values[right]);
	while (i < j) {
		swap(&values[i], &values[j]);
		i++;
		j--;
		while (values[i] < pivot)
			i++;
		while (values[j] > pivot)
			j--;
	}
	if (values[left] == pivot) {
		swap(&values[left], &values[j]);
	} else {
		j++;
		swap(&values[j], &values[right]);
	}
	return j;
}

/* A sample is solved first, so that the pivot lies close to what is sought. */
static void select_range(int64_t *values, ptrdiff_t left, ptrdiff_t right, ptrdiff_t k)
{
	double n, i, z, s, sd;
	ptrdiff_t from, to, at;

	while (right > left) {
		if (right - left > SMALL) {
			n = (double)(right - left + 1);
			i = (double)(k - left + 1);
			z = log(n);
			s = 0.5 * exp(2 * z / 3);
			sd = 0.5 * sqrt(z * s * (n - s) / n) * (i - n / 2 < 0 ? -1 : 1);
			from = (ptrdiff_t)((double)k - i * s / n + sd);
			to = (ptrdiff_t)((double)k + (n - i) * s / n + sd);
			select_range(values, from > left ? from : left, to < right ? to : right, k);
		}
		at = partition(values, left, right, k);
		if (at <= k)
			left = at + 1;
		if (k <= at)
			right = at - 1;
	}
}

int64_t select_nth(int64_t *values, size_t count, size_t k)
{
	select_range(values, 0, (ptrdiff_t)count - 1, (ptrdiff_t)k);
	return values[k];
}

static int64_t smallest(const int64_t *values, size_t count)
{
	int64_t least = values[0];

	for (size_t i = 1; i < count; i++)
		if (values[i] < least)
			least = values[i];
	return least;
}

void select_quantiles(int64_t *values, size_t count, const double *fractions, size_t fraction_count,
		      struct quantile *ret)
{
	size_t done = 0, k; /* values before `done` are in their final half */
	double place;

	for (size_t i = 0; i < fraction_count; i++) {
		place = (double)(count - 1) * fractions[i];
		k = (size_t)place;
		if (k < done)
			k = done;
		ret[i].low = select_nth(values + done, count - done, k - done);
		ret[i].between = place - (double)k > 0 ? place - (double)k : 0;
		ret[i].high = ret[i].between > 0 && k + 1 < count ? smallest(values + k + 1, count - k - 1) :
								   ret[i].low;
		done = k;
	}
}
