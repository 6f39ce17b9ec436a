/* libFuzzer: arbitrary bytes as a pool's memory, read and decoded as the recorder does.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_ring.c
 *
 * Layout of an input: small numbers say which slots live and where their chains lead (so
 * that the fuzzer need not find the way into a chunk), the rest is the chunks' data. Between
 * two reads the bytes are changed, as a hostile writer would. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/cuda/cuda.h"
#include "record/drain/decode.h"
#include "record/nvtx/definitions.h"
#include "record/session/gpus.h"
#include "record/drain/osrt.h"
#include "record/drain/process.h"
#include "record/nvtx/start_end.h"
#include "record/session/address_space.h"
#include "record/stacks/stacks.h"
#include "replay.h"
#include "ring/ring_reader.h"
#include "ring/wire.h"

#define SLOTS 4u
#define CHUNKS 6u
#define HEADER 64u

static struct ring_slot *slot_at(uint8_t *pool, unsigned i)
{
	return (struct ring_slot *)(pool + RING_PAGE_SIZE) + i;
}

static struct ring_chunk *chunk_at(uint8_t *pool, unsigned i)
{
	size_t offset = ring_pool_bytes(SLOTS, 0);

	return (struct ring_chunk *)(pool + offset) + i;
}

/* Slots and chunk heads from the input's first bytes; chunk data from the rest. */
static void fill_pool(uint8_t *pool, const uint8_t *data, size_t size)
{
	const uint8_t *body = data + HEADER;
	size_t left = size - HEADER, part = left / CHUNKS;

	for (unsigned i = 0; i < SLOTS; i++) {
		struct ring_slot *s = slot_at(pool, i);

		atomic_store(&s->state, data[i] % 4);
		atomic_store(&s->first_chunk, data[4 + i] % (CHUNKS + 3));
		s->tid = data[8 + i];
		s->start_time = data[12 + i];
		s->end_time = data[16 + i];
		atomic_store(&s->dropped, data[20 + i]);
		atomic_store(&s->call, data[24 + i]);
		atomic_store(&s->call_start, data[28 + i]);
		memcpy(s->comm, data + 24, sizeof(s->comm));
	}
	for (unsigned i = 0; i < CHUNKS; i++) {
		struct ring_chunk *c = chunk_at(pool, i);
		size_t n = part < RING_CHUNK_DATA ? part : RING_CHUNK_DATA;

		memcpy(c->data, body + i * part, n);
		/* Mostly believable lengths, sometimes not. */
		atomic_store(&c->committed, data[40 + i] == 255 ? data[46 + i] * 257u : (uint32_t)n & ~7u);
		atomic_store(&c->next, data[52 + i] % (CHUNKS + 3));
	}
	atomic_store(&((struct ring_pool *)pool)->fresh_slots, data[62] < 200 ? SLOTS : data[62]);
	atomic_store(&((struct ring_pool *)pool)->fresh_chunks, data[63]);
	atomic_store(&((struct ring_pool *)pool)->free_slots, ring_list_head(data[58], data[59]));
	atomic_store(&((struct ring_pool *)pool)->free_chunks, ring_list_head(data[60], data[61]));
}

static void provisional(struct report_writer *w, void *context)
{
	struct session *s = context;

	(void)w;
	for (struct traced_process *p = s->processes; p; p = p->next)
		process_provisional(s, p);
}

static void read_rings(struct session *s, struct traced_process *p, struct ring_batch *batch)
{
	for (int i = 0; i < 50 && ring_reader_collect(&p->reader, batch); i++) {
		decode_batch(s, batch);
		batch->used = batch->count = 0;
	}
	decode_batch(s, batch);
	batch->used = batch->count = 0;
	ring_reader_grow(&p->reader, 4);
	ranges_age(s, p, 0);
	process_report_losses(s, p);
}

