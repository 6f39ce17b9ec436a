/* The allocator's events of a device: rows, lifetimes of allocations, and how many bytes there were at each moment.
 *
 * A trace may have lost its begin, as PyTorch keeps the last events only. So it is read twice: the first time says what was there before,
 * which is what was released without having been allocated, and what is there in the end without having been allocated. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "ingest/snapshot/internal.h"

#define RELIEF_ROWS 4096u
#define BUILDER_BYTES (48u << 20)
#define MOST_TIME_US INT64_C(9000000000000000)
#define UNTIMED_STEP 1000 /* ns between events without times: PyTorch 2.0 */
#define NO_PLACE UINT32_MAX

enum { METRIC_SOURCE = 3 }; /* PyTorch's allocator, in gpu_metric */

/* clang-format off */
enum action {
	ACTION_OTHER, ACTION_ALLOC, ACTION_FREE_REQUESTED, ACTION_FREE_COMPLETED,
	ACTION_SEGMENT_GROWS, ACTION_SEGMENT_SHRINKS, ACTION_OOM
};
/* clang-format on */

struct event {
	enum action action;
	uint64_t word; /* string id of the action */
	int64_t time, address, size, stream;
	int has_address, has_size, has_stream;
	uint32_t frames;
	struct members members;
};

/* What was allocated, or waits to be reused. */
struct live {
	int64_t start; /* INT64_MIN: before the first event */
	int64_t address, size, stream;
	uint32_t frames;
	uint8_t is_allocated, is_final;
	uint32_t next_free;
};

enum { ALLOCATED, ACTIVE, RESERVED, CURVES };

struct curve {
	struct report_track *track;
	int64_t bytes;
};

struct replay {
	struct snapshot *s;
	struct snapshot_device *device;
	int64_t gpu; /* gpu.uid */
	int emits;
	int64_t time; /* of the last event */
	struct idmap by_address;
	struct live *lives;
	uint32_t live_count, live_cap, first_free;
	int64_t before[CURVES]; /* bytes before the first event */
	struct curve curves[CURVES];
	int requests; /* releases are requested at all: PyTorch may be told to leave these events out */
	struct report_track *events;
};

static enum action find_action(const struct keymap_key *word)
{
	static const struct {
		const char *word;
		enum action action;
	} actions[] = { { "alloc", ACTION_ALLOC },
			{ "free_requested", ACTION_FREE_REQUESTED },
			{ "free_completed", ACTION_FREE_COMPLETED },
			{ "segment_alloc", ACTION_SEGMENT_GROWS },
			{ "segment_map", ACTION_SEGMENT_GROWS },
			{ "segment_free", ACTION_SEGMENT_SHRINKS },
			{ "segment_unmap", ACTION_SEGMENT_SHRINKS },
			{ "oom", ACTION_OOM } };

	for (unsigned i = 0; i < COUNT_OF(actions); i++)
		if (snapshot_text_is(word, actions[i].word))
			return actions[i].action;
	return ACTION_OTHER;
}

int snapshot_time(const struct snapshot *s, const struct members *m, int64_t *ret)
{
	int64_t us;

	if (!snapshot_integer(s, m, FIELD_TIME, &us) || us < 0 || us > MOST_TIME_US)
		return 0;
	*ret = us * 1000;
	return 1;
}

/* Events come in order, and several within a microsecond: those are 1 ns apart, so that their order stays. */
static int64_t next_time(struct replay *r, const struct members *m)
{
	int64_t time, after = r->time + 1;

	if (!snapshot_time(r->s, m, &time))
		return r->time + UNTIMED_STEP;
	if (time < after) {
		r->s->early += r->emits && time + 999 < after;
		time = after;
	}
	return time;
}

/* Sizes are added up once. */
static int read_event_bytes(struct replay *r, const struct members *m, int64_t *ret)
{
	if (!r->emits)
		return snapshot_size(r->s, m, FIELD_SIZE, ret);
	return snapshot_integer(r->s, m, FIELD_SIZE, ret) && *ret >= 0 && *ret <= SNAPSHOT_MOST_BYTES;
}

