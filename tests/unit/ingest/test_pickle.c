/* Every opcode of the stack machine, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "ingest/pickle/machine.h"

static void print_value(const struct pickle *p, uint32_t number, struct buf *to);

static void print_items(const struct pickle *p, const struct pickle_value *v, const char *open, const char *close, struct buf *to)
{
	struct pickle_items at = pickle_items(p, v);
	uint32_t item, count = 0;

	buf_puts(to, open);
	while (pickle_next(&at, &item)) {
		if (count++)
			buf_puts(to, v->kind == PICKLE_DICT && count % 2 == 0 ? ":" : ",");
		print_value(p, item, to);
	}
	assert_int_equal(count, v->count);
	buf_puts(to, close);
}

/* As Python would write it, without blanks. */
static void print_value(const struct pickle *p, uint32_t number, struct buf *to)
{
	const struct pickle_value *v = pickle_value(p, number);

	switch ((enum pickle_kind)v->kind) {
	case PICKLE_NONE: buf_puts(to, "None"); break;
	case PICKLE_BOOL: buf_puts(to, v->is.integer ? "True" : "False"); break;
	case PICKLE_INT: buf_printf(to, "%lld", (long long)v->is.integer); break;
	case PICKLE_BIG: buf_puts(to, "big"); break;
	case PICKLE_REAL: buf_printf(to, "%g", v->is.real); break;
	case PICKLE_TEXT:
		buf_puts(to, "'");
		buf_append(to, pickle_text(p, v)->bytes, pickle_text(p, v)->len);
		buf_puts(to, "'");
		break;
	case PICKLE_BYTES: buf_puts(to, "bytes"); break;
	case PICKLE_LIST: print_items(p, v, "[", "]", to); break;
	case PICKLE_TUPLE: print_items(p, v, "(", ")", to); break;
	case PICKLE_SET: print_items(p, v, "{", "}", to); break;
	case PICKLE_DICT: print_items(p, v, "{", "}", to); break;
	}
}

static int read_bytes(struct pickle *p, const char *bytes, size_t len, struct error *err)
{
	struct source source;

	source_of_text(&source, bytes, len);
	source.window = 1;
	return pickle_read(p, &source, err);
}

static void expect(const char *bytes, size_t len, const char *want)
{
	struct buf text = BUF_INIT;
	struct error err = { "" };
	struct pickle p;
	int r = read_bytes(&p, bytes, len, &err);

	if (r < 0)
		fail_msg("%s: %s", want, err.text);
	print_value(&p, p.top, &text);
	assert_string_equal(buf_cstr(&text), want);
	buf_release(&text);
	pickle_release(&p);
}

static void expect_refused(const char *bytes, size_t len, const char *words)
{
	struct error err = { "" };
	struct pickle p;

	assert_int_equal(read_bytes(&p, bytes, len, &err), -74 /* EBADMSG */);
	if (!strstr(err.text, words))
		fail_msg("'%s' is not in '%s'", words, err.text);
	pickle_release(&p);
}

/* What a literal has, without its NUL. */
#define READS(literal, want) expect(literal, sizeof(literal) - 1, want)
#define REFUSES(literal, words) expect_refused(literal, sizeof(literal) - 1, words)

static void test_numbers(void **state)
{
	(void)state;
	READS("\x80\x02N.", "None");
	READS("\x80\x02\x88.", "True");
	READS("\x80\x02\x89.", "False");
	READS("I01\n.", "True");
	READS("I00\n.", "False");
	READS("I0\n.", "0");
	READS("I-12\n.", "-12");
	READS("I9223372036854775807\n.", "9223372036854775807");
	READS("L-9223372036854775808L\n.", "-9223372036854775808");
	READS("L9223372036854775808L\n.", "big");
	READS("L5\n.", "5");
	READS("K\xff.", "255");
	READS("M\x01\x02.", "513");
	READS("J\xfe\xff\xff\xff.", "-2");
	READS("J\xff\xff\xff\x7f.", "2147483647");
	READS("\x8a\x00.", "0");
	READS("\x8a\x01\x80.", "-128");
	READS("\x8a\x02\x80\x00.", "128");
	READS("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.", "9223372036854775807");
	READS("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00.", "big");
	READS("\x8b\x01\x00\x00\x00\x07.", "7");
	READS("F1.5\n.", "1.5");
	READS("F-inf\n.", "-inf");
	READS("G\xbf\xe0\x00\x00\x00\x00\x00\x00.", "-0.5");
	REFUSES("I1x\n.", "a whole number is none");
	REFUSES("I\n.", "a whole number is none");
	REFUSES("I-\n.", "a whole number is none");
	REFUSES("F1.5x\n.", "a number is none");
	REFUSES("F\n.", "a number is none");
	REFUSES("\x8b\xff\xff\xff\xff.", "negative length");
}

