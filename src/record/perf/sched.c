#include "record/perf/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "record/session/session.h"

#define NEVER INT64_MIN
#define MAX_CPUS 65536u
/* A thread leaves its CPU once more after its exit event: those that ended last. */
#define GONE_COUNT 256u

struct sched_thread {
	uint32_t tid;
	uint32_t cpu;
	struct report_track *track; /* NULL: none yet */
	uint8_t running;
	uint8_t left;     /* enum run_after of the last run */
	int64_t start;    /* of the open run */
	int64_t ready;    /* ... could have begun then; NEVER = not known */
	int64_t end;      /* of the last run; NEVER = none was seen */
	int64_t woken;    /* since the end of the last run; NEVER = not seen */
	uint64_t syscall; /* what SCHED_LEAVING said; 0 = nothing */
	uint64_t stack;
};

struct sched_cpu {
	int64_t time; /* of the last event taken */
	uint32_t tid; /* who has it; 0 = nobody known */
};

/* A run that waits for the name of its system call, or the end of its thread's track. */
struct held_run {
	struct report_track *track;
	int64_t values[COLUMN_RUN_STACK + 1];
	uint32_t present; /* 0: the track ends */
};

struct sched {
	int holding;
	struct held_run *held;
	size_t held_count, held_cap;
	struct idmap threads; /* tid -> struct sched_thread */
	int64_t window;       /* all switches are known since; NEVER = some are not */
	int closed;           /* between two windows: who runs is not known */
	struct sched_cpu *cpus;
	uint32_t cpu_count;
	uint32_t gone[GONE_COUNT];
	uint32_t gone_next;
};

static struct sched *sched_of(struct session *s)
{
	if (!s->sched) {
		s->sched = calloc(1, sizeof(*s->sched));
		if (s->sched)
			s->sched->window = NEVER;
	}
	return s->sched;
}

static struct sched_thread *find_thread(const struct sched *d, uint32_t tid)
{
	uint64_t value = idmap_get(&d->threads, tid);

	return value == IDMAP_NONE ? NULL : (struct sched_thread *)(uintptr_t)value;
}

static struct sched_thread *add_sched_thread(struct sched *d, uint32_t tid)
{
	struct sched_thread *t = calloc(1, sizeof(*t));

	if (!t || idmap_put(&d->threads, tid, (uintptr_t)t) < 0) {
		free(t);
		return NULL;
	}
	t->tid = tid;
	t->ready = t->end = t->woken = NEVER;
	return t;
}

/* Whose runs these are. */
static int identify(struct session *s, struct sched_thread *t, const struct sched_event *e)
{
	struct roster_life *life = roster_life(s, e->pid, e->time);
	struct roster_thread *thread = life ? roster_thread(s, life, e->tid, e->time) : NULL;

	if (!thread)
		return -ENOMEM;
	life->used = thread->used = 1;
	t->track = session_track(s, TABLE_RUN, TRACK_RUN, life->uid, thread->uid, 0, 0);
	return t->track ? 0 : -ENOMEM;
}

static uint32_t run_values(const struct sched_thread *t, int64_t end, enum run_after after, int64_t *values)
{
	uint32_t present = BIT(COLUMN_RUN_START) | BIT(COLUMN_RUN_END) | BIT(COLUMN_RUN_CPU) | BIT(COLUMN_RUN_AFTER);

	values[COLUMN_RUN_START] = t->start;
	values[COLUMN_RUN_END] = end;
	values[COLUMN_RUN_CPU] = t->cpu;
	values[COLUMN_RUN_READY] = t->ready;
	values[COLUMN_RUN_AFTER] = after;
	values[COLUMN_RUN_SYSCALL] = (int64_t)t->syscall;
	values[COLUMN_RUN_STACK] = (int64_t)t->stack;
	present |= t->ready != NEVER ? BIT(COLUMN_RUN_READY) : 0;
	/* Who was preempted did not go to sleep in a system call. */
	present |= t->syscall && after == RUN_BLOCKED ? BIT(COLUMN_RUN_SYSCALL) : 0;
	present |= t->stack ? BIT(COLUMN_RUN_STACK) : 0;
	return present;
}

/* What the report cannot take is counted as lost. */
static void append_sched_row(struct session *s, struct report_track *track, const int64_t *values, uint32_t present)
{
	if (report_append(track, values, present) < 0)
		s->unwritten++;
	else
		s->events++;
}

static struct held_run *hold(struct sched *d, struct report_track *track)
{
	if (!ARRAY_ROOM(d->held, d->held_count, d->held_cap, 1))
		return NULL;
	d->held[d->held_count] = (struct held_run){ .track = track };
	return &d->held[d->held_count++];
}

