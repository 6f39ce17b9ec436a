/* Sections of a kernel as JSON: what they say in rows, bars, tables and links, and what only a picture shows. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/metrics/throughput.h"
#include "view/kernels/kernels.h"

void put_json_number(struct json_out *j, const char *key, double value)
{
	char derived[40];

	out_key(j, key);
	if (isfinite(value))
		out_raw(j, derived, (size_t)snprintf(derived, sizeof(derived), "%.17g", value));
	else
		out_null(j);
}

static void put_metric_value(struct json_out *j, const char *key, const struct metric_value *v)
{
	if (v->kind == VALUE_TEXT) {
		out_put_text(j, key, v->text);
	} else if (v->kind == VALUE_INTEGER) {
		out_key(j, key);
		out_exact(j, v->integer);
	} else {
		put_json_number(j, key, value_number(v));
	}
}

/* Text and unit as the command line prints them. */
static int put_text_of(struct kernel_view *kv, const char *key, const char *unit_key, const struct page_row *row)
{
	char unit[UNIT_MAX];
	char *text = page_value(&kv->options, kv->results, kv->k, row, unit);

	if (!text)
		return -ENOMEM;
	out_put_text(kv->j, key, text);
	out_put_text(kv->j, unit_key, unit);
	free(text);
	return 0;
}

/* The row with another number. */
static struct page_row row_with(const struct page_row *row, double number)
{
	struct page_row derived = *row;

	derived.value = (struct metric_value){ .name = row->key, .unit = "", .kind = VALUE_REAL, .real = number };
	if (number == rint(number) && fabs(number) < 9e15)
		derived.value = (struct metric_value){ .name = row->key, .unit = "", .kind = VALUE_INTEGER, .integer = (int64_t)number };
	return derived;
}

static int put_warm(struct kernel_view *kv, const struct page_row *row)
{
	double warm = page_warm(kv->k, row);
	struct page_row derived;

	if (!isfinite(warm))
		return 0;
	derived = row_with(row, warm);
	put_json_number(kv->j, "warm", warm);
	return put_text_of(kv, "warm_text", "warm_unit", &derived);
}

static int put_baseline_value(struct kernel_view *kv, const struct page_row *row)
{
	struct page_row old;
	double change, before = page_before(&kv->options, kv->k, row, &change);

	put_json_number(kv->j, "before", before);
	put_json_number(kv->j, "change", change);
	if (!isfinite(before))
		return 0;
	old = row_with(row, before);
	return put_text_of(kv, "before_text", "before_unit", &old);
}

int put_metric_row(struct kernel_view *kv, const char *key, const struct page_row *row)
{
	int r;

	if (key)
		out_key(kv->j, key);
	out_open(kv->j, '{');
	out_put_text(kv->j, "label", row->label);
	out_put_text(kv->j, "metric", row->key);
	out_put_bool(kv->j, "computed", row->formula != NULL);
	put_metric_value(kv->j, "value", &row->value);
	out_put_text(kv->j, "unit", row->unit);
	r = put_text_of(kv, "text", "shown", row);
	if (r == 0)
		r = put_warm(kv, row);
	if (r == 0 && kv->options.baseline)
		r = put_baseline_value(kv, row);
	out_close(kv->j, '}');
	return r;
}

static void open_block(struct json_out *j, const char *kind, const char *title)
{
	out_open(j, '{');
	out_put_text(j, "kind", kind);
	out_put_text(j, "title", title);
}

static int put_rows(struct kernel_view *kv, const struct page_group *g)
{
	int r = 0;

	out_key(kv->j, "rows");
	out_open(kv->j, '[');
	for (size_t i = 0; i < g->count && r == 0; i++)
		r = put_metric_row(kv, NULL, &g->rows[i]);
	out_close(kv->j, ']');
	return r;
}

