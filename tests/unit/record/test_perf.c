/* Perf records with truth known in advance, and such as no kernel writes. */
#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/system/arch.h"
#include "record/perf/order.h"
#include "record/perf/perf.h"
#include "record/perf/sched.h"

#define PAGE 4096
#define DATA 65536
#define SAMPLE_ID 7
#define SIDEBAND_ID 8

struct rings {
	struct perf perf;
	struct perf_cpu cpus[2];
	uint8_t *memory[2];
	uint64_t head[2];
};

static struct rings *make_rings(struct session *s)
{
	static const struct cpu_options options = { .samples_per_backtrace = 1, .frequency = 1000 };
	struct rings *r = calloc(1, sizeof(*r));
	struct perf *p = &r->perf;

	*p = (struct perf){ .session = s,
			    .options = &options,
			    .cpu_count = 2,
			    .cpus = r->cpus,
			    .way = { .scope = SCOPE_PROCESS_TREE, .backtrace = BACKTRACE_FP, .samples = 1 } };
	p->attrs[PERF_KIND_SAMPLE].sample_type = PERF_COMMON_SAMPLE_TYPE | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
	p->heap = calloc(2, sizeof(struct perf_cpu *));
	for (int i = 0; i < 2; i++) {
		r->memory[i] = aligned_alloc(64, PAGE + DATA);
		memset(r->memory[i], 0, PAGE + DATA);
		assert_int_equal(perf_ring_init(&r->cpus[i].ring, r->memory[i], PAGE, DATA), 0);
		r->cpus[i].cpu = i;
		for (int kind = 0; kind < PERF_KINDS; kind++)
			r->cpus[i].fds[kind] = -1;
	}
	assert_int_equal(idmap_put(&p->kinds, SAMPLE_ID, PERF_KIND_SAMPLE), 0);
	assert_int_equal(idmap_put(&p->kinds, SIDEBAND_ID, PERF_KIND_SIDEBAND), 0);
	return r;
}

static void free_rings(struct rings *r)
{
	for (int i = 0; i < 2; i++) {
		perf_ring_release(&r->cpus[i].ring);
		free(r->memory[i]);
	}
	idmap_release(&r->perf.kinds);
	free(r->perf.heap);
	free(r);
}

/* As the kernel does: bytes at the head, around the end, then the head. */
static void put(struct rings *r, int ring, const void *record, size_t size)
{
	struct perf_event_mmap_page *page = (void *)r->memory[ring];

	for (size_t i = 0; i < size; i++)
		r->memory[ring][PAGE + (r->head[ring] + i) % DATA] = ((const uint8_t *)record)[i];
	r->head[ring] += size;
	page->data_head = r->head[ring];
}

struct bytes {
	uint64_t words[64];
	size_t count;
};

static void word(struct bytes *b, uint64_t value)
{
	b->words[b->count++] = value;
}

