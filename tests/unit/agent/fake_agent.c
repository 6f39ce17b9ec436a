#include "fake_agent.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/cuda_wire.h"

struct fake_chunk {
	struct ring_chunk chunk;
	struct fake_chunk *next_of_thread;
	struct fake_chunk *next_thread; /* in the first chunk of each thread */
	uint8_t room[128];
};

__thread struct agent_tls agent_tls;
struct agent_pages agent_pages;
struct fake_agent fake_agent;

static __thread struct fake_chunk *first_chunk, *last_chunk;
static __thread uint32_t slot_index;
static _Atomic(struct fake_chunk *) threads;
static _Atomic uint32_t slots;
static _Atomic uint64_t strings, domains;
static pthread_mutex_t permanent_lock = PTHREAD_MUTEX_INITIALIZER;

void fake_agent_reset(void)
{
	memset(&fake_agent, 0, sizeof(fake_agent));
	fake_agent.chunks_left = -1;
	memset(&agent_tls, 0, sizeof(agent_tls));
	first_chunk = last_chunk = NULL;
	threads = NULL;
	agent_pages.attached = AGENT_ATTACHED;
	agent_pages.session.gate = RING_GATE_NVTX;
	agent_pages.session.modules = RING_GATE_NVTX;
	agent_pages.session.clock = RING_CLOCK_TSC;
}

int agent_start(void)
{
	fake_agent.starts++;
	return fake_agent.start_result;
}

int agent_revive(unsigned module)
{
	(void)module;
	fake_agent.revived++;
	return 0;
}

static struct fake_chunk *new_chunk(void)
{
	struct fake_chunk *chunk;

	if (fake_agent.chunks_left == 0)
		return NULL;
	if (fake_agent.chunks_left > 0)
		fake_agent.chunks_left--;
	chunk = aligned_alloc(64, (sizeof(*chunk) + 63) & ~(size_t)63);
	memset(chunk, 0xdb, sizeof(*chunk));
	chunk->chunk.committed = 0;
	chunk->next_of_thread = chunk->next_thread = NULL;
	return chunk;
}

static int next_chunk(void)
{
	struct fake_chunk *chunk;

	if (fake_agent.recycle && last_chunk) {
		agent_tls.write = last_chunk->chunk.data;
		return 0;
	}
	chunk = new_chunk();
	if (!chunk)
		return -1;
	if (last_chunk) {
		last_chunk->next_of_thread = chunk;
	} else {
		first_chunk = chunk;
		chunk->next_thread = threads;
		while (!atomic_compare_exchange_weak(&threads, &chunk->next_thread, chunk))
			;
		slot_index = slots++;
	}
	last_chunk = chunk;
	agent_tls.write = chunk->chunk.data;
	agent_tls.end = chunk->chunk.data + RING_CHUNK_DATA;
	return 0;
}

static struct agent_thread_memory *new_memory(void)
{
	struct agent_thread_memory *memory = aligned_alloc(64, sizeof(*memory));

	memset(memory, 0, sizeof(*memory));
	memory->life = 1;
	agent_tls.attached = agent_pages.attached;
	agent_tls.gate = agent_pages.session.gate;
	return memory;
}

void agent_new_window(uint32_t attached, uint32_t gate)
{
	if (!agent_tls.levels)
		return;
	agent_tls.attached = attached;
	agent_tls.gate = gate;
	memset(agent_memory()->levels, 0, sizeof(agent_memory()->levels));
	agent_tls.ranges = 0;
	agent_memory()->operators = (struct agent_operators){ 0 };
	agent_memory()->capture = 0;
}

int agent_owns_window(void)
{
	return !fake_agent.others;
}

static void *begin(uint32_t size)
{
	if (agent_tls.busy) {
		fake_agent.refused++;
		return NULL;
	}
	if (fake_agent.no_slots && !agent_tls.levels) {
		fake_agent.dropped++;
		return NULL;
	}
	if (!agent_tls.levels)
		agent_tls.levels = new_memory()->levels;
	if ((size_t)(agent_tls.end - agent_tls.write) < record_stride(size) && next_chunk()) {
		fake_agent.dropped++;
		return NULL;
	}
	agent_tls.busy = 1;
	return agent_tls.write;
}

void *agent_begin_slow(uint32_t size)
{
	return begin(size);
}

int agent_comes_again(void)
{
	return fake_agent.comes_again;
}

