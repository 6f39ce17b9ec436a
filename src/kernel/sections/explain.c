#include "kernel/sections/explain.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/text/nearest.h"
#include "kernel/metrics/units.h"

/* "Stall Long Scoreboard", "stall_long_sb", "smsp__..._stalled_long_scoreboard_..." -> long_scoreboard */
static void stall_name(const char *name, char *ret, size_t size)
{
	/* clang-format off */
	static const char *const shorts[][2] = { { "short_sb", "short_scoreboard" }, { "long_sb", "long_scoreboard" }, { "lg", "lg_throttle" },
						 { "mio", "mio_throttle" }, { "tex", "tex_throttle" }, { "math", "math_pipe_throttle" },
						 { "imc", "imc_miss" }, { "dispatch", "dispatch_stall" }, { "no_inst", "no_instruction" },
						 { "no_instructions", "no_instruction" }, { "sleep", "sleeping" }, { "warpgroup_arrive", "gmma" } };
	/* clang-format on */
	size_t len = 0;

	if (strncasecmp(name, "stall", 5) == 0 && (name[5] == '_' || name[5] == ' '))
		name += 6;
	for (; name[len] && len + 1 < size; len++)
		ret[len] = name[len] == ' ' ? '_' : (char)tolower((unsigned char)name[len]);
	ret[len] = '\0';
	for (size_t i = 0; i < COUNT_OF(shorts); i++)
		if (strcmp(ret, shorts[i][0]) == 0)
			snprintf(ret, size, "%s", shorts[i][1]);
}

static const struct term *find_any_case(const struct glossary *g, enum term_kind kind, const char *name)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->terms[i].kind == kind && strcasecmp(g->terms[i].name, name) == 0)
			return &g->terms[i];
	return NULL;
}

static int put_stall(struct buf *out, const struct glossary *g, const char *name)
{
	const struct term *stall, *advice;
	char plain[128];

	stall_name(name, plain, sizeof(plain));
	stall = find_any_case(g, TERM_STALL, plain);
	advice = find_any_case(g, TERM_ADVICE, plain);
	if (!stall)
		return 0;
	buf_printf(out, "Warp state %s: %s\n", stall->name, stall->text);
	if (advice)
		buf_printf(out, "  What to do: %s\n", advice->text);
	return 1;
}

static int put_plain(struct buf *out, const struct glossary *g, enum term_kind kind, const char *what, const char *name)
{
	const struct term *term = find_any_case(g, kind, name);

	if (!term)
		return 0;
	buf_printf(out, "%s %s: %s\n", what, term->name, term->text);
	return 1;
}

static int put_section(struct buf *out, const struct sections *sections, const char *name)
{
	const struct section *s = sections_find(sections, name);

	if (!s)
		return 0;
	buf_printf(out, "Section %s (%s): %s\n", s->id, s->title, s->about);
	return 1;
}

static bool row_uses_metric(const struct section_row *row, const char *metric)
{
	for (size_t i = 0; i < row->cell_count; i++)
		for (size_t k = 0; k < row->cells[i].count; k++)
			if (row->cells[i].steps[k].metric && strcmp(row->cells[i].steps[k].metric, metric) == 0)
				return true;
	return false;
}

/* Where it is shown. */
static void put_places(struct buf *out, const struct sections *sections, const char *metric)
{
	unsigned count = 0;

	for (size_t i = 0; i < sections->count; i++) {
		const struct section *s = &sections->items[i];

		for (size_t k = 0; k < s->block_count; k++) {
			for (size_t m = 0; m < s->blocks[k].row_count && count < 8; m++) {
				if (!row_uses_metric(&s->blocks[k].rows[m], metric))
					continue;
				buf_printf(out, "  %s %s: %s\n", count++ ? "       " : "Shown in", s->id, s->blocks[k].rows[m].label);
				break;
			}
		}
	}
}

static void put_suffixes(struct buf *out, const struct glossary *g, const char *suffix)
{
	const struct term *term;
	size_t len;

	while (*suffix == '.') {
		suffix++;
		len = strcspn(suffix, ".");
		term = glossary_find(g, TERM_SUFFIX, suffix, len);
		if (term)
			buf_printf(out, "  .%.*s: %s\n", (int)len, suffix, term->text);
		suffix += len;
	}
}

