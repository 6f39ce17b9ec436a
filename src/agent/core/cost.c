/* What Sonde costs here and now: the real recording path, timed on scratch memory. */
#include <time.h>

#include "agent/core/state.h"

#define COST_PAIRS 128
#define COST_ROUNDS 8

static uint64_t read_raw_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t time_round(void (*pair)(void), struct ring_chunk *scratch)
{
	uint64_t start = read_raw_clock();

	for (int i = 0; i < COST_PAIRS; i++) {
		/* Never fills: the chunk is written over and over. */
		agent_tls.write = scratch->data + (i % 64) * 64;
		pair();
	}
	return read_raw_clock() - start;
}

static uint64_t time_clock(void)
{
	uint64_t start = read_raw_clock(), sum = 0;

	for (int i = 0; i < COST_PAIRS; i++)
		sum += agent_now();
	return read_raw_clock() - start + (sum == 1);
}

/* Where it is measured: kept for the next recording. */
struct scratch {
	struct ring_chunk chunk;
	struct agent_thread_memory memory;
};

static _Atomic(struct scratch *) kept;

static struct scratch *take_scratch(void)
{
	struct scratch *scratch = atomic_exchange(&kept, NULL);

	if (!scratch)
		scratch = agent_permanent_lines(sizeof(*scratch));
	if (scratch)
		scratch->memory.life++;
	return scratch;
}

void agent_measure_cost(void (*pair)(void))
{
	struct ring_pool *pool = agent_state.pool;
	struct agent_tls saved = agent_tls;
	struct scratch *scratch;
	uint64_t best = UINT64_MAX, clock = UINT64_MAX, round;

	if (!agent_attached() || saved.busy || pool->cost_pair_ps)
		return;
	scratch = take_scratch();
	if (!scratch)
		return;
	agent_tls = (struct agent_tls){ .end = scratch->chunk.data + RING_CHUNK_DATA,
					.attached = atomic_load(&agent_pages.attached),
					.gate = atomic_load(&agent_pages.session.gate),
					.levels = scratch->memory.levels,
					.slot = saved.slot };
	for (int i = 0; i < COST_ROUNDS; i++) {
		round = time_round(pair, &scratch->chunk);
		best = round < best ? round : best;
		round = time_clock();
		clock = round < clock ? round : clock;
	}
	agent_tls = saved;
	atomic_store(&kept, scratch);
	pool->cost_pair_ps = (uint32_t)(best * 1000 / COST_PAIRS);
	pool->cost_clock_ps = (uint32_t)(clock * 1000 / COST_PAIRS);
}
