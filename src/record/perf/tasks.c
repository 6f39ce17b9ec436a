/* Events on threads that were there before: each has its own, and threads and processes to come inherit them.
 *
 * A thread may be born while this goes on: by one that has its events already (it inherits them) or by one that has not
 * (nobody knows it). So the threads are listed again until there is no new one that could be of the second kind.
 * Which kind it is cannot be seen: new ones get events of their own in any case. Those that inherited
 * others have two then, as have all that descend from them; records tell which event they come from, and those of one
 * are passed over. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "record/perf/perf.h"
#include "record/session/roster.h"
#include "record/session/session.h"
#include "record/session/address_space_internal.h"
#include "record/session/process_tree.h"

#define PASSES 12
#define MOST_SOURCES (1u << 20)
/* Two events of one thread write in turn: one that is silent for so long is none of this thread's. */
#define SILENT 16
#define MS 1000000l

static uint64_t ticks_since_boot(void)
{
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * per_second + (uint64_t)now.tv_nsec * per_second / 1000000000u;
}

static int list(const struct perf *p, struct tree *ret)
{
	return tree_read(ret, p->target, p->tasks.children);
}

int perf_tasks_find(struct perf *p, struct error *why)
{
	int result = list(p, &p->tasks.found);

	if (result < 0)
		return error_set(why, -result, result == -ESRCH ? "the process has ended" : "no memory");
	for (size_t i = 0; i < p->tasks.found.count; i++) {
		const struct tree_thread *t = &p->tasks.found.threads[i];

		if (t->ended)
			continue;
		p->tasks.first = t->tid;
		return idmap_put(&p->tasks.opened, t->tid, 1);
	}
	return error_set(why, ESRCH, "the process has ended");
}

static int keep_task_event(struct perf_tasks *tasks, int fd, uint32_t ring, int kind)
{
	if (!ARRAY_ROOM(tasks->events, tasks->count, tasks->cap, 1))
		return -ENOMEM;
	tasks->events[tasks->count++] = (struct perf_task_event){ fd, ring, (uint8_t)kind };
	return 0;
}

static int open_one(struct perf *p, uint32_t ring, int kind, uint32_t tid)
{
	const struct perf_cpu *c = &p->cpus[ring];
	uint64_t id;
	int fd = perf_open_event(&p->attrs[kind], (int)tid, c->cpu);

	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->owner) < 0 ||
	    idmap_put(&p->kinds, id, PERF_SOURCE(kind, tid)) < 0 || keep_task_event(&p->tasks, fd, ring, kind) < 0) {
		close(fd);
		return -EIO;
	}
	return 0;
}

/* What the first thread has. */
static int open_thread(struct perf *p, uint32_t tid)
{
	int result = 0;

	for (uint32_t i = 0; i < p->cpu_count && result == 0; i++)
		for (int kind = 0; kind < PERF_KIND_WAKEUP && result == 0; kind++)
			if (p->cpus[i].fds[kind] >= 0)
				result = open_one(p, i, kind, tid);
	return result;
}

static int is_new(const struct perf *p, const struct tree_thread *t)
{
	return !t->ended && idmap_get(&p->tasks.opened, t->tid) == IDMAP_NONE;
}

static void open_new(struct perf *p, const struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_thread *t = &tree->threads[i];
		int result;

		if (!is_new(p, t) || idmap_put(&p->tasks.opened, t->tid, 1) < 0)
			continue;
		result = open_thread(p, t->tid);
		if (result < 0 && result != -ESRCH) {
			p->tasks.refused++;
			p->tasks.refusal = result;
		}
	}
}

/* Whether one is there that may have been born by a thread without events. Who was born when all had theirs inherits. */
static int may_be_missed(const struct perf *p, const struct tree *tree, uint64_t complete)
{
	for (size_t i = 0; i < tree->count; i++)
		if (is_new(p, &tree->threads[i]) && tree->threads[i].start <= complete + 1)
			return 1;
	return 0;
}

static void open_task_events(struct perf *p)
{
	const struct timespec moment = { .tv_nsec = 25 * MS };
	struct tree now;
	uint64_t complete;

	open_new(p, &p->tasks.found);
	for (int pass = 1; pass < PASSES; pass++) {
		complete = ticks_since_boot();
		if (pass > 1)
			nanosleep(&moment, NULL);
		if (list(p, &now) < 0)
			return;
		tree_release(&p->tasks.found);
		p->tasks.found = now;
		if (!may_be_missed(p, &now, complete))
			return;
		p->tasks.doubled = 1;
		open_new(p, &now);
	}
}

/* Names and code of those that are there: the events that told of them are long past. */
static void describe_found_tasks(struct perf *p)
{
	struct session *s = p->session;
	int64_t now = 0;

	for (size_t i = 0; i < p->tasks.found.count; i++) {
		const struct tree_thread *t = &p->tasks.found.threads[i];
		struct roster_life *life = t->ended && t->pid != t->tid ? NULL : roster_life(s, t->pid, now);
		struct roster_life *parent = roster_last(s, t->parent);

		if (!life)
			continue;
		life->ppid = t->parent;
		life->parent = parent && parent != life ? parent->uid : 0;
		if (!t->ended)
			roster_thread(s, life, t->tid, now);
		space_read_maps(s, space_of(s, life->uid, life->pid));
	}
}

void perf_tasks_open(struct perf *p)
{
	if (p->way.scope == SCOPE_PROCESS_TREE)
		open_task_events(p);
	describe_found_tasks(p);
	tree_release(&p->tasks.found);
	if (p->tasks.refused)
		session_diagnose(p->session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0, "%u threads are not sampled: perf_event_open: %s%s.",
				 p->tasks.refused, strerror(-p->tasks.refusal),
				 p->tasks.refusal == -EMFILE ? ". Each thread needs two or three descriptors per CPU; raise 'ulimit "
							       "-n'" :
							       "");
}

void perf_tasks_window(const struct perf *p, int open)
{
	for (size_t i = 0; i < p->tasks.count; i++)
		if (p->tasks.events[i].kind != PERF_KIND_SIDEBAND)
			ioctl(p->tasks.events[i].fd, open ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

int perf_tasks_is_copy(struct perf *p, const struct perf_stamp *stamp)
{
	uint64_t source = idmap_get(&p->kinds, stamp->id), key, taken;

	if (!p->tasks.doubled || source == IDMAP_NONE || PERF_SOURCE_KIND(source) >= PERF_KIND_WAKEUP)
		return 0;
	key = (uint64_t)stamp->tid << 32 | (uint64_t)stamp->cpu << 8 | PERF_SOURCE_KIND(source);
	taken = idmap_get(&p->tasks.sources, key);
	if (taken != IDMAP_NONE && taken >> 8 != source >> 8 && (taken & 0xff) < SILENT) {
		idmap_put(&p->tasks.sources, key, taken + 1);
		return 1;
	}
	if (p->tasks.sources.count > MOST_SOURCES)
		idmap_release(&p->tasks.sources);
	if (taken != (source & ~0xffull))
		idmap_put(&p->tasks.sources, key, source & ~0xffull);
	return 0;
}

void perf_tasks_release(struct perf *p)
{
	for (size_t i = 0; i < p->tasks.count; i++)
		close(p->tasks.events[i].fd);
	free(p->tasks.events);
	idmap_release(&p->tasks.opened);
	idmap_release(&p->tasks.sources);
	tree_release(&p->tasks.found);
	p->tasks = (struct perf_tasks){ 0 };
}
