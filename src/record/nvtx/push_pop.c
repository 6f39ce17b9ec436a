#include "record/nvtx/push_pop.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "fmt/nvtx_wire.h"
#include "record/nvtx/payloads.h"
#include "record/session/trigger.h"

uint32_t range_values(const struct event_attributes *event, int64_t end, int64_t *values)
{
	uint32_t present = BIT(COLUMN_SLICE_START) | BIT(COLUMN_SLICE_END);

	values[COLUMN_SLICE_START] = event->start;
	values[COLUMN_SLICE_END] = end;
	values[COLUMN_SLICE_NAME] = (int64_t)event->name;
	values[COLUMN_SLICE_FLAGS] = event->flags;
	values[COLUMN_SLICE_COLOR] = event->color;
	values[COLUMN_SLICE_PAYLOAD_KIND] = event->payload_kind;
	values[COLUMN_SLICE_PAYLOAD] = (int64_t)event->payload;
	values[COLUMN_SLICE_BLOB] = (int64_t)event->blob;
	values[COLUMN_SLICE_SCHEMA] = (int64_t)event->schema;
	present |= event->name ? BIT(COLUMN_SLICE_NAME) : 0;
	present |= event->flags ? BIT(COLUMN_SLICE_FLAGS) : 0;
#define SLICE_FIELD(NAME, name, type) \
	values[COLUMN_SLICE_##NAME] = (int64_t)event->name; \
	present |= event->name ? BIT(COLUMN_SLICE_##NAME) : 0;
	NVTX_FIELDS(SLICE_FIELD)
#undef SLICE_FIELD
	present |= event->flags & SLICE_HAS_COLOR ? BIT(COLUMN_SLICE_COLOR) : 0;
	if (event->payload_kind)
		present |= BIT(COLUMN_SLICE_PAYLOAD_KIND) | BIT(COLUMN_SLICE_PAYLOAD);
	if (event->blob)
		present |= BIT(COLUMN_SLICE_BLOB) | BIT(COLUMN_SLICE_SCHEMA);
	values[COLUMN_SLICE_ARGS] = (int64_t)event->args;
	present |= event->args ? BIT(COLUMN_SLICE_ARGS) : 0;
	return present;
}

static struct report_track *make_track(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d,
				       uint32_t level)
{
	if (!ARRAY_REACH(d->tracks, d->track_count, level))
		return NULL;
	d->tracks[level] = session_track(s, TABLE_SLICE, TRACK_NVTX_PUSHPOP, p->uid, t->uid, d->uid, level);
	return d->tracks[level];
}

static inline struct report_track *find_push_pop_track(struct session *s, struct traced_process *p, struct traced_thread *t,
						       struct domain_state *d, uint32_t level)
{
	if (__builtin_expect(level < d->track_count && d->tracks[level] != NULL, 1))
		return d->tracks[level];
	return make_track(s, p, t, d, level);
}

static void append_pushed_range(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d,
				const struct open_push *open, int64_t end)
{
	struct report_track *track = find_push_pop_track(s, p, t, d, open->level);
	int64_t values[TABLE_MAX_COLUMNS];
	unsigned events = 2; /* the push and the pop */
	uint32_t present;

	if (open->plain) {
		values[COLUMN_SLICE_START] = open->event.start;
		values[COLUMN_SLICE_END] = end;
		values[COLUMN_SLICE_NAME] = (int64_t)open->event.name;
		present = BIT(COLUMN_SLICE_START) | BIT(COLUMN_SLICE_END) | BIT(COLUMN_SLICE_NAME);
	} else {
		present = range_values(&open->event, end, values);
		events = open->event.flags & SLICE_OPEN ? 1 : 2;
	}
	session_event_row(s, t, track, values, present, events);
	if (__builtin_expect(s->triggers != NULL, 0) && (open->plain || !(open->event.flags & SLICE_OPEN)))
		trigger_range(s, d->uid, open->event.name, open->event.start, end, open->hang_reported);
}

/* A plain one has only start and name filled in; give the rest its values. */
static void fill_in(struct open_push *open)
{
	if (open->plain)
		open->event = (struct event_attributes){ .start = open->event.start, .name = open->event.name };
	open->plain = 0;
}

static void end_open(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, int64_t end)
{
	struct open_push *open = &d->open[--d->depth];

	fill_in(open);
	open->event.flags |= SLICE_OPEN;
	append_pushed_range(s, p, t, d, open, end);
}

void push_pop_push(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, unsigned level,
		   const struct event_attributes *event, int plain)
{
	/* Their pops were among the dropped events: this push says they are over. */
	while (d->depth && d->open[d->depth - 1].level >= level)
		end_open(s, p, t, d, event->start);
	if (level >= NVTX_WIRE_LEVEL_MAX || !find_push_pop_track(s, p, t, d, level)) {
		session_event_damaged(s, t);
		return;
	}
	if (!ARRAY_ROOM(d->open, d->depth, d->open_cap, 1)) {
		session_event_damaged(s, t);
		return;
	}
	d->open[d->depth].level = level;
	d->open[d->depth].plain = (uint8_t)plain;
	d->open[d->depth].hang_reported = 0;
	d->open[d->depth].named = event->start;
	if (plain) {
		d->open[d->depth].event.start = event->start;
		d->open[d->depth].event.name = event->name;
	} else {
		d->open[d->depth].event = *event;
	}
	d->depth++;
}

void push_pop_pop(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, unsigned level,
		  int64_t time, const struct payload_list *payloads)
{
	while (d->depth && d->open[d->depth - 1].level > level)
		end_open(s, p, t, d, time);
	if (!d->depth || d->open[d->depth - 1].level != level) {
		/* Lost with its push: events and losses add up to what was emitted. */
		t->counts.push_missing++;
		s->events--;
		return;
	}
	if (__builtin_expect(payloads != NULL, 0)) {
		fill_in(&d->open[d->depth - 1]);
		payloads_attach(s, &d->open[d->depth - 1].event, payloads);
	}
	append_pushed_range(s, p, t, d, &d->open[--d->depth], time);
}

static uint32_t instant_values(const struct event_attributes *event, int64_t *values)
{
	uint32_t present = BIT(COLUMN_INSTANT_TIME);

	values[COLUMN_INSTANT_TIME] = event->start;
	values[COLUMN_INSTANT_NAME] = (int64_t)event->name;
	values[COLUMN_INSTANT_FLAGS] = event->flags;
	values[COLUMN_INSTANT_COLOR] = event->color;
	values[COLUMN_INSTANT_PAYLOAD_KIND] = event->payload_kind;
	values[COLUMN_INSTANT_PAYLOAD] = (int64_t)event->payload;
	values[COLUMN_INSTANT_BLOB] = (int64_t)event->blob;
	values[COLUMN_INSTANT_SCHEMA] = (int64_t)event->schema;
	present |= event->name ? BIT(COLUMN_INSTANT_NAME) : 0;
	present |= event->flags ? BIT(COLUMN_INSTANT_FLAGS) : 0;
#define INSTANT_FIELD(NAME, name, type) \
	values[COLUMN_INSTANT_##NAME] = (int64_t)event->name; \
	present |= event->name ? BIT(COLUMN_INSTANT_##NAME) : 0;
	NVTX_FIELDS(INSTANT_FIELD)
#undef INSTANT_FIELD
	present |= event->flags & SLICE_HAS_COLOR ? BIT(COLUMN_INSTANT_COLOR) : 0;
	if (event->payload_kind)
		present |= BIT(COLUMN_INSTANT_PAYLOAD_KIND) | BIT(COLUMN_INSTANT_PAYLOAD);
	if (event->blob)
		present |= BIT(COLUMN_INSTANT_BLOB) | BIT(COLUMN_INSTANT_SCHEMA);
	values[COLUMN_INSTANT_ARGS] = (int64_t)event->args;
	present |= event->args ? BIT(COLUMN_INSTANT_ARGS) : 0;
	return present;
}

void push_pop_mark(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d,
		   const struct event_attributes *event)
{
	int64_t values[TABLE_MAX_COLUMNS];

	if (!d->marks)
		d->marks = session_track(s, TABLE_INSTANT, TRACK_NVTX_MARK, p->uid, t->uid, d->uid, 0);
	session_event_row(s, t, d->marks, values, instant_values(event, values), 1);
	if (s->triggers)
		trigger_mark(s, d->uid, event->name, event->start);
}

void push_pop_end_all(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, int64_t end)
{
	while (d->depth)
		end_open(s, p, t, d, end);
}

void push_pop_write_open(struct domain_state *d, int64_t end)
{
	int64_t values[TABLE_MAX_COLUMNS];
	struct open_push open;
	uint32_t present;

	for (uint32_t i = 0; i < d->depth; i++) {
		open = d->open[i];
		fill_in(&open);
		open.event.flags |= SLICE_OPEN;
		present = range_values(&open.event, end, values);
		report_append_provisional(d->tracks[open.level], values, present);
	}
}
