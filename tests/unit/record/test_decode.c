/* Hand-made records with truth known in advance, from the ring to the finished report. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fmt/cuda_wire.h"
#include "fmt/nvtx_wire.h"
#include "fmt/record.h"
#include "ring/wire.h"

static void write_event(struct fake_writer *w, unsigned type, unsigned flags, uint64_t time, unsigned domain, unsigned level,
			uint64_t range_id, const void *tail, size_t tail_size)
{
	struct record_nvtx_range range = { .event = { .time = time, .color = 0xff00ff00, .category = 7, .payload = 42 },
					   .range_id = range_id };
	size_t fixed = type == RECORD_NVTX_START ? sizeof(range) : sizeof(range.event);
	uint8_t bytes[1024];

	range.event.head = record_head(type, flags, (unsigned)(fixed + tail_size), level, domain);
	memcpy(bytes, &range, fixed);
	memcpy(bytes + fixed, tail, tail_size);
	assert_true(fake_write(w, bytes, (uint32_t)(fixed + tail_size)));
}

static void write_end(struct fake_writer *w, uint64_t time, uint64_t range_id)
{
	struct record_nvtx_end end = { record_head(RECORD_NVTX_END, 0, sizeof(end), 0, 0), time, range_id };

	assert_true(fake_write(w, &end, sizeof(end)));
}

static void write_define(struct fake_writer *w, unsigned kind, uint64_t time, unsigned domain, uint64_t id, uint64_t extra,
			 const void *body, size_t size)
{
	struct record_define define = { record_head(RECORD_DEFINE, kind, (unsigned)(sizeof(define) + size), 0, domain), time, id, extra };
	uint8_t bytes[4096];

	memcpy(bytes, &define, sizeof(define));
	memcpy(bytes + sizeof(define), body, size);
	assert_true(fake_write(w, bytes, (uint32_t)(sizeof(define) + size)));
}

static void write_blob(struct fake_writer *w, uint64_t time, unsigned level, uint64_t schema, uint64_t total, const void *data, size_t size)
{
	struct record_blob blob = { record_head(RECORD_NVTX_BLOB, 0, (unsigned)(sizeof(blob) + size), level, 0), time, schema, total };
	uint8_t bytes[4096];

	memcpy(bytes, &blob, sizeof(blob));
	memcpy(bytes + sizeof(blob), data, size);
	assert_true(fake_write(w, bytes, (uint32_t)(sizeof(blob) + size)));
}

static void check_slice(struct bench *b, const char *name, int64_t start, int64_t end, int64_t flags)
{
	struct row row = bench_slice(b, name);

	assert_int_equal(row.values[COLUMN_SLICE_START], start);
	assert_int_equal(row.values[COLUMN_SLICE_END], end);
	assert_int_equal(row.values[COLUMN_SLICE_FLAGS], flags);
}

static struct row bench_slice_at(struct bench *b, const char *name, int64_t start)
{
	struct row rows[64];
	size_t count = bench_rows(b, TABLE_SLICE, rows, 64);

	for (size_t i = 0; i < count; i++)
		if (rows[i].values[COLUMN_SLICE_START] == start && strcmp(bench_text(b, &rows[i], COLUMN_SLICE_NAME), name) == 0)
			return rows[i];
	fail_msg("no slice '%s' at %lld", name, (long long)start);
	return rows[0];
}

static int64_t depth_of(struct bench *b, uint32_t track)
{
	struct row rows[256];
	size_t count = bench_rows(b, TABLE_TRACK, rows, 256);

	for (size_t i = 0; i < count; i++)
		if (rows[i].values[COLUMN_TRACK_ID] == track)
			return rows[i].values[COLUMN_TRACK_DEPTH];
	return -1;
}

static void nested_ranges(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row rows[8];

	assert_true(fake_open(&w, b->pool, 1000, 10));
	fake_push(&w, 100, 0, 0, "outer");
	fake_push(&w, 200, 0, 1, "inner");
	bench_drain(b);
	fake_pop(&w, 300, 0, 1);
	fake_push(&w, 300, 0, 1, "again");
	fake_pop(&w, 350, 0, 1);
	fake_pop(&w, 400, 0, 0);
	fake_close(&w, 500);
	bench_finish(b);
	check_slice(b, "outer", 100, 400, 0);
	check_slice(b, "inner", 200, 300, 0);
	check_slice(b, "again", 300, 350, 0);
	assert_int_equal(depth_of(b, bench_slice(b, "outer").track), 0);
	assert_int_equal(depth_of(b, bench_slice(b, "inner").track), 1);
	assert_int_equal(bench_slice(b, "inner").track, bench_slice(b, "again").track);
	assert_int_equal(bench_rows(b, TABLE_THREAD, rows, 8), 1);
	assert_int_equal(rows[0].values[COLUMN_THREAD_START], 10);
	assert_int_equal(rows[0].values[COLUMN_THREAD_END], 500);
	assert_int_equal(rows[0].values[COLUMN_THREAD_TID], 1000);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_THREAD_NAME), "fake");
	assert_int_equal(bench_rows(b, TABLE_PROCESS, rows, 8), 1);
	assert_int_equal(b->session.events, 6);
	assert_int_equal(b->session.dropped, 0);
}

/* Pop of level 1 and push of level 1 were dropped; levels tell what belongs together. */
static void dropped_pops_do_not_shift_the_rest(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	fake_push(&w, 100, 0, 0, "outer");
	fake_push(&w, 200, 0, 1, "its pop is lost");
	fake_push(&w, 300, 0, 1, "second");
	fake_push(&w, 310, 0, 2, "its pop is lost too");
	fake_pop(&w, 400, 0, 1);
	fake_pop(&w, 450, 0, 1); /* its push was dropped */
	fake_pop(&w, 500, 0, 0);
	bench_finish(b);
	check_slice(b, "outer", 100, 500, 0);
	check_slice(b, "its pop is lost", 200, 300, SLICE_OPEN);
	check_slice(b, "second", 300, 400, 0);
	check_slice(b, "its pop is lost too", 310, 400, SLICE_OPEN);
	assert_int_equal(bench_loss(b, LOSS_PUSH_MISSING), 1);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 0);
	assert_int_equal(b->session.events + b->session.dropped, 7); /* all that came */
	assert_int_equal(b->session.dropped, 1);
}

