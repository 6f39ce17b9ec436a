/* Members of dictionaries, found by the numbers of their names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "ingest/snapshot/internal.h"

static const char *const field_names[] = {
	NULL,
#define FIELD(NAME, name) name,
#include "ingest/snapshot/fields.def"
};

int snapshot_fields_begin(struct snapshot *s)
{
	uint32_t text;

	s->fields = calloc(s->pickle.texts.count + 1, sizeof(*s->fields));
	s->strings = calloc(s->pickle.texts.count + 1, sizeof(*s->strings));
	if (!s->fields || !s->strings)
		return -ENOMEM;
	for (unsigned f = 1; f < COUNT_OF(field_names); f++) {
		text = keymap_find(&s->pickle.texts, field_names[f], strlen(field_names[f]));
		if (text != KEYMAP_NONE)
			s->fields[text] = (uint8_t)f;
	}
	/* Of a file without sharing every item is reached once, and those of segments and events twice. */
	s->budget = 4 * (uint64_t)s->pickle.item_count + 1000;
	return 0;
}

int snapshot_next(struct snapshot *s, struct pickle_items *at, uint32_t *ret)
{
	if (!pickle_next(at, ret))
		return 0;
	if (s->budget-- > 0)
		return 1;
	s->budget = 0;
	return error_set(s->err, EBADMSG, "repeats its parts more often than a memory snapshot does");
}

int snapshot_members(struct snapshot *s, uint32_t value, struct members *ret)
{
	const struct pickle_value *v = pickle_value(&s->pickle, value), *name;
	struct pickle_items at = pickle_items(&s->pickle, v);
	uint32_t key, member;
	int r;

	memset(ret, 0, sizeof(*ret));
	if (v->kind != PICKLE_DICT)
		return 0;
	while ((r = snapshot_next(s, &at, &key)) > 0 && pickle_next(&at, &member)) {
		name = pickle_value(&s->pickle, key);
		if (name->kind == PICKLE_TEXT)
			ret->at[s->fields[name->is.text]] = member;
	}
	return r < 0 ? r : 1;
}

int snapshot_integer(const struct snapshot *s, const struct members *m, enum field field, int64_t *ret)
{
	const struct pickle_value *v = pickle_value(&s->pickle, m->at[field]);

	if (v->kind != PICKLE_INT && v->kind != PICKLE_BOOL)
		return 0;
	*ret = v->is.integer;
	return 1;
}

int snapshot_size(struct snapshot *s, const struct members *m, enum field field, int64_t *ret)
{
	int64_t size;

	if (!snapshot_integer(s, m, field, &size) || size < 0 || size > SNAPSHOT_MOST_BYTES || s->sum > SNAPSHOT_MOST_SUM)
		return 0;
	s->sum += size;
	*ret = size;
	return 1;
}

const struct keymap_key *snapshot_text(const struct snapshot *s, const struct members *m, enum field field)
{
	const struct pickle_value *v = pickle_value(&s->pickle, m->at[field]);

	return v->kind == PICKLE_TEXT ? pickle_text(&s->pickle, v) : NULL;
}

int snapshot_text_is(const struct keymap_key *text, const char *word)
{
	return text && text->len == strlen(word) && memcmp(text->bytes, word, text->len) == 0;
}

uint64_t snapshot_string(struct snapshot *s, const struct members *m, enum field field)
{
	const struct keymap_key *text = snapshot_text(s, m, field);
	uint64_t *string;

	if (!text || !text->len)
		return 0;
	string = &s->strings[text - s->pickle.texts.keys];
	if (!*string)
		*string = report_string(s->sink.writer, text->bytes, text->len);
	return *string;
}

uint32_t snapshot_list(const struct snapshot *s, const struct members *m, enum field field)
{
	const struct pickle_value *v = pickle_value(&s->pickle, m->at[field]);

	return v->kind == PICKLE_LIST || v->kind == PICKLE_TUPLE ? m->at[field] : 0;
}

uint64_t snapshot_pool(struct snapshot *s, const struct members *m, enum field field)
{
	uint32_t list = snapshot_list(s, m, field), numbers[2];
	const struct pickle_value *first, *second;
	struct pickle_items at;
	char text[64];

	if (!list || pickle_value(&s->pickle, list)->count != 2)
		return 0;
	at = pickle_items(&s->pickle, pickle_value(&s->pickle, list));
	if (!pickle_next(&at, &numbers[0]) || !pickle_next(&at, &numbers[1]))
		return 0;
	first = pickle_value(&s->pickle, numbers[0]);
	second = pickle_value(&s->pickle, numbers[1]);
	if (first->kind != PICKLE_INT || second->kind != PICKLE_INT || (!first->is.integer && !second->is.integer))
		return 0;
	snprintf(text, sizeof(text), "(%lld, %lld)", (long long)first->is.integer, (long long)second->is.integer);
	return sink_text(&s->sink, text);
}

void snapshot_put(int64_t *values, uint32_t *present, unsigned column, int known, int64_t value)
{
	values[column] = value;
	*present |= known ? SINK_BIT(column) : 0;
}
