/* Sets and sections of a choice. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text/nearest.h"
#include "kernel/choice/choice_internal.h"

unsigned chip_capability(const char *chip)
{
	static const struct {
		const char *name; /* or its beginning */
		unsigned cc;
	} chips[] = {
		{ "gv100", 70 }, { "gv11b", 72 },  { "tu1", 75 },    { "ga100", 80 },  { "ga10b", 87 },  { "ga10", 86 },   { "ad10", 89 },
		{ "gh100", 90 }, { "gb100", 100 }, { "gb102", 100 }, { "gb110", 103 }, { "gb10b", 110 }, { "gb20b", 121 }, { "gb20", 120 },
	};

	for (size_t i = 0; i < COUNT_OF(chips); i++)
		if (strncasecmp(chip, chips[i].name, strlen(chips[i].name)) == 0)
			return chips[i].cc;
	return 0;
}

static int fail_choice_memory(struct choosing *c)
{
	return error_set(c->err, ENOMEM, "Not enough memory");
}

int choose_companions(struct choosing *c, const char *metric)
{
	static const char *const rollups[] = { "avg", "max", "min", "sum" };
	size_t len = metric_base_len(metric);
	char name[320];
	bool known = false;

	/* ".avg" or ".avg.something": a ratio has no rollup. */
	if (metric[len] != '.' || strlen(metric) > 256 || strlen(metric + len) < 4 || (metric[len + 4] != '\0' && metric[len + 4] != '.'))
		return 0;
	for (size_t i = 0; i < 4; i++)
		known |= strncmp(metric + len + 1, rollups[i], 3) == 0;
	for (size_t i = 0; known && i < 4; i++) {
		snprintf(name, sizeof(name), "%.*s.%s%s", (int)len, metric, rollups[i], metric + len + 4);
		if (choice_add(c->choice, name, METRIC_COUNTED) < 0)
			return fail_choice_memory(c);
	}
	return 0;
}

static int note_missing(struct choosing *c, const struct section *section, const char *metric)
{
	char note[512];

	snprintf(note, sizeof(note), "%s: the chip %s has no metric %s", section->id, c->sources->counted->chip, metric);
	return choice_note(c->choice, note) < 0 ? fail_choice_memory(c) : 0;
}

/* One name in a formula of a section. */
static int add_used(struct choosing *c, const struct section *section, const char *metric, bool companions)
{
	const struct choice_sources *s = c->sources;
	struct metric_facts facts;
	const struct term *term;
	int r;

	if (strncmp(metric, "pmsampling:", 11) == 0) {
		metric += 11;
		if (!s->sampled || !catalog_facts(s->sampled, metric, &facts))
			return note_missing(c, section, metric);
		return choice_add(c->choice, metric, METRIC_SAMPLED) < 0 ? fail_choice_memory(c) : 0;
	}
	term = glossary_find(s->glossary, TERM_METRIC, metric, strlen(metric));
	if (term && term->collection[0])
		return choice_add(c->choice, metric, METRIC_OWN) < 0 ? fail_choice_memory(c) : 0;
	if (metric[metric_base_len(metric)] == '\0' || !catalog_facts(s->counted, metric, &facts))
		return note_missing(c, section, metric);
	r = choice_add(c->choice, metric, METRIC_COUNTED) < 0 ? fail_choice_memory(c) : 0;
	return r == 0 && companions ? choose_companions(c, metric) : r;
}

static int add_row_metrics(struct choosing *c, const struct section *section, const struct section_row *row, bool companions)
{
	int r = 0;

	for (size_t i = 0; i < row->cell_count; i++)
		for (size_t k = 0; r == 0 && k < row->cells[i].count; k++)
			if (row->cells[i].steps[k].metric)
				r = add_used(c, section, row->cells[i].steps[k].metric, companions);
	return r;
}

int choose_block(struct choosing *c, const struct section *section, const struct section_block *block, bool companions)
{
	const char *metric;
	int r = 0;

	for (size_t i = 0; r == 0 && i < block->row_count; i++) {
		if (!cc_fits(&block->rows[i].cc, c->sources->cc))
			continue;
		r = add_row_metrics(c, section, &block->rows[i], companions);
		metric = formula_metric(&block->rows[i].cells[0]);
		if (r == 0 && block->kind == BLOCK_BREAKDOWN && metric)
			r = choose_breakdown(c, metric, companions);
	}
	return r;
}

