/* The ring reader against a writer in the same process: what was written is read once, in
 * order; what is handed back is used again; what makes no sense is refused. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_writer.h"
#include "fmt/record.h"
#include "ring/ring_reader.h"

struct fixture {
	struct ring_reader reader;
	struct ring_pool *pool;
	struct ring_batch *batch;
	uint64_t opened, closed, damaged;
	uint64_t records;       /* counted in data blocks */
	uint64_t last_time[64]; /* per slot: must rise by one */
	uint64_t out_of_order;
};

static int set_up_sized(void **state, uint32_t chunks, uint32_t initial)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct ring_pool_size size = { .slots = 64, .chunks = chunks, .initial_chunks = initial, .reserve = 2 };
	int fd = -1;

	assert_int_equal(ring_reader_create(&f->reader, &size, &fd, NULL), 0);
	close(fd);
	f->reader.owner = f;
	f->pool = ring_reader_pool(&f->reader);
	f->batch = ring_batch_new();
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	return set_up_sized(state, 64, 16);
}

static int set_up_large(void **state)
{
	return set_up_sized(state, 1024, 64);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	ring_reader_release(&f->reader);
	ring_batch_free(f->batch);
	free(f);
	return 0;
}

static void read_records(struct fixture *f, uint32_t slot, const uint8_t *data, uint32_t size)
{
	struct record_plain plain;

	for (uint32_t at = 0; at < size; at += record_stride(record_size(plain.head))) {
		memcpy(&plain, data + at, sizeof(plain));
		assert_true(record_size(plain.head) >= sizeof(plain));
		f->out_of_order += plain.time != f->last_time[slot] + 1;
		f->last_time[slot] = plain.time;
		f->records++;
	}
}

static void empty_batch(struct fixture *f)
{
	for (uint32_t i = 0; i < f->batch->count; i++) {
		struct ring_block *b = &f->batch->blocks[i];

		assert_ptr_equal(b->owner, f);
		if (b->kind == RING_BLOCK_DATA)
			read_records(f, b->slot, f->batch->data + b->offset, b->size);
		if (b->kind == RING_BLOCK_OPEN)
			f->last_time[b->slot] = 0;
		f->opened += b->kind == RING_BLOCK_OPEN;
		f->closed += b->kind == RING_BLOCK_CLOSE;
		f->damaged += b->kind == RING_BLOCK_DAMAGED;
	}
	f->batch->used = f->batch->count = 0;
}

static void collect(struct fixture *f)
{
	while (ring_reader_collect(&f->reader, f->batch))
		empty_batch(f);
	empty_batch(f);
}

static void a_thread_is_read_in_order(void **state)
{
	struct fixture *f = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, f->pool, 100, 1));
	collect(f);
	assert_int_equal(f->opened, 1);
	for (uint64_t i = 1; i <= 5; i++)
		assert_true(fake_push(&w, i, 0, 0, "some name"));
	collect(f);
	assert_int_equal(f->records, 5);
	for (uint64_t i = 6; i <= 9; i++)
		assert_true(fake_pop(&w, i, 0, 0));
	collect(f);
	collect(f);
	assert_int_equal(f->records, 9);
	assert_int_equal(f->out_of_order, 0);
	assert_int_equal(f->closed, 0);
	fake_close(&w, 10);
	collect(f);
	assert_int_equal(f->closed, 1);
	assert_int_equal(f->reader.open_count, 0);
}

/* Ten times as much as the pool holds, read now and then: chunks must come back. */
static void chunks_are_used_again(void **state)
{
	struct fixture *f = *state;
	struct fake_writer w;
	uint64_t written = 0;

	assert_true(fake_open(&w, f->pool, 100, 1));
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 1000; i++)
			written += (uint64_t)fake_pop(&w, written + 1, 0, 0);
		collect(f);
	}
	assert_int_equal(written, 200000);
	assert_int_equal(f->records, written);
	assert_int_equal(f->out_of_order, 0);
	assert_int_equal(f->damaged, 0);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct fixture *f = *state;
	struct fake_writer w;
	uint64_t written = 0, attempts = 20000;

	assert_true(fake_open(&w, f->pool, 100, 1));
	for (uint64_t i = 0; i < attempts; i++)
		written += (uint64_t)fake_pop(&w, written + 1, 0, 0);
	/* 14 common chunks of 16-byte records; the reserve is not touched. */
	assert_int_equal(written, 14 * (RING_CHUNK_DATA / 16));
	assert_int_equal(atomic_load(&w.slot->dropped), attempts - written);
	collect(f);
	assert_int_equal(f->records, written);
	/* And goes on where it stopped, with the chunks that came back. */
	assert_true(fake_pop(&w, written + 1, 0, 0));
	collect(f);
	assert_int_equal(f->records, written + 1);
	assert_int_equal(f->out_of_order, 0);
}

