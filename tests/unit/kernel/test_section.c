/* Files of sections, sets and words: what they say is read, and what is wrong is named with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/metrics/glossary.h"
#include "kernel/sections/section.h"

static const char good[] = "# A comment\n"
			   "title = My Section\n"
			   "sets = basic, mine\n"
			   "order = 42\n"
			   "cc = 8.0-\n"
			   "about = First line.\n"
			   "about = Second line.\n"
			   "\n"
			   "[rows]\n"
			   "Time = gpu__time_duration.sum [ns]\n"
			   "@9.0,10.0-10.3 Cluster Size = launch__cluster_size\r\n"
			   "\\# Per = 2 * a__b.sum / c__d.sum [%]\n"
			   "[table Traffic]\n"
			   "group = my__group\n"
			   "columns = Bytes [byte] | Share [%]\n"
			   "Read = a__r.sum\n"
			   "\t| 100 * a__r.sum / a__t.sum\n"
			   "Write = a__w.sum | -\n"
			   "[roofline Roof]\n"
			   "work FP32 = 2 * x__y.sum.peak_sustained | x__y.sum.per_second [flop/s]\n"
			   "traffic DRAM = p__q.sum | r__s.sum [byte/s]\n"
			   "[breakdown Parts]\n"
			   "All = sm__throughput.avg.pct_of_peak_sustained_elapsed\n";

static int parse(struct section *s, const char *text, struct error *err)
{
	return section_parse(s, "/somewhere/Mine.section", text, strlen(text), err);
}

static void head(void **state)
{
	struct section s;
	struct error err = { "" };

	assert_int_equal(parse(&s, good, &err), 0);
	assert_string_equal(s.id, "Mine");
	assert_string_equal(s.title, "My Section");
	assert_string_equal(s.about, "First line. Second line.");
	assert_int_equal(s.order, 42);
	assert_int_equal(s.set_count, 2);
	assert_true(section_in_set(&s, "mine") && section_in_set(&s, "Basic") && !section_in_set(&s, "full"));
	assert_true(cc_fits(&s.cc, 80) && cc_fits(&s.cc, 121) && !cc_fits(&s.cc, 75));
	assert_int_equal(s.block_count, 4);
	section_release(&s);
}

static void rows(void **state)
{
	struct section s;
	struct error err = { "" };
	const struct section_block *b;

	assert_int_equal(parse(&s, good, &err), 0);
	b = &s.blocks[0];
	assert_int_equal(b->kind, BLOCK_ROWS);
	assert_int_equal(b->row_count, 3);
	assert_string_equal(b->rows[0].label, "Time");
	assert_string_equal(b->rows[0].unit, "ns");
	assert_string_equal(formula_metric(&b->rows[0].cells[0]), "gpu__time_duration.sum");
	assert_int_equal(b->rows[0].line, 10);
	assert_string_equal(b->rows[1].label, "Cluster Size");
	assert_string_equal(b->rows[1].unit, "");
	assert_true(cc_fits(&b->rows[1].cc, 90) && cc_fits(&b->rows[1].cc, 103) && !cc_fits(&b->rows[1].cc, 110) &&
		    !cc_fits(&b->rows[1].cc, 89));
	assert_string_equal(b->rows[2].label, "# Per");
	b = &s.blocks[1];
	assert_int_equal(b->kind, BLOCK_TABLE);
	assert_string_equal(b->title, "Traffic");
	assert_string_equal(b->group, "my__group");
	assert_int_equal(b->column_count, 2);
	assert_string_equal(b->columns[1].title, "Share");
	assert_string_equal(b->columns[1].unit, "%");
	assert_int_equal(b->rows[0].cell_count, 2);
	assert_int_equal(b->rows[1].cells[1].count, 0);
	/* The line before goes on for two. */
	assert_int_equal(b->rows[1].line, 18);
	assert_int_equal(s.blocks[2].rows[0].cell_count, 2);
	section_release(&s);
}

