/* Counters: single, groups by schema, batches with their own times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nvtx_decode.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int reset(void **state)
{
	(void)state;
	fake_agent_reset();
	return 0;
}

static struct seen expect(const void **cursor, unsigned type)
{
	struct seen seen = { .type = 0 };

	assert_true(nvtx_next(cursor, &seen));
	assert_int_equal(seen.type, type);
	return seen;
}

static double real_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint64_t register_counter(uint64_t schema, const struct nvtx_semantics *semantics)
{
	struct nvtx_counter_attributes a = {
		.struct_size = sizeof(a), .schema = schema, .name = "speed", .description = "of light", .semantics = semantics
	};

	return nvtx_counter_register(NULL, &a);
}

static void single_samples(void **state)
{
	uint64_t id = register_counter(NVTX_TYPE_INT64, NULL);
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	nvtx_counter_sample_int64(NULL, id, -3);
	nvtx_counter_sample_float64(NULL, id, 2.25);
	nvtx_counter_sample_no_value(NULL, id, 2);
	seen = expect(&cursor, RECORD_DEFINE);
	assert_int_equal(seen.flags, DEFINE_COUNTER);
	assert_int_equal(seen.id, id);
	assert_int_equal(seen.extra, NVTX_TYPE_INT64);
	assert_int_equal(seen.text_size, 14);
	assert_memory_equal(seen.text, "speed\0of light", 14);
	seen = expect(&cursor, RECORD_NVTX_COUNTER);
	assert_int_equal(seen.flags, NVTX_WIRE_COUNTER_INT64);
	assert_int_equal((int64_t)seen.value, -3);
	assert_int_equal(seen.counter, id);
	seen = expect(&cursor, RECORD_NVTX_COUNTER);
	assert_int_equal(seen.flags, NVTX_WIRE_COUNTER_DOUBLE);
	assert_true(real_of(seen.value) == 2.25);
	seen = expect(&cursor, RECORD_NVTX_COUNTER);
	assert_int_equal(seen.flags, NVTX_WIRE_COUNTER_NO_VALUE);
	assert_int_equal(seen.value, 2);
}

static void ids_static_and_dynamic(void **state)
{
	struct nvtx_counter_attributes a = { .struct_size = sizeof(a), .schema = NVTX_TYPE_INT64, .id = NVTX_ID_STATIC_START + 3 };
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	assert_int_equal(nvtx_counter_register(NULL, &a), a.id);
	assert_int_equal(nvtx_counter_register(NULL, &a), a.id);
	a.id = 0;
	assert_true(nvtx_counter_register(NULL, &a) >= NVTX_ID_DYNAMIC_START);
	assert_int_equal(nvtx_counter_register(NULL, NULL), 0);
	expect(&cursor, RECORD_DEFINE);
	expect(&cursor, RECORD_DEFINE);
	assert_false(nvtx_next(&cursor, &seen));
}

static void samples_of_every_number(void **state)
{
	/* clang-format off */
	static const struct { uint64_t type; uint64_t bits; int real; int64_t integer; double value; } cases[] = {
		{ NVTX_TYPE_INT8, 0xfe, 0, -2, 0 },
		{ NVTX_TYPE_UINT8, 0xfe, 0, 254, 0 },
		{ NVTX_TYPE_INT16, 0x8000, 0, -32768, 0 },
		{ NVTX_TYPE_UINT16, 0x8000, 0, 32768, 0 },
		{ NVTX_TYPE_INT32, 0xfffffff0, 0, -16, 0 },
		{ NVTX_TYPE_UINT32, 0xfffffff0, 0, 4294967280, 0 },
		{ NVTX_TYPE_UINT64, 77, 0, 77, 0 },
		{ NVTX_TYPE_SIZE, 78, 0, 78, 0 },
		{ NVTX_TYPE_FLOAT, 0x3fc00000, 1, 0, 1.5 },
		{ NVTX_TYPE_BF16, 0x3fc0, 1, 0, 1.5 },
		{ NVTX_TYPE_DOUBLE, 0x4004000000000000, 1, 0, 2.5 },
	};
	/* clang-format on */
	const void *cursor = NULL;

	(void)state;
	for (unsigned i = 0; i < COUNT(cases); i++) {
		uint64_t id = register_counter(cases[i].type, NULL);
		struct seen seen;

		nvtx_counter_sample(NULL, id, &cases[i].bits, nvtx_type_size(cases[i].type));
		expect(&cursor, RECORD_DEFINE);
		seen = expect(&cursor, RECORD_NVTX_COUNTER);
		assert_int_equal(seen.flags, cases[i].real);
		if (cases[i].real)
			assert_true(real_of(seen.value) == cases[i].value);
		else
			assert_int_equal(seen.value, cases[i].integer);
	}
}

struct group {
	int32_t reads;
	double load;
	int64_t when;
};

static const struct nvtx_schema_entry group_entries[] = {
	{ .type = NVTX_TYPE_INT32, .name = "reads" },
	{ .type = NVTX_TYPE_DOUBLE, .name = "load" },
	{ .type = NVTX_TYPE_INT64, .name = "when", .flags = NVTX_ENTRY_TIMESTAMP },
};

