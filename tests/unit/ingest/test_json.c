#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/input/json.h"
#include "ingest/kineto/internal.h"

static struct json_value value_of(const char *text)
{
	struct json_value v = { 0 };
	struct json j;

	json_begin(&j, text, strlen(text));
	assert_int_equal(json_value(&j, &v), 0);
	assert_int_equal(json_peek(&j), 0);
	return v;
}

static int64_t scaled(const char *text)
{
	struct json_value v = value_of(text);
	int64_t ret = 0;

	return json_scaled(&v, 3, &ret) ? ret : -1;
}

static void times_keep_every_nanosecond(void **state)
{
	assert_int_equal(scaled("3852449570867.024"), 3852449570867024);
	assert_int_equal(scaled("1790857026000000.001"), 1790857026000000001);
	assert_int_equal(scaled("\"12.5\""), 12500);
	assert_int_equal(scaled("0.0004"), 0);
	assert_int_equal(scaled("0.0005"), 1);
	assert_int_equal(scaled("-7"), -7000);
	assert_int_equal(scaled("1.5e3"), 1500000);
	assert_int_equal(scaled("1.790857026000000123e15"), 1790857026000000123);
	assert_int_equal(scaled("1790857026000000123E-3"), 1790857026000000123);
	assert_int_equal(scaled("12345678901234567890123e-10"), 1234567890123457);
	assert_int_equal(scaled("0e99999999999"), 0);
	assert_int_equal(scaled("5e-99999"), 0);
	assert_int_equal(scaled("1e"), -1);
	assert_int_equal(scaled("\"1e5x\""), -1);
	assert_int_equal(scaled("NaN"), -1);
	assert_int_equal(scaled("1e400"), -1);
	assert_int_equal(scaled("99999999999999999999"), -1);
	assert_int_equal(scaled("9223372036854775807"), -1);
	assert_int_equal(scaled("\"\""), -1);
	assert_int_equal(scaled("\"-\""), -1);
	assert_int_equal(scaled("\"12 s\""), -1);
}

static void whole_numbers_keep_their_bits(void **state)
{
	struct json_value v = value_of("18446744073709551615");
	int64_t ret;

	assert_true(json_integer(&v, &ret));
	assert_int_equal(ret, -1);
	v = value_of("18446744073709551616");
	assert_false(json_integer(&v, &ret));
	v = value_of("-9223372036854775809");
	assert_false(json_integer(&v, &ret));
	v = value_of("1.0");
	assert_false(json_integer(&v, &ret));
}

static void assert_text(const char *written, const char *meant)
{
	struct json_value v = value_of(written);
	char *text = malloc(v.len + 1);
	size_t len = json_unescape(&v, text, v.len + 1);

	assert_int_equal(len, strlen(meant));
	assert_memory_equal(text, meant, len);
	free(text);
}

static void escapes_are_taken_apart(void **state)
{
	assert_text("\"a\\\"b\\\\c\\/\\n\\t\"", "a\"b\\c/\n\t");
	assert_text("\"\\u00e9\\u20AC\"", "\xc3\xa9\xe2\x82\xac");
	assert_text("\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80");
	assert_text("\"\\ud83d!\"", "\xef\xbf\xbd!");
	assert_text("\"\\u0000\\u12\"", "\xef\xbf\xbdu12");
}

/* Copies to a block of its own, so that a read behind the end is noticed. */
static int reads(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);
	struct json_value v;
	struct json j;
	int r;

	memcpy(copy, text, len);
	json_begin(&j, copy, len);
	r = json_value(&j, &v);
	assert_true(j.at >= copy && j.at <= copy + len);
	assert_true((r < 0) == (j.trouble != NULL));
	free(copy);
	return r == 0;
}

static void cut_anywhere_it_is_refused(void **state)
{
	static const char text[] =
		"{\"a\": [1.5e-3, {\"b\\u00e9\\\\\": null}, true, false, \"x\\\"\"], \"c\": {}, \"d\": [], \"e\": -Infinity}";

	assert_true(reads(text, sizeof(text) - 1));
	for (size_t len = 0; len < sizeof(text) - 1; len++)
		assert_false(reads(text, len));
}

static void nesting_is_bounded(void **state)
{
	char text[4 * JSON_MAX_DEPTH];

	memset(text, '[', JSON_MAX_DEPTH);
	memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
	assert_true(reads(text, 2 * JSON_MAX_DEPTH));
	memset(text, '[', 2 * JSON_MAX_DEPTH);
	memset(text + 2 * JSON_MAX_DEPTH, ']', 2 * JSON_MAX_DEPTH);
	assert_false(reads(text, sizeof(text)));
}

/* An object whose members are named after `names`, each with its place as the value, is read back; `blank` stands around the colons
 * and behind commas. */
