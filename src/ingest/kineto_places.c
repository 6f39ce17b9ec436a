/* Processes and threads: who the rows of a trace are. */
#include "ingest/kineto_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t process_of(struct kineto *k, const struct json_value *pid)
{
	uint32_t count = k->pids.count, number = keymap_number(&k->pids, pid->text ? pid->text : "", pid->len);
	struct kineto_process *p;

	if (number == KEYMAP_NONE || number < count)
		return number;
	if (kineto_room(k, &k->processes, number, sizeof(*k->processes)) < 0)
		return KEYMAP_NONE;
	p = &k->processes[number];
	*p = (struct kineto_process){ .uid = number + 1 };
	if (!json_integer(pid, &p->pid) || p->pid < 0)
		p->pid = -1;
	return number;
}

static struct kineto_place *new_place(struct kineto *k, uint32_t number, const struct kineto_event *e, int on_gpu)
{
	uint32_t process = process_of(k, &e->pid);
	struct kineto_place *p;

	if (process == KEYMAP_NONE || kineto_room(k, &k->places, number, sizeof(*k->places)) < 0) {
		k->sink.result = -ENOMEM;
		return NULL;
	}
	k->place_count = number + 1;
	p = &k->places[number];
	*p = (struct kineto_place){ .process = process, .on_gpu = on_gpu, .pid_text = e->pid, .tid_text = e->tid };
	if (!json_integer(&e->tid, &p->tid) || p->tid < 0)
		p->tid = -1;
	if (p->tid >= 0 && !on_gpu && k->processes[process].pid >= 0)
		p->thread = ++k->next_thread;
	return p;
}

struct kineto_place *kineto_place(struct kineto *k, const struct kineto_event *e, int on_gpu)
{
	uint32_t count = k->place_keys.count, number;

	buf_clear(&k->text);
	if (buf_append(&k->text, on_gpu ? "G" : "C", 1) < 0 ||
	    buf_append(&k->text, e->pid.text ? e->pid.text : "", e->pid.len) < 0 ||
	    buf_append(&k->text, "", 1) < 0 || buf_append(&k->text, e->tid.text ? e->tid.text : "", e->tid.len) < 0)
		return NULL;
	number = keymap_number(&k->place_keys, k->text.data, k->text.len);
	if (number == KEYMAP_NONE)
		return NULL;
	return number == count ? new_place(k, number, e, on_gpu) : &k->places[number];
}

static void process_row(struct kineto *k, const struct kineto_process *p)
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

static void thread_row(struct kineto *k, const struct kineto_place *p)
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

/* What is no thread is known by the name of its track: the row's own, or pid and tid as they stand. */
static uint64_t track_name(struct kineto *k, const struct kineto_place *p)
{
	if (p->name)
		return p->name;
	buf_clear(&k->text);
	buf_append(&k->text, p->pid_text.text ? p->pid_text.text : "", p->pid_text.len);
	buf_puts(&k->text, " / ");
	buf_append(&k->text, p->tid_text.text ? p->tid_text.text : "", p->tid_text.len);
	return k->text.data ? report_string(k->sink.writer, k->text.data, k->text.len) : 0;
}

static void describe(struct kineto *k, struct kineto_place *p, struct sink_track *t, uint64_t gpu_process)
{
	if (!t)
		return;
	if (p->on_gpu)
		t->process = gpu_process;
	else if (k->processes[p->process].pid >= 0)
		t->process = k->processes[p->process].uid;
	t->thread = p->thread;
	if (!p->thread)
		t->name = track_name(k, p);
}

/* A trace is of one process; the devices' work is that process's. */
static uint64_t owner_of_gpu_work(const struct kineto *k)
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
	uint64_t owner = owner_of_gpu_work(k);

	for (uint32_t i = 0; i < k->pids.count; i++)
		if (k->processes[i].has_events && k->processes[i].pid >= 0)
			process_row(k, &k->processes[i]);
	for (uint32_t i = 0; i < k->place_count; i++) {
		struct kineto_place *p = &k->places[i];

		if (!p->has_events)
			continue;
		if (p->thread)
			thread_row(k, p);
		describe(k, p, p->slices, owner);
		describe(k, p, p->ranges, owner);
		describe(k, p, p->instants, owner);
		describe(k, p, p->calls, owner);
	}
	kineto_gpu_finish(k, owner);
}
