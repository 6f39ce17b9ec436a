#include "record/nvtx/counters.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/macros.h"
#include "fmt/nvtx_wire.h"
#include "record/nvtx/definitions.h"

#define MAX_FIELDS 65536u

static void counter_row(struct session *s, struct traced_process *p, uint32_t track, uint64_t domain, const struct record_counter *record)
{
	const struct counter_text *text = definitions_counter(p->definitions, record->counter_id);
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = BIT(COLUMN_NVTX_COUNTER_TRACK) | BIT(COLUMN_NVTX_COUNTER_PROCESS) | BIT(COLUMN_NVTX_COUNTER_DOMAIN) |
			   BIT(COLUMN_NVTX_COUNTER_ID) | BIT(COLUMN_NVTX_COUNTER_FIELD);

	v[COLUMN_NVTX_COUNTER_TRACK] = track;
	v[COLUMN_NVTX_COUNTER_PROCESS] = (int64_t)p->uid;
	v[COLUMN_NVTX_COUNTER_DOMAIN] = (int64_t)domain;
	v[COLUMN_NVTX_COUNTER_ID] = (int64_t)record->counter_id;
	v[COLUMN_NVTX_COUNTER_FIELD] = (int64_t)record->field;
	if (text) {
		v[COLUMN_NVTX_COUNTER_NAME] = (int64_t)text->name;
		v[COLUMN_NVTX_COUNTER_DESCRIPTION] = (int64_t)text->description;
		v[COLUMN_NVTX_COUNTER_SCHEMA] = (int64_t)text->schema;
		present |= text->name ? BIT(COLUMN_NVTX_COUNTER_NAME) : 0;
		present |= text->description ? BIT(COLUMN_NVTX_COUNTER_DESCRIPTION) : 0;
		present |= BIT(COLUMN_NVTX_COUNTER_SCHEMA);
	}
	session_row(s, TABLE_NVTX_COUNTER, v, present);
}

static struct report_track *new_track(struct session *s, struct traced_process *p, struct traced_thread *t,
				      const struct record_counter *record, uint64_t key)
{
	uint64_t domain = definitions_domain(s, p->definitions, record_domain(record->head));
	struct report_track *track;

	if (!LIST_ROOM(t->counter_tracks, t->counter_count))
		return NULL;
	track = session_track(s, TABLE_COUNTER, TRACK_COUNTER, p->uid, t->uid, domain, (uint32_t)record->field);
	if (!track || idmap_put(&t->counters, key, t->counter_count) < 0)
		return NULL;
	t->counter_tracks[t->counter_count++] = track;
	counter_row(s, p, s->next_track, domain, record);
	return track;
}

void counters_sample(struct session *s, struct traced_process *p, struct traced_thread *t, const struct record_counter *record,
		     int64_t time)
{
	uint64_t key = record->counter_id << 16 | record->field;
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present = BIT(COLUMN_COUNTER_TIME);
	struct report_track *track;
	uint64_t index;

	if (record->field >= MAX_FIELDS || record->counter_id >> 48) {
		session_event_damaged(s, t);
		return;
	}
	index = idmap_get(&t->counters, key);
	track = index == IDMAP_NONE ? new_track(s, p, t, record, key) : t->counter_tracks[index];
	values[COLUMN_COUNTER_TIME] = time;
	if (record_flags(record->head) == NVTX_WIRE_COUNTER_INT64) {
		values[COLUMN_COUNTER_INTEGER] = (int64_t)record->value;
		present |= BIT(COLUMN_COUNTER_INTEGER);
	} else if (record_flags(record->head) == NVTX_WIRE_COUNTER_NO_VALUE && record->value == 0) {
		values[COLUMN_COUNTER_INTEGER] = 0; /* "zero" is a value after all */
		present |= BIT(COLUMN_COUNTER_INTEGER);
	} else if (record_flags(record->head) == NVTX_WIRE_COUNTER_DOUBLE) {
		values[COLUMN_COUNTER_REAL] = (int64_t)record->value;
		present |= BIT(COLUMN_COUNTER_REAL);
	}
	session_event_row(s, t, track, values, present, 1);
}
