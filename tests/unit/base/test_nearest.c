#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/nearest.h"

static unsigned distance(const char *a, const char *b)
{
	return edit_distance(a, strlen(a), b, strlen(b));
}

static void test_distance(void **state)
{
	(void)state;
	assert_int_equal(distance("", ""), 0);
	assert_int_equal(distance("abc", "abc"), 0);
	assert_int_equal(distance("abc", ""), 3);
	assert_int_equal(distance("", "abc"), 3);
	assert_int_equal(distance("kitten", "sitting"), 3);
	assert_int_equal(distance("abc", "acb"), 1); /* two neighbours swapped */
	assert_int_equal(distance("Trace", "tRACE"), 0);
}

static const char *hint_for(const char *word, const char *const *names)
{
	static char buffer[160];
	struct nearest nearest;

	nearest_begin(&nearest, word);
	for (; *names; names++)
		nearest_offer(&nearest, *names, strlen(*names));
	return nearest_hint(&nearest, "--", buffer, sizeof(buffer));
}

static void test_hint(void **state)
{
	static const char *const names[] = { "trace", "sample", "cpu-metrics", "gpu-metrics-devices", "stats", NULL };

	(void)state;
	assert_string_equal(hint_for("smaple", names), " Did you mean --sample?");
	assert_string_equal(hint_for("TRACE", names), " Did you mean --trace?");
	/* A beginning is taken for an abbreviation, even where another name is one letter away. */
	assert_string_equal(hint_for("gpu-metrics", names), " Did you mean --gpu-metrics-devices?");
	/* So are parts of one; of several the first. */
	assert_string_equal(hint_for("kern_sum", (const char *const[]){ "osrt_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_kern_sum",
									"nvtx_kern_sum", NULL }),
			    " Did you mean --cuda_gpu_kern_sum?");
	/* A letter that is wrong is likelier. */
	assert_string_equal(hint_for("sum", (const char *const[]){ "osrt_sum", "sun", NULL }), " Did you mean --sun?");
	/* Nothing in common: no suggestion rather than a silly one. */
	assert_string_equal(hint_for("xyz", names), "");
	assert_string_equal(hint_for("anything", (const char *const[]){ NULL }), "");
}

static void test_overlong_words(void **state)
{
	char word[500];
	static const char *const names[] = { "trace", NULL };

	(void)state;
	memset(word, 't', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_non_null(hint_for(word, names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_hint),
		cmocka_unit_test(test_overlong_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