static void a_quick_writer_gets_more_chunks(void **state)
{
	struct fixture *f = *state;
	struct fake_writer w;
	uint64_t written = 0;

	assert_int_equal(ring_reader_grow(&f->reader, 1000), 0); /* nobody needs them */
	assert_true(fake_open(&w, f->pool, 100, 1));
	while (fake_pop(&w, written + 1, 0, 0))
		written++;
	collect(f);
	assert_int_equal(ring_reader_grow(&f->reader, 1000), 16);
	assert_int_equal(f->reader.chunk_limit, 32);
	while (fake_pop(&w, written + 1, 0, 0))
		written++;
	collect(f);
	assert_int_equal(ring_reader_grow(&f->reader, 5), 5); /* the session allows no more */
	while (fake_pop(&w, written + 1, 0, 0))
		written++;
	collect(f);
	assert_int_equal(ring_reader_grow(&f->reader, 1000), 27); /* up to the cap of 64 */
	assert_int_equal(f->records, written);
	assert_int_equal(f->out_of_order, 0);
}

static void slots_come_back(void **state)
{
	struct fixture *f = *state;
	struct fake_writer w[5];

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 5; i++) {
			assert_true(fake_open(&w[i], f->pool, (uint32_t)(100 + i), 1));
			assert_true(fake_pop(&w[i], 1, 0, 0));
			fake_close(&w[i], 2);
		}
		collect(f);
	}
	assert_int_equal(f->opened, 500);
	assert_int_equal(f->closed, 500);
	assert_int_equal(f->records, 500);
	/* Nothing was used beyond what was open at once. */
	assert_int_equal(atomic_load(&f->pool->fresh_slots), 5);
	assert_int_equal(atomic_load(&f->pool->fresh_chunks), 2 + 5);
}

/* The reader must stop reading that slot, and only that one. */
static void expect_damage(struct fixture *f, struct fake_writer *good)
{
	uint64_t before = f->damaged;

	collect(f);
	assert_int_equal(f->damaged, before + 1);
	collect(f);
	assert_int_equal(f->damaged, before + 1);
	f->records = 0;
	f->out_of_order = 0;
	f->last_time[good->slot_index] = 1;
	assert_true(fake_pop(good, 2, 0, 0));
	collect(f);
	assert_int_equal(f->records, 1);
	assert_int_equal(f->out_of_order, 0);
}

static void hostile(struct fixture *f, struct fake_writer *good, struct fake_writer *bad)
{
	assert_true(fake_open(good, f->pool, 100, 1));
	assert_true(fake_open(bad, f->pool, 101, 1));
	assert_true(fake_pop(good, 1, 0, 0));
	assert_true(fake_pop(bad, 1, 0, 0));
	collect(f);
}

static void refuses_more_committed_than_a_chunk_holds(void **state)
{
	struct fake_writer good, bad;

	hostile(*state, &good, &bad);
	atomic_store(&bad.chunk->committed, RING_CHUNK_DATA + 8);
	expect_damage(*state, &good);
}

static void refuses_odd_committed(void **state)
{
	struct fake_writer good, bad;

	hostile(*state, &good, &bad);
	atomic_store(&bad.chunk->committed, 19);
	expect_damage(*state, &good);
}

static void refuses_committed_going_back(void **state)
{
	struct fake_writer good, bad;

	hostile(*state, &good, &bad);
	atomic_store(&bad.chunk->committed, 8);
	expect_damage(*state, &good);
}

static void refuses_a_chunk_outside_the_pool(void **state)
{
	struct fake_writer good, bad;

	hostile(*state, &good, &bad);
	atomic_store(&bad.chunk->next, 0xfffffff0u);
	expect_damage(*state, &good);
}