/* 1, 0 where the entry lacks what its action needs. */
static int read_event(struct replay *r, uint32_t value, struct event *e)
{
	struct snapshot *s = r->s;
	int found = snapshot_members(s, value, &e->members);

	if (found <= 0)
		return found;
	e->word = snapshot_string(s, &e->members, FIELD_ACTION);
	e->action = find_action(snapshot_text(s, &e->members, FIELD_ACTION));
	e->has_size = read_event_bytes(r, &e->members, &e->size);
	e->has_address = snapshot_integer(s, &e->members, FIELD_ADDR, &e->address);
	e->has_stream = snapshot_integer(s, &e->members, FIELD_STREAM, &e->stream);
	if (!e->word || s->sum > SNAPSHOT_MOST_SUM || (e->action && !e->has_size) ||
	    (e->action && e->action != ACTION_OOM && !e->has_address))
		return 0;
	e->frames = snapshot_list(s, &e->members, FIELD_FRAMES);
	e->time = r->time = next_time(r, &e->members);
	return 1;
}

static int64_t shown_time(const struct replay *r, int64_t time)
{
	return time - r->s->origin;
}

static int append_row(struct replay *r, struct report_track *track, const int64_t *values, uint32_t present)
{
	if (values[0] > r->s->sink.last)
		r->s->sink.last = values[0];
	TRY(track ? report_append(track, values, present) : -ENOMEM);
	return ++r->s->event_rows % RELIEF_ROWS ? 0 : report_writer_relieve(r->s->sink.writer, BUILDER_BYTES);
}

static int append_value(struct replay *r, struct curve *c, int64_t time)
{
	const int64_t v[] = { [COLUMN_COUNTER_TIME] = shown_time(r, time), [COLUMN_COUNTER_INTEGER] = c->bytes };

	return append_row(r, c->track, v, SINK_BIT(COLUMN_COUNTER_TIME) | SINK_BIT(COLUMN_COUNTER_INTEGER));
}

static int change_curve(struct replay *r, int curve, int64_t bytes)
{
	r->curves[curve].bytes += bytes;
	return r->emits && bytes ? append_value(r, &r->curves[curve], r->time) : 0;
}

static int write_allocation(struct replay *r, const struct live *l, const int64_t *end)
{
	uint32_t present = BITS_TO(COLUMN_TORCH_ALLOCATION_STREAM) & ~SINK_BIT(COLUMN_TORCH_ALLOCATION_START) &
			   ~SINK_BIT(COLUMN_TORCH_ALLOCATION_END);
	int64_t v[TABLE_MAX_COLUMNS];
	struct frames_seen seen;

	TRY(snapshot_stack(r->s, l->frames, &seen));
	v[COLUMN_TORCH_ALLOCATION_GPU] = r->gpu;
	v[COLUMN_TORCH_ALLOCATION_ADDRESS] = l->address;
	v[COLUMN_TORCH_ALLOCATION_BYTES] = l->size;
	v[COLUMN_TORCH_ALLOCATION_STREAM] = l->stream;
	snapshot_put(v, &present, COLUMN_TORCH_ALLOCATION_START, l->start != INT64_MIN,
		     l->start != INT64_MIN ? shown_time(r, l->start) : 0);
	snapshot_put(v, &present, COLUMN_TORCH_ALLOCATION_END, end != NULL, end ? shown_time(r, *end) : 0);
	snapshot_put(v, &present, COLUMN_TORCH_ALLOCATION_STACK, seen.stack != 0, (int64_t)seen.stack);
	snapshot_put(v, &present, COLUMN_TORCH_ALLOCATION_FRAME, seen.own != 0, (int64_t)seen.own);
	sink_row(&r->s->sink, TABLE_TORCH_ALLOCATION, v, present);
	return 0;
}

static struct live *find_live(const struct replay *r, int64_t address)
{
	uint64_t at = idmap_get(&r->by_address, (uint64_t)address);

	return at == IDMAP_NONE ? NULL : &r->lives[at];
}

static struct live *add_live(struct replay *r, const struct live *live)
{
	uint32_t at = r->first_free;
	struct live *l;