static uint64_t register_group(const struct nvtx_semantics *semantics)
{
	struct nvtx_schema_attributes a = {
		.fields = NVTX_SCHEMA_HAS_TYPE | NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_ENTRY_COUNT,
		.type = NVTX_SCHEMA_STATIC,
		.entries = group_entries,
		.entry_count = COUNT(group_entries),
	};

	return register_counter(nvtx_schema_register(NULL, &a), semantics);
}

static void expect_group(const void **cursor, uint64_t id, const struct group *truth, uint64_t time)
{
	struct seen seen = expect(cursor, RECORD_NVTX_COUNTER);

	assert_int_equal(seen.counter, id);
	assert_int_equal(seen.field, 0);
	assert_int_equal((int64_t)seen.value, truth->reads);
	if (time)
		assert_int_equal(seen.time, time);
	time = seen.time;
	seen = expect(cursor, RECORD_NVTX_COUNTER);
	assert_int_equal(seen.field, 1);
	assert_true(real_of(seen.value) == truth->load);
	assert_int_equal(seen.time, time);
}

static void groups_are_taken_apart(void **state)
{
	uint64_t id = register_group(NULL);
	struct group sample = { -5, 0.5, 1 };
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	nvtx_counter_sample(NULL, id, &sample, sizeof(sample));
	nvtx_counter_sample(NULL, id, &sample, 4); /* only the first fits */
	nvtx_counter_sample(NULL, id, NULL, 4);
	nvtx_counter_sample(NULL, 12345, &sample, sizeof(sample));
	expect(&cursor, RECORD_DEFINE);
	expect(&cursor, RECORD_DEFINE);
	expect_group(&cursor, id, &sample, 0);
	assert_int_equal(expect(&cursor, RECORD_NVTX_COUNTER).field, 0);
	assert_false(nvtx_next(&cursor, &seen));
}

static void batches_keep_their_times(void **state)
{
	struct group samples[3] = { { 1, 1.5, 1001 }, { 2, 2.5, 1002 }, { 3, 3.5, 1003 } };
	int64_t times[3] = { 500, 600, 700 }, pair[2] = { 1000, 10 };
	uint64_t id = register_group(NULL);
	struct nvtx_counter_batch batch = { .counter = id, .samples = samples, .size = sizeof(samples) };
	const void *cursor = NULL;

	(void)state;
	nvtx_counter_batch_submit(NULL, &batch);
	batch.times = times;
	batch.times_size = sizeof(times);
	nvtx_counter_batch_submit(NULL, &batch);
	batch.times = pair;
	batch.times_size = sizeof(pair);
	nvtx_counter_batch_submit(NULL, &batch);
	batch.flags = NVTX_BATCH_END_INTERVAL;
	nvtx_counter_batch_submit(NULL, &batch);
	nvtx_counter_batch_submit(NULL, NULL);
	expect(&cursor, RECORD_DEFINE);
	expect(&cursor, RECORD_DEFINE);
	for (int i = 0; i < 3; i++)
		expect_group(&cursor, id, &samples[i], (uint64_t)samples[i].when);
	for (int i = 0; i < 3; i++)
		expect_group(&cursor, id, &samples[i], (uint64_t)times[i]);
	for (int i = 0; i < 3; i++)
		expect_group(&cursor, id, &samples[i], 1000 + 10 * (uint64_t)i);
	for (int i = 0; i < 3; i++)
		expect_group(&cursor, id, &samples[i], 980 + 10 * (uint64_t)i);
}

static void foreign_clocks_are_refused(void **state)
{
	struct nvtx_semantics_time time = { { sizeof(time), NVTX_SEMANTICS_TIME, 1, NULL }, 12 };
	struct group sample = { 0 };
	uint64_t id = register_group(&time.header);
	struct nvtx_counter_batch batch = { .counter = id, .samples = &sample, .size = sizeof(sample) };
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	nvtx_state.times_reported = 0;
	nvtx_counter_batch_submit(NULL, &batch);
	nvtx_counter_batch_submit(NULL, &batch);
	assert_int_equal(fake_agent.diagnostics, 1);
	expect(&cursor, RECORD_DEFINE);
	expect(&cursor, RECORD_DEFINE);
	assert_false(nvtx_next(&cursor, &seen));
}

static void nothing_outside_the_window(void **state)
{
	uint64_t id, value = 1;
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	agent_pages.session.gate = 0;
	id = register_counter(NVTX_TYPE_INT64, NULL);
	nvtx_counter_sample_int64(NULL, id, 1);
	nvtx_counter_sample_float64(NULL, id, 1);
	nvtx_counter_sample(NULL, id, &value, 8);
	nvtx_counter_sample_no_value(NULL, id, 0);
	expect(&cursor, RECORD_DEFINE);
	assert_false(nvtx_next(&cursor, &seen));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(single_samples, reset),
		cmocka_unit_test_setup(ids_static_and_dynamic, reset),
		cmocka_unit_test_setup(samples_of_every_number, reset),
		cmocka_unit_test_setup(groups_are_taken_apart, reset),
		cmocka_unit_test_setup(batches_keep_their_times, reset),
		cmocka_unit_test_setup(foreign_clocks_are_refused, reset),
		cmocka_unit_test_setup(nothing_outside_the_window, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