static void assert_names(struct json_name *kept, const char *const *names, unsigned count, const char *blank)
{
	struct json_value key, value;
	struct buf text = BUF_INIT;
	struct json j;
	int64_t place;
	int first = 1;

	buf_puts(&text, "{");
	for (unsigned i = 0; i < count; i++)
		buf_printf(&text, "%s%s\"%s\"%s:%s%u", i ? "," : "", blank, names[i], blank, blank, i);
	/* Names are only expected where enough text follows. */
	buf_printf(&text, "}%200s", "");
	json_begin(&j, text.data, text.len);
	j.names = kept;
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(json_next_member(&j, &first, &key), 1);
		assert_true(json_equals(&key, names[i]));
		assert_int_equal(json_value(&j, &value), 0);
		assert_true(json_integer(&value, &place));
		assert_int_equal(place, i);
		if (key.name)
			assert_memory_equal(kept[key.name - 1].text + 1, names[i], key.len);
	}
	assert_int_equal(json_next_member(&j, &first, &key), 0);
	assert_int_equal(json_peek(&j), 0);
	buf_release(&text);
}

static void names_are_reported_apart(void **state)
{
	static const char *const these[] = { "a", "ab", "", "abcdef", "abcdefg", "abcdefgh", "a", "a name of three words and more" };
	static const char *const those[] = {
		"a", "b", "", "abcdeg", "abcdefg:", "abcdefghi", "ab", "a name that is longer than all of those that are kept, by some"
	};
	static const char *const blanks[] = { "", " ", "\n    ", "\t", "\r\n" };
	struct json_name *kept = calloc(JSON_NAMES, sizeof(*kept));

	assert_non_null(kept);
	for (unsigned i = 0; i < 30; i++)
		assert_names(kept, i % 3 ? these : those, 8, blanks[i / 2 % 5]);
	free(kept);
}

static void names_without_end(void **state)
{
	struct json_name *kept = calloc(JSON_NAMES, sizeof(*kept));
	char text[64];
	const char *name = text;

	assert_non_null(kept);
	for (unsigned i = 0; i < 4 * JSON_NAMES; i++) {
		snprintf(text, sizeof(text), "name %u", i);
		assert_names(kept, &name, 1, "");
		assert_names(kept, &name, 1, " ");
	}
	free(kept);
}

static int members_of(const char *text, struct json_name *kept)
{
	struct json_value key, value;
	struct json j;
	int first = 1, count = 0, r;

	json_begin(&j, text, strlen(text));
	j.names = kept;
	while ((r = json_next_member(&j, &first, &key)) > 0) {
		if (json_value(&j, &value) < 0)
			return -1;
		count++;
	}
	return r < 0 ? -1 : count;
}

/* What is expected does not make up for what is wrong. */
static void malformed_with_names(void **state)
{
#define BEHIND "                                                                                                                        "
	struct json_name *kept = calloc(JSON_NAMES, sizeof(*kept));

	assert_non_null(kept);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(members_of("{\"a\": 1, \"b\": 2}" BEHIND, kept), 2);
		assert_int_equal(members_of("{\"a\": 1 \"b\": 2}" BEHIND, kept), -1);
		assert_int_equal(members_of("{\"a\": 1,, \"b\": 2}" BEHIND, kept), -1);
		assert_int_equal(members_of("{, \"a\": 1}" BEHIND, kept), -1);
		assert_int_equal(members_of("{\"a\" 1}" BEHIND, kept), -1);
		assert_int_equal(members_of("{\"a\": 1, \"b\": }" BEHIND, kept), -1);
		assert_int_equal(members_of("{\"a\": 1, \"b\": 2", kept), -1);
	}
	free(kept);
}

static void assert_short(const char *name, const char *want)
{
	size_t len;
	const char *got = kineto_short_name(name, &len);

	assert_int_equal(len, strlen(want));
	assert_memory_equal(got, want, len);
}

static void short_names(void **state)
{
	assert_short("plain_kernel", "plain_kernel");
	assert_short("void f<int>(int)", "f");
	assert_short("void a::(anonymous namespace)::g<4, b::C<float> >(int, (anonymous namespace)::D)", "g");
	assert_short("void cutlass::Kernel2<cutlass_80>(cutlass_80::Params)", "Kernel2");
	assert_short("a<b>::c(d)", "c");
	assert_short("", "");
	assert_short("(odd)", "(odd)");
	assert_short("<<<", "<<<");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_keep_every_nanosecond),
		cmocka_unit_test(whole_numbers_keep_their_bits),
		cmocka_unit_test(escapes_are_taken_apart),
		cmocka_unit_test(cut_anywhere_it_is_refused),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(names_are_reported_apart),
		cmocka_unit_test(names_without_end),
		cmocka_unit_test(malformed_with_names),
		cmocka_unit_test(short_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
