#include "record/session/roster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "record/session/proc.h"
#include "record/session/session.h"
#include "record/session/address_space.h"
#include "report/writer.h"
#include "ring/wire.h"

/* Rings are read before perf's events; one that is far behind may still tell of a thread this
 * long after its end, and CUPTI tells of calls about a second after them. */
#define LATE_RING_NS 3000000000ll

void roster_init(struct roster *roster)
{
	*roster = (struct roster){ .ended_last = NULL };
	roster->ended_last = &roster->ended;
	pthread_mutex_init(&roster->lock, NULL);
}

static struct roster_life *life_in(const struct idmap *map, uint64_t key)
{
	uint64_t pointer = idmap_get(map, key);

	return pointer == IDMAP_NONE ? NULL : (struct roster_life *)(uintptr_t)pointer;
}

static uint64_t thread_key(uint64_t process, uint32_t tid)
{
	/* A tid has at most 22 bits. */
	return process << 22 ^ tid;
}

static struct roster_thread *thread_in(const struct roster *roster, uint64_t process, uint32_t tid)
{
	uint64_t pointer = idmap_get(&roster->threads, thread_key(process, tid));

	return pointer == IDMAP_NONE ? NULL : (struct roster_thread *)(uintptr_t)pointer;
}

/* Under the lock. */
static struct roster_life *new_life(struct roster *roster, uint32_t pid, int64_t start)
{
	struct roster_life *life = calloc(1, sizeof(*life));

	if (!life)
		return NULL;
	life->uid = ++roster->next_process;
	life->pid = pid;
	life->start = start < 0 ? 0 : start;
	life->end = -1;
	if (idmap_put(&roster->by_uid, life->uid, (uint64_t)(uintptr_t)life) < 0) {
		free(life);
		return NULL;
	}
	life->next = roster->lives;
	life->link = &roster->lives;
	if (life->next)
		life->next->link = &life->next;
	roster->lives = life;
	return life;
}

static void mark_attached(struct roster_life *life, unsigned origin, int64_t now)
{
	life->attached_at = now;
	life->origin = (uint8_t)origin;
	life->attached = 1;
}

/* Whether the life perf knows is the one that attaches. An exec between the two may not have been
 * read yet: then the name is another, or an agent has this life already. */
static int is_same_life(const struct roster_life *life, unsigned origin, int64_t now, const char *comm)
{
	if (!life || life->attached || life->perf_over || life->start > now)
		return 0;
	if (origin == WIRE_ORIGIN_FORK)
		return life->birth == BORN_FORK;
	if (origin == WIRE_ORIGIN_EXEC)
		return life->birth == BORN_EXEC && strncmp(life->comm, comm, sizeof(life->comm) - 1) == 0;
	return 1;
}

uint64_t roster_attach(struct session *s, uint32_t pid, int64_t now, unsigned origin, const char *comm)
{
	struct roster *roster = &s->roster;
	struct roster_life *life;
	uint64_t uid;

	pthread_mutex_lock(&roster->lock);
	life = roster->sideband && pid ? life_in(&roster->by_pid, pid) : NULL;
	if (!is_same_life(life, origin, now, comm)) {
		life = roster->sideband && pid ? new_life(roster, pid, now) : NULL;
		roster->waiting += life != NULL;
	}
	if (life)
		mark_attached(life, origin, now);
	uid = life ? life->uid : ++roster->next_process;
	pthread_mutex_unlock(&roster->lock);
	return uid;
}

void roster_detach(struct session *s, uint64_t uid)
{
	struct roster_life *life;

	pthread_mutex_lock(&s->roster.lock);
	life = life_in(&s->roster.by_uid, uid);
	if (life)
		life->attached = 0;
	pthread_mutex_unlock(&s->roster.lock);
}

struct roster_life *roster_by_uid(struct session *s, uint64_t uid)
{
	struct roster_life *life;

	pthread_mutex_lock(&s->roster.lock);
	life = life_in(&s->roster.by_uid, uid);
	pthread_mutex_unlock(&s->roster.lock);
	return life;
}