static void test_texts(void **state)
{
	(void)state;
	READS("U\x02"
	      "ab.",
	      "'ab'");
	READS("T\x02\x00\x00\x00"
	      "ab.",
	      "'ab'");
	READS("X\x02\x00\x00\x00\xc3\xa4.", "'\xc3\xa4'");
	READS("\x8c\x00.", "''");
	READS("\x8c\x02"
	      "ab.",
	      "'ab'");
	READS("\x8d\x02\x00\x00\x00\x00\x00\x00\x00"
	      "ab.",
	      "'ab'");
	READS("\x8c\x02\xff\xfe.", "'\xff\xfe'");
	READS("Va\xe4\\u20ac\\U0001f600\\x\n.", "'a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\\x'");
	READS("V\\ud800\n.", "'\xef\xbf\xbd'");
	READS("V\n.", "''");
	READS("S'a\\n\\x41\\'\\\\'\n.", "'a\nA'\\'");
	READS("S\"\"\n.", "''");
	READS("C\x02"
	      "ab.",
	      "bytes");
	READS("B\x02\x00\x00\x00"
	      "ab.",
	      "bytes");
	READS("\x8e\x02\x00\x00\x00\x00\x00\x00\x00"
	      "ab.",
	      "bytes");
	READS("\x96\x02\x00\x00\x00\x00\x00\x00\x00"
	      "ab.",
	      "bytes");
	REFUSES("V\\u20a\n.", "broken escape");
	REFUSES("V\\uwxyz\n.", "broken escape");
	REFUSES("S'a\n.", "no quotes");
	REFUSES("S'\n.", "no quotes");
	REFUSES("S'\\q'\n.", "broken escape");
	REFUSES("S'\\x4'\n.", "broken escape");
	REFUSES("S'\\'\n.", "broken escape");
	REFUSES("X\x01\x00\x10\x00"
		"ab.",
		"a text of 1048577 bytes");
	REFUSES("\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "a text of 18446744073709551615 bytes");
	REFUSES("X\x05\x00\x00\x00"
		"ab.",
		"cut off");
	REFUSES("\x8e\xff\xff\xff\xff\xff\xff\xff\xff"
		"ab.",
		"cut off");
}

static void test_parts(void **state)
{
	(void)state;
	READS("].", "[]");
	READS("}.", "{}");
	READS(").", "()");
	READS("\x8f.", "{}");
	READS("(l.", "[]");
	READS("(K\x01K\x02l.", "[1,2]");
	READS("(K\x01K\x02t.", "(1,2)");
	READS("(K\x01K\x02"
	      "d.",
	      "{1:2}");
	READS("(K\x01K\x02\x91.", "{1,2}");
	READS("K\x01\x85.", "(1)");
	READS("K\x01K\x02\x86.", "(1,2)");
	READS("K\x01K\x02K\x03\x87.", "(1,2,3)");
	READS("]K\x01"
	      "aK\x02"
	      "a.",
	      "[1,2]");
	READS("](K\x01K\x02"
	      "e(K\x03"
	      "e.",
	      "[1,2,3]");
	READS("](e.", "[]");
	READS("}K\x01K\x02s.", "{1:2}");
	READS("}(K\x01K\x02K\x03K\x04u.", "{1:2,3:4}");
	READS("\x8f(K\x01K\x02\x90.", "{1,2}");
	/* Lists that grow by turns are in several chunks. */
	READS("(]q\x00]q\x01"
	      "lh\x00K\x01"
	      "a0h\x01K\x02"
	      "a0h\x00K\x03"
	      "a0h\x01K\x04"
	      "a0.",
	      "[[1,3],[2,4]]");
	READS("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff].", "[]");
	REFUSES("K\x01K\x02"
		"a.",
		"not a list");
	REFUSES("]K\x01K\x02s.", "not a dictionary");
	REFUSES("](K\x01\x90.", "not a set");
	REFUSES("(K\x01"
		"d.",
		"a key without a value");
	REFUSES("}(K\x01u.", "a key without a value");
	REFUSES("K\x01"
		"a.",
		"a value is missing");
	REFUSES("](a.", "a value is missing");
	REFUSES("K\x01\x86.", "a value is missing");
	REFUSES("e.", "a mark is missing");
	REFUSES("t.", "a mark is missing");
}

static void test_stack_and_memo(void **state)
{
	(void)state;
	READS("K\x01K\x02"
	      "0.",
	      "1");
	READS("K\x01(0.", "1");
	READS("K\x01(K\x02K\x03"
	      "1.",
	      "1");
	READS("]K\x01"
	      "2\x86"
	      "a.",
	      "[(1,1)]");
	READS("]p0\n0g0\n.", "[]");
	READS("]q\x00"
	      "0h\x00.",
	      "[]");
	READS("]r\x01\x00\x00\x00"
	      "0j\x01\x00\x00\x00.",
	      "[]");
	READS("K\x05\x94"
	      "0K\x06\x94"
	      "0h\x01.",
	      "6");
	REFUSES("q\x00.", "a value is missing");
	REFUSES("\x94.", "a value is missing");
	REFUSES("]q\x07.", "memo of number 7");
	REFUSES("h\x00.", "no memo of number 0");
	REFUSES("gx\n.", "the number of a memo is none");
	REFUSES("g\n.", "the number of a memo is none");
	REFUSES("]p99999999999\n.", "the number of a memo is none");
	REFUSES("]p4294967295\n.", "memo of number 4294967295");
	REFUSES("0.", "a value is missing");
	REFUSES("1.", "a mark is missing");
	REFUSES("2.", "a value is missing");
	REFUSES("(.", "a value is missing");
	REFUSES(".", "a value is missing");
	REFUSES("", "cut off");
	REFUSES("\x80\x06].", "protocol 6");
	REFUSES("]\x05.", "0x05 is not an opcode");
}

static void test_cycles(void **state)
{
	(void)state;
	READS("]q\x00(]q\x01h\x01h\x01"
	      "e.",
	      "[[],[],[]]");
	REFUSES("]q\x00h\x00"
		"a.",
		"contains itself");
	REFUSES("}q\x00(K\x01](]h\x00"
		"eu.",
		"contains itself");
	REFUSES("]q\x00](h\x00K\x01t"
		"a"
		"a.",
		"contains itself");
}

static void test_calls(void **state)
{
	(void)state;
	REFUSES("cos\nsystem\n(S'ls'\ntR.", "asks to call os.system; a snapshot consists of plain data only");
	REFUSES("\x80\x04\x8c\x05posix\x8c\x06system\x93.", "asks to call posix.system;");
	REFUSES("\x80\x04K\x01K\x02\x93.", "asks to call something without a name;");
	REFUSES("(ios\nsystem\n.", "asks to call os.system;");
	REFUSES("c\x1b[2J\n\xff\n.", "asks to call ?[2J.?;");
	REFUSES("K\x01)R.", "asks to make an object;");
	REFUSES("K\x01)b.", "asks to make an object;");
	REFUSES("(K\x01o.", "asks to make an object;");
	REFUSES("K\x01)\x81.", "asks to make an object;");
	REFUSES("K\x01)}\x92.", "asks to make an object;");
	REFUSES("\x82\x05.", "extension 5;");
	REFUSES("\x83\x05\x01.", "extension 261;");
	REFUSES("\x84\x05\x00\x00\x01.", "extension 16777221;");
	REFUSES("Pabc\n.", "outside of the file;");
	REFUSES("K\x01Q.", "outside of the file;");
	REFUSES("\x97.", "outside of the file;");
	REFUSES("\x98.", "outside of the file;");
}

static void test_recognition(void **state)
{
	(void)state;
	assert_true(pickle_is("\x80\x02}", 3));
	assert_true(pickle_is("\x80\x05\x95", 3));
	assert_true(pickle_is("(dp0\n", 5));
	assert_true(pickle_is("(lp0\n", 5));
	assert_true(pickle_is("}q\x00(", 4));
	assert_true(pickle_is("]q\x00(", 4));
	assert_false(pickle_is("{}", 2));
	assert_false(pickle_is("[]", 2));
	assert_false(pickle_is("[1]", 3));
	assert_false(pickle_is("(c) 2024", 8));
	assert_false(pickle_is("(define x)", 10));
	assert_false(pickle_is("\x80", 1));
	assert_false(pickle_is("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),        cmocka_unit_test(test_texts),  cmocka_unit_test(test_parts),
		cmocka_unit_test(test_stack_and_memo), cmocka_unit_test(test_cycles), cmocka_unit_test(test_calls),
		cmocka_unit_test(test_recognition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
