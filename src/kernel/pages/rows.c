/* Which rows a kernel has in which section. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "kernel/results/metric_names.h"
#include "kernel/pages/charts.h"

#define NAMED_TITLE "Command line profiler metrics"

static struct page_section *add_section(struct page_maker *m, const char *id, const char *title)
{
	if (!LIST_ROOM(m->sections->items, m->sections->count))
		return NULL;
	m->sections->items[m->sections->count] = (struct page_section){ .id = id, .title = title };
	return &m->sections->items[m->sections->count++];
}

static struct page_group *add_page_group(struct page_section *s, const char *title)
{
	if (!LIST_ROOM(s->groups, s->count))
		return NULL;
	s->groups[s->count] = (struct page_group){ .title = title };
	return &s->groups[s->count++];
}

int page_add_row(struct page_group *g, struct page_row row)
{
	if (!ARRAY_ROOM(g->rows, g->count, g->capacity, 1))
		return -ENOMEM;
	g->rows[g->count++] = row;
	return 0;
}

static double find_page_number(void *context, const char *metric)
{
	return result_number(context, metric);
}

bool page_cell(const struct page_maker *m, const struct formula *f, const char *unit, struct page_row *row)
{
	const char *metric = formula_metric(f);
	const struct metric_value *v;

	row->key = metric;
	row->formula = metric ? NULL : f;
	for (size_t i = 0; i < f->count && !row->key; i++)
		if (f->steps[i].code == FORMULA_METRIC)
			row->key = f->steps[i].metric;
	if (!row->key)
		return false;
	v = result_find(m->k, row->key);
	if (!v)
		return false;
	/* A formula may be gone before the row is. */
	row->key = v->name;
	if (metric) {
		row->value = *v;
		page_unit(m->results, v, unit, row->unit);
		return true;
	}
	row->value = (struct metric_value){
		.name = row->key, .unit = "", .kind = VALUE_REAL, .real = formula_value(f, find_page_number, (void *)m->k)
	};
	if (row->value.real == rint(row->value.real) && fabs(row->value.real) < 9e15)
		row->value = (struct metric_value){
			.name = row->key, .unit = "", .kind = VALUE_INTEGER, .integer = (int64_t)row->value.real
		};
	snprintf(row->unit, UNIT_MAX, "%s", unit);
	return isfinite(value_number(&row->value));
}

const char *page_label(struct page_maker *m, const char *format, ...)
{
	struct page_sections *s = m->sections;
	va_list args;
	int len;

	if (!LIST_ROOM(s->labels, s->label_count))
		return NULL;
	va_start(args, format);
	len = vasprintf(&s->labels[s->label_count], format, args);
	va_end(args);
	return len < 0 ? NULL : s->labels[s->label_count++];
}

/* A cell of a table is called by its row and its column. */
static const char *cell_label(struct page_maker *m, const struct section_block *block, const struct section_row *row, size_t cell)
{
	return cell < block->column_count ? page_label(m, "%s: %s", row->label, block->columns[cell].title) : row->label;
}

static int add_section_row(struct page_maker *m, struct page_group *g, const struct section_block *block, const struct section_row *row)
{
	struct page_row made = { 0 };
	int r = 0;

	if (m->cc && !cc_fits(&row->cc, m->cc))
		return 0;
	for (size_t i = 0; i < row->cell_count && r >= 0; i++) {
		const char *unit = *row->unit || i >= block->column_count ? row->unit : block->columns[i].unit;

		if (!page_cell(m, &row->cells[i], unit, &made))
			continue;
		made.label = cell_label(m, block, row, i);
		made.row = row->label;
		made.column = i;
		r = made.label ? page_add_row(g, made) : -ENOMEM;
	}
	return r;
}

static int compare_row_keys(const void *a, const void *b)
{
	const struct page_row *x = a, *y = b;

	/* ncu's own formulas are metrics whose names begin so. */
	if (!x->formula != !y->formula)
		return strcmp(x->formula ? "derived__" : x->key, y->formula ? "derived__" : y->key);
	return strcmp(x->key, y->key);
}