static int open_session(struct session *s, char *path, size_t path_size)
{
	struct clock_snapshot first = { .ticks = 0, .raw = 0 }, last = { .ticks = 1 << 30, .raw = 1 << 30 };
	const char *folder = getenv("TMPDIR");
	struct error err;

	snprintf(path, path_size, "%s/fuzz-ring-%d.sonde", folder ? folder : "/dev/shm", (int)getpid());
	if (report_writer_open(&s->writer, path, 1, NULL, 0, &err) < 0)
		return -1;
	timebase_init(&s->time, 0, 0);
	timebase_add(&s->time, &first);
	timebase_add(&s->time, &last);
	s->now = 1 << 30;
	s->tables[TABLE_THREAD] = report_track(s->writer, TABLE_THREAD, 0);
	s->tables[TABLE_PROCESS] = report_track(s->writer, TABLE_PROCESS, 0);
	return 0;
}

static void close_session(struct session *s, const char *path)
{
	char name[256];

	report_writer_abandon(s->writer);
	for (uint32_t i = 0; i < SESSION_DEAD_DEFINITIONS; i++)
		definitions_unref(s->dead_definitions[i]);
	osrt_session_release(s);
	stacks_release(s);
	cuda_session_release(s);
	gpus_release(s);
	spaces_release(s);
	idmap_release(&s->process_uids);
	timebase_release(&s->time);
	snprintf(name, sizeof(name), "%s.part", path);
	unlink(name);
	snprintf(name, sizeof(name), "%s.journal", path);
	unlink(name);
}

/* Opening a report costs more than all the rest: one serves many inputs. */
struct world {
	struct session s;
	struct ring_batch *batch;
	uint8_t *pool;
	char path[128];
	unsigned runs;
};

static void begin_world(struct world *w)
{
	*w = (struct world){ .batch = ring_batch_new() };
	w->pool = aligned_alloc(4096, (ring_pool_bytes(SLOTS, CHUNKS) + 4095) & ~(size_t)4095);
	if (open_session(&w->s, w->path, sizeof(w->path)) < 0)
		abort();
}

static void end_world(struct world *w)
{
	struct error err;

	report_writer_tick(w->s.writer, provisional, &w->s, &err);
	close_session(&w->s, w->path);
	ring_batch_free(w->batch);
	free(w->pool);
}

/* The writer rewrites what was read. */
static void change_pool(uint8_t *pool, const uint8_t *data)
{
	for (unsigned i = 0; i < SLOTS; i++)
		atomic_store(&slot_at(pool, i)->state, data[63 - i] % 4);
	for (unsigned i = 0; i < CHUNKS; i++) {
		atomic_store(&chunk_at(pool, i)->committed, data[i] * 64u);
		atomic_store(&chunk_at(pool, i)->next, data[10 + i] % (CHUNKS + 3));
	}
}

static void run_one(struct world *w, const uint8_t *data, size_t size)
{
	size_t bytes = ring_pool_bytes(SLOTS, CHUNKS);
	struct process_info info = { .pid = 1, .inner_pid = 1, .origin = WIRE_ORIGIN_EXEC };
	struct traced_process *p = process_new(++w->s.next_thread, &info);
	struct error err;

	if (!p)
		abort();
	memset(w->pool, 0, bytes);
	fill_pool(w->pool, data, size);
	ring_reader_adopt(&p->reader, w->pool, bytes, SLOTS, CHUNKS);
	p->reader.owner = p;
	process_begin(&w->s, p);
	read_rings(&w->s, p, w->batch);
	change_pool(w->pool, data);
	read_rings(&w->s, p, w->batch);
	if (data[62] == 1)
		report_writer_tick(w->s.writer, provisional, &w->s, &err);
	process_end(&w->s, p, w->s.now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world world;

	if (size < HEADER)
		return 0;
	if (world.runs == 0)
		begin_world(&world);
	run_one(&world, data, size);
	if (++world.runs == 1000) {
		end_world(&world);
		world.runs = 0;
	}
	return 0;
}