static const void *finish(struct bytes *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { type, misc, (uint16_t)(b->count * 8) };

	memcpy(b->words, &header, sizeof(header));
	return b->words;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

static void put_sample(struct rings *r, int ring, uint64_t time, uint32_t pid, uint32_t tid)
{
	struct bytes b = { .count = 1 };

	word(&b, SAMPLE_ID);
	word(&b, 0x401000);
	word(&b, pair(pid, tid));
	word(&b, time);
	word(&b, (uint64_t)ring);
	word(&b, 1000000);
	word(&b, 3);
	word(&b, (uint64_t)PERF_CONTEXT_USER);
	word(&b, 0x401000);
	word(&b, 0x402000);
	finish(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(r, ring, b.words, b.count * 8);
}

static void trailer(struct bytes *b, uint64_t time, uint32_t pid, uint32_t tid)
{
	word(b, pair(pid, tid));
	word(b, time);
	word(b, 0);
	word(b, SIDEBAND_ID);
}

static void put_task(struct rings *r, uint32_t type, uint64_t time, uint32_t pid, uint32_t ppid, uint32_t tid)
{
	struct bytes b = { .count = 1 };

	word(&b, pair(pid, ppid));
	word(&b, pair(tid, ppid));
	word(&b, time);
	trailer(&b, time, ppid, ppid);
	finish(&b, type, 0);
	put(r, 0, b.words, b.count * 8);
}

static void put_lost(struct rings *r, int ring, uint64_t time, uint64_t count)
{
	struct bytes b = { .count = 1 };

	word(&b, SAMPLE_ID);
	word(&b, count);
	trailer(&b, time, 1, 1);
	finish(&b, PERF_RECORD_LOST, 0);
	put(r, ring, b.words, b.count * 8);
}

static void put_exec(struct rings *r, uint64_t time, uint32_t pid)
{
	struct bytes b = { .count = 1 };

	word(&b, pair(pid, pid));
	memcpy(&b.words[b.count++], "program", 8);
	trailer(&b, time, pid, pid);
	finish(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put(r, 0, b.words, b.count * 8);
}

static void test_wrapped(void **state)
{
	struct rings *r = make_rings(NULL);
	struct perf_ring *ring = &r->cpus[0].ring;
	const struct perf_event_header *header;
	uint64_t seen = 0, written = 0;

	/* Records of 88 bytes do not divide the ring: some lie across its end. */
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 100; i++)
			put_sample(r, 0, ++written, 1, 1);
		perf_ring_look(ring);
		while ((header = perf_ring_next(ring))) {
			struct perf_stamp stamp;

			assert_int_equal(perf_event_stamp(header, &stamp), 0);
			assert_int_equal(stamp.time, ++seen);
			assert_int_equal(stamp.id, SAMPLE_ID);
			perf_ring_advance(ring, header);
		}
		perf_ring_give_back(ring);
		assert_int_equal(((struct perf_event_mmap_page *)r->memory[0])->data_tail, r->head[0]);
	}
	assert_int_equal(seen, 4000);
	assert_int_equal(ring->damaged, 0);
	free_rings(r);
}

static void test_impossible_heads(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 7, 12, 4096 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct rings *r = make_rings(NULL);
		struct perf_event_header bad = { PERF_RECORD_SAMPLE, 0, sizes[i] };

		put(r, 0, &bad, sizeof(bad));
		assert_int_equal(perf_ring_look(&r->cpus[0].ring), 8);
		assert_null(perf_ring_next(&r->cpus[0].ring));
		assert_int_equal(r->cpus[0].ring.damaged, 1);
		/* What comes after is read again. */
		put_sample(r, 0, 5, 1, 1);
		assert_int_equal(perf_ring_look(&r->cpus[0].ring), 88);
		assert_non_null(perf_ring_next(&r->cpus[0].ring));
		free_rings(r);
	}
}

static void test_head_too_far(void **state)
{
	struct rings *r = make_rings(NULL);

	((struct perf_event_mmap_page *)r->memory[0])->data_head = DATA + 8;
	assert_int_equal(perf_ring_look(&r->cpus[0].ring), 0);
	assert_null(perf_ring_next(&r->cpus[0].ring));
	assert_int_equal(r->cpus[0].ring.damaged, 1);
	free_rings(r);
}