/* One row for each way of taking a word of every list. */
static void lists(void **state)
{
	static const char *const all[] = { "a__x.sum", "a__x.sum.per_second", "a__x.avg", "a__x.avg.per_second",
					   "a__y.sum", "a__y.sum.per_second", "a__y.avg", "a__y.avg.per_second",
					   "b__c.sum" };
	struct section s;
	struct error err = { "" };

	assert_int_equal(parse(&s, "title = X\n[collect]\na = a__{x, y}.{sum,avg}{,.per_second}\nb = b__c.sum\n", &err), 0);
	assert_int_equal(s.blocks[0].row_count, 9);
	for (size_t i = 0; i < 9; i++)
		assert_string_equal(formula_metric(&s.blocks[0].rows[i].cells[0]), all[i]);
	section_release(&s);
}

static void refused(void **state)
{
	static const struct {
		const char *text, *where;
	} bad[] = {
		{ "", "title" },
		{ "title = X\n", "title" },
		{ "title = X\nnothing\n", ":2: expected" },
		{ "colour = red\n", ":1: before the first" },
		{ "title = X\n\n[rows\na = b__c.sum\n", ":3: a heading ends" },
		{ "title = X\n[boxes]\n", ":2: blocks are" },
		{ "title = X\n[bars]\n", ":2: this block needs a title" },
		{ "title = X\n[rows Of Mine]\n", ":2: this block has no title" },
		{ "title = X\n[rows]\na = b__c.sum +\n", ":3: something is missing" },
		{ "title = X\n[rows]\na = \n", ":3: something is missing" },
		{ "title = X\n[rows]\n = b__c.sum\n", ":3: a row needs a name" },
		{ "title = X\n[rows]\n@9 a = b__c.sum\n", ":3: compute capabilities" },
		{ "title = X\n[rows]\n@9.0\n", ":3: expected" },
		{ "title = X\n[rows]\n@ = b__c.sum\n", ":3: compute capabilities" },
		{ "title = X\n[rows]\n@10.0-9.0 a = b__c.sum\n", ":3: compute capabilities" },
		{ "title = X\ncc = new\n[rows]\na = b__c.sum\n", ":2: compute capabilities" },
		{ "title = X\n[rows]\na = b__c.sum | d__e.sum\n", ":3: only a table" },
		{ "title = X\n[table T]\na = b__c.sum\n", ":3: a table needs columns" },
		{ "title = X\n[table T]\ncolumns = A | B\na = b__c.sum\n", ":4: a row has as many cells" },
		{ "title = X\n[table T]\ncolumns = A\ncolumns = B\n", ":4: only a table has columns" },
		{ "title = X\n[rows]\ncolumns = A\n", ":3: only a table has columns" },
		{ "title = X\n[roofline R]\nwork a = b__c.sum\n", ":3: a line of a roofline" },
		{ "title = X\n[roofline R]\nhard a = b__c.sum | d__e.sum\n", ":3: a line of a roofline begins" },
		{ "title = X\n[collect]\na = b__{c,d.sum\n", ":3: '{' has no" },
		{ "title = X\n[collect]\na = b__{c,{d,e}}.sum\n", ":3: " },
		{ "title = X\n[collect]\na = b__{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}.sum\n",
		  ":3: there are too many rows" },
		{ "title = X\n[rows]\na = b__{c,d}.sum\n", ":3: " },
		{ "title = X\norder = first\n[rows]\na = b__c.sum\n", ":2: the order" },
		{ "title = X\norder = 12345678\n[rows]\na = b__c.sum\n", ":2: the order" },
	};
	struct section s;
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		if (parse(&s, bad[i].text, &err) == 0)
			fail_msg("accepted: %s", bad[i].text);
		if (!strstr(err.text, bad[i].where) || !strstr(err.text, "Mine.section"))
			fail_msg("%s instead of %s", err.text, bad[i].where);
	}
}