static void a_push_after_lost_pushes_keeps_its_depth(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	fake_push(&w, 300, 0, 5, "deep");
	fake_pop(&w, 400, 0, 5);
	fake_pop(&w, 500, 0, 4);
	bench_finish(b);
	check_slice(b, "deep", 300, 400, 0);
	assert_int_equal(depth_of(b, bench_slice(b, "deep").track), 5);
	assert_int_equal(bench_loss(b, LOSS_PUSH_MISSING), 1);
}

static void open_ranges_end_with_their_thread(void **state)
{
	struct bench *b = *state;
	struct fake_writer w, still;

	assert_true(fake_open(&w, b->pool, 1001, 10));
	assert_true(fake_open(&still, b->pool, 1000, 10));
	fake_push(&w, 100, 0, 0, "never popped");
	fake_push(&still, 150, 0, 0, "running");
	fake_close(&w, 700);
	bench_finish(b);
	check_slice(b, "never popped", 100, 700, SLICE_OPEN);
	check_slice(b, "running", 150, NOW, SLICE_OPEN);
}

static void domains_are_apart(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row rows[4];

	assert_true(fake_open(&w, b->pool, 1000, 10));
	/* Used before the definition is read: the uid must be the same. */
	fake_push(&w, 100, 3, 0, "in domain");
	fake_push(&w, 150, 0, 0, "default");
	fake_pop(&w, 200, 3, 0);
	fake_pop(&w, 250, 0, 0);
	write_define(&w, DEFINE_DOMAIN, 260, 0, 3, 0, "my domain", 9);
	write_define(&w, DEFINE_CATEGORY, 270, 3, 12, 0, "cat", 3);
	bench_finish(b);
	check_slice(b, "in domain", 100, 200, 0);
	check_slice(b, "default", 150, 250, 0);
	assert_int_equal(bench_rows(b, TABLE_NVTX_DOMAIN, rows, 4), 1);
	assert_int_equal(rows[0].values[COLUMN_NVTX_DOMAIN_UID], 1);
	assert_int_equal(rows[0].values[COLUMN_NVTX_DOMAIN_ID], 3);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_NVTX_DOMAIN_NAME), "my domain");
	assert_int_equal(bench_rows(b, TABLE_NVTX_CATEGORY, rows, 4), 1);
	assert_int_equal(rows[0].values[COLUMN_NVTX_CATEGORY_DOMAIN], 1);
	assert_int_equal(rows[0].values[COLUMN_NVTX_CATEGORY_CATEGORY], 12);
}

