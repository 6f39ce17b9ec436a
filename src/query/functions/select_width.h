/* The algorithm of select.c for numbers of one width: SELECT_TYPE is theirs, SELECT_NAME(x) makes the names of the functions.
 * Included once for each. */

static void SELECT_NAME(swap)(SELECT_TYPE *a, SELECT_TYPE *b)
{
	SELECT_TYPE t = *a;

	*a = *b;
	*b = t;
}

/* Hoare's partition of [left, right] around the value at k, as in Floyd and Rivest's
 * SELECT; returns where the pivot came to rest. */
static ptrdiff_t SELECT_NAME(partition)(SELECT_TYPE *values, ptrdiff_t left, ptrdiff_t right, ptrdiff_t k)
{
	SELECT_TYPE pivot = values[k];
	ptrdiff_t i = left, j = right;

	SELECT_NAME(swap)(&values[left], &values[k]);
	if (values[right] > pivot)
		SELECT_NAME(swap)(&values[left], &values[right]);
	while (i < j) {
		SELECT_NAME(swap)(&values[i], &values[j]);
		i++;
		j--;
		while (values[i] < pivot)
			i++;
		while (values[j] > pivot)
			j--;
	}
	if (values[left] == pivot) {
		SELECT_NAME(swap)(&values[left], &values[j]);
	} else {
		j++;
		SELECT_NAME(swap)(&values[j], &values[right]);
	}
	return j;
}

/* A sample is solved first, so that the pivot lies close to what is sought. */
static void SELECT_NAME(select_range)(SELECT_TYPE *values, ptrdiff_t left, ptrdiff_t right, ptrdiff_t k)
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
			SELECT_NAME(select_range)(values, from > left ? from : left, to < right ? to : right, k);
		}
		at = SELECT_NAME(partition)(values, left, right, k);
		if (at <= k)
			left = at + 1;
		if (k <= at)
			right = at - 1;
	}
}

static SELECT_TYPE SELECT_NAME(smallest)(const SELECT_TYPE *values, size_t count)
{
	SELECT_TYPE least = values[0];

	for (size_t i = 1; i < count; i++)
		if (values[i] < least)
			least = values[i];
	return least;
}

static void SELECT_NAME(select_quantiles)(SELECT_TYPE *values, size_t count, const double *fractions, size_t fraction_count,
					  struct quantile *ret)
{
	size_t done = 0, k; /* values before `done` are in their final half */
	double place;

	for (size_t i = 0; i < fraction_count; i++) {
		place = (double)(count - 1) * fractions[i];
		k = (size_t)place;
		if (k < done)
			k = done;
		SELECT_NAME(select_range)(values + done, 0, (ptrdiff_t)(count - done) - 1, (ptrdiff_t)(k - done));
		ret[i].low = values[k];
		ret[i].between = place - (double)k > 0 ? place - (double)k : 0;
		ret[i].high = ret[i].between > 0 && k + 1 < count ? SELECT_NAME(smallest)(values + k + 1, count - k - 1) : ret[i].low;
		done = k;
	}
}