static void put_unit(struct buf *out, const struct glossary *g, const char *metric)
{
	const char *end = strstr(metric, "__"), *begin = end;
	const struct term *unit;

	while (begin > metric && begin[-1] != '.')
		begin--;
	unit = glossary_find(g, TERM_UNIT, begin, (size_t)(end - begin));
	if (unit)
		buf_printf(out, "  Where: %s: %s\n", unit->name, unit->text);
}

/* A warp state in the name of a metric. */
static void put_stall_of(struct buf *out, const struct glossary *g, const char *base, size_t len)
{
	static const char before[] = "issue_stalled_";
	const char *at = memmem(base, len, before, sizeof(before) - 1);
	char name[128];
	char *end;

	if (!at)
		return;
	at += sizeof(before) - 1;
	snprintf(name, sizeof(name), "%.*s", (int)(len - (size_t)(at - base)), at);
	end = strstr(name, "_per_");
	if (end)
		*end = '\0';
	end = strstr(name, "_not_issued");
	if (end)
		*end = '\0';
	put_stall(out, g, name);
}

static int put_metric(struct buf *out, const struct glossary *g, const struct sections *sections, const char *metric)
{
	size_t len = metric_base_len(metric);
	const struct term *whole = glossary_find(g, TERM_METRIC, metric, strlen(metric));
	const struct term *base = glossary_find(g, TERM_METRIC, metric, len);
	struct buf sentence = BUF_INIT;
	bool known;

	if (!strstr(metric, "__") && !whole)
		return 0;
	known = explain_base(&sentence, g, metric, len);
	if (whole || base || known) {
		buf_printf(out, "%s\n", metric);
		if (whole || base)
			buf_printf(out, "  %s\n", whole ? whole->text : base->text);
		if (known && !(whole && whole->collection[0]))
			buf_printf(out, "  What: %s\n", buf_cstr(&sentence));
		if (strstr(metric, "__"))
			put_unit(out, g, metric);
		put_suffixes(out, g, metric + len);
		put_places(out, sections, metric);
		put_stall_of(out, g, metric, len);
	}
	buf_release(&sentence);
	return whole || base || known;
}

/* The label of a row: its metric, or its formula's first. */
static int put_explained_row(struct buf *out, const struct glossary *g, const struct sections *sections, const char *name)
{
	for (size_t i = 0; i < sections->count; i++) {
		for (size_t k = 0; k < sections->items[i].block_count; k++) {
			const struct section_block *b = &sections->items[i].blocks[k];

			for (size_t m = 0; m < b->row_count; m++) {
				const char *metric = formula_metric(&b->rows[m].cells[0]);

				if (metric && strcasecmp(b->rows[m].label, name) == 0) {
					buf_printf(out, "Row \"%s\" of section %s:\n", b->rows[m].label, sections->items[i].id);
					return put_metric(out, g, sections, metric);
				}
			}
		}
	}
	return 0;
}

static int refuse_unknown_term(const struct glossary *g, const struct sections *sections, const char *name, struct error *err)
{
	struct nearest nearest;
	char hint[160];

	nearest_begin(&nearest, name);
	for (size_t i = 0; i < g->count; i++)
		if (g->terms[i].kind != TERM_WORD && g->terms[i].kind != TERM_QUANTITY)
			nearest_offer(&nearest, g->terms[i].name, strlen(g->terms[i].name));
	for (size_t i = 0; i < sections->count; i++)
		nearest_offer(&nearest, sections->items[i].id, strlen(sections->items[i].id));
	return error_set(err, ENOENT, "There is no explanation of '%s'.%s", name, nearest_hint(&nearest, "", hint, sizeof(hint)));
}

int explain_metric(struct buf *out, const struct glossary *g, const struct sections *sections, const char *name, struct error *err)
{
	char room[256];
	const char *meant = glossary_meant(g, name, room, sizeof(room));
	int found = 0;

	if (strncmp(name, "pmsampling:", 11) == 0)
		name += 11;
	found |= put_section(out, sections, name);
	if (meant) {
		buf_printf(out, "%s is a name for %s.\n", name, meant);
		name = meant;
	}
	found |= put_stall(out, g, name);
	found |= put_plain(out, g, TERM_PIPE, "Pipeline", name);
	found |= put_plain(out, g, TERM_UNIT, "Unit", name);
	if (!found || meant)
		found |= put_metric(out, g, sections, name);
	if (!found)
		found |= put_explained_row(out, g, sections, name);
	return found ? 0 : refuse_unknown_term(g, sections, name, err);
}
