#include "record/drain/drain.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/cuda/cuda.h"
#include "record/drain/decode.h"
#include "record/nvtx/definitions.h"
#include "record/session/gpus.h"
#include "record/perf/sched.h"
#include "record/drain/osrt.h"
#include "record/nvtx/start_end.h"
#include "record/nvtx/push_pop.h"
#include "record/session/address_space.h"
#include "record/stacks/stacks.h"
#include "record/session/trigger.h"
#include "record/session/window.h"

#define MS 1000000ll
/* Half of what is promised (nothing older than 100 ms is lost), so that a late wake-up
 * does not break the promise. */
#define TICK_SHORTEST_NS (40 * MS)
#define IDLE_TICK_NS (1000 * MS)
/* An idle recorder wakes this often, so that clock rows and ticks come at least every
 * 100 ms even where the machine is busy. */
#define SLEEP_NS (50 * MS)
/* While events come: often enough that little is in flight and what is
 * read is still in the cache, seldom enough that waking up costs nothing. */
#define PAUSE_LONGEST (8 * MS)
#define PAUSE_SHORTEST (1 * MS)
#define BYTES_IN_FLIGHT (512 * 1024)
#define BYTES_IDLE 4096
/* Ten minutes of them, for a recording that may last for days. */
#define COARSE_SNAPSHOTS 12000
#define SESSION_CHUNKS (128u * 1024 * 1024 / RING_CHUNK_SIZE)

struct mail *drain_mail(enum mail_kind kind)
{
	struct mail *mail = calloc(1, sizeof(*mail));

	if (mail)
		mail->kind = kind;
	return mail;
}