static void attributes_and_marks(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row row, rows[4];
	unsigned flags = NVTX_FLAG_COLOR | NVTX_PAYLOAD_INT64 << NVTX_FLAG_PAYLOAD_SHIFT;
	uint64_t string = 99;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_event(&w, RECORD_NVTX_PUSH_EX, flags, 100, 0, 0, 0, "full", 4);
	fake_pop(&w, 200, 0, 0);
	write_event(&w, RECORD_NVTX_MARK, NVTX_FLAG_NO_MESSAGE, 300, 0, 0, 0, "", 0);
	write_event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_REGISTERED, 400, 0, 0, 0, &string, 8);
	fake_pop(&w, 500, 0, 0);
	/* Used before it was defined. */
	write_define(&w, DEFINE_STRING, 600, 0, 99, 0, "registered", 10);
	bench_finish(b);
	row = bench_slice(b, "full");
	assert_int_equal(row.values[COLUMN_SLICE_FLAGS], SLICE_HAS_COLOR);
	assert_int_equal(row.values[COLUMN_SLICE_COLOR], 0xff00ff00);
	assert_int_equal(row.values[COLUMN_SLICE_CATEGORY], 7);
	assert_int_equal(row.values[COLUMN_SLICE_PAYLOAD_KIND], NVTX_PAYLOAD_INT64);
	assert_int_equal(row.values[COLUMN_SLICE_PAYLOAD], 42);
	check_slice(b, "registered", 400, 500, SLICE_REGISTERED);
	assert_int_equal(bench_rows(b, TABLE_INSTANT, rows, 4), 1);
	assert_int_equal(rows[0].values[COLUMN_INSTANT_TIME], 300);
	assert_true(rows[0].nulls[COLUMN_INSTANT_NAME]);
}

static void write_short(struct fake_writer *w, unsigned kind, uint64_t time, unsigned level, unsigned which)
{
	uint64_t word = record_short(kind, level, which, time);

	assert_true(fake_write(w, &word, sizeof(word)));
}

/* Names get numbers; a number can be given to another name later. */
static void short_records(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row row;
	unsigned flags = NVTX_FLAG_COLOR | NVTX_PAYLOAD_INT64 << NVTX_FLAG_PAYLOAD_SHIFT;
	uint64_t with_payload[2] = { record_short(RECORD_SHORT_PUSH_PAYLOAD, 1, 9, 250), 4711 };

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_event(&w, RECORD_NVTX_NAME, 0, 90, 0, 5, 0, "first", 5);
	write_event(&w, RECORD_NVTX_NAME, flags, 91, 3, 9, 0, "coloured", 8);
	write_short(&w, RECORD_SHORT_PUSH, 100, 0, 5);
	write_short(&w, RECORD_SHORT_PUSH, 200, 0, 9);
	assert_true(fake_write(&w, with_payload, sizeof(with_payload)));
	bench_drain(b);
	write_short(&w, RECORD_SHORT_POP, 260, 1, 3);
	write_short(&w, RECORD_SHORT_POP, 300, 0, 3);
	write_short(&w, RECORD_SHORT_POP, 400, 0, 0);
	write_event(&w, RECORD_NVTX_NAME, 0, 410, 0, 5, 0, "second", 6);
	write_short(&w, RECORD_SHORT_PUSH, 500, 31, 5);
	write_short(&w, RECORD_SHORT_POP, 600, 31, 0);
	bench_finish(b);
	check_slice(b, "first", 100, 400, 0);
	check_slice(b, "second", 500, 600, 0);
	assert_int_equal(depth_of(b, bench_slice(b, "second").track), 31);
	assert_int_equal(b->session.events, 8);
	row = bench_slice_at(b, "coloured", 250);
	assert_int_equal(row.values[COLUMN_SLICE_END], 260);
	assert_int_equal(row.values[COLUMN_SLICE_COLOR], 0xff00ff00);
	assert_int_equal(row.values[COLUMN_SLICE_CATEGORY], 7);
	assert_int_equal(row.values[COLUMN_SLICE_PAYLOAD], 4711);
	row = bench_slice_at(b, "coloured", 200);
	assert_int_equal(row.values[COLUMN_SLICE_END], 300);
	assert_true(row.nulls[COLUMN_SLICE_PAYLOAD]);
}

