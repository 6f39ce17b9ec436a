/* Charts of sections, as rows. */
#include "kernel/pages/charts.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "kernel/metrics/throughput.h"
#include "kernel/metrics/units.h"

#define PART_MAX 256

/* "l1tex__data_bank_reads" -> "L1: Data Bank Reads" */
static void part_label(const char *part, char ret[PART_MAX])
{
	static const char *const units[][2] = { { "l1tex", "L1" }, { "lts", "L2" }, { "syslts", "L2 (System)" } };
	const char *name = strstr(part, "__");
	size_t len = name ? (size_t)(name - part) : 0, used = 0;
	bool begins = true;

	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (strlen(units[i][0]) == len && strncmp(units[i][0], part, len) == 0)
			used = (size_t)snprintf(ret, PART_MAX, "%s: ", units[i][1]);
	if (!used && len) {
		for (; used < len && used + 3 < PART_MAX; used++)
			ret[used] = (char)toupper((unsigned char)part[used]);
		ret[used++] = ':';
		ret[used++] = ' ';
	}
	for (name = name ? name + 2 : part; *name && used + 1 < PART_MAX; name++) {
		ret[used++] = *name == '_' ? ' ' : begins ? (char)toupper((unsigned char)*name) : *name;
		begins = *name == '_';
	}
	ret[used] = '\0';
}

static int by_value(const void *a, const void *b)
{
	double x = value_number(&((const struct page_row *)a)->value), y = value_number(&((const struct page_row *)b)->value);

	return (x < y) - (x > y);
}

static int add_chart_part(struct page_maker *m, struct page_group *g, const char *part, const char *rollup)
{
	char name[PART_MAX], label[PART_MAX];
	const struct metric_value *v;
	struct page_row row;

	if ((size_t)snprintf(name, sizeof(name), "%s%s", part, rollup) >= sizeof(name))
		return 0;
	v = result_find(m->k, name);
	if (!v || !isfinite(value_number(v)))
		return 0;
	part_label(part, label);
	row = (struct page_row){ .label = page_label(m, "%s", label), .key = v->name, .value = *v };
	page_unit(m->results, v, "%", row.unit);
	return row.label ? page_add_row(g, row) : -ENOMEM;
}

int page_add_breakdown(struct page_maker *m, struct page_group *g, const struct section_row *row)
{
	const char *metric = formula_metric(&row->cells[0]);
	size_t len = metric ? metric_base_len(metric) : 0;
	const char *const *parts = metric ? throughput_parts(metric, len) : NULL;
	int r = 0;

	for (; parts && *parts && r >= 0; parts++)
		r = add_chart_part(m, g, *parts, metric + len);
	if (r >= 0 && g->count > 1)
		qsort(g->rows, g->count, sizeof(*g->rows), by_value);
	return r;
}

static double find_chart_number(void *context, const char *metric)
{
	return result_number(context, metric);
}

/* Of this chip, and more than nothing. */
static bool is_done(const struct page_maker *m, const struct section_row *row, const char *kind)
{
	return strncmp(row->label, kind, strlen(kind)) == 0 && !(m->cc && !cc_fits(&row->cc, m->cc)) &&
	       formula_value(&row->cells[1], find_chart_number, (void *)m->k) > 0;
}

/* "work Single Precision" -> "Single Precision" */
static const char *find_chart_kind(const struct section_row *row)
{
	return strchr(row->label, ' ') + 1;
}

static int add_peak_and_achieved(struct page_maker *m, struct page_group *g, const struct section_row *row)
{
	static const char *const what[] = { "Peak", "Achieved" };
	int r = 0;

	for (size_t i = 0; i < 2 && r >= 0; i++) {
		struct page_row made = { .label = page_label(m, "%s: %s", find_chart_kind(row), what[i]) };

		if (!made.label)
			return -ENOMEM;
		if (page_cell(m, &row->cells[i], row->unit, &made))
			r = page_add_row(g, made);
	}
	return r;
}

static const struct formula *keep_ratio(struct page_maker *m, const struct formula *above, const struct formula *below)
{
	struct page_sections *s = m->sections;
	struct formula *f = calloc(1, sizeof(*f));

	if (!f || !LIST_ROOM(s->formulas, s->formula_count) || formula_ratio(f, above, below) < 0) {
		free(f);
		return NULL;
	}
	s->formulas[s->formula_count++] = f;
	return f;
}

/* "flop/s" of work for each byte are "flop/byte". */
static int add_intensity(struct page_maker *m, struct page_group *g, const struct section_row *work, const struct section_row *traffic)
{
	const struct formula *ratio = keep_ratio(m, &work->cells[1], &traffic->cells[1]);
	struct page_row made = { .label = page_label(m, "%s: For Each Byte of %s", find_chart_kind(work), find_chart_kind(traffic)) };
	char unit[UNIT_MAX];

	if (!ratio || !made.label)
		return -ENOMEM;
	snprintf(unit, sizeof(unit), "%.*s/byte", (int)strcspn(work->unit, "/"), work->unit);
	return page_cell(m, ratio, unit, &made) ? page_add_row(g, made) : 0;
}

int page_add_roofline(struct page_maker *m, struct page_group *g, const struct section_block *block)
{
	const struct section_row *rows = block->rows;
	int r = 0;

	for (size_t i = 0; i < block->row_count && r >= 0; i++) {
		if (!is_done(m, &rows[i], "work "))
			continue;
		r = add_peak_and_achieved(m, g, &rows[i]);
		for (size_t j = 0; j < block->row_count && r >= 0; j++)
			if (is_done(m, &rows[j], "traffic "))
				r = add_intensity(m, g, &rows[i], &rows[j]);
	}
	for (size_t i = 0; g->count && i < block->row_count && r >= 0; i++)
		if (is_done(m, &rows[i], "traffic "))
			r = add_peak_and_achieved(m, g, &rows[i]);
	return r;
}
