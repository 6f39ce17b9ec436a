/* Least, greatest and mean of each value over the launches of a kernel, of a GPU, of an NVTX range or of an operator. */
#include "base/text/ending.h"
#include "kernel/summary/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define DURATION "gpu__time_duration.sum"

/* Shares, rates and extremes of several launches do not. */
static bool adds_up(const struct page_row *row)
{
	return !row->formula && text_has_ending(row->key, ".sum");
}

static struct entry *entry_of(struct summary *s, const char *section, const char *label, const struct page_row *row)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->entries[i].label, label) == 0 && strcmp(s->entries[i].section, section) == 0)
			return &s->entries[i];
	if (!LIST_ROOM(s->entries, s->count))
		return NULL;
	s->entries[s->count] = (struct entry){
		.section = section, .label = strdup(label), .metric = row->key, .place = s->count, .adds_up = adds_up(row)
	};
	if (!s->entries[s->count].label)
		return NULL;
	snprintf(s->entries[s->count].unit, UNIT_MAX, "%s", row->unit);
	return &s->entries[s->count++];
}

/* An operator's kernels are different ones: shares and rates count by how long each took. */
static double weight_of(const struct summary *s, const struct kernel_result *k, const struct entry *e)
{
	double time = s->by == SUMMARY_PER_OPERATOR && !e->adds_up ? result_number(k, DURATION) : NAN;

	return time > 0 ? time : 1;
}

/* The entry; NULL: no memory. */
static struct entry *take_summary_number(struct summary *s, const struct kernel_result *k, const char *section, const char *label,
					 const struct page_row *row, double number)
{
	struct entry *e = entry_of(s, section, label, row);
	double weight;

	if (!e)
		return NULL;
	spread_add(&e->spread, number);
	weight = weight_of(s, k, e);
	e->sum += weight * number;
	e->weight += weight;
	return e;
}

/* A row of its own. */
static int take_warm(struct summary *s, const struct kernel_result *k, const char *section, const char *label, const struct page_row *row)
{
	double warm = s->options->warm ? page_warm(k, row) : NAN;
	char text[300];

	snprintf(text, sizeof(text), "%s (warm caches)", label);
	return isfinite(warm) && !take_summary_number(s, k, section, text, row, warm) ? -ENOMEM : 0;
}

static int take_summary_row(struct summary *s, const struct kernel_result *k, const char *section, const struct page_row *row)
{
	double number = value_number(&row->value), before, change, weight;
	const char *label = s->options->names == NAMES_METRIC ? row->key : row->label;
	struct entry *e;

	if (!isfinite(number))
		return 0;
	e = take_summary_number(s, k, section, label, row, number);
	if (!e)
		return -ENOMEM;
	weight = weight_of(s, k, e);
	before = page_before(s->options, k, row, &change);
	if (isfinite(before)) {
		e->before += weight * before;
		e->before_weight += weight;
	}
	return take_warm(s, k, section, label, row);
}

static int take_kernel(struct summary *s, const struct kernel_result *k)
{
	struct page_sections all;
	int r = page_sections_make(&all, s->options, s->results, k);

	for (size_t i = 0; r >= 0 && i < all.count; i++)
		for (size_t j = 0; j < all.items[i].count; j++)
			for (size_t n = 0; n < all.items[i].groups[j].count && r >= 0; n++)
				r = take_summary_row(s, k, all.items[i].title, &all.items[i].groups[j].rows[n]);
	if (r >= 0)
		page_sections_release(&all);
	return r;
}

static void forget_entries(struct summary *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->entries[i].label);
	free(s->entries);
	s->entries = NULL;
	s->count = 0;
}

static int by_section(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->section, y->section);

	return order ? order : (x->place > y->place) - (x->place < y->place);
}

double entry_mean(const struct entry *e)
{
	return e->weight > 0 ? e->sum / e->weight : NAN;
}

double entry_before(const struct entry *e, double *ret_change)
{
	double before = e->before_weight > 0 ? e->before / e->before_weight : NAN;

	*ret_change = baseline_change(before, entry_mean(e));
	return before;
}

bool shows_variation(const struct summary *s)
{
	return s->by == SUMMARY_PER_KERNEL && s->options->variation > 0;
}

bool entry_varies(const struct summary *s, const struct entry *e)
{
	return shows_variation(s) && !(spread_percent(&e->spread) <= s->options->variation);
}

static int print_group(FILE *out, struct summary *s, enum page_form form, bool is_first)
{
	int r = 0;

	if (s->count)
		qsort(s->entries, s->count, sizeof(*s->entries), by_section);
	if (form == FORM_CSV)
		summary_write_csv(out, s);
	else if (form == FORM_JSON)
		fputs(is_first ? "\n" : ",\n", out), summary_write_json(out, s);
	else
		r = summary_print_text(out, s);
	return r;
}

static int print_groups(FILE *out, struct summary *s, const struct summary_items *all, enum page_form form)
{
	const struct kernel_result *before = NULL;
	size_t end;
	int r = 0;

	for (size_t i = 0; i < all->count && r >= 0; i = end) {
		for (end = i; end < all->count && summary_same_group(s->by, &all->items[i], &all->items[end]) && r >= 0; end++)
			r = take_kernel(s, all->items[end].k);
		s->first = &all->items[i];
		s->launches = end - i;
		if (r >= 0 && form == FORM_TEXT && s->by <= SUMMARY_PER_KERNEL)
			page_process_line(out, s->first->k, before);
		if (r >= 0)
			r = print_group(out, s, form, i == 0);
		before = s->first->k;
		forget_entries(s);
	}
	return r;
}

int page_print_summary(FILE *out, const struct kernel_results *results, const struct page_options *options, enum page_summary by,
		       enum page_form form)
{
	static const char *const names[] = { "none", "per-gpu", "per-kernel", "per-nvtx", "per-operator" };
	struct summary s = { .results = results, .options = options, .by = by };
	struct summary_items all;
	int r = summary_items_make(&all, results, by);

	if (r >= 0 && form == FORM_CSV)
		summary_write_csv_heading(out, &s);
	if (r >= 0 && form == FORM_JSON)
		fprintf(out, "{\"summary\": \"%s\", \"groups\": [", names[by]);
	if (r >= 0)
		r = print_groups(out, &s, &all, form);
	if (r >= 0 && form == FORM_JSON)
		fputs("]}\n", out);
	forget_entries(&s);
	summary_items_release(&all);
	return r;
}
