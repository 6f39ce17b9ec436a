/* Records that found a ring full. The kernel says how many in a record of the ring, but only before the next one that has room: where nothing more
 * happens on a CPU, nobody would hear of it. Events count them, too; they are asked at the end. */
#include <linux/perf_event.h>
#include <unistd.h>

#include "record/perf/perf.h"
#include "record/perf/sched.h"
#include "record/session/session.h"

#define MOST_WORDS 8

void perf_lost_settle(struct perf *p)
{
	struct perf_event_attr attr;

	perf_attr_switch(&attr, 0);
	p->counts_lost = 1;
	p->counts_lost = perf_try_event(p, &attr) == 0;
}

/* Some are missing here; so many of them were not known of. */
static void count_missed_records(struct perf *p, struct perf_cpu *c, uint64_t count)
{
	c->lost += count;
	/* Of everybody's wakeups: a wait that is not split is no loss. */
	if (c->fds[PERF_KIND_WAKEUP] >= 0) {
		p->sched.wakeups_lost += count;
		return;
	}
	p->lost += count;
	session_loss(p->session, 0, 0, LOSS_PERF_RING, count);
	sched_lost(p->session, (uint32_t)c->cpu);
}

void perf_lost_take(struct perf *p, const struct perf_event_header *header)
{
	struct perf_cpu *c = p->heap[0];
	uint64_t count, known;

	if (perf_event_lost(header, &count) < 0) {
		p->damaged++;
		return;
	}
	known = header->type != PERF_RECORD_LOST ? 0 : count < c->ahead ? count : c->ahead;
	c->ahead -= known;
	count_missed_records(p, c, count - known);
}

/* The count comes last of what an event can be asked for. */
static uint64_t lost_by(const struct perf *p, int fd, int kind)
{
	uint64_t words[MOST_WORDS], format = p->attrs[kind].read_format;
	size_t count = 1 + (size_t)__builtin_popcountll(format);

	if (!(format & PERF_FORMAT_LOST) || count > MOST_WORDS ||
	    read(fd, words, count * sizeof(*words)) != (ssize_t)(count * sizeof(*words)))
		return 0;
	return words[count - 1];
}

static uint64_t lost_in(const struct perf *p, uint32_t ring)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < PERF_KINDS; kind++)
		if (p->cpus[ring].fds[kind] >= 0)
			sum += lost_by(p, p->cpus[ring].fds[kind], kind);
	for (size_t i = 0; i < p->tasks.count; i++)
		if (p->tasks.events[i].ring == ring)
			sum += lost_by(p, p->tasks.events[i].fd, p->tasks.events[i].kind);
	return sum;
}

void perf_lost_look(struct perf *p)
{
	for (uint32_t i = 0; p->counts_lost && i < p->cpu_count; i++) {
		struct perf_cpu *c = &p->cpus[i];
		uint64_t sum = lost_in(p, i), more = sum > c->lost ? sum - c->lost : 0;

		c->ahead += more;
		if (more)
			count_missed_records(p, c, more);
	}
}