/* Cells of one line of a table, nothing where a column has no value; how many rows they were. */
static int put_line(struct kernel_view *kv, const struct page_group *g, size_t first, size_t *ret_count)
{
	size_t at = first;
	int r = 0;

	out_open(kv->j, '{');
	out_put_text(kv->j, "label", g->rows[first].row);
	out_key(kv->j, "cells");
	out_open(kv->j, '[');
	for (size_t column = 0; column < g->block->column_count && r == 0; column++) {
		if (at < g->count && g->rows[at].row == g->rows[first].row && g->rows[at].column == column)
			r = put_metric_row(kv, NULL, &g->rows[at++]);
		else
			out_null(kv->j);
	}
	out_close(kv->j, ']');
	out_close(kv->j, '}');
	*ret_count = at > first ? at - first : 1;
	return r;
}

static int put_table(struct kernel_view *kv, const struct page_group *g)
{
	size_t count;
	int r = 0;

	out_key(kv->j, "columns");
	out_open(kv->j, '[');
	for (size_t i = 0; i < g->block->column_count; i++) {
		out_open(kv->j, '{');
		out_put_text(kv->j, "title", g->block->columns[i].title);
		out_put_text(kv->j, "unit", g->block->columns[i].unit);
		out_close(kv->j, '}');
	}
	out_close(kv->j, ']');
	out_key(kv->j, "rows");
	out_open(kv->j, '[');
	for (size_t i = 0; i < g->count && r == 0; i += count)
		r = put_line(kv, g, i, &count);
	out_close(kv->j, ']');
	return r;
}

static int put_group(struct kernel_view *kv, const struct page_group *g)
{
	enum section_block_kind kind = g->block ? g->block->kind : BLOCK_ROWS;
	int r;

	open_block(kv->j, kind == BLOCK_BARS ? "bars" : kind == BLOCK_TABLE ? "table" : kind == BLOCK_GRAPH ? "graph" : "rows", g->title);
	r = kind == BLOCK_TABLE ? put_table(kv, g) : put_rows(kv, g);
	out_close(kv->j, '}');
	return r;
}

/* "work NAME" and "traffic NAME": the roof, and what was reached of it. */
static void put_roofline(struct kernel_view *kv, const struct section_block *block)
{
	struct json_out *j = kv->j;

	open_block(j, "roofline", block->title);
	out_key(j, "rows");
	out_open(j, '[');
	for (size_t i = 0; i < block->row_count; i++) {
		const struct section_row *row = &block->rows[i];
		const char *name = strchr(row->label, ' ');

		if (!name || row->cell_count < 2 || (kv->cc && !cc_fits(&row->cc, kv->cc)) ||
		    !isfinite(kernel_view_number(kv, &row->cells[1])))
			continue;
		out_open(j, '{');
		out_put_bool(j, "traffic", strncmp(row->label, "traffic", 7) == 0);
		out_put_text(j, "name", name + 1);
		put_json_number(j, "peak", kernel_view_number(kv, &row->cells[0]));
		put_json_number(j, "achieved", kernel_view_number(kv, &row->cells[1]));
		put_json_number(j, "achieved_warm", kernel_view_warm(kv, &row->cells[1]));
		put_json_number(j, "peak_before", kernel_view_before(kv, &row->cells[0]));
		put_json_number(j, "achieved_before", kernel_view_before(kv, &row->cells[1]));
		out_close(j, '}');
	}
	out_close(j, ']');
	out_close(j, '}');
}

/* Counters that a throughput is the largest of. */
static int put_parts(struct kernel_view *kv, const char *metric)
{
	size_t len = metric_base_len(metric);
	const char *const *parts = throughput_parts(metric, len);
	const struct metric_value *v;
	char name[256];
	int r = 0;

	for (; parts && *parts && r == 0; parts++) {
		struct page_row row = { 0 };

		if ((size_t)snprintf(name, sizeof(name), "%s%s", *parts, metric + len) >= sizeof(name))
			continue;
		v = result_find(kv->k, name);
		if (!v || !isfinite(value_number(v)))
			continue;
		row = (struct page_row){ .label = *parts, .key = v->name, .value = *v };
		page_unit(kv->results, v, "%", row.unit);
		r = put_metric_row(kv, NULL, &row);
	}
	return r;
}