static void binary_payloads(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row row;
	size_t size;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	/* Two pieces, then the event with the same stamp. */
	write_blob(&w, 100, 1, 77, 6, "abc", 3);
	write_blob(&w, 100, 0, 77, 6, "def", 3);
	write_event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 100, 0, 0, 0, "whole", 5);
	/* The pieces of a lost event, then one without its own. */
	write_blob(&w, 150, 0, 78, 3, "xyz", 3);
	write_event(&w, RECORD_NVTX_PUSH_EX, NVTX_FLAG_BLOB, 160, 0, 1, 0, "lost", 4);
	/* A payload that comes with the pop. */
	write_event(&w, RECORD_NVTX_PUSH_EX, 0, 170, 0, 2, 0, "at pop", 6);
	write_blob(&w, 180, 0, 79, 2, "ok", 2);
	{
		struct record_plain pop = { record_head(RECORD_NVTX_POP, NVTX_FLAG_BLOB, 16, 2, 0), 180 };

		assert_true(fake_write(&w, &pop, sizeof(pop)));
	}
	fake_pop(&w, 200, 0, 1);
	fake_pop(&w, 200, 0, 0);
	bench_finish(b);
	row = bench_slice(b, "whole");
	assert_int_equal(row.values[COLUMN_SLICE_SCHEMA], 77);
	assert_memory_equal(report_blob_data(b->report, (uint64_t)row.values[COLUMN_SLICE_BLOB], &size), "abcdef", 6);
	assert_int_equal(size, 6);
	assert_int_equal(row.values[COLUMN_SLICE_FLAGS], 0);
	row = bench_slice(b, "lost");
	assert_true(row.nulls[COLUMN_SLICE_BLOB]);
	assert_int_equal(row.values[COLUMN_SLICE_FLAGS], SLICE_BLOB_LOST);
	row = bench_slice(b, "at pop");
	assert_int_equal(row.values[COLUMN_SLICE_SCHEMA], 79);
	assert_int_equal(row.values[COLUMN_SLICE_FLAGS], 0);
}

static void start_and_end_ranges(void **state)
{
	struct bench *b = *state;
	struct fake_writer one, two;
	struct row row;

	assert_true(fake_open(&one, b->pool, 1000, 10));
	assert_true(fake_open(&two, b->pool, 1001, 10));
	write_event(&one, RECORD_NVTX_START, 0, 100, 0, 0, 501, "a", 1);
	write_event(&one, RECORD_NVTX_START, 0, 110, 0, 0, 502, "b", 1);
	write_end(&one, 300, 501);
	write_end(&two, 400, 502);
	/* Ended before "b" was, started after: the first track is free again. */
	write_event(&one, RECORD_NVTX_START, 0, 350, 0, 0, 503, "c", 1);
	bench_drain(b);
	/* The end is read before the start: the starting thread comes second. */
	write_end(&two, 600, 503);
	write_event(&one, RECORD_NVTX_START, 0, 700, 0, 0, 504, "never ended", 11);
	write_end(&two, 800, 9999);
	bench_finish(b);
	check_slice(b, "a", 100, 300, 0);
	check_slice(b, "b", 110, 400, 0);
	check_slice(b, "c", 350, 600, 0);
	check_slice(b, "never ended", 700, NOW, SLICE_OPEN);
	row = bench_slice(b, "a");
	assert_true(row.nulls[COLUMN_SLICE_END_THREAD]);
	assert_int_equal(row.values[COLUMN_SLICE_RANGE_ID], 501);
	assert_int_equal(depth_of(b, row.track), 0);
	row = bench_slice(b, "b");
	assert_int_equal(depth_of(b, row.track), 1);
	assert_false(row.nulls[COLUMN_SLICE_END_THREAD]);
	assert_int_equal(depth_of(b, bench_slice(b, "c").track), 0);
	assert_int_equal(bench_loss(b, LOSS_UNMATCHED_END), 1);
}

