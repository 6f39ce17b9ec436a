/* Samples: whose, where, and how it was called. */
#include <string.h>

#include "base/system/arch.h"
#include "record/perf/perf.h"
#include "record/session/roster.h"
#include "record/session/session.h"
#include "record/stacks/stacks.h"

static void add_walk_frame(struct stack_walk *walk, uint64_t pc)
{
	if (walk->count < STACK_MAX_FRAMES)
		walk->pcs[walk->count++] = pc;
	else
		walk->cut = 1;
}

/* Markers within the chain say whose frames follow. */
void perf_take_chain(const struct perf_sample *sample, struct stack_walk *walk)
{
	int in_kernel = 0, known = 0;

	for (uint64_t i = 0; i < sample->chain_count; i++) {
		uint64_t pc = sample->chain[i];

		if (pc >= (uint64_t)PERF_CONTEXT_MAX) {
			in_kernel = pc == (uint64_t)PERF_CONTEXT_KERNEL;
			known = in_kernel || pc == (uint64_t)PERF_CONTEXT_USER;
			continue;
		}
		/* The kernel's part comes first, or what it says is not believed. */
		if (!known || (in_kernel && walk->count != walk->kernel))
			continue;
		add_walk_frame(walk, pc);
		walk->kernel += in_kernel && !walk->cut;
	}
}

static void take_branches(const struct perf_sample *sample, int in_kernel, struct stack_walk *walk)
{
	if (!in_kernel)
		add_walk_frame(walk, sample->ip);
	/* A branch record names the call itself; a return address lies behind it. */
	for (uint64_t i = 0; i < sample->branch_count; i++)
		add_walk_frame(walk, sample->branches[i].from + 1);
}

static void take_copy(struct perf *p, struct space *space, const struct perf_sample *sample, struct stack_walk *walk)
{
	static const uint8_t dwarf_numbers[] = ARCH_PERF_TO_DWARF;
	struct stack_copy copy = { .bytes = sample->stack, .size = sample->stack_size };

	for (size_t i = 0; i < sizeof(dwarf_numbers); i++)
		memcpy(&copy.registers[dwarf_numbers[i]], &sample->registers[i], sizeof(uint64_t));
	space_unwind(p->session, space, &copy, walk);
}

static uint64_t intern_sample_stack(struct perf *p, const struct roster_life *life, const struct perf_sample *sample, int in_kernel)
{
	struct space *space = space_of(p->session, life->uid, life->pid);
	struct stack_walk walk;
	int whole = p->backtrace_turn++ % (uint64_t)p->options->samples_per_backtrace == 0;

	walk.count = walk.kernel = 0;
	walk.cut = 0;
	if (whole) {
		perf_take_chain(sample, &walk);
		if (sample->registers)
			take_copy(p, space, sample, &walk);
		if (p->way.backtrace == BACKTRACE_LBR)
			take_branches(sample, in_kernel, &walk);
	}
	if (!walk.count) {
		add_walk_frame(&walk, sample->ip);
		walk.kernel = (uint32_t)in_kernel;
	}
	return stacks_intern(p->session, space, &walk);
}

static void write_sample_row(struct perf *p, struct roster_thread *t, int64_t time, uint64_t stack, const struct perf_stamp *stamp,
			     const struct perf_sample *sample, int in_kernel)
{
	struct session *s = p->session;
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = 1u << COLUMN_SAMPLE_TIME | 1u << COLUMN_SAMPLE_CPU | 1u << COLUMN_SAMPLE_WEIGHT | 1u << COLUMN_SAMPLE_KERNEL;

	if (!t->samples)
		t->samples = session_track(s, TABLE_SAMPLE, TRACK_SAMPLES, t->process, t->uid, 0, 0);
	if (!t->samples)
		return;
	/* One that was read too late keeps its place in the order. */
	if (time < t->last_sample)
		time = t->last_sample;
	t->last_sample = time;
	v[COLUMN_SAMPLE_TIME] = time;
	v[COLUMN_SAMPLE_STACK] = (int64_t)stack;
	v[COLUMN_SAMPLE_CPU] = stamp->cpu;
	v[COLUMN_SAMPLE_WEIGHT] = (int64_t)sample->period;
	v[COLUMN_SAMPLE_KERNEL] = in_kernel;
	if (stack)
		present |= 1u << COLUMN_SAMPLE_STACK;
	if (report_append(t->samples, v, present) == 0) {
		p->samples++;
		s->events++;
	} else {
		s->unwritten++;
	}
}

void perf_take_sample(struct perf *p, const struct perf_event_header *header, const struct perf_stamp *stamp, int64_t time)
{
	unsigned mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	int in_kernel = mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL;
	struct perf_sample sample;
	struct roster_life *life;
	struct roster_thread *t;

	if (perf_event_sample(header, &p->attrs[PERF_KIND_SAMPLE], &sample) < 0) {
		p->damaged++;
		return;
	}
	/* A thread that is being taken down has no number any more. */
	if (stamp->pid == 0 || stamp->pid == UINT32_MAX) {
		p->strangers++;
		return;
	}
	life = roster_life(p->session, stamp->pid, time);
	t = life ? roster_thread(p->session, life, stamp->tid, time) : NULL;
	if (!t)
		return;
	life->used = t->used = 1;
	write_sample_row(p, t, time, intern_sample_stack(p, life, &sample, in_kernel), stamp, &sample, in_kernel);
}
