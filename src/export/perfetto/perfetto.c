#include "export/perfetto/perfetto.h"

#include <errno.h>

#include "base/cleanup.h"

#define FLUSH_SIZE (1u << 20)
#define SEQUENCE 1u
#define STATE_CLEARED 1u
#define NEEDS_STATE 2u
enum { CLOCK_REALTIME_ID = 1, CLOCK_MONOTONIC_RAW_ID = 5 };

/* Keys of tracks that others are below. */
enum { PARENT_PROCESS = 1, PARENT_THREAD, PARENT_GPU, PARENT_CONTEXT };

static void set_no_memory(struct perfetto *p)
{
	p->result = -ENOMEM;
}

uint32_t perfetto_number(struct perfetto *p, struct idmap *map, uint64_t key, bool *ret_new)
{
	uint32_t number = idmap_number(map, key, ret_new);

	if (!number)
		set_no_memory(p);
	return number;
}

uint64_t perfetto_intern(struct perfetto *p, unsigned kind, uint64_t key, const char *text, size_t len)
{
	bool is_new;
	uint32_t number = perfetto_number(p, &p->ids[kind], key, &is_new);
	size_t entry;

	if (is_new) {
		entry = proto_begin(&p->interned, kind);
		proto_number(&p->interned, 1, number);
		proto_bytes(&p->interned, 2, text, len);
		proto_end(&p->interned, entry);
	}
	return number;
}

