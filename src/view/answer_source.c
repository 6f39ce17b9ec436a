/* /api/source: what single instructions of a kernel did, with the source lines they come from. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/rows.h"
#include "view/answers.h"
#include "view/internal.h"
#include "view/kernels.h"

#define MOST_LINES 200000u
#define MOST_METRICS 256u
#define MOST_COLUMNS 256u
#define MOST_FILE_BYTES (4u << 20)

/* An instruction, in the order of code, function and place. */
struct source_line {
	int64_t code, function, pc;
	int64_t sass, file, line; /* texts and number; 0: not known */
	bool is_known;            /* it is in the table of instructions */
};

struct source_value {
	int64_t code, function, pc;
	int64_t metric;
	int64_t value;
};

struct source_column {
	const struct section_block *block;
	const struct section_row *row;
};

struct source {
	struct kernel_view kv;
	struct recording *r;
	struct source_value *values; /* by line, then metric */
	size_t value_count;
	struct source_line *lines;
	size_t line_count;
	const char *metrics[MOST_METRICS];
	int64_t metric_ids[MOST_METRICS];
	size_t metric_count;
	struct source_column columns[MOST_COLUMNS];
	size_t column_count;
	/* Of the line that formulas are computed for. */
	const struct source_value *at;
	size_t at_count;
};

static const char *text_of(struct source *s, int64_t id)
{
	size_t len;
	const char *text = id > 0 ? recording_text(s->r, (uint64_t)id, &len) : NULL;

	return text ? text : "";
}

static int take_value(void *context, const int64_t *v, uint32_t present)
{
	struct source *s = context;
	struct source_value *all;

	if (v[COLUMN_KERNEL_SOURCE_RESULT] != s->kv.k->id || s->value_count >= (size_t)MOST_LINES * 64)
		return 0;
	all = grown(s->values, s->value_count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	s->values = all;
	all[s->value_count++] = (struct source_value){ v[COLUMN_KERNEL_SOURCE_CODE], v[COLUMN_KERNEL_SOURCE_FUNCTION], v[COLUMN_KERNEL_SOURCE_PC],
						       v[COLUMN_KERNEL_SOURCE_METRIC], v[COLUMN_KERNEL_SOURCE_VALUE] };
	return 0;
}

static int add_line(struct source *s, struct source_line line)
{
	struct source_line *all = grown(s->lines, s->line_count, sizeof(*all));

	if (!all)
		return -ENOMEM;
	s->lines = all;
	all[s->line_count++] = line;
	return 0;
}

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
	const struct source_value *x = a, *y = b;
	int order = compare(x->code, y->code);

	order = order ? order : compare(x->function, y->function);
	order = order ? order : compare(x->pc, y->pc);
	return order ? order : compare(x->metric, y->metric);
}

/* Two of the same place: the one of the table of instructions first. */
static int by_line(const void *a, const void *b)
{
	const struct source_line *x = a, *y = b;
	int order = compare(x->code, y->code);

	order = order ? order : compare(x->function, y->function);
	order = order ? order : compare(x->pc, y->pc);
	return order ? order : compare(y->is_known, x->is_known);
}

/* The first value at or behind a function. */
static bool has_function(const struct source *s, int64_t code, int64_t function)
{
	struct source_value key = { code, function, INT64_MIN, INT64_MIN, 0 };
	size_t low = 0, high = s->value_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_place(&s->values[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->value_count && s->values[low].code == code && s->values[low].function == function;
}

static int take_instruction(void *context, const int64_t *v, uint32_t present)
{
	struct source *s = context;
	struct source_line line = { v[COLUMN_KERNEL_INSTRUCTION_CODE], v[COLUMN_KERNEL_INSTRUCTION_FUNCTION], v[COLUMN_KERNEL_INSTRUCTION_PC], 0, 0, 0, true };

	if (s->line_count >= MOST_LINES || !has_function(s, line.code, line.function))
		return 0;
	if (present >> COLUMN_KERNEL_INSTRUCTION_SASS & 1)
		line.sass = v[COLUMN_KERNEL_INSTRUCTION_SASS];
	if (present >> COLUMN_KERNEL_INSTRUCTION_FILE & 1)
		line.file = v[COLUMN_KERNEL_INSTRUCTION_FILE];
	if (present >> COLUMN_KERNEL_INSTRUCTION_LINE & 1)
		line.line = v[COLUMN_KERNEL_INSTRUCTION_LINE];
	return add_line(s, line);
}

/* Instructions that no table tells of stand by their values alone. */
static int add_bare_lines(struct source *s)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < s->value_count && r >= 0 && s->line_count < 2 * MOST_LINES; i++)
		if (!i || s->values[i].pc != s->values[i - 1].pc || s->values[i].function != s->values[i - 1].function || s->values[i].code != s->values[i - 1].code)
			r = add_line(s, (struct source_line){ s->values[i].code, s->values[i].function, s->values[i].pc, 0, 0, 0, false });
	if (s->line_count)
		qsort(s->lines, s->line_count, sizeof(*s->lines), by_line);
	for (size_t i = 0; i < s->line_count; i++)
		if (!kept || s->lines[i].pc != s->lines[kept - 1].pc || s->lines[i].function != s->lines[kept - 1].function ||
		    s->lines[i].code != s->lines[kept - 1].code)
			s->lines[kept++] = s->lines[i];
	s->line_count = kept;
	return r;
}

