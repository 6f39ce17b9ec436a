#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "query/functions/select.h"

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 16;
}

/* Kinds of input that trip up selection: random, few values, sorted, reversed, all the same, extremes. */
static void fill(int64_t *values, size_t count, unsigned kind)
{
	uint64_t state = count * 7 + kind;

	for (size_t i = 0; i < count; i++)
		switch (kind) {
		case 0: values[i] = (int64_t)next_random(&state) - (1ll << 46); break;
		case 1: values[i] = (int64_t)(next_random(&state) % 3); break;
		case 2: values[i] = (int64_t)i; break;
		case 3: values[i] = (int64_t)(count - i); break;
		case 4: values[i] = 42; break;
		default: values[i] = next_random(&state) & 1 ? INT64_MAX : INT64_MIN; break;
		}
}

/* The same numbers in half the width give the same. */
static void check_narrow(const int64_t *sorted, size_t n, const double *fractions, const struct quantile *wide)
{
	uint32_t *narrow = malloc(n * sizeof(*narrow));
	struct quantile found[7];

	for (size_t i = 0; i < n; i++)
		narrow[i] = (uint32_t)sorted[(i * 7919) % n];
	select_quantiles_narrow(narrow, n, fractions, 7, found);
	for (unsigned i = 0; i < 7; i++) {
		assert_int_equal(found[i].low, wide[i].low);
		assert_int_equal(found[i].high, wide[i].high);
		assert_true(found[i].between == wide[i].between);
	}
	free(narrow);
}

static void test_every_kind_against_sorting(void **state)
{
	static const size_t counts[] = { 1, 2, 3, 10, 599, 601, 5000, 100000 };
	static const double fractions[] = { 0, 0.25, 0.5, 0.75, 0.9, 0.99, 1 };
	struct quantile found[7];

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		for (unsigned kind = 0; kind < 6; kind++) {
			size_t n = counts[c];
			int64_t *values = malloc(n * sizeof(*values)), *sorted = malloc(n * sizeof(*sorted));

			fill(values, n, kind);
			memcpy(sorted, values, n * sizeof(*sorted));
			qsort(sorted, n, sizeof(*sorted), compare);
			assert_int_equal(select_nth(values, n, n / 3), sorted[n / 3]);
			select_quantiles(values, n, fractions, 7, found);
			for (unsigned i = 0; i < 7; i++) {
				double place = (double)(n - 1) * fractions[i];
				size_t k = (size_t)place;

				assert_int_equal(found[i].low, sorted[k]);
				assert_true(found[i].between == place - (double)k);
				if (found[i].between > 0)
					assert_int_equal(found[i].high, sorted[k + 1]);
			}
			if (kind >= 1 && kind <= 4)
				check_narrow(sorted, n, fractions, found);
			qsort(values, n, sizeof(*values), compare);
			assert_memory_equal(values, sorted, n * sizeof(*sorted));
			free(values);
			free(sorted);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_kind_against_sorting) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