	if (at != NO_PLACE) {
		l = &r->lives[at];
		r->first_free = l->next_free;
	} else {
		l = ARRAY_ADD(r->lives, r->live_count, r->live_cap);
		at = r->live_count - 1;
	}
	if (!l || idmap_put(&r->by_address, (uint64_t)live->address, at) < 0)
		return NULL;
	*l = *live;
	return l;
}

static void remove_live(struct replay *r, struct live *l)
{
	uint64_t at = idmap_take(&r->by_address, (uint64_t)l->address);

	if (at == IDMAP_NONE)
		return;
	l->next_free = r->first_free;
	r->first_free = (uint32_t)at;
}

/* Its bytes are not the program's any more, but not to be used for others yet. */
static int end_allocation(struct replay *r, struct live *l)
{
	if (!l->is_allocated)
		return 0;
	l->is_allocated = 0;
	TRY(change_curve(r, ALLOCATED, -l->size));
	return r->emits ? write_allocation(r, l, &r->time) : 0;
}

static int remove_active(struct replay *r, struct live *l)
{
	TRY(end_allocation(r, l));
	TRY(change_curve(r, ACTIVE, -l->size));
	remove_live(r, l);
	return 0;
}

static int note_allocation(struct replay *r, const struct event *e)
{
	const struct live live = {
		.start = e->time, .address = e->address, .size = e->size, .stream = e->stream, .frames = e->frames, .is_allocated = 1
	};
	struct live *before = find_live(r, e->address);

	if (before) {
		r->s->lost_frees += r->emits != 0;
		TRY(remove_active(r, before));
	}
	if (!add_live(r, &live))
		return -ENOMEM;
	TRY(change_curve(r, ALLOCATED, e->size));
	return change_curve(r, ACTIVE, e->size);
}

/* Released, but allocated before the first event: who allocated it is not known. */
static struct live *add_earlier(struct replay *r, const struct event *e, int is_allocated)
{
	const struct live live = {
		.start = INT64_MIN, .address = e->address, .size = e->size, .stream = e->stream, .is_allocated = (uint8_t)is_allocated
	};

	r->before[ALLOCATED] += is_allocated ? e->size : 0;
	r->before[ACTIVE] += e->size;
	return add_live(r, &live);
}

static int request_release(struct replay *r, const struct event *e)
{
	struct live *l = find_live(r, e->address);

	if (!l)
		l = add_earlier(r, e, 1);
	return l ? end_allocation(r, l) : -ENOMEM;
}

static int complete_release(struct replay *r, const struct event *e)
{
	struct live *l = find_live(r, e->address);

	if (!l)
		l = add_earlier(r, e, !r->requests);
	return l ? remove_active(r, l) : -ENOMEM;
}

static int apply_event(struct replay *r, const struct event *e)
{
	switch (e->action) {
	case ACTION_ALLOC: return note_allocation(r, e);
	case ACTION_FREE_REQUESTED: return request_release(r, e);
	case ACTION_FREE_COMPLETED: return complete_release(r, e);
	case ACTION_SEGMENT_GROWS: return change_curve(r, RESERVED, e->size);
	case ACTION_SEGMENT_SHRINKS: return change_curve(r, RESERVED, -e->size);
	default: return 0;
	}
}

