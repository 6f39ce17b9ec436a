#include "record/drain/thread.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "record/stacks/call_stack.h"
#include "record/cuda/cuda.h"
#include "record/nvtx/definitions.h"
#include "record/drain/osrt.h"
#include "record/nvtx/payloads.h"
#include "record/nvtx/start_end.h"
#include "record/nvtx/push_pop.h"
#include "record/stacks/timer_samples.h"
#include "record/torch/operators.h"

/* Domains a thread is searched for one by one; beyond, by a map. */
#define FEW_DOMAINS 8
#define MAX_TID_SEARCHES 100

struct traced_thread *thread_at(const struct traced_process *p, uint32_t slot)
{
	return slot < p->thread_cap ? p->threads[slot] : NULL;
}

static int reserve_slot(struct traced_process *p, uint32_t slot)
{
	return ARRAY_REACH(p->threads, p->thread_cap, slot) ? 0 : -1;
}

/* The last number of the NSpid line is the id in the thread's own namespace. */
static uint32_t innermost_id(const char *status_path)
{
	char line[256];
	const char *last = NULL;
	FILE *f = fopen(status_path, "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6) == 0) {
			last = strrchr(line, '\t');
			break;
		}
	}
	if (f)
		fclose(f);
	return last ? (uint32_t)strtoul(last, NULL, 10) : 0;
}

static uint32_t search_tasks(uint32_t pid, uint32_t inner_tid)
{
	char path[320];
	struct dirent *entry;
	uint32_t found = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%u/task/%s/status", pid, entry->d_name);
		if (entry->d_name[0] != '.' && innermost_id(path) == inner_tid)
			found = (uint32_t)strtoul(entry->d_name, NULL, 10);
	}
	if (dir)
		closedir(dir);
	return found;
}

uint32_t thread_outer_tid(struct traced_process *p, uint32_t inner_tid)
{
	uint32_t guess = p->info.pid + (inner_tid - p->info.inner_pid), found;
	char path[64];

	if (p->info.pid == p->info.inner_pid || p->info.pid == 0)
		return inner_tid;
	if (inner_tid == p->info.inner_pid)
		return p->info.pid;
	/* Numbers are mostly given in order, in both. */
	snprintf(path, sizeof(path), "/proc/%u/task/%u/status", p->info.pid, guess);
	if (innermost_id(path) == inner_tid)
		return guess;
	/* A search looks at every thread: not for thousands of them. */
	if (p->tid_searches++ >= MAX_TID_SEARCHES)
		return inner_tid;
	found = search_tasks(p->info.pid, inner_tid);
	return found ? found : inner_tid;
}

struct traced_thread *thread_open(struct session *s, struct traced_process *p, uint32_t slot, const struct ring_slot *info)
{
	struct traced_thread *t;

	if (reserve_slot(p, slot) < 0)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->slot = slot;
	t->inner_tid = info->tid;
	t->tid = thread_outer_tid(p, info->tid);
	t->start = timebase_convert(&s->time, info->start_time);
	if (t->start < 0 || t->start > s->now)
		t->start = s->now;
	t->shared = roster_ring_opened(s, p->uid, t->tid, t->inner_tid, t->start);
	t->uid = cuda_thread_opened(p, t->inner_tid);
	if (t->shared)
		t->uid = t->shared->uid;
	else if (!t->uid)
		t->uid = ++s->next_thread;
	t->priority = t->shared ? t->shared->priority : session_read_priority(s, p->info.pid, t->tid);
	cuda_thread_known(p, t->inner_tid, t->uid);
	t->last_time = t->start;
	memcpy(t->name, info->comm, sizeof(t->name));
	p->threads[slot] = t;
	return t;
}

static struct domain_state *find_thread_domain(const struct traced_thread *t, unsigned id)
{
	uint64_t index;

	if (t->domain_count > FEW_DOMAINS) {
		index = idmap_get(&t->domain_index, id);
		return index == IDMAP_NONE ? NULL : t->domains[index];
	}
	for (uint32_t i = 0; i < t->domain_count; i++)
		if (t->domains[i]->id == id)
			return t->domains[i];
	return NULL;
}

static struct domain_state *add_domain(struct session *s, struct traced_process *p, struct traced_thread *t, unsigned id)
{
	struct domain_state *d;

	if (!LIST_ROOM(t->domains, t->domain_count))
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d || idmap_put(&t->domain_index, id, t->domain_count) < 0) {
		free(d);
		return NULL;
	}
	d->id = id;
	d->uid = definitions_domain(s, p->definitions, id);
	t->domains[t->domain_count++] = d;
	return d;
}

struct domain_state *thread_domain(struct session *s, struct traced_process *p, struct traced_thread *t, unsigned id)
{
	struct domain_state *d = t->last_domain;

	if (d && d->id == id)
		return d;
	d = find_thread_domain(t, id);
	if (!d)
		d = add_domain(s, p, t, id);
	t->last_domain = d;
	return d;
}