/* Its start was dropped: it is lost with it, not the program's mistake. */
static void an_end_without_its_dropped_start_is_lost(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_event(&w, RECORD_NVTX_START, 0, 100, 0, 0, 7, "there", 5);
	write_end(&w, 200, 7);
	atomic_store(&w.slot->dropped, 1);
	write_end(&w, 300, 8);
	bench_finish(b);
	check_slice(b, "there", 100, 200, 0);
	assert_int_equal(bench_loss(b, LOSS_PUSH_MISSING), 1);
	assert_int_equal(bench_loss(b, LOSS_UNMATCHED_END), 0);
	assert_int_equal(b->session.events, 2);
	assert_int_equal(b->session.dropped, 2);
}

static void pushes_beyond_all_levels_are_counted_once(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	fake_push(&w, 100, 0, 0, "x");
	fake_push(&w, 200, 0, NVTX_WIRE_LEVEL_MAX, "too deep");
	fake_pop(&w, 300, 0, 0);
	bench_finish(b);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 1);
	assert_int_equal(b->session.events, 2);
	assert_int_equal(b->session.dropped, 1);
}

/* The thread that ends is read first: its end must wait for the start. */
static void an_end_may_be_read_before_its_start(void **state)
{
	struct bench *b = *state;
	struct fake_writer ends, starts;

	assert_true(fake_open(&ends, b->pool, 1001, 10));
	assert_true(fake_open(&starts, b->pool, 1000, 10));
	write_event(&starts, RECORD_NVTX_START, 0, 100, 0, 0, 7, "crossing", 8);
	write_end(&ends, 200, 7);
	assert_true(ends.slot_index < starts.slot_index);
	bench_finish(b);
	check_slice(b, "crossing", 100, 200, 0);
	assert_int_equal(bench_loss(b, LOSS_UNMATCHED_END), 0);
}

static void counters_have_a_track_each(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct record_counter sample = {
		.head = record_head(RECORD_NVTX_COUNTER, 0, sizeof(sample), 0, 0), .time = 100, .counter_id = 5, .value = 17
	};
	struct row rows[8];
	double real = 2.5;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_define(&w, DEFINE_COUNTER, 50, 0, 5, 0, "queue\0how long", 14);
	assert_true(fake_write(&w, &sample, sizeof(sample)));
	sample.head = record_head(RECORD_NVTX_COUNTER, 1, sizeof(sample), 0, 0);
	sample.time = 200;
	sample.field = 1;
	memcpy(&sample.value, &real, 8);
	assert_true(fake_write(&w, &sample, sizeof(sample)));
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_NVTX_COUNTER, rows, 8), 2);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_NVTX_COUNTER_NAME), "queue");
	assert_string_equal(bench_text(b, &rows[0], COLUMN_NVTX_COUNTER_DESCRIPTION), "how long");
	assert_int_equal(bench_rows(b, TABLE_COUNTER, rows, 8), 2);
	assert_int_equal(rows[0].values[COLUMN_COUNTER_INTEGER], 17);
	assert_true(rows[0].nulls[COLUMN_COUNTER_REAL]);
	assert_memory_equal(&rows[1].values[COLUMN_COUNTER_REAL], &real, 8);
}

