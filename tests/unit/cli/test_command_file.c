#include "run_cli.h"

#include <errno.h>

#include "cli/arguments/command_file.h"

static void assert_words(const char *text, const char *const *expected)
{
	struct string_list words = STRING_LIST_INIT;
	struct error err;
	size_t i;

	assert_int_equal(command_file_split(text, &words, &err), 0);
	for (i = 0; expected[i]; i++) {
		assert_true(i < words.count);
		assert_string_equal(words.items[i], expected[i]);
	}
	assert_int_equal(words.count, i);
	string_list_release(&words);
}

#define WORDS(text, ...) assert_words(text, (const char *const[]){ __VA_ARGS__, NULL })

static void test_split(void **state)
{
	WORDS("-t nvtx\n--output=x\n", "-t", "nvtx", "--output=x");
	WORDS("  # only a comment\n\t-f # and another\n#", "-f");
	WORDS("--env-var='A=b c' \"-o\" a\\ b", "--env-var=A=b c", "-o", "a b");
	WORDS("\"a \\\" b\" 'c \\'", "a \" b", "c \\");
	WORDS("x#y ''", "x#y", "");
	assert_words("", (const char *const[]){ NULL });
	assert_words(" \n#c", (const char *const[]){ NULL });
}

static void test_open_quote(void **state)
{
	struct string_list words = STRING_LIST_INIT;
	struct error err;

	assert_int_equal(command_file_split("a 'b", &words, &err), -EINVAL);
	assert_contains(err.text, "quote");
	string_list_release(&words);
}

static void test_missing_file(void **state)
{
	struct string_list words = STRING_LIST_INIT;
	struct error err;

	assert_int_equal(command_file_read("no-such-file", &words, &err), -ENOENT);
	assert_contains(err.text, "no-such-file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_open_quote),
		cmocka_unit_test(test_missing_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