static void put_run(struct session *s, struct report_track *track, const int64_t *values, uint32_t present)
{
	struct held_run *run;

	if (!s->sched->holding) {
		append_sched_row(s, track, values, present);
		return;
	}
	run = hold(s->sched, track);
	if (run) {
		memcpy(run->values, values, sizeof(run->values));
		run->present = present;
	} else {
		s->unwritten++;
	}
}

static void close_track(struct sched *d, struct report_track *track)
{
	if (track && d->holding)
		hold(d, track);
	else
		report_track_close(track);
}

static void end_run(struct session *s, struct sched_thread *t, int64_t end, enum run_after after)
{
	int64_t values[COLUMN_RUN_STACK + 1];
	uint32_t present;

	if (end < t->start)
		end = t->start;
	present = run_values(t, end, after, values);
	put_run(s, t->track, values, present);
	t->running = 0;
	t->left = (uint8_t)after;
	t->end = end;
	t->woken = NEVER;
	t->syscall = t->stack = 0;
}

static void begin_run(struct session *s, struct sched_thread *t, const struct sched_event *e, int64_t start)
{
	if (!t->track && identify(s, t, e) < 0) {
		s->unwritten++;
		return;
	}
	t->running = 1;
	t->cpu = e->cpu;
	t->start = t->end != NEVER && start < t->end ? t->end : start;
	t->ready = NEVER;
	if (t->end != NEVER && t->left == RUN_PREEMPTED)
		t->ready = t->end;
	else if (t->woken != NEVER)
		t->ready = t->woken;
	t->woken = NEVER;
	t->syscall = t->stack = 0;
}

static int is_gone(const struct sched *d, uint32_t tid)
{
	for (uint32_t i = 0; i < GONE_COUNT; i++)
		if (d->gone[i] == tid)
			return 1;
	return 0;
}

static void forget_gone(struct sched *d, uint32_t tid)
{
	for (uint32_t i = 0; i < GONE_COUNT; i++)
		if (d->gone[i] == tid)
			d->gone[i] = 0;
}

static struct sched_cpu *cpu_of(struct sched *d, uint32_t cpu)
{
	struct sched_cpu *grown;

	if (cpu >= MAX_CPUS)
		return NULL;
	if (cpu >= d->cpu_count) {
		grown = realloc(d->cpus, (cpu + 1) * sizeof(*grown));
		if (!grown)
			return NULL;
		for (uint32_t i = d->cpu_count; i <= cpu; i++)
			grown[i] = (struct sched_cpu){ .time = NEVER };
		d->cpus = grown;
		d->cpu_count = cpu + 1;
	}
	return &d->cpus[cpu];
}

/* Whoever had the CPU has left it unseen: it is known to have run until the CPU was heard of last. */
static void vacate(struct session *s, struct sched_cpu *cpu)
{
	struct sched_thread *t = find_thread(s->sched, cpu->tid);

	if (t && t->running && t->cpu == (uint32_t)(cpu - s->sched->cpus))
		end_run(s, t, cpu->time, RUN_AFTER_UNKNOWN);
	cpu->tid = 0;
	s->sched->window = NEVER;
}

static void take_in(struct session *s, struct sched_thread *t, const struct sched_event *e)
{
	struct sched_cpu *cpu = cpu_of(s->sched, e->cpu);

	if (t->running) {
		end_run(s, t, t->start, RUN_AFTER_UNKNOWN);
		s->sched->window = NEVER;
	}
	if (cpu && cpu->tid && cpu->tid != e->tid)
		vacate(s, cpu);
	if (cpu)
		cpu->tid = e->tid;
	begin_run(s, t, e, e->time);
}

/* It had the CPU when the window opened, unless it was seen since or something is missing. */
static int ran_at_opening(const struct sched *d, const struct sched_thread *t)
{
	return d->window != NEVER && (t->end == NEVER || t->end <= d->window);
}

static void switch_thread_out(struct session *s, struct sched_thread *t, const struct sched_event *e)
{
	struct sched_cpu *cpu = cpu_of(s->sched, e->cpu);
	enum run_after after = e->preempted ? RUN_PREEMPTED : RUN_BLOCKED;
	uint64_t syscall = e->syscall ? e->syscall : t->syscall;
	uint64_t stack = e->stack ? e->stack : t->stack;

	if (cpu && cpu->tid && cpu->tid != e->tid)
		vacate(s, cpu);
	if (cpu)
		cpu->tid = 0;
	/* It came to this CPU unseen. */
	if (t->running && t->cpu != e->cpu)
		end_run(s, t, t->start, RUN_AFTER_UNKNOWN);
	else if (!t->running && ran_at_opening(s->sched, t))
		begin_run(s, t, e, s->sched->window);
	t->syscall = syscall;
	t->stack = stack;
	if (t->running)
		end_run(s, t, e->time, after);
	t->left = (uint8_t)after;
	t->end = e->time;
	t->syscall = t->stack = 0;
}