static int write_event(struct replay *r, const struct event *e)
{
	struct snapshot *s = r->s;
	const struct members *m = &e->members;
	uint64_t pool = snapshot_pool(s, m, FIELD_POOL), compiled = snapshot_string(s, m, FIELD_COMPILE_CONTEXT),
		 metadata = snapshot_string(s, m, FIELD_USER_METADATA);
	uint32_t present = SINK_BIT(COLUMN_TORCH_MEMORY_TIME) | SINK_BIT(COLUMN_TORCH_MEMORY_ACTION);
	int64_t v[TABLE_MAX_COLUMNS], free_bytes = 0;
	int is_known = snapshot_integer(s, m, FIELD_DEVICE_FREE, &free_bytes);
	struct frames_seen seen;

	TRY(snapshot_stack(s, e->frames, &seen));
	v[COLUMN_TORCH_MEMORY_TIME] = shown_time(r, e->time);
	v[COLUMN_TORCH_MEMORY_ACTION] = (int64_t)e->word;
	snapshot_put(v, &present, COLUMN_TORCH_MEMORY_ADDRESS, e->has_address, e->address);
	snapshot_put(v, &present, COLUMN_TORCH_MEMORY_BYTES, e->has_size, e->size);
	snapshot_put(v, &present, COLUMN_TORCH_MEMORY_STREAM, e->has_stream, e->stream);
	snapshot_put(v, &present, COLUMN_TORCH_MEMORY_STACK, seen.stack != 0, (int64_t)seen.stack);
	snapshot_put(v, &present, COLUMN_TORCH_MEMORY_FREE, is_known, free_bytes);
	snapshot_put(v, &present, COLUMN_TORCH_MEMORY_POOL, pool != 0, (int64_t)pool);
	snapshot_put(v, &present, COLUMN_TORCH_MEMORY_COMPILED, compiled != 0, (int64_t)compiled);
	snapshot_put(v, &present, COLUMN_TORCH_MEMORY_METADATA, metadata != 0, (int64_t)metadata);
	return append_row(r, r->events, v, present);
}

static int replay_event(struct replay *r, uint32_t value)
{
	struct event e = { .action = ACTION_OTHER };
	int found = read_event(r, value, &e);

	TRY(found);
	if (!found) {
		r->s->odd += r->emits != 0;
		return 0;
	}
	if (r->emits)
		TRY(write_event(r, &e));
	return apply_event(r, &e);
}

static int replay_events(struct replay *r)
{
	struct pickle_items at = pickle_items(&r->s->pickle, pickle_value(&r->s->pickle, r->device->events));
	uint32_t value;
	int found;

	while ((found = snapshot_next(r->s, &at, &value)) > 0 && !r->s->sink.result)
		TRY(replay_event(r, value));
	return found;
}

/* Blocks of the final state that no event allocated were there before. */
static int finish_blocks(struct replay *r)
{
	for (size_t i = 0; i < r->device->block_count; i++) {
		const struct snapshot_block *b = &r->device->blocks[i];
		struct live *l = find_live(r, b->address),
			    live = { .start = INT64_MIN, .address = b->address, .size = b->size, .stream = b->stream, .frames = b->frames };

		if (l) {
			l->is_final = 1;
			continue;
		}
		r->before[ALLOCATED] += b->is_allocated ? b->size : 0;
		r->before[ACTIVE] += b->size;
		if (r->emits && b->is_allocated)
			TRY(write_allocation(r, &live, NULL));
	}
	return 0;
}

static int finish_lives(struct replay *r)
{
	for (size_t i = 0; i < r->by_address.cap; i++) {
		const struct live *l;

		if (r->by_address.entries[i].value == IDMAP_NONE)
			continue;
		l = &r->lives[r->by_address.entries[i].value];
		r->s->misfits += r->emits && !l->is_final;
		if (r->emits && l->is_allocated)
			TRY(write_allocation(r, l, NULL));
	}
	return 0;
}

static int run_replay(struct replay *r)
{
	int found = r->device->events ? replay_events(r) : 0;

	if (found >= 0)
		found = finish_blocks(r);
	if (found >= 0)
		found = finish_lives(r);
	idmap_release(&r->by_address);
	r->by_address = (struct idmap){ 0 };
	free(r->lives);
	r->lives = NULL;
	r->live_count = r->live_cap = 0;
	r->first_free = NO_PLACE;
	return found;
}

static struct report_track *begin_track(struct replay *r, enum table_id table, enum track_kind kind, uint64_t name)
{
	struct sink *sink = &r->s->sink;
	uint32_t present = SINK_BIT(COLUMN_TRACK_ID) | SINK_BIT(COLUMN_TRACK_KIND) | SINK_BIT(COLUMN_TRACK_DOMAIN) |
			   SINK_BIT(COLUMN_TRACK_DEPTH);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_TRACK_ID] = ++sink->next_track;
	v[COLUMN_TRACK_KIND] = kind;
	v[COLUMN_TRACK_DOMAIN] = r->gpu;
	v[COLUMN_TRACK_DEPTH] = 0;
	snapshot_put(v, &present, COLUMN_TRACK_NAME, name != 0, (int64_t)name);
	sink_row(sink, TABLE_TRACK, v, present);
	return report_track(sink->writer, table, sink->next_track);
}