static void report_thread_loss(struct session *s, struct traced_process *p, struct traced_thread *t, enum loss_reason reason, uint64_t now,
			       uint64_t *seen)
{
	/* Counters come from the ring: one that runs backwards is not believed. */
	if (now > *seen) {
		session_loss(s, p->uid, t->uid, reason, now - *seen);
		*seen = now;
	}
}

void thread_report_losses(struct session *s, struct traced_process *p, struct traced_thread *t, const struct ring_slot *info)
{
	if (info) {
		p->lost_some |= info->dropped != 0;
		report_thread_loss(s, p, t, LOSS_POOL_EMPTY, info->dropped, &t->seen.dropped);
		report_thread_loss(s, p, t, LOSS_STACK_CUT, info->stacks_cut, &t->seen.stacks_cut);
		report_thread_loss(s, p, t, LOSS_REENTRY, info->refused, &t->seen.refused);
		report_thread_loss(s, p, t, LOSS_DETAIL, info->details, &t->seen.details);
		report_thread_loss(s, p, t, LOSS_UNMATCHED_POP, info->unmatched, &t->seen.unmatched);
	}
	report_thread_loss(s, p, t, LOSS_DAMAGED, t->counts.damaged, &t->seen.damaged);
	report_thread_loss(s, p, t, LOSS_PUSH_MISSING, t->counts.push_missing, &t->seen.push_missing);
	report_thread_loss(s, p, t, LOSS_UNMATCHED_END, t->counts.unmatched_end, &t->seen.unmatched_end);
}

static uint32_t fill_thread_row(struct session *s, const struct traced_process *p, const struct traced_thread *t, int64_t end,
				int64_t *values)
{
	values[COLUMN_THREAD_UID] = (int64_t)t->uid;
	values[COLUMN_THREAD_PROCESS] = (int64_t)p->uid;
	values[COLUMN_THREAD_TID] = t->tid;
	values[COLUMN_THREAD_INNER_TID] = t->inner_tid;
	values[COLUMN_THREAD_START] = t->shared ? t->shared->start : t->start;
	values[COLUMN_THREAD_END] = end;
	values[COLUMN_THREAD_NAME] = (int64_t)report_string(s->writer, t->name, strnlen(t->name, sizeof(t->name)));
	return session_priority(t->priority, values, BITS_TO(COLUMN_THREAD_NAME));
}

static void free_domain(struct domain_state *d)
{
	if (d->start_end_tracks)
		track_set_unref(d->start_end_tracks);
	for (uint32_t i = 0; i < d->track_count; i++)
		report_track_close(d->tracks[i]);
	report_track_close(d->marks);
	free(d->open);
	free(d->tracks);
	free(d);
}

static void thread_free(struct traced_thread *t)
{
	for (uint32_t i = 0; i < t->domain_count; i++)
		free_domain(t->domains[i]);
	for (uint32_t i = 0; i < t->counter_count; i++)
		report_track_close(t->counter_tracks[i]);
	free(t->domains);
	idmap_release(&t->domain_index);
	idmap_release(&t->counters);
	free(t->counter_tracks);
	payloads_release(&t->payloads);
	osrt_thread_end(t);
	operators_free_thread(t);
	call_stack_release(t);
	for (uint32_t i = 0; t->names && i < RECORD_SHORT_NAMES; i++)
		free(t->names[i].text);
	free(t->names);
	free(t);
}

void thread_close(struct session *s, struct traced_process *p, struct traced_thread *t, int64_t end, const struct ring_slot *info)
{
	int64_t values[TABLE_MAX_COLUMNS];
	struct ring_slot last;

	if (!info && p->reader.base) {
		ring_reader_slot(&p->reader, t->slot, &last);
		info = &last;
	}
	if (info && info->comm[0])
		memcpy(t->name, info->comm, sizeof(t->name));
	if (end < t->last_time)
		end = t->last_time;
	if (end > p->last_time)
		p->last_time = end;
	for (uint32_t i = 0; i < t->domain_count; i++)
		push_pop_end_all(s, p, t, t->domains[i], end);
	operators_end_thread(s, p, t, end);
	timer_samples_close(s, p, t);
	if (info)
		osrt_open_call(s, p, t, info, end);
	thread_report_losses(s, p, t, info);
	if (t->shared)
		roster_ring_closed(s, t->shared, end, t->name);
	else
		session_row(s, TABLE_THREAD, values, fill_thread_row(s, p, t, end, values));
	window_thread_ended(s->page, ring_owner(p->uid, t->inner_tid));
	p->threads[t->slot] = NULL;
	thread_free(t);
}

void thread_provisional(struct session *s, struct traced_process *p, struct traced_thread *t)
{
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present = fill_thread_row(s, p, t, s->now, values);

	if (s->tables[TABLE_THREAD])
		report_append_provisional(s->tables[TABLE_THREAD], values, present);
	for (uint32_t i = 0; i < t->domain_count; i++)
		push_pop_write_open(t->domains[i], s->now);
	operators_provisional(s, p, t, s->now);
}
