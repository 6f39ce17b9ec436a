#include "record/stacks/timer_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/stacks/stacks.h"

/* More than --sampling-stack-size takes. */
#define STACK_LIMIT (128u << 10)
/* Fewer tell nothing about the rate. */
#define RATE_MIN_SAMPLES 50
#define CPU_LIMIT 4096u /* as many as the field has room for in the agent */

/* A thread's track, and the sample whose last piece has not come. */
struct timer_samples {
	struct report_track *track;
	uint64_t last_stack;
	struct record_sample open;
	int is_open;
	int64_t time;
	uint32_t left; /* pieces still to come */
	uint8_t *stack;
	size_t size;
	size_t cap;
};

static uint64_t intern_timer_stack(struct session *s, const struct traced_process *p, const struct timer_samples *m)
{
	struct space *space = space_of(s, p->uid, p->info.pid);
	struct stack_copy copy = { .bytes = m->stack, .size = m->size };
	struct stack_walk walk;

	if (!space)
		return 0;
	memcpy(copy.registers, m->open.at.registers, sizeof(copy.registers));
	walk.count = walk.kernel = 0;
	walk.cut = 0;
	space_unwind(s, space, &copy, &walk);
	return stacks_intern(s, space, &walk);
}

static void write_timer_sample(struct session *s, struct traced_process *p, struct traced_thread *t)
{
	struct timer_samples *m = t->timer_samples;
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = 1u << COLUMN_SAMPLE_TIME | 1u << COLUMN_SAMPLE_WEIGHT | 1u << COLUMN_SAMPLE_KERNEL;

	v[COLUMN_SAMPLE_TIME] = m->time;
	v[COLUMN_SAMPLE_STACK] = (int64_t)m->last_stack;
	v[COLUMN_SAMPLE_CPU] = m->open.cpu;
	v[COLUMN_SAMPLE_WEIGHT] = (int64_t)m->open.weight;
	v[COLUMN_SAMPLE_KERNEL] = 0;
	if (m->last_stack)
		present |= 1u << COLUMN_SAMPLE_STACK;
	if (m->open.cpu < CPU_LIMIT)
		present |= 1u << COLUMN_SAMPLE_CPU;
	if (!m->track)
		m->track = session_track(s, TABLE_SAMPLE, TRACK_SAMPLES, p->uid, t->uid, 0, 0);
	s->events++;
	session_event_row(s, t, m->track, v, present, 1);
}

/* The open sample, with as much of its stack as came. */
static void finish_sample(struct session *s, struct traced_process *p, struct traced_thread *t)
{
	struct timer_samples *m = t->timer_samples;

	m->last_stack = intern_timer_stack(s, p, m);
	s->timer_samples++;
	s->timer_samples_ns += m->open.weight;
	write_timer_sample(s, p, t);
	m->is_open = 0;
	m->size = 0;
}

/* Most likely spent where the last sample was; nowhere, where the thread had none. */
static void write_rest(struct session *s, struct traced_process *p, struct traced_thread *t, const struct record_sample *rest, int64_t time)
{
	struct timer_samples *m = t->timer_samples;

	if (m->is_open)
		finish_sample(s, p, t);
	m->open = *rest;
	m->time = time;
	write_timer_sample(s, p, t);
}

static int append_stack_bytes(struct timer_samples *m, const uint8_t *bytes, size_t size)
{
	if (size > STACK_LIMIT - m->size)
		return -EBADMSG;
	if (!ARRAY_ROOM(m->stack, m->size, m->cap, size))
		return -ENOMEM;
	if (size)
		memcpy(m->stack + m->size, bytes, size);
	m->size += size;
	return 0;
}

int timer_samples_add(struct session *s, struct traced_process *p, struct traced_thread *t, const uint8_t *bytes, size_t size, int64_t time)
{
	struct record_sample piece;
	struct timer_samples *m;
	unsigned left;
	int result;

	if (size < sizeof(piece))
		return -EBADMSG;
	memcpy(&piece, bytes, sizeof(piece));
	left = record_level(piece.at.head);
	/* No CPU time of a second sample is longer than a report can be. */
	if (piece.weight > INT64_MAX / 2)
		return -EBADMSG;
	if (!t->timer_samples)
		t->timer_samples = calloc(1, sizeof(*t->timer_samples));
	m = t->timer_samples;
	if (!m)
		return -ENOMEM;
	if (record_flags(piece.at.head) & SAMPLE_FLAG_REST) {
		write_rest(s, p, t, &piece, time);
		return 0;
	}
	/* A piece that found no room is missing: the stack ends there. */
	if (m->is_open && (m->open.at.time != piece.at.time || left + 1 != m->left))
		finish_sample(s, p, t);
	if (!m->is_open) {
		m->open = piece;
		m->time = time;
		m->is_open = 1;
	}
	m->left = left;
	result = append_stack_bytes(m, bytes + sizeof(piece), size - sizeof(piece));
	if (result == 0 && left == 0)
		finish_sample(s, p, t);
	return result;
}

void timer_samples_close(struct session *s, struct traced_process *p, struct traced_thread *t)
{
	struct timer_samples *m = t->timer_samples;

	if (!m)
		return;
	if (m->is_open)
		finish_sample(s, p, t);
	report_track_close(m->track);
	free(m->stack);
	free(m);
	t->timer_samples = NULL;
}

void timer_samples_report_rate(struct session *s, uint32_t asked_hz)
{
	double rate;

	if (s->timer_samples < RATE_MIN_SAMPLES || !s->timer_samples_ns)
		return;
	rate = (double)s->timer_samples * 1e9 / (double)s->timer_samples_ns;
	if (rate < 0.9 * asked_hz)
		session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
				 "Timers gave %.0f samples per second of CPU time, not %u: the kernel checks them once a tick. Each "
				 "sample stands for the time since the one before.",
				 rate, asked_hz);
}