static void schemas_and_enums(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct {
		struct nvtx_wire_schema schema;
		struct nvtx_wire_entry entries[2];
		char texts[16];
	} s = { { .type = 1, .static_size = 12, .entries = 2, .count = 2, .name_size = 4 },
		{ { .type = 3, .name_size = 1, .position = 0 }, { .type = 4, .name_size = 1, .description_size = 4, .position = 8 } },
		"pairxydesc" };
	struct {
		struct nvtx_wire_enum e;
		struct nvtx_wire_enum_entry entry;
		char texts[8];
	} e = { { .size = 4, .entries = 1, .count = 1, .name_size = 2 }, { .value = 9, .name_size = 3 }, "enone" };
	struct row rows[4];

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_define(&w, DEFINE_SCHEMA, 10, 0, 70, 0, &s, sizeof(s) - sizeof(s.texts) + 10);
	write_define(&w, DEFINE_ENUM, 20, 0, 71, 0, &e, sizeof(e) - sizeof(e.texts) + 5);
	bench_finish(b);
	assert_int_equal(bench_rows(b, TABLE_NVTX_SCHEMA, rows, 4), 1);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_NVTX_SCHEMA_NAME), "pair");
	assert_int_equal(bench_rows(b, TABLE_NVTX_SCHEMA_ENTRY, rows, 4), 2);
	assert_string_equal(bench_text(b, &rows[1], COLUMN_NVTX_SCHEMA_ENTRY_NAME), "y");
	assert_string_equal(bench_text(b, &rows[1], COLUMN_NVTX_SCHEMA_ENTRY_DESCRIPTION), "desc");
	assert_int_equal(rows[1].values[COLUMN_NVTX_SCHEMA_ENTRY_OFFSET], 8);
	assert_int_equal(bench_rows(b, TABLE_NVTX_ENUM_ENTRY, rows, 4), 1);
	assert_string_equal(bench_text(b, &rows[0], COLUMN_NVTX_ENUM_ENTRY_NAME), "one");
	assert_int_equal(rows[0].values[COLUMN_NVTX_ENUM_ENTRY_VALUE], 9);
}

/* A forked child knows the strings and domains below the limits, and only those. */
static void a_child_inherits_names(void **state)
{
	struct bench *b = *state;
	struct process_info info = {
		.pid = 1001, .inner_pid = 1001, .origin = WIRE_ORIGIN_FORK, .parent_process = 1, .next_string = 10, .next_domain = 4
	};
	struct traced_process *child;
	struct fake_writer w, c;
	uint64_t old = 9, own = 10;
	struct row rows[4];

	assert_true(fake_open(&w, b->pool, 1000, 10));
	write_define(&w, DEFINE_STRING, 20, 0, 9, 0, "from the parent", 15);
	write_define(&w, DEFINE_DOMAIN, 21, 0, 3, 0, "domain", 6);
	bench_drain(b);
	child = bench_process(b, 2, &info);
	/* Both go on to give id 10, each to its own. */
	write_define(&w, DEFINE_STRING, 30, 0, 10, 0, "the parent's later one", 22);
	assert_true(fake_open(&c, ring_reader_pool(&child->reader), 1001, 25));
	write_event(&c, RECORD_NVTX_PUSH_EX, NVTX_FLAG_REGISTERED, 40, 3, 0, 0, &old, 8);
	write_event(&c, RECORD_NVTX_PUSH_EX, NVTX_FLAG_REGISTERED, 50, 0, 0, 0, &own, 8);
	write_define(&c, DEFINE_STRING, 60, 0, 10, 0, "the child's own", 15);
	bench_finish(b);
	check_slice(b, "from the parent", 40, NOW, SLICE_OPEN | SLICE_REGISTERED);
	check_slice(b, "the child's own", 50, NOW, SLICE_OPEN | SLICE_REGISTERED);
	assert_int_equal(bench_rows(b, TABLE_NVTX_DOMAIN, rows, 4), 1);
	assert_int_equal(bench_rows(b, TABLE_PROCESS, rows, 4), 2);
}

