/* Arguments of events: those with a column of their own, and rows of `arg` for the others. */
#include "ingest/kineto/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void arg_row(struct kineto *k, uint64_t *set, const struct json_value *key, const struct json_value *value)
{
	uint32_t present = SINK_BIT(COLUMN_ARG_SET) | SINK_BIT(COLUMN_ARG_KEY);
	int64_t v[TABLE_MAX_COLUMNS];
	double real;

	if (!*set)
		*set = ++k->sink.next_set;
	v[COLUMN_ARG_SET] = (int64_t)*set;
	v[COLUMN_ARG_KEY] = (int64_t)kineto_name(k, key);
	if (value->kind == JSON_NUMBER && json_integer(value, &v[COLUMN_ARG_INTEGER])) {
		present |= SINK_BIT(COLUMN_ARG_INTEGER);
	} else if (value->kind == JSON_NUMBER && json_real(value, &real)) {
		memcpy(&v[COLUMN_ARG_REAL], &real, sizeof(real));
		present |= SINK_BIT(COLUMN_ARG_REAL);
	} else if (value->kind != JSON_NULL) {
		v[COLUMN_ARG_TEXT] = (int64_t)kineto_argument_text(k, value);
		present |= SINK_BIT(COLUMN_ARG_TEXT);
	}
	sink_row(&k->sink, TABLE_ARG, v, present);
}

static struct json_value *known_value(const struct kineto_known *known, const struct json_value *key)
{
	for (; known && known->key; known++)
		if (key->len == known->len && memcmp(key->text, known->key, known->len) == 0)
			return known->value;
	return NULL;
}

int kineto_read_members(struct json *j, struct kineto_members *ret)
{
	struct kineto_member member;
	int first = 1, r;

	ret->count = 0;
	while ((r = json_next_member(j, &first, &member.key)) > 0) {
		r = json_value(j, &member.value);
		if (r < 0)
			return r;
		if (ret->count == KINETO_MAX_MEMBERS) {
			ret->lost++;
			continue;
		}
		if (!ARRAY_ROOM(ret->list, ret->count, ret->capacity, 1))
			return -ENOMEM;
		ret->list[ret->count++] = member;
	}
	return r;
}

uint64_t kineto_args(struct kineto *k, const struct kineto_event *e, const struct kineto_known *known)
{
	static const struct json_value key = { .kind = JSON_STRING, .text = "args", .len = 4 };
	const struct kineto_member *m;
	struct json_value *place;
	uint64_t set = 0;

	for (size_t i = 0; e->members && i < e->members->count; i++) {
		m = &e->members->list[i];
		place = known_value(known, &m->key);
		if (place)
			*place = m->value;
		else
			arg_row(k, &set, &m->key, &m->value);
	}
	if (!e->members && e->args.kind != JSON_NONE)
		arg_row(k, &set, &key, &e->args);
	for (unsigned i = 0; i < e->extra_count; i++)
		arg_row(k, &set, &e->extras[i].key, &e->extras[i].value);
	return set;
}
