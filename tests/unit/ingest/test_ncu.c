/* Rows of CSV as RFC 4180 has them, and a table of ncu cut at every byte: whole rows before the cut are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/input/csv.h"
#include "ingest/ncu.h"

static void check_row(struct csv *c, size_t line, const char *const *cells)
{
	size_t count = 0;

	assert_int_equal(csv_next(c), 1);
	assert_int_equal(c->line, line);
	for (; cells[count]; count++) {
		assert_true(count < c->count);
		assert_string_equal(c->cells[count].text, cells[count]);
		assert_int_equal(c->cells[count].len, strlen(cells[count]));
	}
	assert_int_equal(c->count, count);
}

static void rows(void **state)
{
	static const char text[] = "a,\"b,\"\"c\"\"\",\r\n\n\"two\nlines\",x\"y\"z\nlast,";
	struct csv c;

	csv_begin(&c, text, sizeof(text) - 1);
	check_row(&c, 1, (const char *const[]){ "a", "b,\"c\"", "", NULL });
	check_row(&c, 2, (const char *const[]){ "", NULL });
	check_row(&c, 3, (const char *const[]){ "two\nlines", "xyz", NULL });
	check_row(&c, 5, (const char *const[]){ "last", "", NULL });
	assert_int_equal(csv_next(&c), 0);
	csv_release(&c);
}

static void apostrophes_of_our_own(void **state)
{
	static const char text[] = "'=a,\"'@SUM(1,2)\",'a,''=b,'-5\n";
	struct csv c;

	csv_begin(&c, text, sizeof(text) - 1);
	check_row(&c, 1, (const char *const[]){ "=a", "@SUM(1,2)", "'a", "'=b", "'-5", NULL });
	csv_release(&c);
}

static void unended_quote(void **state)
{
	struct csv c;

	csv_begin(&c, "x\n\"a", 4);
	assert_int_equal(csv_next(&c), 1);
	assert_true(csv_next(&c) < 0);
	assert_int_equal(c.line, 2);
	assert_non_null(c.trouble);
	csv_release(&c);
}

static const char table[] = "==PROF== hello\n\"ID\",\"Process ID\",\"Kernel Name\",\"m\",\"n\"\n\"\",\"\",\"\",\"%\",\"inst\"\n"
			    "\"0\",\"1\",\"k\",\"1,234.5\",\"6 (1; 5)\"\n==WARNING== x\n\"1\",\"1\",\"k\",\"n/a\",\"7\"\n";

static uint64_t import(const char *text, size_t len, int *ret_whole)
{
	char folder[] = "/tmp/sonde-ingest-XXXXXX", path[64], *copy = malloc(len ? len : 1);
	struct report_writer *writer;
	struct ncu_result result;
	struct error err;

	memcpy(copy, text, len);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.sonde", folder);
	assert_int_equal(report_writer_open(&writer, path, 0, NULL, 0, &err), 0);
	assert_int_equal(ncu_import(copy, len, writer, &result, &err), 0);
	report_writer_abandon(writer);
	snprintf(path, sizeof(path), "%s/t.sonde.part", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/t.sonde.journal", folder);
	unlink(path);
	rmdir(folder);
	free(copy);
	*ret_whole = !result.trouble;
	return result.kernels;
}

static void cut_at_every_byte(void **state)
{
	/* Behind the last cell's quote a row is whole, with or without its end of line; so it is before the cell, which
	 * may be empty. */
	size_t first = (size_t)(strstr(table, "5)\"\n") - table) + 3, second = sizeof(table) - 2;
	size_t before_first = first - strlen("\"6 (1; 5)\""), before_second = second - strlen("\"7\"");
	int whole;

	for (size_t len = 0; len < sizeof(table); len++)
		assert_int_equal(import(table, len, &whole),
				 (len >= first || len == before_first) + (len >= second || len == before_second));
	assert_true(whole);
}

static void recognised(void **state)
{
	assert_true(ncu_is_table(table, sizeof(table) - 1));
	assert_true(ncu_is_table("ID,Process ID,x", 15));
	assert_false(ncu_is_table("a,b\nIDs,x\n", 10));
	assert_false(ncu_is_table("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),          cmocka_unit_test(apostrophes_of_our_own),
		cmocka_unit_test(unended_quote), cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(recognised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