/* What cannot be read ends that thread's recording, is counted, and nothing else suffers. */
static void expect_damaged(struct bench *b, const void *record, uint32_t size)
{
	struct fake_writer bad, good;
	struct row rows[8];
	size_t count, errors = 0;

	assert_true(fake_open(&bad, b->pool, 1001, 10));
	assert_true(fake_open(&good, b->pool, 1000, 10));
	fake_push(&bad, 50, 0, 0, "before");
	assert_true(fake_write(&bad, record, size));
	fake_push(&bad, 60, 0, 1, "after");
	fake_push(&good, 100, 0, 0, "good");
	fake_pop(&good, 200, 0, 0);
	bench_drain(b);
	fake_push(&bad, 300, 0, 1, "much later");
	bench_finish(b);
	check_slice(b, "good", 100, 200, 0);
	check_slice(b, "before", 50, NOW, SLICE_OPEN);
	assert_int_equal(report_row_count(b->report, TABLE_SLICE), 2);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 1);
	count = bench_rows(b, TABLE_DIAGNOSTIC, rows, 8);
	for (size_t i = 0; i < count; i++)
		errors += rows[i].values[COLUMN_DIAGNOSTIC_SEVERITY] == DIAGNOSTIC_ERROR;
	assert_int_equal(errors, 1);
}

static void an_unknown_type_is_damage(void **state)
{
	struct record_plain r = { record_head(RECORD_TYPE_COUNT, 0, 16, 0, 0), 55 };

	expect_damaged(*state, &r, sizeof(r));
}

static void an_unknown_number_is_damage(void **state)
{
	uint64_t word = record_short(RECORD_SHORT_PUSH, 0, 17, 55);

	expect_damaged(*state, &word, sizeof(word));
}

static void an_unknown_short_kind_is_damage(void **state)
{
	uint64_t word = record_short(3, 0, 0, 55);

	expect_damaged(*state, &word, sizeof(word));
}

static void a_size_of_zero_is_damage(void **state)
{
	struct record_plain r = { record_head(RECORD_NVTX_POP, 0, 0, 0, 0), 55 };

	expect_damaged(*state, &r, sizeof(r));
}

static void a_size_beyond_the_data_is_damage(void **state)
{
	struct record_plain r = { record_head(RECORD_NVTX_PUSH, 0, 60000, 0, 0), 55 };

	expect_damaged(*state, &r, sizeof(r));
}

static void a_short_event_is_damage(void **state)
{
	struct record_plain r = { record_head(RECORD_NVTX_START, 0, 16, 0, 0), 55 };

	expect_damaged(*state, &r, sizeof(r));
}

static void a_step_without_its_number_is_damage(void **state)
{
	struct record_capture r = { record_head(RECORD_CAPTURE, CAPTURE_STEP, sizeof(r), CAPTURE_NVTX, 0), 55 };

	expect_damaged(*state, &r, sizeof(r));
}

static void a_request_of_no_kind_is_damage(void **state)
{
	struct record_capture r = { record_head(RECORD_CAPTURE, CAPTURE_STEP_SEEN + 1, sizeof(r), CAPTURE_NVTX, 0), 55 };

	expect_damaged(*state, &r, sizeof(r));
}

/* Those that wait go on to who opens windows, the others are counted. The thread's end lets another one count. */
static void steps_are_reported(void **state)
{
	struct bench *b = *state;
	static struct ring_session page;
	struct {
		struct record_capture head;
		uint64_t step;
	} seen = { { record_head(RECORD_CAPTURE, CAPTURE_STEP_SEEN, sizeof(seen), CAPTURE_NVTX, 0), 50 }, 41 },
	  asked = { { record_head(RECORD_CAPTURE, CAPTURE_STEP, sizeof(asked), CAPTURE_NVTX, 0), 60 }, 42 };
	struct capture_message message = { 0 };
	struct fake_writer w;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	b->session.capture_fd = ends[1];
	b->session.page = &page;
	assert_true(fake_open(&w, b->pool, 1001, 10));
	assert_true(fake_write(&w, &seen, sizeof(seen)));
	assert_true(fake_write(&w, &asked, sizeof(asked)));
	atomic_store(&page.step_owner, ring_owner(b->process->uid, 1001));
	bench_drain(b);
	assert_int_equal(b->session.steps_seen, 42);
	assert_int_equal(read(ends[0], &message, sizeof(message)), sizeof(message));
	assert_int_equal(message.request, CAPTURE_STEP);
	assert_int_equal(message.source, CAPTURE_NVTX);
	assert_int_equal(message.step, 42);
	assert_int_equal(message.owner, page.step_owner);
	bench_finish(b);
	assert_int_equal(page.step_owner, 0);
	close(ends[0]);
	close(ends[1]);
}

