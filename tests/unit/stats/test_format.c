#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/format.h"

/* clang-format off */
#define TEXT(words) { .kind = CELL_TEXT, .text = (words), .len = sizeof(words) - 1 }
#define NUMBER(value) { .kind = CELL_NUMBER, .number = (value) }
#define REAL(value) { .kind = CELL_REAL, .real = (value) }
#define MISSING { .kind = CELL_NULL }
/* clang-format on */

static const struct table_column columns[] = {
	{ (char *)"Share", DISPLAY_PERCENT },
	{ (char *)"Total Time", DISPLAY_TIME },
	{ (char *)"Avg", DISPLAY_AVERAGE },
	{ (char *)"Name", DISPLAY_TEXT },
};

static char *written;

/* What a format makes of rows of four cells. */
static const char *format_rows(const char *format, const struct cell (*rows)[4], size_t count)
{
	struct format_spec spec;
	struct formatter *f;
	struct error err;
	size_t len;
	FILE *out;

	free(written);
	assert_int_equal(format_parse(&spec, format, &err), 0);
	out = open_memstream(&written, &len);
	assert_int_equal(formatter_open(&f, &spec, &(struct format_target){ out, TIME_NSEC, "A <title>" }, columns, 4), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(formatter_row(f, rows[i]), 0);
	assert_int_equal(formatter_close(f), 0);
	fclose(out);
	return written;
}

static const struct cell two_rows[][4] = {
	{ REAL(66.66), NUMBER(1234567), REAL(1234.56), TEXT("a, \"b\"\tc") },
	{ REAL(33.34), NUMBER(-5), MISSING, TEXT("<d>\xff") },
};

static void test_column(void **state)
{
	assert_string_equal(format_rows("column", two_rows, 2), " Share (%)  Total Time (ns)  Avg (ns)    Name  \n"
								" ---------  ---------------  --------  --------\n"
								"      66.7        1,234,567   1,234.6  a, \"b\" c\n"
								"      33.3               -5            <d>\xff    \n");
}

static void test_column_arguments(void **state)
{
	assert_string_equal(format_rows("column:nohdr:nofmt:0:.:0:5", two_rows, 2), " 1234567  a, \"\xe2\x80\xa6\n      -5  <d>\xff \n");
	assert_string_equal(format_rows("table:nohdr:0:.:0:3:time=ms", two_rows, 1),
			    "+----------+-----+\n| 1.234567 | a,\xe2\x80\xa6 |\n+----------+-----+\n");
}

static void test_csv_and_tsv(void **state)
{
	assert_string_equal(format_rows("csv", two_rows, 2), "Share (%),Total Time (ns),Avg (ns),Name\n"
							     "66.7,1234567,1234.6,\"a, \"\"b\"\"\tc\"\n33.3,-5,,<d>\xff\n");
	assert_string_equal(format_rows("tsv:nohdr", two_rows, 1), "66.7\t1234567\t1234.6\ta, \"b\" c\n");
	assert_string_equal(format_rows("tsv:nohdr:esc", two_rows, 1), "66.7\t1234567\t1234.6\ta, \"b\"\\tc\n");
}

/* Numbers are put together without printf(): they must look as if they were not. */
static void check_number(enum display display, double real, const char *form, double shown)
{
	struct cell cell = REAL(real);
	struct buf made = BUF_INIT;
	char expected[400];

	snprintf(expected, sizeof(expected), form, shown);
	assert_int_equal(cell_format(&made, &cell, display, TIME_NSEC, 0), 0);
	assert_string_equal(buf_cstr(&made), expected);
	buf_release(&made);
}

static void test_numbers_as_printed(void **state)
{
	static const double odd[] = { 0, -0.0, 0.05, 0.25, 0.0005, 0.0015, 0.9995, 2.5, 1e11, 1e300, -3.25, 99.95, 0.125, 1e-320 };
	static const int64_t whole[] = { 0, 7, -7, 10, 999999999999, INT64_MAX, INT64_MIN };
	uint64_t random = 11;

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		check_number(DISPLAY_DECIMAL, odd[i], "%.1f", odd[i]);
		check_number(DISPLAY_SIZE, odd[i], "%.3f", odd[i] / 1e6);
	}
	for (int i = 0; i < 200000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		/* Bytes, halves and quarters of small numbers, and others. */
		double value = i % 3 == 0 ? (double)(random >> 34) * 500 :
			       i % 3 == 1 ? (double)(random >> 44) / 8 :
					    (double)(random >> 12) / 1e7;

		check_number(DISPLAY_DECIMAL, value, "%.1f", value);
		check_number(DISPLAY_SIZE, value, "%.3f", value / 1e6);
	}
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		struct cell cell = NUMBER(whole[i]);
		struct buf made = BUF_INIT;
		char expected[32];

		snprintf(expected, sizeof(expected), "%lld", (long long)whole[i]);
		assert_int_equal(cell_format(&made, &cell, DISPLAY_ID, TIME_NSEC, 0), 0);
		assert_string_equal(buf_cstr(&made), expected);
		buf_release(&made);
	}
}

