/* Attaching, and many threads at once: tables are filled the same however often and by
 * however many; one handle per content; range ids never twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <cmocka.h>

#include "nvtx_decode.h"

#define SLOTS 20
#define THREADS 8

static nvtx_function slots[NVTX_MODULE_COUNT][SLOTS];
static nvtx_function *tables[NVTX_MODULE_COUNT][SLOTS];
static unsigned sizes[NVTX_MODULE_COUNT] = { 0, 16, 9, 15, 7, 16, 7 };
static uint32_t version_reported;

static int get_table(int module, nvtx_function ***table, unsigned *size)
{
	if (module <= 0 || module >= NVTX_MODULE_COUNT)
		return 0;
	*table = tables[module];
	*size = sizes[module];
	return 1;
}

static void report_version(uint32_t version)
{
	__atomic_store_n(&version_reported, version, __ATOMIC_RELAXED);
}

static struct nvtx_callbacks callbacks = { sizeof(callbacks), get_table };
static struct nvtx_version version = { sizeof(version), 3, 0, report_version };

static const void *get_export(uint32_t id)
{
	if (id == NVTX_EXPORT_CALLBACKS)
		return &callbacks;
	return id == NVTX_EXPORT_VERSION ? &version : NULL;
}

static const void *get_nothing(uint32_t id)
{
	(void)id;
	return NULL;
}

static int reset(void **state)
{
	(void)state;
	fake_agent_reset();
	callbacks.struct_size = sizeof(callbacks);
	sizes[NVTX_MODULE_CORE] = 16;
	version_reported = 0;
	memset(slots, 0, sizeof(slots));
	for (int m = 0; m < NVTX_MODULE_COUNT; m++)
		for (int i = 1; i < SLOTS; i++)
			tables[m][i] = &slots[m][i];
	return 0;
}

static unsigned filled(int module)
{
	unsigned count = 0;

	for (int i = 0; i < SLOTS; i++)
		count += slots[module][i] != NULL;
	return count;
}

static void tables_are_filled(void **state)
{
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	assert_int_equal(InitializeInjectionNvtx2(get_export), 1);
	assert_int_equal(version_reported, 3);
	assert_int_equal(filled(NVTX_MODULE_CORE), 15);
	assert_int_equal(filled(NVTX_MODULE_CORE2), 15);
	assert_int_equal(filled(NVTX_MODULE_CUDA), 8);
	assert_int_equal(filled(NVTX_MODULE_CUDART), 6);
	assert_int_equal(filled(NVTX_MODULE_OPENCL), 14);
	assert_int_equal(filled(NVTX_MODULE_SYNC), 6);
	assert_ptr_equal(slots[NVTX_MODULE_CORE][9], nvtx_range_push_a);
	assert_ptr_equal(slots[NVTX_MODULE_CORE2][12], nvtx_domain_create_a);
	assert_int_equal(InitializeInjectionNvtx2(get_export), 1);
	assert_int_equal(InitializeInjectionNvtx(get_export), 1);
	/* Nothing of the measurement is in the ring. */
	assert_true(fake_agent.measured > 0);
	assert_false(nvtx_next(&cursor, &seen));
}

static void older_tables_are_shorter(void **state)
{
	(void)state;
	sizes[NVTX_MODULE_CORE] = 9;
	assert_int_equal(InitializeInjectionNvtx2(get_export), 1);
	assert_int_equal(filled(NVTX_MODULE_CORE), 8);
}

static void refusals(void **state)
{
	(void)state;
	assert_int_equal(InitializeInjectionNvtx2(NULL), 0);
	assert_int_equal(InitializeInjectionNvtx2(get_nothing), 0);
	callbacks.struct_size = 8;
	assert_int_equal(InitializeInjectionNvtx2(get_export), 0);
	callbacks.struct_size = sizeof(callbacks);
	agent_pages.session.modules = RING_GATE_OSRT;
	assert_int_equal(InitializeInjectionNvtx2(get_export), 0);
	agent_pages.session.modules = RING_GATE_NVTX;
	fake_agent.start_result = -1;
	assert_int_equal(InitializeInjectionNvtx2(get_export), 0);
	assert_int_equal(filled(NVTX_MODULE_CORE), 0);
	assert_int_equal(version_reported, 0);
}