static void wake(struct drain *d)
{
	atomic_store(&d->doorbell->sleeping, 0);
	syscall(SYS_futex, &d->doorbell->sleeping, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void drain_post(struct drain *d, struct mail *mail)
{
	if (!mail)
		return;
	pthread_mutex_lock(&d->lock);
	mail->next = NULL;
	*d->last = mail;
	d->last = &mail->next;
	pthread_mutex_unlock(&d->lock);
	wake(d);
}

void drain_diagnose(struct drain *d, int severity, const char *format, ...)
{
	struct mail *mail = drain_mail(MAIL_DIAGNOSTIC);
	va_list args;

	if (!mail)
		return;
	va_start(args, format);
	vsnprintf(mail->text, sizeof(mail->text), format, args);
	va_end(args);
	mail->value = severity;
	drain_post(d, mail);
}

static void write_provisional_rows(struct report_writer *w, void *context)
{
	struct session *s = context;

	if (!s->tables[TABLE_THREAD])
		s->tables[TABLE_THREAD] = report_track(w, TABLE_THREAD, 0);
	if (!s->tables[TABLE_PROCESS])
		s->tables[TABLE_PROCESS] = report_track(w, TABLE_PROCESS, 0);
	for (struct traced_process *p = s->processes; p; p = p->next)
		process_provisional(s, p);
	roster_provisional(s);
	sched_provisional(s);
	gpus_provisional(s);
}

/* The disk is full, or broken: what was written stays good, nothing is added. The
 * target goes on, and its events are read as before, as that is how they are counted. */
static void stop_writing(struct drain *d, const struct error *err)
{
	session_diagnose(&d->session, SOURCE_RECORDER, DIAGNOSTIC_ERROR, 0, "Recording stopped at %.3f s: %s", (double)d->session.now / 1e9,
			 err->text);
	d->session.full = 1;
	pthread_mutex_lock(&d->lock);
	d->full = 1;
	d->write_error = *err;
	pthread_mutex_unlock(&d->lock);
}

static void tick(struct drain *d)
{
	struct session *s = &d->session;
	struct error err = { "" };

	d->last_tick = s->now;
	d->active = 0;
	for (struct traced_process *p = s->processes; p; p = p->next)
		process_report_losses(s, p);
	for (struct traced_process *p = s->processes; p; p = p->next)
		cuda_tick(s, p);
	if (!s->full)
		report_writer_trim(s->writer, s->now, !atomic_load(&s->keep_all));
	if (!s->full && report_writer_tick(s->writer, write_provisional_rows, s, &err) < 0)
		stop_writing(d, &err);
}

/* While nothing happens there is nothing to bring to safety but the time itself. */
static int tick_is_due(const struct drain *d)
{
	int64_t since = d->session.now - d->last_tick;

	return since >= (d->active ? TICK_SHORTEST_NS : IDLE_TICK_NS);
}

static void decode_drain_batch(struct drain *d)
{
	/* Taken after the stamps were: every stamp lies between two snapshots. */
	session_snapshot(&d->session, 0);
	d->active |= d->batch->count > 0;
	decode_batch(&d->session, d->batch);
	d->batch->used = d->batch->count = 0;
}

static void process_batch(struct drain *d)
{
	decode_drain_batch(d);
	/* Here, and not once a round: with many busy threads a round may take long. */
	if (tick_is_due(d))
		tick(d);
}

/* Reads all rings of a process to where they stand now. */
static void drain_process(struct drain *d, struct traced_process *p)
{
	uint64_t before = p->reader.bytes;

	while (ring_reader_collect(&p->reader, d->batch))
		process_batch(d);
	d->bytes += p->reader.bytes - before;
}

static void grow_drained_pool(struct drain *d, struct traced_process *p)
{
	struct session *s = &d->session;
	uint32_t allowed = s->chunks_in_circulation < SESSION_CHUNKS ? SESSION_CHUNKS - s->chunks_in_circulation : 0;

	s->chunks_in_circulation += ring_reader_grow(&p->reader, allowed);
}

static void begin_process(struct drain *d, struct mail *mail)
{
	struct traced_process *parent = process_by_uid(&d->session, mail->process->info.parent_process);

	/* Names given before the fork lie in the parent's rings. */
	if (parent) {
		drain_process(d, parent);
		process_batch(d);
	}
	process_begin(&d->session, mail->process);
	d->session.chunks_in_circulation += mail->process->reader.chunk_limit;
}

static void take_mail(struct drain *d, struct mail *mail)
{
	struct session *s = &d->session;
	struct traced_process *p = process_by_uid(s, mail->uid);

	switch (mail->kind) {
	case MAIL_PROCESS: begin_process(d, mail); break;
	case MAIL_ENDED:
		if (p) {
			p->dead = 1;
			p->died_raw = mail->raw;
		}
		break;
	case MAIL_EXIT:
		if (p) {
			p->exit_known = 1;
			p->exit_status = mail->value;
		}
		break;
	case MAIL_UNTRACED:
		s->untraced++;
		session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0, "%s", mail->text);
		break;
	case MAIL_DIAGNOSTIC: session_diagnose(s, SOURCE_RECORDER, mail->value, 0, "%s", mail->text); break;
	}
}

/* Returns whether this is the last round. */
static int read_mailbox(struct drain *d)
{
	struct mail *mail, *next;
	int finish;

	pthread_mutex_lock(&d->lock);
	mail = d->first;
	d->first = NULL;
	d->last = &d->first;
	finish = d->finish;
	pthread_mutex_unlock(&d->lock);
	for (; mail; mail = next) {
		next = mail->next;
		d->active = 1;
		take_mail(d, mail);
		free(mail);
	}
	return finish;
}

/* A visit takes a part of a long chain; this goes on while something comes, but not for
 * ever: a process that lives (at the end of a recording) may write on, and so may
 * somebody who shares the memory of a dead one. */
static void drain_to_end(struct drain *d, struct traced_process *p)
{
	uint64_t before;
	int rounds = 0;

	do {
		before = p->reader.bytes;
		drain_process(d, p);
		process_batch(d);
	} while (p->reader.bytes != before && ++rounds < 1000);
}

static void end_dead(struct drain *d, int all)
{
	struct session *s = &d->session;
	struct traced_process *p, *next;
	int64_t end;

	for (p = s->processes; p; p = next) {
		next = p->next;
		if (!p->dead && !all)
			continue;
		/* It can write no more: what is there now is all there will be. */
		drain_to_end(d, p);
		end = p->dead ? p->died_raw - s->time.start : s->now;
		process_end(s, p, end < s->now ? end : s->now);
	}
}

static void round_over_rings(struct drain *d)
{
	struct session *s = &d->session;
	uint64_t gpu;
	int64_t began = s->now;
	uint32_t unfinished = 0;
	int whole;

	d->bytes = 0;
	d->more = 0;
	for (struct traced_process *p = s->processes; p; p = p->next) {
		/* Before its rings are read: what it had not finished then may come later. */
		unfinished += process_unfinished(s, p);
		drain_process(d, p);
		d->more |= p->reader.more;
		grow_drained_pool(d, p);
	}
	decode_drain_batch(d);
	whole = !d->more;
	s->whole_rounds += whole;
	atomic_store(&s->unfinished, unfinished);
	for (struct traced_process *p = s->processes; p; p = p->next)
		if (p->early_count)
			ranges_age(s, p, 0);
	/* Behind the rings: what an agent told before its thread ended is known by then. */
	d->active |= perf_round(&d->perf, 0) > 0;
	d->more |= d->perf.more;
	gpu = gpu_monitor_round(&d->gpu);
	d->active |= gpu > 0;
	d->bytes += gpu;
	roster_age(s);
	if (s->triggers) {
		timebase_forget(&s->time, COARSE_SNAPSHOTS);
		trigger_renew_names(s);
	}
	if (s->triggers && whole)
		trigger_check_open(s, began);
	/* Behind perf: what it told is as old as what was in the rings. */
	session_snapshot(s, 0);
	if (tick_is_due(d))
		tick(d);
}

/* Returns whether the mailbox has something; then there is no time to sleep. */
static int mail_waiting(struct drain *d)
{
	int waiting;

	pthread_mutex_lock(&d->lock);
	waiting = d->first || d->finish || d->hold;
	pthread_mutex_unlock(&d->lock);
	return waiting;
}

/* Sleeps until a writer rings, or until the next tick is due: what was read a moment too late
 * for the last one does not wait for a whole sleep. */
static void sleep_long(struct drain *d)
{
	int64_t due = d->last_tick + TICK_SHORTEST_NS - d->session.now;
	struct timespec timeout = { .tv_nsec = SLEEP_NS };

	if (d->active && due < SLEEP_NS)
		timeout.tv_nsec = due > PAUSE_SHORTEST ? due : PAUSE_SHORTEST;
	atomic_store(&d->doorbell->sleeping, 1);
	/* Looked at again: who wrote before the store above did not wake us. */
	if (!mail_waiting(d))
		syscall(SYS_futex, &d->doorbell->sleeping, FUTEX_WAIT, 1, &timeout, NULL, 0);
	atomic_store(&d->doorbell->sleeping, 0);
}

static void pause_between_rounds(struct drain *d)
{
	struct timespec t = { 0 };

	/* Behind the writers: no time to sleep. */
	if (d->more)
		return;
	if (d->bytes < BYTES_IDLE) {
		d->pause_ns = PAUSE_LONGEST;
		sleep_long(d);
		return;
	}
	d->pause_ns = d->pause_ns * BYTES_IN_FLIGHT / (int64_t)(d->bytes + 1);
	if (d->pause_ns > PAUSE_LONGEST)
		d->pause_ns = PAUSE_LONGEST;
	if (d->pause_ns < PAUSE_SHORTEST)
		d->pause_ns = PAUSE_SHORTEST;
	t.tv_nsec = d->pause_ns;
	nanosleep(&t, NULL);
}

/* A program may write faster than this reads: then what came so far is enough. */
#define HOLD_ROUNDS 100

static void hold_if_asked(struct drain *d)
{
	uint32_t asked;

	pthread_mutex_lock(&d->lock);
	asked = d->hold;
	pthread_mutex_unlock(&d->lock);
	if (!asked)
		return;
	/* One whole round at least that began after it was asked for. */
	for (int i = 0; i < HOLD_ROUNDS; i++) {
		round_over_rings(d);
		if (!d->more)
			break;
	}
	perf_hold(&d->perf);
	session_snapshot(&d->session, 1);
	pthread_mutex_lock(&d->lock);
	d->held = asked;
	pthread_cond_broadcast(&d->changed);
	while (d->hold == asked)
		pthread_cond_wait(&d->changed, &d->lock);
	pthread_mutex_unlock(&d->lock);
}

static void *drain_main(void *argument)
{
	struct drain *d = argument;
	int finish = 0;

	prctl(PR_SET_NAME, "sonde-drain");
	prctl(PR_SET_TIMERSLACK, 50000ul);
	while (!finish) {
		atomic_fetch_add_explicit(&d->doorbell->rounds, 1, memory_order_relaxed);
		finish = read_mailbox(d);
		hold_if_asked(d);
		round_over_rings(d);
		end_dead(d, finish);
		if (finish)
			break;
		if (!mail_waiting(d))
			pause_between_rounds(d);
	}
	perf_round(&d->perf, 1);
	gpu_monitor_finish(&d->gpu);
	session_snapshot(&d->session, 1);
	return NULL;
}

int drain_start(struct drain *d, struct error *err)
{
	int r;

	d->batch = ring_batch_new();
	if (!d->batch)
		return error_set(err, ENOMEM, "no memory to read rings");
	d->last = &d->first;
	d->pause_ns = PAUSE_LONGEST;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	session_snapshot(&d->session, 1);
	r = pthread_create(&d->thread, NULL, drain_main, d);
	if (r)
		return error_set_errno(err, r, "cannot start the drain thread");
	return 0;
}

void drain_hold(struct drain *d)
{
	uint32_t number;

	pthread_mutex_lock(&d->lock);
	d->holds = d->holds == UINT32_MAX ? 1 : d->holds + 1;
	number = d->hold = d->holds;
	pthread_mutex_unlock(&d->lock);
	wake(d);
	pthread_mutex_lock(&d->lock);
	while (d->held != number)
		pthread_cond_wait(&d->changed, &d->lock);
	pthread_mutex_unlock(&d->lock);
}

void drain_let_go(struct drain *d)
{
	pthread_mutex_lock(&d->lock);
	d->hold = 0;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

static void forget_thread(struct session *s, struct traced_process *p, struct traced_thread *t)
{
	for (uint32_t i = 0; i < t->domain_count; i++)
		push_pop_end_all(s, p, t, t->domains[i], s->now);
}

void drain_forget_open(struct drain *d)
{
	struct session *s = &d->session;

	for (struct traced_process *p = s->processes; p; p = p->next) {
		process_report_losses(s, p);
		for (uint32_t i = 0; i < p->thread_cap; i++)
			if (p->threads[i])
				forget_thread(s, p, p->threads[i]);
		ranges_end_all(s, p, s->now);
	}
}

void drain_finish_copy(struct drain *d)
{
	struct session *s = &d->session;

	s->page = NULL; /* the original's threads go on counting steps */
	while (s->processes)
		process_end(s, s->processes, s->now);
	perf_finish_copy(&d->perf);
}

void drain_finish(struct drain *d)
{
	pthread_mutex_lock(&d->lock);
	d->finish = 1;
	pthread_mutex_unlock(&d->lock);
	wake(d);
	pthread_join(d->thread, NULL);
}

void drain_release(struct drain *d)
{
	struct session *s = &d->session;

	for (uint32_t i = 0; i < SESSION_DEAD_DEFINITIONS; i++)
		definitions_unref(s->dead_definitions[i]);
	stacks_release(s);
	osrt_session_release(s);
	spaces_release(s);
	idmap_release(&s->process_uids);
	perf_release(&d->perf);
	gpu_monitor_release(&d->gpu);
	sched_release(s);
	gpus_release(s);
	cuda_session_release(s);
	roster_release(&s->roster);
	timebase_release(&s->time);
	ring_batch_free(d->batch);
	pthread_cond_destroy(&d->changed);
	pthread_mutex_destroy(&d->lock);
}
