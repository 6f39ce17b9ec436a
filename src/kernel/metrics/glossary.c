#include "kernel/metrics/glossary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "kernel/metrics/text_file.h"

#define MAX_TERMS 20000

struct reader {
	struct text_lines lines;
	struct glossary *glossary;
	struct error *err;
	int kind; /* -1: not said yet */
	struct text_part collection;
	size_t first; /* of this file's */
};

static int fail_glossary_memory(struct error *err)
{
	return error_set(err, ENOMEM, "Not enough memory");
}

static int read_kind(struct reader *r, struct text_part value)
{
	static const char *const words[TERM_KINDS] = { "metric", "unit", "quantity", "word", "suffix", "pipe", "stall", "advice", "alias" };

	for (r->kind = 0; r->kind < TERM_KINDS; r->kind++)
		if (text_is(value, words[r->kind]))
			return 0;
	return text_refuse(&r->lines, r->err, "kinds are metric, unit, quantity, word, suffix, pipe, stall, advice and alias");
}

/* A name that was just there goes on. */
static struct term *same_as_last(struct reader *r, struct text_part name)
{
	struct glossary *g = r->glossary;
	struct term *last = g->count > r->first ? &g->terms[g->count - 1] : NULL;

	return last && (int)last->kind == r->kind && text_is(name, last->name) ? last : NULL;
}

static int extend(struct reader *r, struct term *term, struct text_part text)
{
	size_t len = strlen(term->text);
	char *grown = realloc(term->text, len + text.len + 2);

	if (!grown)
		return fail_glossary_memory(r->err);
	grown[len] = ' ';
	memcpy(grown + len + 1, text.text, text.len);
	grown[len + 1 + text.len] = '\0';
	term->text = grown;
	return 0;
}

static int add_term(struct reader *r, struct text_part name, struct text_part text)
{
	struct glossary *g = r->glossary;
	struct text_part unit = text_take_unit(&name);
	struct term *term = same_as_last(r, name);

	if (!name.len || !text.len)
		return text_refuse(&r->lines, r->err, "expected 'name = text'");
	if (term)
		return extend(r, term, text);
	if (g->count == MAX_TERMS)
		return text_refuse(&r->lines, r->err, "there are too many terms");
	term = LIST_ADD(g->terms, g->count);
	if (!term)
		return fail_glossary_memory(r->err);
	*term = (struct term){ (enum term_kind)r->kind, text_copy(name), text_copy(unit), text_copy(text), text_copy(r->collection) };
	return term->name && term->unit && term->text && term->collection ? 0 : fail_glossary_memory(r->err);
}

static int read_glossary_line(struct reader *r, struct text_part line)
{
	struct text_part name, value;

	if (!text_split(line, '=', &name, &value))
		return text_refuse(&r->lines, r->err, "expected 'name = text'");
	if (text_is(name, "kind"))
		return read_kind(r, value);
	if (text_is(name, "collection")) {
		r->collection = value;
		return 0;
	}
	if (r->kind < 0)
		return text_refuse(&r->lines, r->err, "the first line names the kind of the entries, as in 'kind = metric'");
	return add_term(r, name, value);
}

int glossary_parse(struct glossary *g, const char *path, const char *text, size_t size, struct error *err)
{
	/* clang-format off */
	struct reader r = { .lines = { path, text, text + size, 0, 0 }, .glossary = g, .err = err, .kind = -1, .collection = { "", 0 },
			    .first = g->count };
	/* clang-format on */
	struct text_part line;
	int result = 1;

	while (result > 0) {
		result = text_next_line(&r.lines, &line, err);
		if (result > 0 && read_glossary_line(&r, line) < 0)
			result = -EINVAL;
	}
	return result;
}

static int compare_terms(const void *a, const void *b)
{
	const struct term *x = a, *y = b;

	return x->kind != y->kind ? (int)x->kind - (int)y->kind : strcmp(x->name, y->name);
}

void glossary_sort(struct glossary *g)
{
	if (g->count)
		qsort(g->terms, g->count, sizeof(*g->terms), compare_terms);
}

struct loading {
	struct glossary *glossary;
	struct error *err;
};

static int add_file(void *context, const char *path)
{
	struct loading *l = context;
	char *text;
	size_t size;
	int r;

	TRY(text_file_read(path, &text, &size, l->err));
	r = glossary_parse(l->glossary, path, text, size, l->err);
	free(text);
	return r;
}

int glossary_load(struct glossary *ret, const char *const *folders, size_t folder_count, struct error *err)
{
	struct loading l = { ret, err };
	int r = 0;

	*ret = (struct glossary){ NULL, 0 };
	for (size_t i = 0; r >= 0 && i < folder_count; i++) {
		r = text_each_file(folders[i], ".txt", add_file, &l);
		if (r == -ENOENT)
			error_set(err, ENOENT, "The folder %s does not exist", folders[i]);
	}
	if (r < 0)
		glossary_release(ret);
	else
		glossary_sort(ret);
	return r;
}

void glossary_release(struct glossary *g)
{
	for (size_t i = 0; i < g->count; i++) {
		free(g->terms[i].name);
		free(g->terms[i].unit);
		free(g->terms[i].text);
		free(g->terms[i].collection);
	}
	free(g->terms);
	*g = (struct glossary){ NULL, 0 };
}

const struct term *glossary_find(const struct glossary *g, enum term_kind kind, const char *name, size_t len)
{
	size_t low = 0, high = g->count, middle;
	const struct term *term;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		term = &g->terms[middle];
		order = term->kind != kind ? (int)term->kind - (int)kind : strncmp(term->name, name, len);
		if (order == 0 && term->name[len])
			order = 1;
		if (order == 0)
			return term;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* People write sm__cycles_active.avg.pct. Ratios have a .pct of their own, without a rollup. */
static int is_short_percentage(const char *name)
{
	static const char *const ends[] = { ".avg.pct", ".sum.pct", ".min.pct", ".max.pct" };
	size_t len = strlen(name);

	for (size_t i = 0; len > 8 && i < COUNT_OF(ends); i++)
		if (strcmp(name + len - 8, ends[i]) == 0)
			return 1;
	return 0;
}

const char *glossary_meant(const struct glossary *g, const char *name, char *room, size_t size)
{
	const struct term *alias = glossary_find(g, TERM_ALIAS, name, strlen(name));

	if (alias)
		return alias->text;
	if (!is_short_percentage(name) || (size_t)snprintf(room, size, "%s_of_peak_sustained_elapsed", name) >= size)
		return NULL;
	return room;
}