static void test_units(void **state)
{
	assert_string_equal(format_rows("csv:time=usec", two_rows, 2), "Share (%),Total Time (us),Avg (us),Name\n"
								       "66.7,1234.567,1.235,\"a, \"\"b\"\"\tc\"\n33.3,-0.005,,<d>\xff\n");
	assert_string_equal(format_rows("csv:nohdr:time=sec", two_rows, 1), "66.7,0.001234567,0.000001235,\"a, \"\"b\"\"\tc\"\n");
}

static void test_json_is_valid_whatever_comes(void **state)
{
	assert_string_equal(format_rows("json", two_rows, 2),
			    "[\n{\"Share (%)\":66.7,\"Total Time (ns)\":1234567,\"Avg (ns)\":1234.6,"
			    "\"Name\":\"a, \\\"b\\\"\\tc\"},\n{\"Share (%)\":33.3,\"Total Time (ns)\":-5,\"Avg (ns)\":\"\","
			    "\"Name\":\"<d>\xef\xbf\xbd\"}\n]\n");
	assert_string_equal(format_rows("json", NULL, 0), "[]\n");
}

static void test_html(void **state)
{
	assert_string_equal(format_rows("htable", two_rows, 1),
			    "<table>\n<tr><th>Share (%)</th><th>Total Time (ns)</th><th>Avg (ns)</th><th>Name</th></tr>\n"
			    "<tr><td class=\"n\">66.7</td><td class=\"n\">1,234,567</td><td class=\"n\">1,234.6</td>"
			    "<td>a, &quot;b&quot;\tc</td></tr>\n</table>\n");
	assert_non_null(strstr(format_rows("hdoc", two_rows, 1), "<title>A &lt;title&gt;</title>"));
	assert_non_null(strstr(format_rows("hdoc:title=Mine:css=x.css", two_rows, 1),
			       "<title>Mine</title>\n<link rel=\"stylesheet\" href=\"x.css\">"));
}

/* Widths are settled after a hundred rows: longer texts are cut then, numbers never. */
static void test_streaming(void **state)
{
	struct cell rows[102][4];
	const char *last;

	for (size_t i = 0; i < 102; i++)
		memcpy(rows[i], two_rows[1], sizeof(rows[i]));
	rows[101][1] = (struct cell)NUMBER(1234567890123456789);
	rows[101][3] = (struct cell)TEXT("much longer than before");
	format_rows("column:nohdr", (const struct cell(*)[4])rows, 102);
	written[strlen(written) - 1] = '\0';
	last = strrchr(written, '\n') + 1;
	assert_string_equal(last, " 33.3  1,234,567,890,123,456,789    muc\xe2\x80\xa6");
}

static void test_errors_name_the_nearest(void **state)
{
	struct format_spec spec;
	struct error err;
	enum time_unit unit;

	assert_int_equal(format_parse(&spec, "colum", &err), -EINVAL);
	assert_string_equal(err.text, "Unknown format 'colum'. Did you mean column?");
	assert_int_equal(format_parse(&spec, "csv:nolimit", &err), -EINVAL);
	assert_int_equal(format_parse(&spec, "json:3", &err), -EINVAL);
	assert_int_equal(time_unit_parse("fortnight", &unit, &err), -EINVAL);
	assert_int_equal(time_unit_parse("", &unit, &err), -EINVAL);
}

static void test_time_units_by_prefix(void **state)
{
	static const struct {
		const char *text;
		enum time_unit unit;
	} cases[] = {
		{ "nsec", TIME_NSEC },   { "nanoseconds", TIME_NSEC },  { "n", TIME_NSEC },  { "us", TIME_USEC },
		{ "usec", TIME_USEC },   { "micro", TIME_USEC },        { "ms", TIME_MSEC }, { "milli", TIME_MSEC },
		{ "msec", TIME_MSEC },   { "milliseconds", TIME_MSEC }, { "s", TIME_SEC },   { "sec", TIME_SEC },
		{ "seconds", TIME_SEC },
	};
	enum time_unit unit;
	struct error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(time_unit_parse(cases[i].text, &unit, &err), 0);
		assert_int_equal(unit, cases[i].unit);
	}
}

static int tear_down(void **state)
{
	free(written);
	return 0;
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_column), cmocka_unit_test(test_column_arguments), cmocka_unit_test(test_csv_and_tsv),
		cmocka_unit_test(test_numbers_as_printed),
		cmocka_unit_test(test_units), cmocka_unit_test(test_json_is_valid_whatever_comes),
		cmocka_unit_test(test_html), cmocka_unit_test(test_streaming),
		cmocka_unit_test(test_errors_name_the_nearest), cmocka_unit_test(test_time_units_by_prefix),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