static void extensions_are_filled(void **state)
{
	intptr_t functions[63] = { 0 };
	struct nvtx_segment segment = { 0, 63, functions };
	struct nvtx_module_info info = { 3, sizeof(info), NVTX_EXTENSION_PAYLOAD, 0x104, 1, &segment, NULL, NULL };

	(void)state;
	assert_int_equal(InitializeInjectionNvtxExtension(&info), 1);
	assert_int_equal(functions[0], (intptr_t)nvtx_schema_register);
	assert_int_equal(functions[12], (intptr_t)nvtx_scope_register);
	assert_int_equal(functions[9], 0);  /* time domains: not supported */
	assert_int_equal(functions[16], 0); /* deferred events: not supported */
	memset(functions, 0, sizeof(functions));
	info.module = NVTX_EXTENSION_COUNTERS;
	segment.slot_count = 5;
	assert_int_equal(InitializeInjectionNvtxExtension(&info), 1);
	assert_int_equal(functions[4], (intptr_t)nvtx_counter_sample_no_value);
	assert_int_equal(functions[5], 0);
	memset(functions, 0, sizeof(functions));
	info.module = NVTX_EXTENSION_MEMORY;
	assert_int_equal(InitializeInjectionNvtxExtension(&info), 0);
	info.module = NVTX_EXTENSION_PAYLOAD;
	info.struct_size = 8;
	assert_int_equal(InitializeInjectionNvtxExtension(&info), 0);
	info.struct_size = sizeof(info);
	info.segments = NULL;
	assert_int_equal(InitializeInjectionNvtxExtension(&info), 0);
	assert_int_equal(InitializeInjectionNvtxExtension(NULL), 0);
	for (int i = 0; i < 63; i++)
		assert_int_equal(functions[i], 0);
}

#define NAMES 400
#define RANGES 2000

struct worker {
	pthread_t thread;
	pthread_barrier_t *barrier;
	int attached;
	struct nvtx_domain *domain;
	struct nvtx_string *strings[NAMES];
	uint64_t schema;
	uint64_t ranges[RANGES];
	int levels_right;
};

static void *work(void *data)
{
	static const struct nvtx_schema_entry entry = { .type = NVTX_TYPE_INT64 };
	struct nvtx_schema_attributes schema = {
		.fields = NVTX_SCHEMA_HAS_TYPE | NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_ENTRY_COUNT | NVTX_SCHEMA_HAS_ID,
		.type = NVTX_SCHEMA_STATIC,
		.entries = &entry,
		.entry_count = 1,
		.id = NVTX_ID_STATIC_START + 1000,
	};
	struct worker *worker = data;
	char text[32];

	pthread_barrier_wait(worker->barrier);
	worker->attached = InitializeInjectionNvtx2(get_export);
	worker->domain = nvtx_domain_create_a("shared by all");
	for (int i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "shared name %d", i);
		worker->strings[i] = nvtx_register_string_a(worker->domain, text);
	}
	worker->schema = nvtx_schema_register(worker->domain, &schema);
	worker->levels_right = 1;
	for (int i = 0; i < RANGES; i++) {
		worker->ranges[i] = nvtx_range_start_a("range");
		worker->levels_right &= nvtx_range_push_a("pushed") == 0 && nvtx_range_pop() == 0;
		nvtx_range_end(worker->ranges[i]);
	}
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct counts {
	uint64_t pushes, pops, starts, ends, domains, strings;
	uint64_t first_definition[NAMES * THREADS];
};

static void count(const uint64_t *record, void *data)
{
	struct counts *counts = data;
	unsigned type = record_type(*record);

	if (record_is_short(*record)) {
		if (record_short_kind(*record) == RECORD_SHORT_POP)
			counts->pops++;
		else
			counts->pushes++;
		return;
	}
	counts->pushes += type == RECORD_NVTX_PUSH || type == RECORD_NVTX_PUSH_EX;
	counts->pops += type == RECORD_NVTX_POP;
	counts->starts += type == RECORD_NVTX_START;
	counts->ends += type == RECORD_NVTX_END;
	counts->domains += type == RECORD_DEFINE && record_flags(*record) == DEFINE_DOMAIN;
	counts->strings += type == RECORD_DEFINE && record_flags(*record) == DEFINE_STRING;
}

static void threads_share_everything_but_ranges(void **state)
{
	static struct worker workers[THREADS];
	static uint64_t all[THREADS * RANGES];
	static struct counts counts;
	pthread_barrier_t barrier;

	(void)state;
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		workers[i].barrier = &barrier;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(workers[i].attached, 1);
		assert_true(workers[i].levels_right);
		assert_ptr_equal(workers[i].domain, workers[0].domain);
		assert_int_equal(workers[i].schema, NVTX_ID_STATIC_START + 1000);
		assert_memory_equal(workers[i].strings, workers[0].strings, sizeof(workers[0].strings));
		memcpy(all + i * RANGES, workers[i].ranges, sizeof(workers[i].ranges));
	}
	qsort(all, THREADS * RANGES, sizeof(all[0]), by_value);
	for (int i = 1; i < THREADS * RANGES; i++)
		assert_true(all[i] != all[i - 1]);
	fake_agent_each(count, &counts);
	assert_int_equal(counts.pushes, THREADS * RANGES);
	assert_int_equal(counts.pops, THREADS * RANGES);
	assert_int_equal(counts.starts, THREADS * RANGES);
	assert_int_equal(counts.ends, THREADS * RANGES);
	assert_in_range(counts.domains, 1, THREADS);
	assert_in_range(counts.strings, NAMES, NAMES * THREADS);
	pthread_barrier_destroy(&barrier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tables_are_filled, reset),
		cmocka_unit_test_setup(older_tables_are_shorter, reset),
		cmocka_unit_test_setup(refusals, reset),
		cmocka_unit_test_setup(extensions_are_filled, reset),
		cmocka_unit_test_setup(threads_share_everything_but_ranges, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