/* One that keeps its CPU through a whole window is not switched in it: a sample is all that tells. */
static void take_seen(struct session *s, struct sched_thread *t, const struct sched_event *e)
{
	struct sched_cpu *cpu = cpu_of(s->sched, e->cpu);

	if (t->running || !ran_at_opening(s->sched, t))
		return;
	begin_run(s, t, e, s->sched->window);
	if (cpu)
		cpu->tid = e->tid;
}

static void drop_thread(struct sched *d, struct sched_thread *t)
{
	idmap_take(&d->threads, t->tid);
	close_track(d, t->track);
	free(t);
}

static void take_gone(struct session *s, const struct sched_event *e)
{
	struct sched *d = s->sched;
	struct sched_thread *t = find_thread(d, e->tid);
	struct sched_cpu *cpu = cpu_of(d, t && t->running ? t->cpu : e->cpu);

	/* It came to the CPU that it ended on unseen. */
	if (t && t->running && e->cpu != SCHED_NO_CPU && t->cpu != e->cpu)
		end_run(s, t, t->start, RUN_AFTER_UNKNOWN);
	else if (t && t->running)
		end_run(s, t, e->time, RUN_EXITED);
	if (cpu && cpu->tid == e->tid)
		cpu->tid = 0;
	if (t)
		drop_thread(d, t);
	d->gone[d->gone_next++ % GONE_COUNT] = e->tid;
}

static void take_woken(struct sched_thread *t, const struct sched_event *e)
{
	/* A wakeup of one that runs only keeps it running; the first one counts. */
	if (!t->running && t->woken == NEVER)
		t->woken = e->time;
}

/* A thread that is not its process's first is given the first one's number in exec: whoever had
 * the CPU until now under another number goes on under this one. */
static int rename_holder(struct session *s, const struct sched_event *e)
{
	struct sched *d = s->sched;
	struct sched_cpu *cpu = e->cpu < d->cpu_count ? &d->cpus[e->cpu] : NULL;
	struct sched_thread *holder = cpu && cpu->tid != e->tid ? find_thread(d, cpu->tid) : NULL;
	struct sched_thread *first = find_thread(d, e->tid);

	if (!holder || !holder->running || holder->cpu != e->cpu)
		return 0;
	if (first)
		drop_thread(d, first);
	forget_gone(d, e->tid);
	end_run(s, holder, e->time, RUN_EXITED);
	drop_thread(d, holder);
	first = add_sched_thread(d, e->tid);
	cpu->tid = first ? e->tid : 0;
	if (first)
		begin_run(s, first, e, e->time);
	return 1;
}

/* The same thread goes on under another uid. */
static void take_exec(struct session *s, struct sched_thread *t, const struct sched_event *e)
{
	struct sched_event same_cpu = *e;
	int running = t->running;

	same_cpu.cpu = t->cpu;
	if (running)
		end_run(s, t, e->time, RUN_STILL);
	close_track(s->sched, t->track);
	t->track = NULL;
	t->ready = t->woken = NEVER;
	if (running) {
		t->end = NEVER;
		begin_run(s, t, &same_cpu, e->time);
	}
}

/* The thread an event is about, made if it is the first of it; NULL where there is nothing to tell. */
static struct sched_thread *thread_of(struct session *s, const struct sched_event *e)
{
	struct sched_thread *t = find_thread(s->sched, e->tid);

	if (t || e->kind == SCHED_EXEC || e->kind == SCHED_WOKEN)
		return t;
	if (e->kind == SCHED_IN || e->kind == SCHED_BORN)
		forget_gone(s->sched, e->tid);
	else if (is_gone(s->sched, e->tid))
		return NULL;
	return add_sched_thread(s->sched, e->tid);
}

static void take_for_thread(struct session *s, const struct sched_event *e)
{
	struct sched_thread *t = thread_of(s, e);

	if (!t)
		return;
	switch ((enum sched_kind)e->kind) {
	case SCHED_IN: take_in(s, t, e); break;
	case SCHED_OUT: switch_thread_out(s, t, e); break;
	case SCHED_WOKEN: take_woken(t, e); break;
	case SCHED_LEAVING:
		t->syscall = e->syscall;
		t->stack = e->stack;
		break;
	case SCHED_EXEC: take_exec(s, t, e); break;
	case SCHED_BORN: t->end = e->time; break;
	case SCHED_SEEN: take_seen(s, t, e); break;
	case SCHED_GONE: break;
	}
}