static int begin_curve(struct replay *r, int curve)
{
	static const struct {
		const char *name, *metric;
	} curves[CURVES] = { [ALLOCATED] = { "PyTorch allocated", "torch.allocated" },
			     [ACTIVE] = { "PyTorch active", "torch.active" },
			     [RESERVED] = { "PyTorch reserved", "torch.reserved" } };
	struct sink *sink = &r->s->sink;
	uint64_t name = sink_text(sink, curves[curve].name);
	int64_t v[TABLE_MAX_COLUMNS];

	r->curves[curve].track = begin_track(r, TABLE_COUNTER, TRACK_GPU_METRIC, name);
	v[COLUMN_GPU_METRIC_TRACK] = sink->next_track;
	v[COLUMN_GPU_METRIC_GPU] = r->gpu;
	v[COLUMN_GPU_METRIC_SOURCE] = METRIC_SOURCE;
	v[COLUMN_GPU_METRIC_ID] = curve;
	v[COLUMN_GPU_METRIC_NAME] = (int64_t)name;
	v[COLUMN_GPU_METRIC_METRIC] = (int64_t)sink_text(sink, curves[curve].metric);
	v[COLUMN_GPU_METRIC_UNIT] = (int64_t)sink_text(sink, "B");
	sink_row(sink, TABLE_GPU_METRIC, v, BITS_TO(COLUMN_GPU_METRIC_UNIT));
	return append_value(r, &r->curves[curve], r->time);
}

static int first_time(struct snapshot *s, uint32_t list, int64_t *ret)
{
	struct pickle_items at = pickle_items(&s->pickle, pickle_value(&s->pickle, list));
	struct members m;
	uint32_t value;
	int r;

	while ((r = snapshot_next(s, &at, &value)) > 0) {
		TRY(snapshot_members(s, value, &m));
		if (snapshot_time(s, &m, ret))
			return 1;
	}
	return r;
}

static int begin_at(struct snapshot *s, uint32_t list)
{
	int64_t time = 0;
	int r = list ? first_time(s, list, &time) : 0;

	if (r <= 0)
		return r;
	if (!s->has_times || time - 1 < s->origin)
		s->origin = time - 1;
	s->has_times = 1;
	return 0;
}

int snapshot_find_begin(struct snapshot *s, uint32_t annotations)
{
	s->origin = -1;
	for (uint32_t i = 0; i < s->device_count; i++)
		TRY(begin_at(s, s->devices[i].events));
	return begin_at(s, annotations);
}

/* One nanosecond before the first event. */
static int begin_replay(struct replay *r)
{
	int64_t time;
	int found = r->device->events ? first_time(r->s, r->device->events, &time) : 0;

	TRY(found);
	r->time = found ? time - 1 : r->s->origin;
	for (int i = 0; i < CURVES; i++)
		r->curves[i].bytes = r->before[i];
	return 0;
}

int snapshot_device_events(struct snapshot *s, uint32_t device)
{
	struct replay r = { .s = s, .device = &s->devices[device], .gpu = device + 1, .first_free = NO_PLACE };

	r.requests = keymap_find(&s->pickle.texts, "free_requested", strlen("free_requested")) != KEYMAP_NONE;
	TRY(begin_replay(&r));
	TRY(run_replay(&r));
	r.before[RESERVED] = r.device->reserved - r.curves[RESERVED].bytes;
	if (r.before[RESERVED] < 0) {
		s->misfits++;
		r.before[RESERVED] = 0;
	}
	r.emits = 1;
	TRY(begin_replay(&r));
	for (int i = 0; i < CURVES; i++)
		TRY(begin_curve(&r, i));
	r.events = begin_track(&r, TABLE_TORCH_MEMORY, TRACK_TORCH_MEMORY, 0);
	TRY(run_replay(&r));
	for (int i = 0; i < CURVES; i++)
		report_track_close(r.curves[i].track);
	if (r.events)
		report_track_close(r.events);
	return 0;
}
