/* /api/source: what single instructions of a kernel did, with the source lines and PTX they come from, beside the baseline. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "kernel/pages/source.h"
#include "kernel/source/compared_lines.h"
#include "view/request/routes.h"
#include "view/internal.h"
#include "view/kernels/kernels.h"

#define MOST_LINES 200000u
#define MOST_COLUMNS 256u
#define MOST_FILE_BYTES (4u << 20)

struct source_column {
	const struct section_block *block;
	const struct section_row *row;
};

/* Lines of one kind, and those of the baseline. */
struct line_sums {
	struct kernel_source now, before;
};

struct source {
	struct kernel_view kv;
	struct source_book book, book_before;
	struct kernel_source now, before;
	struct line_sums written, outermost, ptx;
	struct source_column columns[MOST_COLUMNS];
	size_t column_count;
};

/* An item that formulas are computed for. */
struct looking {
	const struct kernel_source *source;
	const struct source_item *item;
};

static double find_item_number(void *context, const char *metric)
{
	const struct looking *l = context;

	return source_value(l->source, l->item, metric);
}

static bool is_counted(const struct source_book *b, const struct formula *f)
{
	for (size_t i = 0; i < f->count; i++) {
		size_t j = 0;

		if (f->steps[i].code != FORMULA_METRIC)
			continue;
		while (j < b->metric_count && strcmp(b->metrics[j], f->steps[i].metric) != 0)
			j++;
		if (j == b->metric_count)
			return false;
	}
	return f->count > 0;
}

static void add_columns(struct source *s, const struct section_block *block)
{
	for (size_t i = 0; i < block->row_count && s->column_count < MOST_COLUMNS; i++) {
		const struct section_row *row = &block->rows[i];

		if (row->cell_count && (!s->kv.cc || cc_fits(&row->cc, s->kv.cc)) && is_counted(&s->book, &row->cells[0]))
			s->columns[s->column_count++] = (struct source_column){ block, row };
	}
}

/* Those of the sections, as they are there for this chip and were counted. */
static void find_columns(struct source *s)
{
	const struct sections *all = &s->kv.texts->sections;

	for (size_t i = 0; i < all->count; i++)
		for (size_t j = 0; j < all->items[i].block_count; j++)
			if (all->items[i].blocks[j].kind == BLOCK_SOURCE)
				add_columns(s, &all->items[i].blocks[j]);
}

/* The book has texts of its own where it could be read. */
static int load_kernel_book(struct source_book *ret, struct view_report *r, const int64_t *results, size_t count, struct error *err)
{
	const struct source_search search = { .only_source = true };
	int rc;

	pthread_mutex_lock(&r->text_lock);
	rc = source_book_load_results(ret, r->report, results, count, err);
	if (rc >= 0)
		rc = source_book_read_ptx(ret);
	pthread_mutex_unlock(&r->text_lock);
	TRY(rc);
	return source_book_read_files(ret, &search);
}

static int load_before(struct source *s, struct error *err)
{
	size_t count = baseline_matches(&s->kv.baseline, s->kv.k);
	CLEANUP_FREE int64_t *results = calloc(count + 1, sizeof(*results));

	if (!results)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		results[i] = s->kv.baseline.matches[i]->id;
	TRY(load_kernel_book(&s->book_before, s->kv.other, results, count, err));
	TRY(kernel_source_mean(&s->before, &s->book_before, results, count));
	return kernel_source_match_instructions(&s->now, &s->before);
}

static int load_line_sums(struct source *s, struct line_sums *ret, enum source_key key)
{
	int r = kernel_source_lines(&ret->now, &s->now, key);

	if (r >= 0 && s->before.book)
		r = kernel_source_lines(&ret->before, &s->before, key);
	return r >= 0 && s->before.book ? kernel_source_match(&ret->now, &ret->before, key) : r;
}

static int load_kernel_source(struct source *s, struct view_report *report, struct error *err)
{
	int r = load_kernel_book(&s->book, report, &s->kv.k->id, 1, err);

	if (r >= 0)
		r = kernel_source_of(&s->now, &s->book, s->kv.k->id);
	if (r >= 0 && s->kv.options.baseline)
		r = load_before(s, err);
	if (r >= 0)
		r = load_line_sums(s, &s->written, SOURCE_WRITTEN);
	if (r >= 0)
		r = load_line_sums(s, &s->outermost, SOURCE_OUTERMOST);
	if (r >= 0)
		r = load_line_sums(s, &s->ptx, SOURCE_IN_PTX);
	if (r >= 0)
		find_columns(s);
	return r;
}

static void put_source_columns(struct source *s)
{
	struct json_out *j = s->kv.j;

	out_key(j, "columns");
	out_open(j, '[');
	for (size_t i = 0; i < s->column_count; i++) {
		const char *metric = formula_metric(&s->columns[i].row->cells[0]);

		out_open(j, '{');
		out_put_text(j, "group", s->columns[i].block->title);
		out_put_text(j, "label", s->columns[i].row->label);
		out_put_text(j, "metric", metric ? metric : "");
		out_close(j, '}');
	}
	out_close(j, ']');
}

static void put_source_values(struct source *s, const char *key, const struct kernel_source *of, const struct source_item *item)
{
	struct looking l = { of, item };

	out_key(s->kv.j, key);
	out_open(s->kv.j, '[');
	for (size_t i = 0; i < s->column_count; i++)
		out_real(s->kv.j, formula_value(&s->columns[i].row->cells[0], find_item_number, &l));
	out_close(s->kv.j, ']');
}