/* A sample with everything in it. */
static void whole_sample(struct bytes *b, struct perf_event_attr *attr)
{
	*b = (struct bytes){ .count = 1 };
	*attr = (struct perf_event_attr){
		.sample_type = PERF_COMMON_SAMPLE_TYPE | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = ARCH_PERF_REGISTERS,
	};
	word(b, SAMPLE_ID);
	word(b, 0x1234);
	word(b, pair(10, 11));
	word(b, 99);
	word(b, 3);
	word(b, 1000);
	word(b, 2); /* chain */
	word(b, (uint64_t)PERF_CONTEXT_KERNEL);
	word(b, 0xffffffff81000000);
	word(b, 1); /* branches */
	word(b, 0x10);
	word(b, 0x20);
	word(b, 0);
	word(b, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i < 17; i++)
		word(b, 100 + i);
	word(b, 64); /* stack */
	for (uint64_t i = 0; i < 8; i++)
		word(b, 200 + i);
	word(b, 48);
	finish(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
}

static void test_whole_sample(void **state)
{
	struct perf_event_attr attr;
	struct perf_sample sample;
	struct bytes b;

	whole_sample(&b, &attr);
	assert_int_equal(perf_event_sample((void *)b.words, &attr, &sample), 0);
	assert_int_equal(sample.ip, 0x1234);
	assert_int_equal(sample.period, 1000);
	assert_int_equal(sample.chain_count, 2);
	assert_int_equal(sample.chain[1], 0xffffffff81000000);
	assert_int_equal(sample.branch_count, 1);
	assert_int_equal(sample.branches[0].from, 0x10);
	assert_int_equal(sample.registers[16], 116);
	assert_int_equal(sample.stack_size, 48);
	assert_memory_equal(sample.stack, &(uint64_t){ 200 }, 8);
}

static void test_cut_sample(void **state)
{
	struct perf_event_attr attr;
	struct perf_sample sample;
	struct bytes b;

	whole_sample(&b, &attr);
	for (size_t count = 1; count < b.count; count++) {
		/* In memory of just this size, so that looking further is an error. */
		struct perf_event_header *cut = malloc(count * 8);

		memcpy(cut, b.words, count * 8);
		cut->size = (uint16_t)(count * 8);
		assert_int_equal(perf_event_sample(cut, &attr, &sample), -EINVAL);
		free(cut);
	}
}

static void test_huge_counts(void **state)
{
	static const size_t places[] = { 7, 10, 32, 41 }; /* chain, branches, stack, bytes of it used */
	struct perf_event_attr attr;
	struct perf_sample sample;
	struct bytes b;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		static const uint64_t values[] = { 1000, UINT64_MAX, UINT64_MAX / 8 + 2, 1ull << 61 };

		for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
			whole_sample(&b, &attr);
			b.words[places[i]] = values[j];
			assert_int_equal(perf_event_sample((void *)b.words, &attr, &sample), -EINVAL);
		}
	}
}