int choose_section(struct choosing *c, const struct section *section)
{
	bool companions;
	int r = 0;

	if (!cc_fits(&section->cc, c->sources->cc))
		return 0;
	for (size_t i = 0; r == 0 && i < section->block_count; i++) {
		/* Groups are long, and nobody looks for other rollups of them. */
		companions = c->request->companions && !section->blocks[i].group[0];
		if (cc_fits(&section->blocks[i].cc, c->sources->cc))
			r = choose_block(c, section, &section->blocks[i], companions);
	}
	return r;
}

static int refuse_unknown_choice(const char *what, const char *name, struct nearest *nearest, const char *option, struct error *err)
{
	char hint[160];

	return error_set(err, ENOENT, "Unknown %s '%s'.%s %s lists them", what, name, nearest_hint(nearest, "", hint, sizeof(hint)),
			 option);
}

int choice_mark_set(const struct sections *all, const char *name, bool *marks, struct error *err)
{
	const struct section_set *set = sections_find_set(all, name);
	struct nearest nearest;

	if (!set) {
		nearest_begin(&nearest, name);
		for (size_t i = 0; i < all->set_count; i++)
			nearest_offer(&nearest, all->sets[i].name, strlen(all->sets[i].name));
		return refuse_unknown_choice("set", name, &nearest, "--list-sets", err);
	}
	for (size_t i = 0; i < all->count; i++)
		marks[i] |= section_in_set(&all->items[i], set->name);
	return 0;
}

static int mark_matching(const struct sections *all, const char *expression, bool *marks, struct error *err)
{
	char why[128];
	regex_t regex;
	int r = regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB), found = 0;

	if (r != 0) {
		regerror(r, &regex, why, sizeof(why));
		return error_set(err, EINVAL, "regex:%s cannot be read: %s", expression, why);
	}
	for (size_t i = 0; i < all->count; i++) {
		if (regexec(&regex, all->items[i].id, 0, NULL, 0) != 0)
			continue;
		marks[i] = true;
		found = 1;
	}
	regfree(&regex);
	return found ? 0 : error_set(err, ENOENT, "No section matches regex:%s. --list-sections lists them", expression);
}

int choice_mark_section(const struct sections *all, const char *name, bool *marks, struct error *err)
{
	const struct section *section;
	struct nearest nearest;

	if (strncmp(name, "regex:", 6) == 0)
		return mark_matching(all, name + 6, marks, err);
	section = sections_find(all, name);
	if (!section) {
		nearest_begin(&nearest, name);
		for (size_t i = 0; i < all->count; i++)
			nearest_offer(&nearest, all->items[i].id, strlen(all->items[i].id));
		return refuse_unknown_choice("section", name, &nearest, "--list-sections", err);
	}
	marks[section - all->items] = true;
	return 0;
}

static int mark_all(struct choosing *c, bool *marks)
{
	const struct sections *all = c->sources->sections;
	const struct choice_request *q = c->request;
	int r = 0;

	for (size_t i = 0; r == 0 && i < q->set_count; i++)
		r = choice_mark_set(all, q->sets[i], marks, c->err);
	for (size_t i = 0; r == 0 && i < q->section_count; i++)
		r = choice_mark_section(all, q->sections[i], marks, c->err);
	if (r == 0 && !q->set_count && !q->section_count && !q->metric_count)
		r = choice_mark_set(all, "basic", marks, c->err);
	return r;
}

static int choose_all(struct choosing *c, bool *marks)
{
	const struct sections *all = c->sources->sections;
	int r = mark_all(c, marks);

	for (size_t i = 0; r == 0 && i < all->count; i++) {
		if (!marks[i])
			continue;
		c->choice->sections[c->choice->section_count++] = &all->items[i];
		r = choose_section(c, &all->items[i]);
	}
	for (size_t i = 0; r == 0 && i < c->request->metric_count; i++)
		r = choose_metric(c, c->request->metrics[i]);
	return r;
}

int choice_make(struct choice *ret, const struct choice_sources *sources, const struct choice_request *request, struct error *err)
{
	struct choosing c = { ret, sources, request, err };
	bool *marks = calloc(sources->sections->count + 1, sizeof(*marks));
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->sections = calloc(sources->sections->count + 1, sizeof(*ret->sections));
	r = marks && ret->sections ? choose_all(&c, marks) : fail_choice_memory(&c);
	free(marks);
	if (r < 0)
		choice_release(ret);
	return r;
}