/* Of any size, cut anywhere, with bytes that are no text: an answer, and nothing lost or read beyond the end. */
static void hostile(void **state)
{
	struct section s;
	struct error err;
	size_t size = sizeof(good) - 1;
	char *copy;

	for (size_t len = 0; len <= size; len++) {
		copy = malloc(len + 1);
		memcpy(copy, good, len);
		if (section_parse(&s, "x.section", copy, len, &err) == 0)
			section_release(&s);
		for (size_t at = 0; at < len; at += 7) {
			copy[at] = '\0';
			assert_true(section_parse(&s, "x.section", copy, len, &err) < 0);
			copy[at] = "[]=|@#\n\xff"[at % 8];
			if (section_parse(&s, "x.section", copy, len, &err) == 0)
				section_release(&s);
		}
		free(copy);
	}
	copy = malloc(9000);
	memset(copy, 'a', 9000);
	assert_true(section_parse(&s, "x.section", copy, 9000, &err) < 0);
	assert_non_null(strstr(err.text, "too long"));
	memset(copy, '|', 9000);
	assert_true(section_parse(&s, "x.section", copy, 9000, &err) < 0);
	free(copy);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void folders(void **state)
{
	char first[] = "/tmp/sonde-sections-XXXXXX", second[] = "/tmp/sonde-sections-XXXXXX", command[128];
	const char *list[2];
	struct sections all;
	struct error err = { "" };

	assert_non_null(mkdtemp(first));
	assert_non_null(mkdtemp(second));
	list[0] = first;
	list[1] = second;
	write_file(first, "A.section", "title = mine\norder = 2\nsets = s\n[rows]\na = b__c.sum\n");
	write_file(second, "A.section", "title = theirs\n[rows]\na = b__c.sum\n");
	write_file(second, "B.section", "title = other\norder = 1\n[rows]\na = b__c.sum\n");
	write_file(second, "s.set", "about = Some.\nalias = other, more\n");
	write_file(second, "notes.md", "nothing of this");
	assert_int_equal(sections_load(&all, list, 2, &err), 0);
	assert_int_equal(all.count, 2);
	assert_string_equal(all.items[0].id, "B");
	assert_string_equal(sections_find(&all, "a")->title, "mine");
	assert_ptr_equal(sections_find_set(&all, "more"), sections_find_set(&all, "S"));
	assert_null(sections_find_set(&all, "none"));
	sections_release(&all);
	snprintf(command, sizeof(command), "%s/P.section", second);
	assert_int_equal(mkfifo(command, 0600), 0);
	assert_true(sections_load(&all, list, 2, &err) < 0);
	assert_non_null(strstr(err.text, "P.section cannot be read"));
	unlink(command);
	write_file(second, "C.section", "oops\n");
	assert_true(sections_load(&all, list, 2, &err) < 0);
	assert_non_null(strstr(err.text, "C.section:1:"));
	snprintf(command, sizeof(command), "rm -r %s %s", first, second);
	assert_int_equal(system(command), 0);
	assert_true(sections_load(&all, list, 2, &err) < 0);
	assert_non_null(strstr(err.text, first));
}

static void words(void **state)
{
	static const char text[] =
		"kind = metric\ncollection = launch\nb__x [block] = One.\nb__x = Two.\na__y = Other.\nkind = unit\nsm = A multiprocessor.\n";
	struct glossary g = { NULL, 0 };
	struct error err = { "" };

	assert_int_equal(glossary_parse(&g, "w.txt", text, sizeof(text) - 1, &err), 0);
	glossary_sort(&g);
	assert_int_equal(g.count, 3);
	assert_string_equal(glossary_find(&g, TERM_METRIC, "b__x", 4)->text, "One. Two.");
	assert_string_equal(glossary_find(&g, TERM_METRIC, "b__x.sum", 4)->unit, "block");
	assert_string_equal(glossary_find(&g, TERM_METRIC, "a__y", 4)->collection, "launch");
	assert_string_equal(glossary_find(&g, TERM_UNIT, "sm__x", 2)->text, "A multiprocessor.");
	assert_null(glossary_find(&g, TERM_UNIT, "b__x", 4));
	assert_null(glossary_find(&g, TERM_METRIC, "b__", 3));
	assert_null(glossary_find(&g, TERM_METRIC, "b__xy", 5));
	assert_true(glossary_parse(&g, "w.txt", "sm = x\n", 7, &err) < 0);
	assert_non_null(strstr(err.text, "w.txt:1: the first line"));
	assert_true(glossary_parse(&g, "w.txt", "kind = odd\n", 11, &err) < 0);
	assert_true(glossary_parse(&g, "w.txt", "kind = unit\nsm =\n", 17, &err) < 0);
	assert_non_null(strstr(err.text, "w.txt:2:"));
	glossary_release(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head),  cmocka_unit_test(rows),    cmocka_unit_test(refused), cmocka_unit_test(hostile),
		cmocka_unit_test(lists), cmocka_unit_test(folders), cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