static void test_mappings(void **state)
{
	struct bytes b = { .count = 1 };
	struct perf_mapping m;

	word(&b, pair(5, 5));
	word(&b, 0x1000);
	word(&b, 0x2000);
	word(&b, 0x3000);
	word(&b, pair(8, 1));
	word(&b, 77);
	word(&b, 0);
	word(&b, pair(5, 2));
	memcpy(&b.words[b.count++], "/a/file", 8);
	trailer(&b, 1, 5, 5);
	finish(&b, PERF_RECORD_MMAP2, 0);
	assert_int_equal(perf_event_mapping((void *)b.words, &m), 0);
	assert_string_equal(m.path, "/a/file");
	assert_int_equal(m.address, 0x1000);
	assert_int_equal(m.size, 0x2000);
	assert_int_equal(m.offset, 0x3000);
	assert_int_equal(m.device, 0x801);
	assert_int_equal(m.inode, 77);
	assert_null(m.build_id);
	/* Twenty bytes of build-id in the place of device and inode. */
	finish(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	b.words[5] = 20;
	assert_int_equal(perf_event_mapping((void *)b.words, &m), 0);
	assert_int_equal(m.build_id_size, 20);
	b.words[5] = 21;
	assert_int_equal(perf_event_mapping((void *)b.words, &m), -EINVAL);
	/* A path without an end. */
	finish(&b, PERF_RECORD_MMAP2, 0);
	memset(&b.words[9], 'x', 8);
	assert_int_equal(perf_event_mapping((void *)b.words, &m), -EINVAL);
	b.words[0] = (b.words[0] & 0xffffffffffffull) | 32ull << 48;
	assert_int_equal(perf_event_mapping((void *)b.words, &m), -EINVAL);
}

static void test_order(void **state)
{
	struct rings *r = make_rings(NULL);
	const struct perf_event_header *header;
	struct perf_stamp stamp;
	uint64_t expected = 0;

	for (uint64_t t = 1; t <= 200; t++)
		put_sample(r, t % 3 == 0, t, 1, 1);
	assert_int_equal(perf_order_begin(&r->perf), 0);
	while ((header = perf_order_next(&r->perf, 150, &stamp))) {
		assert_int_equal(stamp.time, ++expected);
		perf_order_done(&r->perf, header);
	}
	perf_order_end(&r->perf);
	assert_int_equal(expected, 150);
	/* The rest stays where it is until its time has come. */
	perf_order_begin(&r->perf);
	while ((header = perf_order_next(&r->perf, UINT64_MAX, &stamp))) {
		assert_int_equal(stamp.time, ++expected);
		perf_order_done(&r->perf, header);
	}
	perf_order_end(&r->perf);
	assert_int_equal(expected, 200);
	free_rings(r);
}

static void test_rows(void **state)
{
	struct bench *b = *state;
	struct rings *r;
	struct row rows[16];

	b->session.roster.sideband = 1;
	b->session.roster.next_process = 1;
	r = make_rings(&b->session);
	put_exec(r, 1000, 300);
	put_sample(r, 1, 2000, 300, 300);
	put_task(r, PERF_RECORD_FORK, 2500, 300, 300, 301);
	put_sample(r, 0, 3000, 300, 301);
	put_sample(r, 1, 4000, 300, 300);
	put_sample(r, 0, 4500, UINT32_MAX, UINT32_MAX);
	put_task(r, PERF_RECORD_EXIT, 5000, 300, 300, 301);
	put_task(r, PERF_RECORD_EXIT, 6000, 300, 300, 300);
	assert_int_equal(perf_round(&r->perf, 1), 8);
	assert_int_equal(r->perf.samples, 3);
	assert_int_equal(r->perf.strangers, 1);
	assert_int_equal(r->perf.damaged, 0);
	roster_finish(&b->session);
	free_rings(r);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_SAMPLE, rows, 16), 3);
	assert_int_equal(bench_rows(b, TABLE_THREAD, rows, 16), 2);
	for (int i = 0; i < 2; i++) {
		int second = rows[i].values[COLUMN_THREAD_TID] == 301;

		assert_int_equal(rows[i].values[COLUMN_THREAD_START], second ? 2500 : 1000);
		assert_int_equal(rows[i].values[COLUMN_THREAD_END], second ? 5000 : 6000);
	}
	assert_int_equal(bench_rows(b, TABLE_PROCESS, rows, 16), 2);
	for (int i = 0; i < 2; i++)
		if (rows[i].values[COLUMN_PROCESS_PID] == 300) {
			assert_string_equal(bench_text(b, &rows[i], COLUMN_PROCESS_NAME), "program");
			assert_int_equal(rows[i].values[COLUMN_PROCESS_START], 1000);
			assert_int_equal(rows[i].values[COLUMN_PROCESS_END], 6000);
			assert_int_equal(rows[i].values[COLUMN_PROCESS_ORIGIN], 0);
		}
}

/* An event that counts what it lost: what it is going to say when it is asked, one number after the other. */
static void count_lost(struct rings *r, int ring, enum perf_kind kind, const uint64_t *counts, size_t n)
{
	int fd = memfd_create("counts", 0);

	for (size_t i = 0; i < n; i++)
		assert_int_equal(write(fd, (uint64_t[]){ 0, counts[i] }, 16), 16);
	lseek(fd, 0, SEEK_SET);
	r->perf.counts_lost = 1;
	r->perf.attrs[kind].read_format = PERF_FORMAT_LOST;
	r->cpus[ring].fds[kind] = fd;
}

static int64_t losses_of(struct bench *b)
{
	struct row rows[16];
	size_t count = bench_rows(b, TABLE_LOSS, rows, 16);
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(rows[i].values[COLUMN_LOSS_REASON], LOSS_PERF_RING);
		sum += rows[i].values[COLUMN_LOSS_COUNT];
	}
	return sum;
}

