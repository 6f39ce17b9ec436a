/* Threads that made calls. Records name them by number, long after the calls: the thread may have a ring, perf may know
 * it, it may have ended; or nobody else knows it, then its row is written here. */
#include "record/cuda/internal.h"

#include <stdio.h>
#include <string.h>

#include "record/session/proc.h"
#include "record/drain/thread.h"

#define KNOWN_LIMIT (1u << 16)

void cuda_thread_known(struct traced_process *p, uint32_t inner_tid, uint64_t uid)
{
	/* So many that most have ended: those still to be told of will be few. */
	if (p->thread_uids.count >= KNOWN_LIMIT)
		idmap_release(&p->thread_uids);
	idmap_put(&p->thread_uids, inner_tid, uid);
}

uint64_t cuda_thread_opened(struct traced_process *p, uint32_t inner_tid)
{
	struct cuda_thread *t = p->cuda ? cuda_list_find(&p->cuda->threads, inner_tid) : NULL;

	if (!t || !t->own_row)
		return 0;
	t->own_row = 0;
	return t->uid;
}

static void name_cuda_thread(const struct traced_process *p, struct cuda_thread *t, uint32_t tid)
{
	char file[40], comm[32] = "";

	snprintf(file, sizeof(file), "task/%u/comm", tid);
	if (p->info.pid)
		read_proc(p->info.pid, file, comm, sizeof(comm));
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(t->name, sizeof(t->name), "%.15s", comm[0] ? comm : p->info.name);
}

static void identify(struct cuda_decoder *d, struct cuda_thread *t)
{
	uint64_t uid = idmap_get(&d->p->thread_uids, t->tid);
	struct roster_life *life = uid == IDMAP_NONE ? roster_by_uid(d->s, d->p->uid) : NULL;
	uint32_t tid = uid == IDMAP_NONE ? thread_outer_tid(d->p, t->tid) : 0;
	struct roster_thread *shared = life ? roster_thread(d->s, life, tid, t->start) : NULL;

	if (shared) {
		shared->used = 1;
		shared->inner_tid = t->tid;
		uid = shared->uid;
	}
	if (uid == IDMAP_NONE) {
		uid = ++d->s->next_thread;
		t->own_row = 1;
		name_cuda_thread(d->p, t, tid);
		t->priority = session_read_priority(d->s, d->p->info.pid, tid);
	}
	t->uid = uid;
}

struct cuda_thread *cuda_thread_at(struct cuda_decoder *d, uint32_t tid, int64_t start, int64_t end)
{
	struct cuda_thread *t = d->c->last_thread;

	if (!t || t->tid != tid) {
		t = cuda_list_find(&d->c->threads, tid);
		if (!t) {
			t = cuda_list_add(&d->c->threads, tid, sizeof(*t));
			if (!t)
				return NULL;
			t->tid = tid;
			t->start = start;
			t->end = end;
			identify(d, t);
		}
		d->c->last_thread = t;
	}
	if (start < t->start)
		t->start = start;
	if (end > t->end)
		t->end = end;
	return t;
}

static uint32_t thread_values(struct cuda_decoder *d, const struct cuda_thread *t, int64_t end, int64_t *v)
{
	v[COLUMN_THREAD_UID] = (int64_t)t->uid;
	v[COLUMN_THREAD_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_THREAD_TID] = thread_outer_tid(d->p, t->tid);
	v[COLUMN_THREAD_INNER_TID] = t->tid;
	v[COLUMN_THREAD_START] = t->start;
	v[COLUMN_THREAD_END] = end > t->end ? end : t->end;
	v[COLUMN_THREAD_NAME] = (int64_t)session_text(d->s, t->name);
	return session_priority(t->priority, v, BITS_TO(COLUMN_THREAD_NAME));
}

void cuda_threads_provisional(struct cuda_decoder *d)
{
	const struct cuda_thread *t;
	int64_t v[TABLE_MAX_COLUMNS];

	for (uint32_t i = 0; i < d->c->threads.count; i++) {
		t = d->c->threads.items[i];
		if (t->own_row)
			report_append_provisional(d->s->tables[TABLE_THREAD], v, thread_values(d, t, d->s->now, v));
	}
}

void cuda_threads_end(struct cuda_decoder *d, int64_t end)
{
	const struct cuda_thread *t;
	int64_t v[TABLE_MAX_COLUMNS];

	for (uint32_t i = 0; i < d->c->threads.count; i++) {
		t = d->c->threads.items[i];
		if (t->own_row)
			session_row(d->s, TABLE_THREAD, v, thread_values(d, t, end, v));
	}
}

void cuda_threads_free(struct cuda_process *c)
{
	struct cuda_thread *t;

	for (uint32_t i = 0; i < c->threads.count; i++) {
		t = c->threads.items[i];
		cuda_rows_free(t->calls);
		cuda_rows_free(t->overhead);
		cuda_rows_free(t->jit);
	}
}