static void packet_head(struct perfetto *p, int64_t time)
{
	int64_t at;

	if (__builtin_add_overflow(time, p->base, &at) || at < 0)
		at = 0;
	proto_number(&p->out, PACKET_TIMESTAMP, (uint64_t)at);
	proto_number(&p->out, PACKET_SEQUENCE, SEQUENCE);
	proto_number(&p->out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
}

void perfetto_packet(struct perfetto *p, int64_t time, unsigned field)
{
	size_t packet = proto_begin(&p->out, 1);

	packet_head(p, time);
	if (p->interned.len)
		proto_bytes(&p->out, PACKET_INTERNED, p->interned.data, p->interned.len);
	proto_bytes(&p->out, field, p->event.data, p->event.len);
	proto_end(&p->out, packet);
	p->event.len = p->interned.len = 0;
	if (p->out.failed || p->event.failed || p->interned.failed)
		set_no_memory(p);
}

/* Half of all packets are ends: they are put together without a copy. */
void perfetto_end_slice(struct perfetto *p, uint64_t track, int64_t time)
{
	size_t packet = proto_begin(&p->out, 1), event;

	packet_head(p, time);
	event = proto_begin(&p->out, PACKET_TRACK_EVENT);
	proto_number(&p->out, EVENT_FIELD_TYPE, EVENT_TYPE_END);
	proto_number(&p->out, EVENT_FIELD_TRACK, track);
	proto_end(&p->out, event);
	proto_end(&p->out, packet);
}

void perfetto_event_head(struct perfetto *p, unsigned type, uint64_t track)
{
	proto_number(&p->event, EVENT_FIELD_TYPE, type);
	proto_number(&p->event, EVENT_FIELD_TRACK, track);
}

int perfetto_flush(struct perfetto *p, const char *doing, struct error *err)
{
	if (p->result < 0)
		return error_set(err, ENOMEM, "Not enough memory");
	if (p->out.len < FLUSH_SIZE && doing)
		return 0;
	errno = 0;
	if (fwrite_unlocked(p->out.data, 1, p->out.len, p->e->stream) != p->out.len)
		return export_write_failed(p->e, err);
	p->out.len = 0;
	return doing ? export_poll(p->e, doing, err) : 0;
}

/* Descriptors carry no interned data and no state of the sequence: they may stand between packets that do. */
static void descriptor_packet(struct perfetto *p, const struct proto *descriptor)
{
	size_t packet = proto_begin(&p->out, 1);

	proto_number(&p->out, PACKET_SEQUENCE, SEQUENCE);
	proto_bytes(&p->out, PACKET_TRACK_DESCRIPTOR, descriptor->data, descriptor->len);
	proto_end(&p->out, packet);
	if (descriptor->failed || p->out.failed)
		set_no_memory(p);
}

static uint64_t parent_uuid(struct perfetto *p, unsigned kind, uint64_t key, bool *ret_new)
{
	return 2ull * perfetto_number(p, &p->tracks, (uint64_t)kind << 56 ^ key, ret_new);
}

uint64_t perfetto_process(struct perfetto *p, int64_t process)
{
	const int64_t *row = index_find(&p->t.q->index.processes, process);
	struct proto d = { 0 };
	uint64_t uuid;
	size_t inner;
	bool is_new;

	if (!row)
		return 0;
	uuid = parent_uuid(p, PARENT_PROCESS, (uint64_t)process, &is_new);
	if (is_new) {
		proto_number(&d, TRACK_FIELD_UUID, uuid);
		inner = proto_begin(&d, TRACK_FIELD_PROCESS);
		proto_number(&d, 1, (uint64_t)row[PROCESS_PID]);
		proto_text(&d, 6, timeline_text(&p->t, row[PROCESS_NAME], NULL));
		proto_end(&d, inner);
		descriptor_packet(p, &d);
		proto_release(&d);
	}
	return uuid;
}

uint64_t perfetto_thread(struct perfetto *p, int64_t thread)
{
	const int64_t *row = index_find(&p->t.q->index.threads, thread), *process;
	struct proto d = { 0 };
	uint64_t uuid, parent;
	size_t inner;
	bool is_new;

	if (!row)
		return 0;
	parent = perfetto_process(p, row[THREAD_PROCESS]);
	uuid = parent_uuid(p, PARENT_THREAD, (uint64_t)thread, &is_new);
	if (is_new) {
		process = index_find(&p->t.q->index.processes, row[THREAD_PROCESS]);
		proto_number(&d, TRACK_FIELD_UUID, uuid);
		if (parent)
			proto_number(&d, TRACK_FIELD_PARENT, parent);
		inner = proto_begin(&d, TRACK_FIELD_THREAD);
		proto_number(&d, 1, process ? (uint64_t)process[PROCESS_PID] : 0);
		proto_number(&d, 2, (uint64_t)row[THREAD_TID]);
		proto_text(&d, 5, timeline_thread_name(&p->t, thread));
		proto_end(&d, inner);
		descriptor_packet(p, &d);
		proto_release(&d);
	}
	return uuid;
}

static void name_track(struct perfetto *p, uint64_t uuid, uint64_t parent, const char *name)
{
	struct proto d = { 0 };

	proto_number(&d, TRACK_FIELD_UUID, uuid);
	if (parent)
		proto_number(&d, TRACK_FIELD_PARENT, parent);
	proto_text(&d, TRACK_FIELD_NAME, name);
	descriptor_packet(p, &d);
	proto_release(&d);
}

/* Uuids of parents are even, those of other tracks odd: short, and none meet. */
static uint64_t next_uuid(struct perfetto *p)
{
	return 2 * p->last_uuid++ + 1;
}

uint64_t perfetto_track(struct perfetto *p, uint64_t parent, const char *name)
{
	uint64_t uuid = next_uuid(p);

	name_track(p, uuid, parent, name);
	return uuid;
}

uint64_t perfetto_counter_track(struct perfetto *p, uint64_t parent, const char *name, const char *unit)
{
	uint64_t uuid = next_uuid(p);
	struct proto d = { 0 };
	size_t inner;

	proto_number(&d, TRACK_FIELD_UUID, uuid);
	if (parent)
		proto_number(&d, TRACK_FIELD_PARENT, parent);
	proto_text(&d, TRACK_FIELD_NAME, name);
	inner = proto_begin(&d, TRACK_FIELD_COUNTER);
	if (unit[0])
		proto_text(&d, 6, unit);
	proto_end(&d, inner);
	descriptor_packet(p, &d);
	proto_release(&d);
	return uuid;
}

uint64_t perfetto_gpu(struct perfetto *p, int64_t gpu)
{
	const int64_t *row = index_find(&p->t.q->index.cuda->gpus, gpu);
	char name[160] = "GPU";
	uint64_t uuid;
	bool is_new;

	uuid = parent_uuid(p, PARENT_GPU, (uint64_t)gpu, &is_new);
	if (is_new) {
		if (row)
			snprintf(name, sizeof(name), "GPU %lld%s%s", (long long)row[GPU_INDEX], row[GPU_NAME] ? " " : "",
				 timeline_text(&p->t, row[GPU_NAME], NULL));
		name_track(p, uuid, 0, name);
	}
	return uuid;
}

uint64_t perfetto_context(struct perfetto *p, const int64_t *stream)
{
	const int64_t *process = index_find(&p->t.q->index.processes, stream[STREAM_PROCESS]);
	uint64_t gpu = perfetto_gpu(p, stream[STREAM_GPU]), uuid;
	char name[160];
	bool is_new;

	uuid = parent_uuid(
		p, PARENT_CONTEXT,
		(uint64_t)stream[STREAM_PROCESS] << 24 ^ (uint64_t)stream[STREAM_DEVICE] << 16 ^ (uint64_t)stream[STREAM_CONTEXT], &is_new);
	if (is_new) {
		snprintf(name, sizeof(name), "%s %lld, context %lld",
			 process ? timeline_text(&p->t, process[PROCESS_NAME], NULL) : "process",
			 process ? (long long)process[PROCESS_PID] : 0, (long long)stream[STREAM_CONTEXT]);
		name_track(p, uuid, gpu, name);
	}
	return uuid;
}

static void put_clock(struct proto *snapshot, uint64_t id, int64_t value)
{
	size_t inner = proto_begin(snapshot, 1);

	proto_number(snapshot, 1, id);
	proto_number(snapshot, 2, value < 0 ? 0 : (uint64_t)value);
	proto_end(snapshot, inner);
}

/* Times are MONOTONIC_RAW's, or with --ts-normalize the calendar's. The snapshot relates the two. */
static void write_head(struct perfetto *p)
{
	int64_t raw = timeline_meta(&p->t, "session_start_raw_ns", 0), utc = timeline_meta(&p->t, "start_utc_ns", -1);
	uint64_t clock = p->e->request->normalize ? CLOCK_REALTIME_ID : CLOCK_MONOTONIC_RAW_ID;
	struct proto *s = &p->event;
	size_t packet, inner;

	p->base = p->e->shift;
	if (!p->e->request->normalize && __builtin_add_overflow(p->base, raw, &p->base))
		p->base = p->e->shift;
	put_clock(s, CLOCK_MONOTONIC_RAW_ID, time_sum(raw, p->e->request->normalize ? 0 : p->e->request->shift));
	if (utc >= 0)
		put_clock(s, CLOCK_REALTIME_ID, time_sum(utc, p->e->request->normalize ? p->e->request->shift : 0));
	proto_number(s, 2, clock);
	packet = proto_begin(&p->out, 1);
	proto_number(&p->out, PACKET_SEQUENCE, SEQUENCE);
	proto_number(&p->out, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	proto_number(&p->out, PACKET_FIRST_ON_SEQUENCE, 1);
	inner = proto_begin(&p->out, PACKET_DEFAULTS);
	proto_number(&p->out, DEFAULTS_CLOCK, clock);
	proto_end(&p->out, inner);
	proto_bytes(&p->out, PACKET_CLOCK_SNAPSHOT, s->data, s->len);
	proto_end(&p->out, packet);
	s->len = 0;
}

/* All processes and threads, whether they have events or not. */
static void write_places(struct perfetto *p)
{
	const struct index_table *threads = &p->t.q->index.threads, *processes = &p->t.q->index.processes;

	for (size_t i = 0; i < processes->count; i++)
		perfetto_process(p, processes->rows[i * processes->width + PROCESS_UID]);
	for (size_t i = 0; i < threads->count; i++)
		perfetto_thread(p, threads->rows[i * threads->width + THREAD_UID]);
}

static int write_perfetto_body(struct perfetto *p, struct error *err)
{
	write_head(p);
	write_places(p);
	TRY(perfetto_rows(p, err));
	TRY(perfetto_counters(p, err));
	TRY(perfetto_states(p, err));
	TRY(perfetto_samples(p, err));
	return perfetto_flush(p, NULL, err);
}

static int write_perfetto_file(struct export *e, struct error *err)
{
	struct perfetto *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return error_set(err, ENOMEM, "Not enough memory");
	p->e = e;
	r = timeline_open(&p->t, e, err);
	if (r >= 0)
		r = write_perfetto_body(p, err);
	timeline_close(&p->t);
	for (unsigned i = 0; i < INTERNED_KINDS; i++)
		idmap_release(&p->ids[i]);
	idmap_release(&p->tracks);
	proto_release(&p->out);
	proto_release(&p->event);
	proto_release(&p->interned);
	free(p);
	return r;
}

/* clang-format off */
const struct export_format export_perfetto = {
	.name = "Perfetto", .streams = true, .whole = write_perfetto_file, .begin = export_stream_begin,
	.end = export_stream_end, .give_up = export_stream_give_up,
};
/* clang-format on */