void *agent_begin_patiently(uint32_t size)
{
	return begin(size);
}

void *agent_begin_definition(uint32_t size)
{
	return agent_attached() ? begin(size) : NULL;
}

uint64_t agent_next_string_id(void)
{
	return ++strings;
}

uint64_t agent_next_domain_id(void)
{
	return ++domains;
}

void agent_count_unmatched(void)
{
	fake_agent.unmatched++;
}

/* One arena, so that a leak checker has nothing to say about what is meant to stay. */
void *agent_permanent(size_t size)
{
	static char *block;
	static size_t left;
	void *ret;

	size = (size + 15) & ~(size_t)15;
	pthread_mutex_lock(&permanent_lock);
	if (left < size) {
		left = 1 << 20;
		block = calloc(1, left);
	}
	ret = block;
	block += size;
	left -= size;
	pthread_mutex_unlock(&permanent_lock);
	return ret;
}

void agent_diagnose(enum diagnostic_severity severity, const char *text)
{
	(void)severity;
	fake_agent.diagnostics++;
	snprintf(fake_agent.last_diagnostic, sizeof(fake_agent.last_diagnostic), "%s", text);
}

void agent_measure_cost(void (*pair)(void))
{
	struct agent_tls saved = agent_tls;
	struct agent_thread_memory *memory = new_memory();
	struct fake_chunk scratch;

	agent_tls = (struct agent_tls){ .write = scratch.chunk.data,
					.attached = agent_tls.attached,
					.gate = agent_tls.gate,
					.end = scratch.chunk.data + RING_CHUNK_DATA,
					.levels = memory->levels };
	pair();
	free(memory);
	agent_tls = saved;
	fake_agent.measured++;
}

uint32_t agent_slot_index(void)
{
	return slot_index;
}

struct cursor {
	const struct fake_chunk *chunk;
	const uint8_t *at;
};

static const uint64_t *step(struct cursor *cursor)
{
	while (cursor->chunk) {
		const uint8_t *end = cursor->chunk->chunk.data + cursor->chunk->chunk.committed;

		if (!cursor->at)
			cursor->at = cursor->chunk->chunk.data;
		if (cursor->at < end) {
			const uint64_t *record = (const void *)cursor->at;

			cursor->at += record_is_short(*record) ? record_short_size(*record) : record_stride(record_size(*record));
			return record;
		}
		cursor->chunk = cursor->chunk->next_of_thread;
		cursor->at = NULL;
	}
	return NULL;
}

const uint64_t *fake_agent_next(const void **position)
{
	static __thread struct cursor cursor;

	if (!*position)
		cursor = (struct cursor){ first_chunk, NULL };
	*position = &cursor;
	return step(&cursor);
}

void fake_agent_each(void (*visit)(const uint64_t *record, void *data), void *data)
{
	for (const struct fake_chunk *thread = threads; thread; thread = thread->next_thread) {
		struct cursor cursor = { thread, NULL };
		const uint64_t *record;

		while ((record = step(&cursor)))
			visit(record, data);
	}
}

/* As the agent itself, its stand-in never gives memory back: nothing for a leak checker to find. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

int agent_ask_window(uint32_t request, uint32_t source)
{
	struct record_capture *record = agent_begin_definition(sizeof(*record));

	assert(record);
	record->time = agent_now();
	agent_end(record, record_head(RECORD_CAPTURE, request, sizeof(*record), source, 0), sizeof(*record));
	if (request == CAPTURE_START)
		fake_agent.asked_start++;
	else
		fake_agent.asked_stop++;
	if (fake_agent.deaf)
		return 0;
	if (request == CAPTURE_START)
		agent_pages.session.gate = ring_gate(RING_GATE_NVTX, fake_agent.asked_start);
	else
		agent_pages.session.gate = 0;
	return 1;
}

void agent_step(void)
{
	unsigned step = fake_agent.steps++;

	agent_pages.session.gate = fake_agent.recorded_steps >> step & 1 ? ring_gate(RING_GATE_NVTX, 1) : 0;
}

void agent_provide_nvtx(const struct agent_nvtx_view *view)
{
	fake_agent.view = view;
}

uint32_t agent_nvtx_begun(void)
{
	return fake_agent.begun++;
}

void agent_nvtx_ended(void)
{
	fake_agent.ended++;
}
