/* Processes and threads: who the rows of a trace are. */
#include "ingest/kineto/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CROWD "further threads"

/* -1: it is no number. Some writers put numbers in quotes. */
static int64_t parse_kineto_number(const struct json_value *v)
{
	struct json_value number = *v;
	int64_t value;

	if (v->kind == JSON_STRING)
		number.kind = JSON_NUMBER;
	return json_integer(&number, &value) && value >= 0 ? value : -1;
}

uint32_t kineto_process(struct kineto *k, const struct json_value *pid)
{
	static const struct json_value crowd = { .kind = JSON_STRING, .text = CROWD, .len = sizeof(CROWD) - 1 };
	uint32_t count = k->pids.count, number;
	struct kineto_process *p;

	if (count >= KINETO_MAX_TRACKS && keymap_find(&k->pids, pid->text ? pid->text : "", pid->len) == KEYMAP_NONE)
		pid = &crowd;
	number = keymap_number(&k->pids, pid->text ? pid->text : "", pid->len);
	if (number == KEYMAP_NONE || number < count)
		return number;
	if (kineto_room(k, &k->processes, number, sizeof(*k->processes)) < 0)
		return KEYMAP_NONE;
	p = &k->processes[number];
	*p = (struct kineto_process){ .uid = number + 1, .pid = parse_kineto_number(pid) };
	return number;
}

static struct kineto_place *new_place(struct kineto *k, uint32_t number, const struct kineto_event *e, int on_gpu)
{
	uint32_t process = kineto_process(k, &e->pid);
	struct kineto_place *p;

	if (process == KEYMAP_NONE || kineto_room(k, &k->places, number, sizeof(*k->places)) < 0) {
		k->sink.result = -ENOMEM;
		return NULL;
	}
	k->place_count = number + 1;
	p = &k->places[number];
	*p = (struct kineto_place){ .process = process, .on_gpu = on_gpu, .tid = parse_kineto_number(&e->tid) };
	if (p->tid >= 0 && !on_gpu && k->processes[process].pid >= 0)
		p->thread = ++k->next_thread;
	return p;
}

/* Events of a thread mostly follow each other. */
static int is_place(const struct kineto *k, uint32_t number, const struct kineto_event *e)
{
	const struct keymap_key *key = &k->place_keys.keys[number];

	return key->len == e->pid.len + e->tid.len + 2 && memcmp(key->bytes + 1, e->pid.text, e->pid.len) == 0 &&
	       !key->bytes[1 + e->pid.len] && memcmp(key->bytes + 2 + e->pid.len, e->tid.text, e->tid.len) == 0;
}

static uint32_t place_number(struct kineto *k, const struct kineto_event *e, int on_gpu)
{
	buf_clear(&k->text);
	if (buf_append(&k->text, on_gpu ? "G" : "C", 1) < 0 || buf_append(&k->text, e->pid.text ? e->pid.text : "", e->pid.len) < 0 ||
	    buf_append(&k->text, "", 1) < 0 || buf_append(&k->text, e->tid.text ? e->tid.text : "", e->tid.len) < 0)
		return KEYMAP_NONE;
	if (k->place_keys.count < KINETO_MAX_TRACKS || keymap_find(&k->place_keys, k->text.data, k->text.len) != KEYMAP_NONE)
		return keymap_number(&k->place_keys, k->text.data, k->text.len);
	k->crowded++;
	return keymap_number(&k->place_keys, "C" CROWD "\0" CROWD, sizeof("C" CROWD "\0" CROWD) - 1);
}

struct kineto_place *kineto_place(struct kineto *k, const struct kineto_event *e, int on_gpu)
{
	static const struct kineto_event crowd = { .pid = { .kind = JSON_STRING, .text = CROWD, .len = sizeof(CROWD) - 1 },
						   .tid = { .kind = JSON_STRING, .text = CROWD, .len = sizeof(CROWD) - 1 } };
	uint32_t count = k->place_keys.count, last = k->last_place[on_gpu], number;

	if (last < k->place_count && e->pid.text && e->tid.text && is_place(k, last, e))
		return &k->places[last];
	number = place_number(k, e, on_gpu);
	if (number == KEYMAP_NONE)
		return NULL;
	k->last_place[on_gpu] = number;
	if (number < count)
		return &k->places[number];
	return new_place(k, number, count < KINETO_MAX_TRACKS ? e : &crowd, on_gpu && count < KINETO_MAX_TRACKS);
}