static bool is_block_shown(const struct page_options *options, const struct section_block *block)
{
	bool is_body = block->kind == BLOCK_BARS || block->kind == BLOCK_TABLE || block->kind == BLOCK_GRAPH ||
		       block->kind == BLOCK_BREAKDOWN || block->kind == BLOCK_ROOFLINE;

	if (block->kind == BLOCK_ROWS)
		return options->details != DETAILS_BODY;
	if (block->kind == BLOCK_DETAILS)
		return options->details == DETAILS_ALL;
	return is_body && options->details != DETAILS_HEADER;
}

static int add_block_rows(struct page_maker *m, struct page_group *g, const struct section_block *block)
{
	int r = 0;

	if (block->kind == BLOCK_ROOFLINE)
		return page_add_roofline(m, g, block);
	for (size_t i = 0; i < block->row_count && r >= 0; i++)
		r = block->kind == BLOCK_BREAKDOWN ? page_add_breakdown(m, g, &block->rows[i]) :
						     add_section_row(m, g, block, &block->rows[i]);
	return r;
}

static int add_blocks(struct page_maker *m, struct page_section *made, const struct section *s)
{
	struct page_group *g = add_page_group(made, "");
	int r = g ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->block_count && r >= 0; i++) {
		const struct section_block *block = &s->blocks[i];

		if (!is_block_shown(m->options, block) || (m->cc && !cc_fits(&block->cc, m->cc)))
			continue;
		g = block->kind == BLOCK_ROWS || block->kind == BLOCK_DETAILS ? &made->groups[0] : add_page_group(made, block->title);
		if (!g)
			return -ENOMEM;
		g->block = g == made->groups ? NULL : block;
		r = add_block_rows(m, g, block);
	}
	/* Charts and tables keep the order of the file. */
	if (made->count && made->groups[0].count > 1)
		qsort(made->groups[0].rows, made->groups[0].count, sizeof(*made->groups[0].rows), compare_row_keys);
	return r;
}