/* Five of seven are told of by a record, two by nobody but the event; of the wakeups, nine by the event: those are no losses. */
static void test_lost_without_a_record(void **state)
{
	struct bench *b = *state;
	struct rings *r = make_rings(&b->session);
	struct sched_event in = { .time = 100, .pid = 1, .tid = 1, .cpu = 0, .kind = SCHED_IN };

	count_lost(r, 0, PERF_KIND_SWITCH, (uint64_t[]){ 7 }, 1);
	count_lost(r, 1, PERF_KIND_WAKEUP, (uint64_t[]){ 9 }, 1);
	put_lost(r, 0, 50, 5);
	perf_round(&r->perf, 0);
	sched_take(&b->session, &in);
	perf_round(&r->perf, 1);
	assert_int_equal(r->perf.lost, 7);
	assert_int_equal(r->perf.sched.wakeups_lost, 9);
	sched_window_close(&b->session, 900);
	close(r->cpus[0].fds[PERF_KIND_SWITCH]);
	close(r->cpus[1].fds[PERF_KIND_WAKEUP]);
	free_rings(r);
	roster_finish(&b->session);
	bench_finish(b);
	assert_int_equal(losses_of(b), 7);
}

/* What the event said before the record came is not counted again, what came behind it is. */
static void test_lost_is_reported_once(void **state)
{
	struct bench *b = *state;
	struct rings *r = make_rings(&b->session);

	count_lost(r, 0, PERF_KIND_SWITCH, (uint64_t[]){ 4, 10, 10 }, 3);
	perf_hold(&r->perf);
	assert_int_equal(r->perf.lost, 4);
	put_lost(r, 0, 50, 1);
	put_lost(r, 0, 60, 5);
	perf_hold(&r->perf);
	assert_int_equal(r->perf.lost, 10);
	put_lost(r, 0, 70, 4);
	perf_round(&r->perf, 1);
	assert_int_equal(r->perf.lost, 10);
	close(r->cpus[0].fds[PERF_KIND_SWITCH]);
	free_rings(r);
	bench_finish(b);
	assert_int_equal(losses_of(b), 10);
}

/* Whatever a ring holds: it is read to its end, and nothing else happens. */
static void test_noise(void **state)
{
	struct bench *b = *state;
	struct rings *r;
	uint64_t seed = 88172645463325252ull;

	b->session.roster.sideband = 1;
	r = make_rings(&b->session);
	r->perf.attrs[PERF_KIND_SAMPLE].sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	r->perf.attrs[PERF_KIND_SAMPLE].sample_regs_user = ARCH_PERF_REGISTERS;
	for (int round = 0; round < 2000; round++) {
		uint64_t words[32];
		struct perf_event_header header;

		for (size_t i = 0; i < 32; i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			/* Small numbers and the id of the sampling event come up often. */
			words[i] = seed % 3 == 0 ? seed : seed % 3 == 1 ? seed % 64 : SAMPLE_ID;
		}
		header = (struct perf_event_header){ (uint32_t)(words[1] % 20), (uint16_t)words[2], (uint16_t)(8 + seed % 31 * 8) };
		memcpy(words, &header, sizeof(header));
		put(r, round & 1, words, header.size);
		perf_round(&r->perf, 1);
	}
	roster_finish(&b->session);
	assert_null(b->session.roster.lives);
	free_rings(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_impossible_heads),
		cmocka_unit_test(test_head_too_far),
		cmocka_unit_test(test_whole_sample),
		cmocka_unit_test(test_cut_sample),
		cmocka_unit_test(test_huge_counts),
		cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_order),
		cmocka_unit_test_setup_teardown(test_rows, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_lost_without_a_record, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_lost_is_reported_once, bench_set_up, bench_tear_down),
		cmocka_unit_test_setup_teardown(test_noise, bench_set_up, bench_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