static uint32_t life_row(const struct roster_life *life, int64_t end, int64_t *v)
{
	uint32_t present = 1u << COLUMN_PROCESS_UID | 1u << COLUMN_PROCESS_PID | 1u << COLUMN_PROCESS_INNER_PID |
			   1u << COLUMN_PROCESS_START | 1u << COLUMN_PROCESS_END | 1u << COLUMN_PROCESS_ORIGIN;

	v[COLUMN_PROCESS_UID] = (int64_t)life->uid;
	v[COLUMN_PROCESS_PID] = life->pid;
	v[COLUMN_PROCESS_INNER_PID] = life->pid;
	v[COLUMN_PROCESS_PARENT] = (int64_t)life->parent;
	v[COLUMN_PROCESS_PPID] = life->ppid;
	v[COLUMN_PROCESS_START] = life->start;
	v[COLUMN_PROCESS_END] = end > life->start ? end : life->start;
	v[COLUMN_PROCESS_ORIGIN] = 0;
	v[COLUMN_PROCESS_NAME] = (int64_t)life->name;
	v[COLUMN_PROCESS_EXE] = (int64_t)life->exe;
	v[COLUMN_PROCESS_CMDLINE] = (int64_t)life->cmdline;
	v[COLUMN_PROCESS_EXIT] = life->exit_status;
	present |= life->parent ? 1u << COLUMN_PROCESS_PARENT : 0;
	present |= life->ppid ? 1u << COLUMN_PROCESS_PPID : 0;
	present |= life->name ? 1u << COLUMN_PROCESS_NAME : 0;
	present |= life->exe ? 1u << COLUMN_PROCESS_EXE : 0;
	present |= life->cmdline ? 1u << COLUMN_PROCESS_CMDLINE : 0;
	present |= life->exit_known ? 1u << COLUMN_PROCESS_EXIT : 0;
	return present;
}

static uint32_t fill_roster_row(struct session *s, const struct roster_thread *t, int64_t end, int64_t *v)
{
	v[COLUMN_THREAD_UID] = (int64_t)t->uid;
	v[COLUMN_THREAD_PROCESS] = (int64_t)t->process;
	v[COLUMN_THREAD_TID] = t->tid;
	v[COLUMN_THREAD_INNER_TID] = t->inner_tid;
	v[COLUMN_THREAD_START] = t->start;
	v[COLUMN_THREAD_END] = end > t->start ? end : t->start;
	v[COLUMN_THREAD_NAME] = (int64_t)report_string(s->writer, t->name, strnlen(t->name, sizeof(t->name)));
	return session_priority(t->priority, v, BITS_TO(COLUMN_THREAD_NAME));
}

/* Of all the processes of a machine only those that did something are told of. */
static int is_reported(const struct roster *roster, const struct roster_life *life)
{
	return life->used || !roster->whole_system;
}

static void unlink_thread(struct roster *roster, struct roster_thread *t)
{
	if (roster->ended_last == &t->next)
		roster->ended_last = t->link;
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
}

static void link_thread(struct roster_life *life, struct roster_thread *t)
{
	t->next = life->threads;
	t->link = &life->threads;
	if (t->next)
		t->next->link = &t->next;
	life->threads = t;
}

/* Writes the thread's row and forgets it; a ring that is still open keeps the memory. */
static void retire_thread(struct session *s, struct roster_thread *t, int reported)
{
	int64_t values[TABLE_MAX_COLUMNS];
	struct roster *roster = &s->roster;

	if (reported || t->used)
		session_row(s, TABLE_THREAD, values, fill_roster_row(s, t, t->end, values));
	if (t->samples)
		report_track_close(t->samples);
	unlink_thread(roster, t);
	if (thread_in(roster, t->process, t->tid) == t)
		idmap_take(&roster->threads, thread_key(t->process, t->tid));
	t->samples = NULL;
	t->retired = 1;
	if (!t->rings)
		free(t);
}

/* The thread is gone; its row is written when no ring can tell of it any more. */
static void end_thread(struct session *s, struct roster_life *life, struct roster_thread *t, int64_t end)
{
	struct roster *roster = &s->roster;

	if (t->ended)
		return;
	t->ended = 1;
	if (end > t->end)
		t->end = end;
	if (life->living)
		life->living--;
	if (t->rings)
		return;
	if (!life->attached) {
		retire_thread(s, t, is_reported(roster, life));
		return;
	}
	unlink_thread(roster, t);
	t->next = NULL;
	t->link = roster->ended_last;
	*roster->ended_last = t;
	roster->ended_last = &t->next;
}

static void end_threads(struct session *s, struct roster_life *life, int64_t end)
{
	struct roster_thread *t, *next;

	for (t = life->threads; t; t = next) {
		next = t->next;
		end_thread(s, life, t, end);
	}
}