/* Values that are there without a counter. */
static bool is_own(const char *metric)
{
	static const char *const starts[] = { "launch__", "device__", "derived__", "profiler__", "sm__maximum_warps", "smsp__maximum_warps",
					      "nvlink__", "numa__",   "c2clink__" };

	for (size_t i = 0; i < COUNT_OF(starts); i++)
		if (strncmp(metric, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static bool has_rule(const struct kernel_result *k, const char *id)
{
	for (size_t i = 0; i < k->rule_count; i++)
		if (strcmp(k->rules[i].section, id) == 0)
			return true;
	return false;
}

static bool is_zero(const struct metric_value *v)
{
	return v->kind == VALUE_NONE || value_number(v) == 0;
}

/* Of a section without counters: whether it says something that no section before it does. */
static bool is_shown_before(const struct page_maker *m, const char *metric)
{
	for (size_t i = 0; i < m->sections->count; i++)
		for (size_t j = 0; j < m->sections->items[i].count; j++)
			for (size_t n = 0; n < m->sections->items[i].groups[j].count; n++)
				if (strcmp(m->sections->items[i].groups[j].rows[n].key, metric) == 0)
					return true;
	return false;
}

/* Whether something was counted for the rows that a section always has, or is said by them without counters. */
static bool was_collected(const struct page_maker *m, const struct section *s)
{
	bool counts = false, has = false, says = false, rows = false;

	for (size_t i = 0; i < s->block_count; i++)
		for (size_t j = 0; s->blocks[i].kind == BLOCK_ROWS && j < s->blocks[i].row_count; j++) {
			const char *metric = formula_metric(&s->blocks[i].rows[j].cells[0]);
			const struct metric_value *v = metric ? result_find(m->k, metric) : NULL;

			if (!metric || (m->cc && !cc_fits(&s->blocks[i].rows[j].cc, m->cc)))
				continue;
			rows = true;
			counts |= !is_own(metric);
			has |= v && !is_own(metric);
			says |= v && is_own(metric) && !is_zero(v) && !is_shown_before(m, metric);
		}
	/* Of one without such rows what is in its charts and tables decides. */
	return !rows ? m->options->details != DETAILS_HEADER || has_rule(m->k, s->id) : counts ? has : says;
}

static bool is_section_wanted(const struct page_maker *m, const struct section *s)
{
	const struct page_options *o = m->options;

	if (m->cc && !cc_fits(&s->cc, m->cc))
		return false;
	if (!o->selected)
		return was_collected(m, s);
	for (size_t i = 0; i < o->selected_count; i++)
		if (o->selected[i] == s)
			return true;
	return false;
}

static void drop_empty(struct page_maker *m, struct page_section *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->groups[i].count)
			s->groups[kept++] = s->groups[i];
		else
			free(s->groups[i].rows);
	}
	s->count = kept;
	if (!kept && !has_rule(m->k, s->id)) {
		free(s->groups);
		m->sections->count--;
	}
}

bool page_is_named(const struct page_options *options, const char *name)
{
	return options->named && metric_names_find(options->named, name);
}

/* Those of --metrics, by their own names. */
static int add_named(struct page_maker *m)
{
	struct page_section *made = add_section(m, "", NAMED_TITLE);
	struct page_group *g = made ? add_page_group(made, "") : NULL;
	int r = g ? 0 : -ENOMEM;

	for (size_t i = 0; i < m->k->value_count && r >= 0; i++) {
		const struct metric_value *v = &m->k->values[i];
		struct page_row row = { .label = v->name, .key = v->name, .value = *v };

		if (!page_is_named(m->options, v->name) || (m->options->warm && is_warm(v->name)))
			continue;
		page_unit(m->results, v, "", row.unit);
		r = page_add_row(g, row);
	}
	if (made)
		drop_empty(m, made);
	return r;
}

/* Sections as another tool printed them. */
static int add_printed(struct page_maker *m)
{
	struct page_section *made = NULL;
	struct page_group *g = NULL;
	int r = 0;

	for (size_t i = 0; i < m->k->row_count && r >= 0; i++) {
		const struct section_value *from = &m->k->rows[i];
		struct page_row row = { .label = from->value.name, .key = from->value.name, .value = from->value };

		if (!made || strcmp(made->title, from->section) != 0) {
			made = add_section(m, "", from->section);
			g = made ? add_page_group(made, "") : NULL;
			if (!g)
				return -ENOMEM;
			for (size_t j = 0; m->options->sections && j < m->options->sections->count; j++)
				if (strcmp(m->options->sections->items[j].title, from->section) == 0)
					made->id = m->options->sections->items[j].id;
		}
		snprintf(row.unit, UNIT_MAX, "%s", from->value.unit);
		r = page_add_row(g, row);
	}
	return r;
}

/* Sections of which only rules were printed. */
static int add_ruled(struct page_maker *m)
{
	const struct sections *all = m->options->sections;
	size_t printed = m->sections->count, j;

	for (size_t i = 0; all && m->k->row_count && i < all->count; i++) {
		for (j = 0; j < printed && strcmp(m->sections->items[j].id, all->items[i].id) != 0; j++)
			;
		if (j == printed && has_rule(m->k, all->items[i].id) && !add_section(m, all->items[i].id, all->items[i].title))
			return -ENOMEM;
	}
	return 0;
}

int page_sections_make(struct page_sections *ret, const struct page_options *options, const struct kernel_results *results,
		       const struct kernel_result *k)
{
	struct page_maker m = { options, results, k, ret, 10 * k->major + k->minor };
	struct page_section *made;
	int r;

	*ret = (struct page_sections){ 0 };
	r = add_printed(&m);
	if (r >= 0)
		r = add_ruled(&m);
	for (size_t i = 0; r >= 0 && options->sections && !k->row_count && i < options->sections->count; i++) {
		const struct section *s = &options->sections->items[i];

		if (!is_section_wanted(&m, s))
			continue;
		made = add_section(&m, s->id, s->title);
		r = made ? add_blocks(&m, made, s) : -ENOMEM;
		if (made)
			drop_empty(&m, made);
	}
	if (r >= 0 && options->named && options->named->count)
		r = add_named(&m);
	if (r < 0)
		page_sections_release(ret);
	return r;
}

void page_sections_release(struct page_sections *s)
{
	for (size_t i = 0; i < s->count; i++) {
		for (size_t j = 0; j < s->items[i].count; j++)
			free(s->items[i].groups[j].rows);
		free(s->items[i].groups);
	}
	for (size_t i = 0; i < s->label_count; i++)
		free(s->labels[i]);
	for (size_t i = 0; i < s->formula_count; i++) {
		formula_release(s->formulas[i]);
		free(s->formulas[i]);
	}
	free(s->formulas);
	free(s->labels);
	free(s->items);
	*s = (struct page_sections){ 0 };
}