static void refuses_a_chunk_of_another_chain(void **state)
{
	struct fake_writer good, bad;

	hostile(*state, &good, &bad);
	atomic_store(&bad.chunk->next, good.chunk_index + 1);
	expect_damage(*state, &good);
}

static void refuses_a_cycle(void **state)
{
	struct fake_writer good, bad;

	hostile(*state, &good, &bad);
	atomic_store(&bad.chunk->next, bad.chunk_index + 1);
	expect_damage(*state, &good);
}

static void refuses_a_wild_first_chunk(void **state)
{
	struct fixture *f = *state;
	struct fake_writer good, bad;

	hostile(f, &good, &bad);
	assert_true(fake_open(&bad, f->pool, 102, 1));
	atomic_store(&bad.slot->first_chunk, good.chunk_index + 1);
	expect_damage(f, &good);
}

/* Two free chunks linked to each other: every round ends, whatever the list says. */
static void a_long_cycle_ends(void **state)
{
	struct fixture *f = *state;
	struct fake_writer good, bad;

	hostile(f, &good, &bad);
	atomic_store(&bad.chunk->next, 10);
	atomic_store(&fake_chunk(f->pool, 9)->next, 11);
	atomic_store(&fake_chunk(f->pool, 10)->next, 10);
	for (int i = 0; i < 1000; i++)
		collect(f);
	assert_true(f->reader.open_count <= 2);
}

static void the_lists_may_say_anything(void **state)
{
	struct fixture *f = *state;
	struct fake_writer good, bad;

	hostile(f, &good, &bad);
	atomic_store(&f->pool->free_slots, UINT64_MAX);
	atomic_store(&f->pool->free_chunks, UINT64_MAX / 3);
	atomic_store(&f->pool->free_reserve, UINT64_MAX / 5);
	atomic_store(&f->pool->fresh_slots, UINT32_MAX);
	atomic_store(&f->pool->fresh_chunks, UINT32_MAX);
	atomic_store(&f->pool->chunk_limit, UINT32_MAX);
	f->pool->chunk_offset = 1u << 31;
	f->pool->slot_count = UINT32_MAX;
	for (int i = 0; i < 100; i++) {
		collect(f);
		ring_reader_grow(&f->reader, 10);
	}
	assert_true(f->reader.chunk_limit <= 64);
}

struct race {
	struct fixture *f;
	uint32_t tid;
	uint64_t written, dropped;
	_Atomic int done;
};

static void *write_much(void *argument)
{
	struct race *r = argument;
	struct fake_writer w;

	assert_true(fake_open(&w, r->f->pool, r->tid, 1));
	for (int i = 0; i < 100000; i++) {
		if (fake_push(&w, r->written + 1, 0, 0, "twenty characters it"))
			r->written++;
		else
			r->dropped++;
	}
	fake_close(&w, r->written);
	atomic_store(&r->done, 1);
	return NULL;
}

/* Run under ThreadSanitizer too: written + dropped = emitted, exactly, in order. */
static void writers_and_reader_at_once(void **state)
{
	struct fixture *f = *state;
	struct race races[3] = { { .f = f, .tid = 1 }, { .f = f, .tid = 2 }, { .f = f, .tid = 3 } };
	pthread_t threads[3];
	uint64_t written = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, write_much, &races[i]);
	while (f->closed < 3) {
		collect(f);
		ring_reader_grow(&f->reader, 1024);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		written += races[i].written;
		assert_int_equal(races[i].written + races[i].dropped, 100000);
	}
	assert_int_equal(f->records, written);
	assert_int_equal(f->out_of_order, 0);
	assert_int_equal(f->damaged, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_thread_is_read_in_order),
		TEST(chunks_are_used_again),
		TEST(what_does_not_fit_is_counted),
		TEST(a_quick_writer_gets_more_chunks),
		TEST(slots_come_back),
		TEST(refuses_more_committed_than_a_chunk_holds),
		TEST(refuses_odd_committed),
		TEST(refuses_committed_going_back),
		TEST(refuses_a_chunk_outside_the_pool),
		TEST(refuses_a_chunk_of_another_chain),
		TEST(refuses_a_cycle),
		TEST(refuses_a_wild_first_chunk),
		TEST(a_long_cycle_ends),
		TEST(the_lists_may_say_anything),
		cmocka_unit_test_setup_teardown(writers_and_reader_at_once, set_up_large, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