void sched_take(struct session *s, const struct sched_event *e)
{
	struct sched *d = sched_of(s);
	struct sched_cpu *cpu;

	/* 0 is the idle task, -1 one that has no number any more. */
	if (!d || !e->tid || e->tid == UINT32_MAX)
		return;
	if (e->kind == SCHED_GONE)
		take_gone(s, e);
	else if (!(e->kind == SCHED_EXEC && rename_holder(s, e)) && (!d->closed || e->kind == SCHED_BORN || e->kind == SCHED_EXEC))
		take_for_thread(s, e);
	/* Wakeups have rings of their own: they come when others are lost. */
	cpu = e->kind == SCHED_WOKEN ? NULL : cpu_of(d, e->cpu);
	if (cpu)
		cpu->time = e->time;
}

void sched_window_open(struct session *s, int64_t time)
{
	struct sched *d = sched_of(s);

	if (!d)
		return;
	d->window = time;
	d->closed = 0;
}

static void end_all(struct session *s, int64_t time)
{
	struct sched *d = s->sched;
	struct sched_thread *t;

	for (size_t i = 0; i < d->threads.cap; i++) {
		if (d->threads.entries[i].value == IDMAP_NONE)
			continue;
		t = (struct sched_thread *)(uintptr_t)d->threads.entries[i].value;
		if (t->running)
			end_run(s, t, time, RUN_STILL);
	}
	for (uint32_t i = 0; i < d->cpu_count; i++)
		d->cpus[i].tid = 0;
}

void sched_window_close(struct session *s, int64_t time)
{
	struct sched *d = sched_of(s);

	if (!d || d->closed)
		return;
	end_all(s, time);
	d->closed = 1;
	d->window = NEVER;
}

void sched_lost(struct session *s, uint32_t cpu)
{
	struct sched *d = sched_of(s);
	struct sched_cpu *state = d ? cpu_of(d, cpu) : NULL;

	if (state)
		vacate(s, state);
	else if (d)
		d->window = NEVER;
}

void sched_hold(struct session *s)
{
	struct sched *d = sched_of(s);

	if (d)
		d->holding = 1;
}

size_t sched_held(const struct session *s)
{
	return s->sched ? s->sched->held_count : 0;
}

static void name_threads(struct sched *d, uint64_t (*name)(void *context, uint64_t unnamed), void *context)
{
	struct sched_thread *t;

	for (size_t i = 0; i < d->threads.cap; i++) {
		if (d->threads.entries[i].value == IDMAP_NONE)
			continue;
		t = (struct sched_thread *)(uintptr_t)d->threads.entries[i].value;
		if (t->syscall & SCHED_UNNAMED)
			t->syscall = name(context, t->syscall);
	}
}

void sched_give(struct session *s, uint64_t (*name)(void *context, uint64_t unnamed), void *context)
{
	struct sched *d = s->sched;

	if (!d || !d->holding)
		return;
	d->holding = 0;
	for (size_t i = 0; i < d->held_count; i++) {
		struct held_run *run = &d->held[i];
		int64_t *call = &run->values[COLUMN_RUN_SYSCALL];

		if (!run->present) {
			report_track_close(run->track);
			continue;
		}
		if (run->present & BIT(COLUMN_RUN_SYSCALL) && (uint64_t)*call & SCHED_UNNAMED) {
			*call = (int64_t)name(context, (uint64_t)*call);
			if (!*call)
				run->present &= ~BIT(COLUMN_RUN_SYSCALL);
		}
		append_sched_row(s, run->track, run->values, run->present);
	}
	name_threads(d, name, context);
	free(d->held);
	d->held = NULL;
	d->held_count = d->held_cap = 0;
}

static void held_provisional(const struct sched *d)
{
	for (size_t i = 0; i < d->held_count; i++)
		if (d->held[i].present)
			report_append_provisional(d->held[i].track, d->held[i].values, d->held[i].present & ~BIT(COLUMN_RUN_SYSCALL));
}

void sched_provisional(struct session *s)
{
	int64_t values[COLUMN_RUN_STACK + 1];
	struct sched_thread *t;
	uint32_t present;

	if (s->sched)
		held_provisional(s->sched);
	for (size_t i = 0; s->sched && i < s->sched->threads.cap; i++) {
		if (s->sched->threads.entries[i].value == IDMAP_NONE)
			continue;
		t = (struct sched_thread *)(uintptr_t)s->sched->threads.entries[i].value;
		if (!t->running || !t->track)
			continue;
		present = run_values(t, s->now > t->start ? s->now : t->start, RUN_STILL, values);
		report_append_provisional(t->track, values, present);
	}
}

void sched_release(struct session *s)
{
	struct sched *d = s->sched;

	if (!d)
		return;
	for (size_t i = 0; i < d->threads.cap; i++)
		if (d->threads.entries[i].value != IDMAP_NONE)
			free((void *)(uintptr_t)d->threads.entries[i].value);
	idmap_release(&d->threads);
	free(d->held);
	free(d->cpus);
	free(d);
	s->sched = NULL;
}