/* The innermost first: what was called, and where. */
static void put_calls(struct json_out *j, const char *inlined)
{
	struct source_call call;

	if (!*inlined)
		return;
	out_key(j, "inlined");
	out_open(j, '[');
	while (source_next_call(&inlined, &call)) {
		out_open(j, '{');
		out_key(j, "function");
		out_text(j, call.function, (size_t)call.function_len);
		out_key(j, "file");
		out_text(j, call.file, (size_t)call.file_len);
		out_put_integer(j, "line", call.line);
		out_close(j, '}');
	}
	out_close(j, ']');
}

static void put_instruction(struct source *s, const struct source_item *item)
{
	const struct source_fact *f = item->fact;
	struct json_out *j = s->kv.j;

	out_open(j, '{');
	out_put_text(j, "function", item->function);
	out_put_integer(j, "pc", item->pc);
	out_put_text(j, "sass", *item->sass ? item->sass : NULL);
	out_put_text(j, "file", item->line ? item->file : NULL);
	out_put_integer(j, "line", item->line);
	put_calls(j, item->inlined);
	if (f && *f->inlined) {
		out_put_text(j, "outer_file", f->outer_file);
		out_put_integer(j, "outer_line", f->outer_line);
	}
	if (f && f->ptx_line) {
		out_put_text(j, "ptx", f->ptx);
		out_put_integer(j, "ptx_line", f->ptx_line);
	}
	put_source_values(s, "values", &s->now, item);
	if (item->before)
		put_source_values(s, "before", &s->before, item->before);
	out_close(j, '}');
}

/* What the baseline has for lines, by this report's numbers. */
static void put_baseline_lines(struct source *s, const char *key, const struct line_sums *lines)
{
	struct json_out *j = s->kv.j;

	out_key(j, key);
	out_open(j, '[');
	for (size_t i = 0; i < lines->now.count; i++) {
		const struct source_item *item = &lines->now.items[i];

		if (!item->before)
			continue;
		out_open(j, '{');
		out_put_text(j, "file", item->file);
		out_put_integer(j, "line", item->line);
		put_source_values(s, "values", &lines->before, item->before);
		out_close(j, '}');
	}
	out_close(j, ']');
}

static int put_ptx(void *context, const char *name, uint32_t line, const char *text, size_t len, const struct source_item *item)
{
	struct json_out *j = context;

	(void)item;
	out_open(j, '{');
	out_put_text(j, "name", name);
	out_put_integer(j, "line", line);
	out_key(j, "text");
	out_text(j, text, len);
	out_close(j, '}');
	return j->r;
}

static bool is_used(const struct kernel_source *s, const char *file)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->items[i].file, file) == 0 || strstr(s->items[i].inlined, file))
			return true;
	return false;
}

static void put_files(struct json_out *j, const struct source_book *b, const struct kernel_source *now)
{
	out_key(j, "files");
	out_open(j, '[');
	for (size_t i = 0; i < b->file_count; i++) {
		const struct source_file *f = &b->files[i];

		if (f->code || !is_used(now, f->name))
			continue;
		out_open(j, '{');
		out_put_text(j, "name", f->name);
		out_key(j, "text");
		out_text(j, f->text, f->size < MOST_FILE_BYTES ? f->size : MOST_FILE_BYTES);
		out_put_bool(j, "kept", !f->was_looked_for);
		out_close(j, '}');
	}
	out_close(j, ']');
}

static int put_source(struct source *s)
{
	struct json_out *j = s->kv.j;

	out_open(j, '{');
	put_source_columns(s);
	out_key(j, "lines");
	out_open(j, '[');
	for (size_t i = 0; i < s->now.count && i < MOST_LINES; i++)
		put_instruction(s, &s->now.items[i]);
	out_close(j, ']');
	put_files(j, &s->book, &s->now);
	out_key(j, "ptx");
	out_open(j, '[');
	TRY(source_each_ptx(&s->ptx.now, put_ptx, j));
	out_close(j, ']');
	if (s->before.count) {
		out_key(j, "before");
		out_open(j, '{');
		put_baseline_lines(s, "lines", &s->written);
		put_baseline_lines(s, "outermost", &s->outermost);
		put_baseline_lines(s, "ptx", &s->ptx);
		out_close(j, '}');
	}
	out_close(j, '}');
	return j->r;
}

static void release_kernel_source(struct source *s)
{
	struct line_sums *const lines[] = { &s->written, &s->outermost, &s->ptx };

	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		kernel_source_release(&lines[i]->now);
		kernel_source_release(&lines[i]->before);
	}
	kernel_source_release(&s->now);
	kernel_source_release(&s->before);
	source_book_release(&s->book);
	source_book_release(&s->book_before);
	kernel_view_end(&s->kv);
}

int answer_source(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct source *s = calloc(1, sizeof(*s));
	struct json_out j;
	int r;

	if (!s)
		return -ENOMEM;
	r = kernel_view_begin(&s->kv, v, p, true, err);
	out_begin(&j, &a->body);
	s->kv.j = &j;
	if (r >= 0)
		r = load_kernel_source(s, p->held, err);
	if (r >= 0)
		r = put_source(s);
	release_kernel_source(s);
	free(s);
	return r;
}