/* Both sides are done with it. */
static void retire_life(struct session *s, struct roster_life *life)
{
	struct roster *roster = &s->roster;
	struct roster_thread *t;

	while ((t = life->threads)) {
		if (t->end < 0)
			t->end = life->end;
		retire_thread(s, t, life->attached || is_reported(roster, life));
	}
	space_end(s, life->uid);
	pthread_mutex_lock(&roster->lock);
	roster->waiting -= !life->perf_sees;
	idmap_take(&roster->by_uid, life->uid);
	if (life_in(&roster->by_pid, life->pid) == life)
		idmap_take(&roster->by_pid, life->pid);
	*life->link = life->next;
	if (life->next)
		life->next->link = life->link;
	pthread_mutex_unlock(&roster->lock);
	free(life);
}

static void write_life(struct session *s, struct roster_life *life)
{
	int64_t values[TABLE_MAX_COLUMNS];

	if (!life->attached && is_reported(&s->roster, life))
		session_row(s, TABLE_PROCESS, values, life_row(life, life->end, values));
}

/* perf has seen the end of a life. */
static void end_life(struct session *s, struct roster_life *life, int64_t end, int by_exec)
{
	struct roster *roster = &s->roster;

	end_threads(s, life, end);
	life->end = end;
	life->perf_over = 1;
	if (life->attached ? !life->agent_over : !by_exec && life->pid == roster->target_pid)
		return;
	/* The moment between a fork and an exec is worth no row. */
	if (!by_exec || life->used || life->birth != BORN_FORK)
		write_life(s, life);
	retire_life(s, life);
}

/* An agent's life that perf's events have just come to, or NULL. Under the lock. */
static struct roster_life *find_attached(struct roster *roster, uint32_t pid, int64_t time, unsigned birth)
{
	struct roster_life *found = NULL;

	for (struct roster_life *l = roster->waiting ? roster->lives : NULL; l; l = l->next) {
		if (l->pid != pid || !l->attached || l->perf_sees || l->attached_at < time)
			continue;
		if (l->origin == WIRE_ORIGIN_LATE || (l->origin == WIRE_ORIGIN_FORK) == (birth == BORN_FORK))
			found = !found || l->attached_at < found->attached_at ? l : found;
	}
	return found;
}

/* The life of a pid that begins at this event. */
static struct roster_life *begin_life(struct session *s, uint32_t pid, int64_t time, unsigned birth)
{
	struct roster *roster = &s->roster;
	struct roster_life *life;

	pthread_mutex_lock(&roster->lock);
	life = find_attached(roster, pid, time, birth);
	if (life) {
		life->start = time < life->start ? time : life->start;
		roster->waiting--;
	} else {
		life = new_life(roster, pid, time);
	}
	if (life) {
		life->perf_sees = 1;
		life->birth = (uint8_t)birth;
		if (idmap_put(&roster->by_pid, pid, (uint64_t)(uintptr_t)life) < 0)
			life->perf_over = 1;
	}
	pthread_mutex_unlock(&roster->lock);
	if (life && life->start < 0)
		life->start = 0;
	return life;
}

static void set_comm(struct session *s, struct roster_life *life, const char *comm)
{
	snprintf(life->comm, sizeof(life->comm), "%s", comm);
	life->name = session_text(s, life->comm);
}

