#include "record/perf/order.h"

/* Moves the first of the heap down to where it belongs. */
static void sift_perf_head(struct perf *p, uint32_t at)
{
	for (;;) {
		uint32_t child = 2 * at + 1;
		struct perf_cpu *moved;

		if (child >= p->heap_count)
			return;
		if (child + 1 < p->heap_count && p->heap[child + 1]->next_time < p->heap[child]->next_time)
			child++;
		if (p->heap[at]->next_time <= p->heap[child]->next_time)
			return;
		moved = p->heap[at];
		p->heap[at] = p->heap[child];
		p->heap[child] = moved;
		at = child;
	}
}

/* Finds the ring's next record that tells its time; those that do not are passed over. */
static int find_next(struct perf *p, struct perf_cpu *c)
{
	const struct perf_event_header *header;
	struct perf_stamp stamp;

	while ((header = perf_ring_next(&c->ring))) {
		if (perf_event_stamp(header, &stamp) == 0) {
			c->next_time = stamp.time;
			return 1;
		}
		p->damaged++;
		perf_ring_advance(&c->ring, header);
	}
	return 0;
}

int perf_order_begin(struct perf *p)
{
	int filling = 0;

	p->heap_count = 0;
	for (uint32_t i = 0; i < p->cpu_count; i++) {
		struct perf_cpu *c = &p->cpus[i];
		uint64_t ready = perf_ring_look(&c->ring);

		filling |= ready > c->ring.size / 2;
		if (ready && find_next(p, c))
			p->heap[p->heap_count++] = c;
	}
	for (uint32_t i = p->heap_count / 2; i-- > 0;)
		sift_perf_head(p, i);
	return filling;
}

const struct perf_event_header *perf_order_next(struct perf *p, uint64_t limit, struct perf_stamp *ret)
{
	const struct perf_event_header *header;

	if (!p->heap_count || p->heap[0]->next_time > limit)
		return NULL;
	header = perf_ring_next(&p->heap[0]->ring);
	return header && perf_event_stamp(header, ret) == 0 ? header : NULL;
}

void perf_order_done(struct perf *p, const struct perf_event_header *header)
{
	struct perf_cpu *c = p->heap[0];

	perf_ring_advance(&c->ring, header);
	if (!find_next(p, c))
		p->heap[0] = p->heap[--p->heap_count];
	sift_perf_head(p, 0);
}

void perf_order_end(struct perf *p)
{
	for (uint32_t i = 0; i < p->cpu_count; i++) {
		p->damaged += p->cpus[i].ring.damaged;
		p->cpus[i].ring.damaged = 0;
		perf_ring_give_back(&p->cpus[i].ring);
	}
}