static void a_schema_with_wild_counts_is_damage(void **state)
{
	struct {
		struct record_define define;
		struct nvtx_wire_schema schema;
	} r = { { record_head(RECORD_DEFINE, DEFINE_SCHEMA, sizeof(r), 0, 0), 55, 1, 0 }, { .count = UINT32_MAX } };

	expect_damaged(*state, &r, sizeof(r));
}

/* Stamps of another world are moved into the session, in order. */
static void wild_times_stay_in_order(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;
	struct row row;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	fake_push(&w, 100, 0, 0, "a");
	fake_pop(&w, 50, 0, 0);
	fake_push(&w, UINT64_MAX, 0, 0, "b");
	fake_pop(&w, 0, 0, 0);
	fake_push(&w, UINT64_C(1) << 63, 0, 0, "c");
	fake_pop(&w, 3, 0, 0);
	bench_finish(b);
	check_slice(b, "a", 100, 100, 0);
	row = bench_slice(b, "c");
	assert_true(row.values[COLUMN_SLICE_START] <= NOW);
	assert_int_equal(bench_loss(b, LOSS_DAMAGED), 0);
}

static void losses_are_reported_exactly(void **state)
{
	struct bench *b = *state;
	struct fake_writer w;

	assert_true(fake_open(&w, b->pool, 1000, 10));
	fake_push(&w, 100, 0, 0, "x");
	bench_drain(b);
	atomic_store(&w.slot->dropped, 5);
	atomic_store(&w.slot->unmatched, 2);
	process_report_losses(&b->session, b->process);
	atomic_store(&w.slot->dropped, 12);
	atomic_store(&w.slot->refused, 1);
	atomic_store(&w.slot->stacks_cut, 21);
	atomic_store(&w.slot->details, 22);
	atomic_store(&b->pool->dropped_without_slot, 3);
	fake_close(&w, 500);
	bench_finish(b);
	assert_int_equal(bench_loss(b, LOSS_POOL_EMPTY), 12);
	assert_int_equal(bench_loss(b, LOSS_UNMATCHED_POP), 2);
	assert_int_equal(bench_loss(b, LOSS_REENTRY), 1);
	assert_int_equal(bench_loss(b, LOSS_NO_SLOT), 3);
	assert_int_equal(bench_loss(b, LOSS_STACK_CUT), 21);
	assert_int_equal(bench_loss(b, LOSS_DETAIL), 22);
	assert_int_equal(b->session.dropped, 16); /* unmatched pops are no loss, and details no events */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(nested_ranges),
		TEST(dropped_pops_do_not_shift_the_rest),
		TEST(an_end_without_its_dropped_start_is_lost),
		TEST(pushes_beyond_all_levels_are_counted_once),
		TEST(a_push_after_lost_pushes_keeps_its_depth),
		TEST(open_ranges_end_with_their_thread),
		TEST(domains_are_apart),
		TEST(attributes_and_marks),
		TEST(short_records),
		TEST(binary_payloads),
		TEST(start_and_end_ranges),
		TEST(an_end_may_be_read_before_its_start),
		TEST(counters_have_a_track_each),
		TEST(schemas_and_enums),
		TEST(a_child_inherits_names),
		TEST(an_unknown_type_is_damage),
		TEST(an_unknown_number_is_damage),
		TEST(an_unknown_short_kind_is_damage),
		TEST(a_size_of_zero_is_damage),
		TEST(a_size_beyond_the_data_is_damage),
		TEST(a_short_event_is_damage),
		TEST(a_step_without_its_number_is_damage),
		TEST(a_request_of_no_kind_is_damage),
		TEST(steps_are_reported),
		TEST(a_schema_with_wild_counts_is_damage),
		TEST(wild_times_stay_in_order),
		TEST(losses_are_reported_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