static void find_metrics(struct source *s)
{
	size_t j;

	for (size_t i = 0; i < s->value_count; i++) {
		for (j = 0; j < s->metric_count && s->metric_ids[j] != s->values[i].metric; j++)
			;
		if (j < s->metric_count || j == MOST_METRICS)
			continue;
		s->metric_ids[j] = s->values[i].metric;
		s->metrics[j] = text_of(s, s->values[i].metric);
		s->metric_count++;
	}
}

static int each(struct source *s, enum table_id table, report_row_fn take)
{
	int r = report_each_row(s->r->report, table, table_schema(table)->column_count, take, s);

	return r == -ENOMEM ? r : 0;
}

/* Of the line at hand: what was not seen there is 0, what was seen nowhere is not known. */
static double number_of(void *context, const char *metric)
{
	struct source *s = context;

	for (size_t i = 0; i < s->metric_count; i++) {
		if (strcmp(s->metrics[i], metric) != 0)
			continue;
		for (size_t j = 0; j < s->at_count; j++)
			if (s->at[j].metric == s->metric_ids[i])
				return (double)s->at[j].value;
		return 0;
	}
	return NAN;
}

static bool is_counted(struct source *s, const struct formula *f)
{
	for (size_t i = 0; i < f->count; i++) {
		size_t j = 0;

		if (f->steps[i].code != FORMULA_METRIC)
			continue;
		while (j < s->metric_count && strcmp(s->metrics[j], f->steps[i].metric) != 0)
			j++;
		if (j == s->metric_count)
			return false;
	}
	return f->count > 0;
}

static void add_columns(struct source *s, const struct section_block *block)
{
	for (size_t i = 0; i < block->row_count && s->column_count < MOST_COLUMNS; i++) {
		const struct section_row *row = &block->rows[i];

		if (row->cell_count && (!s->kv.cc || cc_fits(&row->cc, s->kv.cc)) && is_counted(s, &row->cells[0]))
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

static int load(struct source *s)
{
	int r = each(s, TABLE_KERNEL_SOURCE, take_value);

	if (s->value_count)
		qsort(s->values, s->value_count, sizeof(*s->values), by_place);
	if (r >= 0 && s->value_count)
		r = each(s, TABLE_KERNEL_INSTRUCTION, take_instruction);
	r = r < 0 ? r : add_bare_lines(s);
	find_metrics(s);
	find_columns(s);
	return r;
}

static void put_columns(struct source *s)
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

static void put_line(struct source *s, const struct source_line *line)
{
	struct json_out *j = s->kv.j;

	out_open(j, '{');
	out_put_text(j, "function", text_of(s, line->function));
	out_key(j, "pc");
	out_exact(j, line->pc);
	out_put_text(j, "sass", line->sass ? text_of(s, line->sass) : NULL);
	out_put_text(j, "file", line->file ? text_of(s, line->file) : NULL);
	out_key(j, "line");
	out_exact(j, line->line);
	out_key(j, "values");
	out_open(j, '[');
	for (size_t i = 0; i < s->column_count; i++)
		out_real(j, formula_value(&s->columns[i].row->cells[0], number_of, s));
	out_close(j, ']');
	out_close(j, '}');
}

static void put_lines(struct source *s)
{
	const struct source_value *end = s->values + s->value_count;

	out_key(s->kv.j, "lines");
	out_open(s->kv.j, '[');
	s->at = s->values;
	for (size_t i = 0; i < s->line_count && i < MOST_LINES; i++) {
		const struct source_line *line = &s->lines[i];

		for (s->at_count = 0; s->at + s->at_count < end && s->at[s->at_count].code == line->code && s->at[s->at_count].function == line->function &&
				      s->at[s->at_count].pc == line->pc;)
			s->at_count++;
		put_line(s, line);
		s->at += s->at_count;
	}
	out_close(s->kv.j, ']');
}

static bool is_used(const struct source *s, int64_t file)
{
	for (size_t i = 0; i < s->line_count; i++)
		if (s->lines[i].file == file)
			return true;
	return false;
}

static int take_file(void *context, const int64_t *v, uint32_t present)
{
	struct source *s = context;
	const void *data = NULL;
	size_t len = 0;

	if (!is_used(s, v[COLUMN_KERNEL_FILE_NAME]))
		return 0;
	pthread_mutex_lock(&s->r->text_lock);
	if (present >> COLUMN_KERNEL_FILE_TEXT & 1)
		data = report_blob_data(s->r->report, (uint64_t)v[COLUMN_KERNEL_FILE_TEXT], &len);
	pthread_mutex_unlock(&s->r->text_lock);
	out_open(s->kv.j, '{');
	out_put_text(s->kv.j, "name", text_of(s, v[COLUMN_KERNEL_FILE_NAME]));
	out_key(s->kv.j, "text");
	out_text(s->kv.j, data, len < MOST_FILE_BYTES ? len : MOST_FILE_BYTES);
	out_close(s->kv.j, '}');
	return s->kv.j->r;
}

int answer_source(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct source s = { 0 };
	struct json_out j;
	int r = kernel_view_begin(&s.kv, v, p, true, err);

	out_begin(&j, &a->body);
	s.kv.j = &j;
	s.r = p->held;
	r = r < 0 ? r : load(&s);
	if (r >= 0) {
		out_open(&j, '{');
		put_columns(&s);
		put_lines(&s);
		out_key(&j, "files");
		out_open(&j, '[');
		r = each(&s, TABLE_KERNEL_FILE, take_file);
		out_close(&j, ']');
		out_close(&j, '}');
		r = r < 0 ? r : j.r;
	}
	free(s.values);
	free(s.lines);
	kernel_view_end(&s.kv);
	return r;
}
