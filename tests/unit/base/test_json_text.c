#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/json_text.h"

static void expect(const char *text, size_t len, const char *json)
{
	struct buf b = BUF_INIT;
	char *printed = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&printed, &size);

	assert_int_equal(json_append_text(&b, text, len), 0);
	assert_string_equal(buf_cstr(&b), json);
	json_put_text(f, text, len);
	fclose(f);
	assert_string_equal(printed, json);
	free(printed);
	buf_release(&b);
}

#define EXPECT(text, json) expect(text, sizeof(text) - 1, json)

static void test_texts(void **state)
{
	(void)state;
	EXPECT("", "\"\"");
	EXPECT("plain", "\"plain\"");
	EXPECT("a\"b\\c", "\"a\\\"b\\\\c\"");
	EXPECT("\n\t\r\b\f\x01\x7f", "\"\\n\\t\\r\\b\\f\\u0001\\u007f\"");
	EXPECT("a\0b", "\"a\\u0000b\"");
	EXPECT("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

/* What is no UTF-8: each byte of it becomes one U+FFFD. */
static void test_bytes_that_are_no_text(void **state)
{
	(void)state;
	EXPECT("\xff", "\"\xef\xbf\xbd\"");
	EXPECT("a\xe2\x82", "\"a\xef\xbf\xbd\xef\xbf\xbd\"");               /* cut short */
	EXPECT("\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"");                 /* longer than need be */
	EXPECT("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* half of a pair */
	EXPECT("\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void test_read_again(void **state)
{
	static const char *const words[] = { "", "a b", "quote\"", "back\\slash", "line\nend\x01\x7f", "\xc3\xa4\xe2\x82\xac" };
	struct buf list = BUF_INIT, word = BUF_INIT;
	const char *at;

	(void)state;
	buf_puts(&list, "[");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		buf_puts(&list, i ? ", " : "");
		json_append_text(&list, words[i], strlen(words[i]));
	}
	buf_puts(&list, "]");
	at = buf_cstr(&list);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		at = json_next_text(at, &word);
		assert_non_null(at);
		assert_string_equal(buf_cstr(&word), words[i]);
	}
	assert_null(json_next_text(at, &word));
	assert_null(json_next_text("[\"open", &word));
	assert_non_null(json_next_text("[\"\\u00e4\\u20ac\"]", &word));
	assert_string_equal(buf_cstr(&word), "\xc3\xa4\xe2\x82\xac");
	buf_release(&list);
	buf_release(&word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_bytes_that_are_no_text),
		cmocka_unit_test(test_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
