/* The parts of a metric's name: unit__quantity_word_word. */
#include <ctype.h>
#include <string.h>

#include "kernel/sections/explain.h"

#define MAX_TOKENS 48
#define MAX_PHRASE 8

struct tokens {
	const char *at[MAX_TOKENS];
	size_t len[MAX_TOKENS];
	size_t count;
};

static void split_base_tokens(const char *text, size_t len, struct tokens *ret)
{
	const char *end = text + len;
	size_t part;

	ret->count = 0;
	while (text < end && ret->count < MAX_TOKENS) {
		for (part = 0; text + part < end && text[part] != '_'; part++)
			;
		if (part) {
			ret->at[ret->count] = text;
			ret->len[ret->count++] = part;
		}
		text += part + 1;
	}
}

/* The longest phrase of words that begins here; how many tokens it takes. */
static const struct term *find_longest_term(const struct glossary *g, enum term_kind kind, const struct tokens *t, size_t first,
					    size_t *ret_used)
{
	const struct term *term;
	size_t most = t->count - first < MAX_PHRASE ? t->count - first : MAX_PHRASE;
	const char *end;

	for (size_t used = most; used > 0; used--) {
		end = t->at[first + used - 1] + t->len[first + used - 1];
		term = glossary_find(g, kind, t->at[first], (size_t)(end - t->at[first]));
		if (term) {
			*ret_used = used;
			return term;
		}
	}
	return NULL;
}

/* The quantity, or what stands in its place. */
static bool put_first(struct buf *out, const struct glossary *g, const struct tokens *t, size_t *ret_used)
{
	const struct term *quantity = find_longest_term(g, TERM_QUANTITY, t, 0, ret_used), *word = NULL;
	const char *text;

	if (!quantity)
		word = find_longest_term(g, TERM_WORD, t, 0, ret_used);
	if (quantity || word) {
		text = quantity ? quantity->text : word->text;
		buf_printf(out, "%c%s", toupper((unsigned char)text[0]), text + 1);
		return true;
	}
	*ret_used = 1;
	buf_printf(out, "'%.*s'", (int)t->len[0], t->at[0]);
	return false;
}

bool explain_base(struct buf *out, const struct glossary *glossary, const char *base, size_t len)
{
	const char *name = memmem(base, len, "__", 2);
	size_t at = 0, used;
	const struct term *word;
	struct tokens t;
	bool complete;

	if (!name)
		return false;
	split_base_tokens(name + 2, len - (size_t)(name + 2 - base), &t);
	if (!t.count)
		return false;
	complete = put_first(out, glossary, &t, &at);
	for (bool first = true; at < t.count; at += used, first = false) {
		word = find_longest_term(glossary, TERM_WORD, &t, at, &used);
		buf_puts(out, first ? ": " : ", ");
		if (word) {
			buf_puts(out, word->text);
		} else {
			used = 1;
			buf_printf(out, "'%.*s'", (int)t.len[at], t.at[at]);
			complete = false;
		}
	}
	buf_puts(out, ".");
	return complete;
}
