/* What CUPTI's decoder keeps of records by the time they are of: outside of windows, in a schedule's warm-up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/cuda/records/decode.h"
#include "fake_cuda.h"

/* Unified memory is watched between windows, too; correlations go on where CUPTI begins anew. */
static void windows(void **state)
{
	struct cupti_unified u = { .kind = CUPTI_KIND_UNIFIED_MEMORY_COUNTER, .counter_kind = CUPTI_UNIFIED_HTOD };
	struct cuda_decoding decoding = { .records = 0 };
	static const struct {
		uint64_t start;
		unsigned records;
	} cases[] = { { 99, 1 }, { 100, 0 }, { 199, 0 }, { 200, 1 } };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		u.start = u.end = cases[i].start;
		fake_cuda_reset(130001);
		atomic_store(&cuda_agent.closed_ticks, 100);
		atomic_store(&cuda_agent.opened_ticks, 200);
		cuda_decode_prepare(130001);
		cuda_decode(&decoding, (const struct cupti_record *)(const void *)&u, sizeof(u));
		assert_int_equal(fake_cuda_count(RECORD_CUDA_UNIFIED), cases[i].records);
	}
	atomic_store(&cuda_agent.closed_ticks, 0);
	atomic_store(&cuda_agent.opened_ticks, 0);
	cuda_correlation_restart();
	uint32_t first = cuda_correlation(1);
	assert_int_equal(cuda_correlation(7), first + 6);
	cuda_correlation_restart();
	assert_int_equal(cuda_correlation(1), first + 7);
	assert_int_equal(cuda_correlation(0), 0);
	assert_int_equal(cuda_correlation(CUDA_NO_ID), CUDA_NO_ID);
}

static unsigned kept(const void *record, size_t size, unsigned type)
{
	struct cuda_decoding decoding = { .records = 0 };

	fake_cuda_reset(130001);
	cuda_decode_prepare(130001);
	cuda_decode(&decoding, record, size);
	assert_int_equal(decoding.records, 1);
	assert_int_equal(decoding.unknown, 0);
	return fake_cuda_count(type);
}

/* What began in a warm-up is left out; what runs there for a call from before it is not. */
static void warm_up(void **state)
{
	static const struct {
		uint64_t start;
		uint32_t correlation;
		unsigned call, work;
	} cases[] = {
		{ 999, 50, 1, 1 },  { 1000, 51, 0, 0 }, { 1500, 52, 0, 0 }, { 1999, 53, 0, 0 }, { 1200, 49, 0, 1 },
		{ 1200, 50, 0, 1 }, { 1200, 0, 0, 0 },  { 2000, 54, 1, 1 }, { 2000, 53, 1, 1 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t at = cases[i].start, end = at + 5;
		uint32_t c = cases[i].correlation ? 5000 + cases[i].correlation : 0;
		struct cupti_kernel kernel = {
			.kind = CUPTI_KIND_CONCURRENT_KERNEL, .start = at, .end = end, .correlation = c, .name = "k"
		};
		struct cupti_memcpy copy = { .kind = CUPTI_KIND_MEMCPY, .start = at, .end = end, .correlation = c };
		struct cupti_memcpy2 peer = { .kind = CUPTI_KIND_MEMCPY2, .start = at, .end = end, .correlation = c };
		struct cupti_memset set = { .kind = CUPTI_KIND_MEMSET, .start = at, .end = end, .correlation = c };
		struct cupti_graph_trace graph_run = { .kind = CUPTI_KIND_GRAPH_TRACE, .start = at, .end = end, .correlation = c };
		struct cupti_synchronization sync = { .kind = CUPTI_KIND_SYNCHRONIZATION, .start = at, .end = end, .correlation = c };
		struct cupti_memory memory = { .kind = CUPTI_KIND_MEMORY2, .time = at, .correlation = c };

		cuda_warm_set(1000, 2000);
		assert_int_equal(!cuda_call_is_left_out(at, cuda_correlation(c)), cases[i].call);
		assert_int_equal(kept(&kernel, sizeof(kernel), RECORD_CUDA_KERNEL), cases[i].work);
		assert_int_equal(kept(&copy, sizeof(copy), RECORD_CUDA_COPY), cases[i].work);
		assert_int_equal(kept(&peer, sizeof(peer), RECORD_CUDA_COPY), cases[i].work);
		assert_int_equal(kept(&set, sizeof(set), RECORD_CUDA_SET), cases[i].work);
		assert_int_equal(kept(&graph_run, sizeof(graph_run), RECORD_CUDA_GRAPH), cases[i].work);
		assert_int_equal(kept(&sync, sizeof(sync), RECORD_CUDA_SYNC), cases[i].work);
		assert_int_equal(kept(&memory, sizeof(memory), RECORD_CUDA_MEMORY), cases[i].work);
	}
	cuda_warm_set(0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warm_up), cmocka_unit_test(windows), /* correlations go on from here */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