/* What /proc says of a process that no agent describes. */
static void describe_roster_life(struct session *s, struct roster_life *life)
{
	char text[1024];

	if (life->attached)
		return;
	read_proc_link(life->pid, "exe", text, sizeof(text));
	if (text[0])
		life->exe = session_text(s, text);
	read_proc_command(life->pid, s->store, text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	life->cmdline = text[0] ? session_text(s, text) : 0;
}

struct roster_life *roster_last(struct session *s, uint32_t pid)
{
	struct roster_life *life;

	pthread_mutex_lock(&s->roster.lock);
	life = life_in(&s->roster.by_pid, pid);
	pthread_mutex_unlock(&s->roster.lock);
	return life;
}

struct roster_life *roster_life(struct session *s, uint32_t pid, int64_t time)
{
	struct roster_life *life = roster_last(s, pid);
	char comm[16];

	if (life && !life->perf_over)
		return life;
	life = begin_life(s, pid, time, BORN_UNKNOWN);
	if (!life)
		return NULL;
	read_proc(pid, "comm", comm, sizeof(comm));
	comm[strcspn(comm, "\n")] = '\0';
	set_comm(s, life, comm);
	describe_roster_life(s, life);
	return life;
}

struct roster_life *roster_fork(struct session *s, uint32_t pid, uint32_t ppid, int64_t time)
{
	struct roster_life *parent = roster_life(s, ppid, time), *old = roster_last(s, pid), *life;

	/* Its exit was not seen, and its number was given again. */
	if (old && !old->perf_over)
		end_life(s, old, time, 0);
	life = begin_life(s, pid, time, BORN_FORK);
	if (!life || !parent)
		return life;
	life->parent = parent->uid;
	life->ppid = ppid;
	life->exe = parent->exe;
	life->cmdline = parent->cmdline;
	set_comm(s, life, parent->comm);
	space_fork(s, parent->uid, life->uid, pid);
	roster_thread(s, life, pid, time);
	return life;
}

struct roster_life *roster_exec(struct session *s, uint32_t pid, int64_t time, const char *comm)
{
	struct roster_life *old = roster_last(s, pid), *life;
	uint64_t parent = old ? old->parent : 0;
	uint32_t ppid = old ? old->ppid : 0;

	/* Its agent attached after this exec: the life was taken for the one before. */
	if (old && !old->perf_over && old->attached && old->attached_at >= time) {
		set_comm(s, old, comm);
		return old;
	}
	if (old && !old->perf_over)
		end_life(s, old, time, 1);
	life = begin_life(s, pid, time, BORN_EXEC);
	if (!life)
		return NULL;
	life->parent = parent;
	life->ppid = ppid;
	set_comm(s, life, comm);
	describe_roster_life(s, life);
	roster_thread(s, life, pid, time);
	roster_rename(s, pid, pid, comm, time);
	return life;
}

void roster_rename(struct session *s, uint32_t pid, uint32_t tid, const char *comm, int64_t time)
{
	struct roster_life *life = roster_life(s, pid, time);
	struct roster_thread *t = life ? roster_thread(s, life, tid, time) : NULL;

	if (t && !t->named_by_ring)
		snprintf(t->name, sizeof(t->name), "%s", comm);
	if (t && tid == pid)
		set_comm(s, life, comm);
}

void roster_mapped(struct session *s, struct roster_life *life, const char *path)
{
	if (!life->exe && life->birth == BORN_EXEC && path[0] == '/' && path[1] != '/')
		life->exe = session_text(s, path);
}

void roster_exit(struct session *s, uint32_t pid, uint32_t tid, int64_t time)
{
	struct roster_life *life = roster_last(s, pid);
	struct roster_thread *t = life ? thread_in(&s->roster, life->uid, tid) : NULL;

	if (!life || life->perf_over)
		return;
	if (t)
		end_thread(s, life, t, time);
	/* Of those that were there before, not all threads are known. */
	if (!life->living && (life->birth != BORN_UNKNOWN || tid == pid))
		end_life(s, life, time, 0);
}

/* A new thread is called what its process is; one that was there before has a name of its own. */
static void name_roster_thread(const struct roster_life *life, struct roster_thread *t)
{
	char file[40], comm[32] = "";

	memcpy(t->name, life->comm, sizeof(t->name));
	if (life->birth != BORN_UNKNOWN || t->tid == life->pid)
		return;
	snprintf(file, sizeof(file), "task/%u/comm", t->tid);
	read_proc(life->pid, file, comm, sizeof(comm));
	comm[strcspn(comm, "\n")] = '\0';
	if (comm[0])
		snprintf(t->name, sizeof(t->name), "%.15s", comm);
}

static struct roster_thread *new_thread(struct session *s, struct roster_life *life, uint32_t tid, int64_t start)
{
	struct roster_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->uid = ++s->next_thread;
	t->process = life->uid;
	t->tid = t->inner_tid = tid;
	t->start = start < 0 ? 0 : start;
	t->end = -1;
	if (idmap_put(&s->roster.threads, thread_key(life->uid, tid), (uint64_t)(uintptr_t)t) < 0) {
		free(t);
		return NULL;
	}
	name_roster_thread(life, t);
	t->priority = session_read_priority(s, life->pid, tid);
	link_thread(life, t);
	life->living++;
	return t;
}

struct roster_thread *roster_thread(struct session *s, struct roster_life *life, uint32_t tid, int64_t time)
{
	struct roster_thread *t = thread_in(&s->roster, life->uid, tid);

	/* Its number was given again. Others than perf tell of threads long after they ended. */
	if (t && t->ended && !t->rings && time > t->end) {
		idmap_take(&s->roster.threads, thread_key(life->uid, tid));
		t = NULL;
	}
	if (!t)
		return new_thread(s, life, tid, time);
	if (time < t->start)
		t->start = time < 0 ? 0 : time;
	return t;
}

/* Out of the list of those that ended: its ring will be heard first. */
static void back_to_life(struct roster *roster, struct roster_life *life, struct roster_thread *t)
{
	unlink_thread(roster, t);
	link_thread(life, t);
}

struct roster_thread *roster_ring_opened(struct session *s, uint64_t process, uint32_t tid, uint32_t inner_tid, int64_t start)
{
	struct roster_life *life = roster_by_uid(s, process);
	struct roster_thread *t = life ? thread_in(&s->roster, process, tid) : NULL;

	if (!life)
		return NULL;
	/* perf may have seen its end already. */
	if (t && t->ended && start > t->end)
		t = NULL;
	if (!t)
		t = new_thread(s, life, tid, start);
	else if (t->ended)
		back_to_life(&s->roster, life, t);
	if (!t)
		return NULL;
	if (start < t->start)
		t->start = start;
	t->inner_tid = inner_tid;
	t->rings++;
	t->used = 1;
	return t;
}

void roster_ring_closed(struct session *s, struct roster_thread *t, int64_t end, const char *comm)
{
	struct roster_life *life = roster_by_uid(s, t->process);

	t->rings--;
	if (t->retired) {
		if (!t->rings)
			free(t);
		return;
	}
	if (comm[0]) {
		snprintf(t->name, sizeof(t->name), "%.*s", (int)sizeof(t->name) - 1, comm);
		t->named_by_ring = 1;
	}
	if (end > t->end)
		t->end = end;
	if (!t->rings && (t->ended || !life))
		retire_thread(s, t, 1);
}

void roster_agent_over(struct session *s, uint64_t process, int64_t end)
{
	struct roster_life *life = roster_by_uid(s, process);

	if (!life)
		return;
	life->agent_over = 1;
	/* Events of its end, or even of its beginning, may be still to come; or be lost. */
	if (life->perf_over) {
		retire_life(s, life);
	} else if (life->end < 0) {
		life->end = end;
	}
}

void roster_age(struct session *s)
{
	while (s->roster.ended && s->now - s->roster.ended->end > LATE_RING_NS)
		retire_thread(s, s->roster.ended, 1);
}

static void provisional_thread(struct session *s, const struct roster_thread *t)
{
	int64_t values[TABLE_MAX_COLUMNS];

	if (!t->rings)
		report_append_provisional(s->tables[TABLE_THREAD], values, fill_roster_row(s, t, t->ended ? t->end : s->now, values));
}

void roster_provisional(struct session *s)
{
	int64_t values[TABLE_MAX_COLUMNS];
	struct roster_life *first;

	/* Others are only ever added before the first. */
	pthread_mutex_lock(&s->roster.lock);
	first = s->roster.lives;
	pthread_mutex_unlock(&s->roster.lock);
	for (struct roster_life *l = first; l; l = l->next) {
		if (!l->attached && is_reported(&s->roster, l))
			report_append_provisional(s->tables[TABLE_PROCESS], values, life_row(l, l->perf_over ? l->end : s->now, values));
		for (struct roster_thread *t = l->threads; t; t = t->next)
			if (t->used || is_reported(&s->roster, l))
				provisional_thread(s, t);
	}
	for (struct roster_thread *t = s->roster.ended; t; t = t->next)
		provisional_thread(s, t);
}

void roster_finish(struct session *s)
{
	struct roster *roster = &s->roster;
	struct roster_life *life, *next;

	while (roster->ended)
		retire_thread(s, roster->ended, 1);
	for (life = roster->lives; life; life = next) {
		next = life->next;
		end_threads(s, life, life->end >= 0 ? life->end : s->now);
		if (life->end < 0)
			life->end = s->now;
		write_life(s, life);
		retire_life(s, life);
	}
	while (roster->ended)
		retire_thread(s, roster->ended, 1);
}

void roster_release(struct roster *roster)
{
	idmap_release(&roster->by_pid);
	idmap_release(&roster->by_uid);
	idmap_release(&roster->threads);
	pthread_mutex_destroy(&roster->lock);
}