static void write_kineto_process(struct kineto *k, const struct kineto_process *p)
{
	uint32_t present = SINK_BIT(COLUMN_PROCESS_UID) | SINK_BIT(COLUMN_PROCESS_PID) | SINK_BIT(COLUMN_PROCESS_INNER_PID) |
			   SINK_BIT(COLUMN_PROCESS_START) | SINK_BIT(COLUMN_PROCESS_ORIGIN);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_PROCESS_UID] = (int64_t)p->uid;
	v[COLUMN_PROCESS_PID] = p->pid;
	v[COLUMN_PROCESS_INNER_PID] = p->pid;
	v[COLUMN_PROCESS_START] = 0;
	v[COLUMN_PROCESS_ORIGIN] = 0;
	v[COLUMN_PROCESS_NAME] = (int64_t)p->name;
	present |= p->name ? SINK_BIT(COLUMN_PROCESS_NAME) : 0;
	sink_row(&k->sink, TABLE_PROCESS, v, present);
}

static void write_kineto_thread(struct kineto *k, const struct kineto_place *p)
{
	uint32_t present = SINK_BIT(COLUMN_THREAD_UID) | SINK_BIT(COLUMN_THREAD_PROCESS) | SINK_BIT(COLUMN_THREAD_TID) |
			   SINK_BIT(COLUMN_THREAD_INNER_TID) | SINK_BIT(COLUMN_THREAD_START);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_THREAD_UID] = (int64_t)p->thread;
	v[COLUMN_THREAD_PROCESS] = (int64_t)k->processes[p->process].uid;
	v[COLUMN_THREAD_TID] = p->tid;
	v[COLUMN_THREAD_INNER_TID] = p->tid;
	v[COLUMN_THREAD_START] = 0;
	v[COLUMN_THREAD_NAME] = (int64_t)p->name;
	present |= p->name ? SINK_BIT(COLUMN_THREAD_NAME) : 0;
	sink_row(&k->sink, TABLE_THREAD, v, present);
}

/* What is no thread is known by the name of its track: the row's own, or pid and tid as they stand (in the
 * key of the place, behind its side and apart by a zero). */
static uint64_t track_name(struct kineto *k, const struct kineto_place *p)
{
	const struct keymap_key *key = &k->place_keys.keys[p - k->places];
	const char *pid = key->bytes + 1;
	size_t len = strnlen(pid, key->len - 1);

	if (p->name)
		return p->name;
	buf_clear(&k->text);
	buf_append(&k->text, pid, len);
	buf_puts(&k->text, " / ");
	buf_append(&k->text, pid + len + 1, key->len - len - 2);
	return k->text.data ? report_string(k->sink.writer, k->text.data, k->text.len) : 0;
}

/* The stream whose work is in the same row of the trace: its uid; 0 where there is none. */
static uint64_t stream_of_row(const struct kineto *k, const struct kineto_place *p)
{
	for (uint32_t i = 0; i < k->stream_keys.count; i++)
		if (k->streams[i].row == p->process && k->streams[i].id == p->tid)
			return i + 1;
	return 0;
}

static void describe_kineto_track(struct kineto *k, struct kineto_place *p, struct sink_track *t)
{
	if (!t)
		return;
	if (p->on_gpu) {
		t->process = k->processes[p->process].gpu_owner ? k->processes[p->process].gpu_owner : k->likely_owner;
		t->domain = stream_of_row(k, p);
	} else if (k->processes[p->process].pid >= 0) {
		t->process = k->processes[p->process].uid;
	}
	t->thread = p->thread;
	if (!p->thread)
		t->name = track_name(k, p);
}

/* Counters are of the process whose number they have, if anything else is of it: GPUs have numbers, too. */
static void describe_counters(struct kineto *k)
{
	const struct kineto_process *p;

	for (uint32_t i = 0; !k->sink.result && i < k->counter_keys.count; i++) {
		p = k->counters[i].process == KEYMAP_NONE ? NULL : &k->processes[k->counters[i].process];
		if (p && p->has_events && p->pid >= 0 && k->counters[i].track)
			k->counters[i].track->process = p->uid;
	}
}

/* Most traces are of one process; the devices' work is that process's. */
static uint64_t likely_owner(const struct kineto *k)
{
	uint64_t uid = 0;

	for (uint32_t i = 0; i < k->pids.count; i++) {
		if (k->processes[i].pid < 0 || !k->processes[i].has_events)
			continue;
		if (k->processes[i].has_calls)
			return k->processes[i].uid;
		uid = uid ? uid : k->processes[i].uid;
	}
	return uid;
}

void kineto_places_finish(struct kineto *k)
{
	k->likely_owner = likely_owner(k);
	kineto_owners_finish(k);
	for (uint32_t i = 0; i < k->pids.count; i++)
		if (k->processes[i].has_events && k->processes[i].pid >= 0)
			write_kineto_process(k, &k->processes[i]);
	for (uint32_t i = 0; i < k->place_count; i++) {
		struct kineto_place *p = &k->places[i];

		if (!p->has_events)
			continue;
		if (p->thread)
			write_kineto_thread(k, p);
		describe_kineto_track(k, p, p->slices);
		describe_kineto_track(k, p, p->ranges);
		describe_kineto_track(k, p, p->instants);
		describe_kineto_track(k, p, p->calls);
	}
	describe_counters(k);
	kineto_gpu_finish(k);
}