static int put_breakdown(struct kernel_view *kv, const struct section_block *block)
{
	int r = 0;

	open_block(kv->j, "breakdown", block->title);
	out_key(kv->j, "rows");
	out_open(kv->j, '[');
	for (size_t i = 0; i < block->row_count && r == 0; i++) {
		const char *metric = block->rows[i].cell_count ? formula_metric(&block->rows[i].cells[0]) : NULL;

		if (metric && (!kv->cc || cc_fits(&block->rows[i].cc, kv->cc)))
			r = put_parts(kv, metric);
	}
	out_close(kv->j, ']');
	out_close(kv->j, '}');
	return r;
}

static void put_instances(struct json_out *j, const char *key, const struct kernel_result *k, const char *metric)
{
	size_t count = 0;
	const struct metric_instance *all = result_instances(k, metric, &count);

	out_key(j, key);
	out_open(j, '[');
	for (size_t i = 0; i < count; i++) {
		out_open(j, '{');
		out_key(j, "number");
		out_exact(j, all[i].number);
		if (all[i].offset >= 0) {
			out_key(j, "offset");
			out_exact(j, all[i].offset);
		}
		out_put_text(j, "label", all[i].label);
		put_metric_value(j, "value", &all[i].value);
		out_close(j, '}');
	}
	out_close(j, ']');
}

/* Metrics with a value for each step of something: opcodes, links, moments. */
static void put_curves(struct kernel_view *kv, const struct section_block *block)
{
	struct json_out *j = kv->j;
	size_t count;

	open_block(j, block->kind == BLOCK_TIMELINE ? "timeline" : "curves", block->title);
	out_key(j, "rows");
	out_open(j, '[');
	for (size_t i = 0; i < block->row_count; i++) {
		const char *metric = block->rows[i].cell_count ? formula_metric(&block->rows[i].cells[0]) : NULL;

		if (!metric || (kv->cc && !cc_fits(&block->rows[i].cc, kv->cc)) || !result_instances(kv->k, metric, &count))
			continue;
		out_open(j, '{');
		out_put_text(j, "label", block->rows[i].label);
		out_put_text(j, "metric", metric);
		out_put_text(j, "unit", block->rows[i].unit);
		put_instances(j, "points", kv->k, metric);
		/* A mean over samples of several launches would be none of them: the first. */
		if (kv->options.baseline && baseline_matches(&kv->baseline, kv->k))
			put_instances(j, "before", kv->baseline.matches[0], metric);
		out_close(j, '}');
	}
	out_close(j, ']');
	out_close(j, '}');
}

/* What no table of the command line has. */
static int put_pictures(struct kernel_view *kv, const struct section *s)
{
	int r = 0;

	for (size_t i = 0; i < s->block_count && r == 0; i++) {
		const struct section_block *block = &s->blocks[i];

		if (kv->cc && !cc_fits(&block->cc, kv->cc))
			continue;
		if (block->kind == BLOCK_ROOFLINE)
			put_roofline(kv, block);
		else if (block->kind == BLOCK_BREAKDOWN)
			r = put_breakdown(kv, block);
		else if (block->kind == BLOCK_CURVES || block->kind == BLOCK_TIMELINE)
			put_curves(kv, block);
	}
	return r;
}

static bool is_picture(enum section_block_kind kind)
{
	return kind == BLOCK_ROOFLINE || kind == BLOCK_BREAKDOWN || kind == BLOCK_CURVES || kind == BLOCK_TIMELINE;
}

int put_section(struct kernel_view *kv, const struct page_section *derived)
{
	const struct section *s = *derived->id ? sections_find(&kv->texts->sections, derived->id) : NULL;
	struct json_out *j = kv->j;
	int r = 0;

	out_open(j, '{');
	out_put_text(j, "id", derived->id);
	out_put_text(j, "title", derived->title);
	out_put_text(j, "about", s ? s->about : "");
	out_key(j, "blocks");
	out_open(j, '[');
	for (size_t i = 0; i < derived->count && r == 0; i++)
		if (!derived->groups[i].block || !is_picture(derived->groups[i].block->kind))
			r = put_group(kv, &derived->groups[i]);
	if (s && r == 0)
		r = put_pictures(kv, s);
	out_close(j, ']');
	out_close(j, '}');
	return r;
}
