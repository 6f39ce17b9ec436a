/* CUPTI's buffers: handed out zeroed and bounded in number, decoded whole, by several threads at once. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agent/cuda/records/buffers.h"
#include "agent/cuda/records/decode.h"
#include "fake_cuda.h"

static void reset(void)
{
	fake_cuda_reset(130001);
	cuda_decode_prepare(130001);
}

static struct cupti_kernel kernel(uint32_t correlation)
{
	return (struct cupti_kernel){ .kind = CUPTI_KIND_CONCURRENT_KERNEL,
				      .start = correlation * 10,
				      .end = correlation * 10 + 5,
				      .stream = 7,
				      .correlation = correlation,
				      .name = "_Z6bufferv" };
}

/* All records, in their order, then the batch with its counts. */
static void whole_buffer(void **state)
{
	struct cupti_record other = { 55 };
	struct cupti_memset set = { .kind = CUPTI_KIND_MEMSET, .correlation = 3 };
	struct fake_buffer buffer;
	struct cupti_kernel k;
	const struct record_cuda_batch *batch;
	const void *cursor = NULL;
	const uint64_t *record;
	unsigned seen[RECORD_TYPE_COUNT] = { 0 }, last = 0;

	(void)state;
	reset();
	fake_cuda.dropped = 4;
	fake_buffer_take(&buffer);
	for (uint32_t i = 1; i <= 1000; i++) {
		k = kernel(i);
		fake_buffer_add(&buffer, &k, sizeof(k));
	}
	fake_buffer_add(&buffer, &other, sizeof(other));
	fake_buffer_add(&buffer, &set, sizeof(set));
	errno = 4242;
	fake_buffer_complete(&buffer);
	assert_int_equal(errno, 4242);
	assert_int_equal(fake_agent.diagnostics, 1); /* of the unknown kind; once in a process */
	while ((record = fake_agent_next(&cursor))) {
		seen[record_type(*record)]++;
		if (record_type(*record) == RECORD_CUDA_KERNEL) {
			assert_int_equal(((const struct record_cuda_kernel *)record)->place.correlation, seen[RECORD_CUDA_KERNEL]);
			assert_int_equal(((const struct record_cuda_kernel *)record)->time, seen[RECORD_CUDA_KERNEL] * 10);
		}
		last = record_type(*record);
	}
	assert_int_equal(seen[RECORD_CUDA_KERNEL], 1000);
	assert_int_equal(seen[RECORD_CUDA_SET], 1);
	assert_int_equal(last, RECORD_CUDA_BATCH);
	batch = fake_cuda_only(RECORD_CUDA_BATCH);
	assert_int_equal(batch->records, 1002);
	assert_int_equal(batch->dropped, 4);
}

/* What was written into a buffer is gone when CUPTI has it again. */
static void zeroed_when_reused(void **state)
{
	struct fake_buffer buffer, again;
	struct cupti_kernel k = kernel(1);

	(void)state;
	reset();
	cuda_buffers_prepare();
	assert_int_equal(fake_cuda.zeroed, 1);
	fake_buffer_take(&buffer);
	for (int i = 0; i < 500; i++)
		fake_buffer_add(&buffer, &k, sizeof(k));
	fake_buffer_complete(&buffer);
	fake_buffer_take(&again);
	assert_ptr_equal(again.bytes, buffer.bytes);
	for (size_t i = 0; i < CUDA_BUFFER_SIZE; i++)
		assert_int_equal(again.bytes[i], 0);
	fake_buffer_complete(&again);
	/* An empty one says nothing. */
	assert_int_equal(fake_cuda_count(RECORD_CUDA_BATCH), 1);
}

/* With all in use CUPTI gets none, and that is said once; the ones given back are there again. */
static void bounded(void **state)
{
	static struct fake_buffer buffers[CUDA_BUFFERS];
	uint8_t *none;
	size_t size, records;

	(void)state;
	reset();
	for (unsigned i = 0; i < CUDA_BUFFERS; i++)
		fake_buffer_take(&buffers[i]);
	for (int i = 0; i < 3; i++) {
		none = (uint8_t *)&none;
		cuda_buffer_requested(&none, &size, &records);
		assert_null(none);
		assert_int_equal(size, 0);
	}
	assert_int_equal(fake_agent.diagnostics, 1);
	for (unsigned i = 0; i < CUDA_BUFFERS; i++)
		fake_buffer_complete(&buffers[i]);
	for (unsigned i = 0; i < CUDA_BUFFERS; i++)
		fake_buffer_take(&buffers[i]);
	for (unsigned i = 0; i < CUDA_BUFFERS; i++)
		fake_buffer_complete(&buffers[i]);
}

/* CUPTI before 12.9 cannot do without: it gets small ones instead. */
static void old_versions_get_small_ones(void **state)
{
	static struct fake_buffer buffers[CUDA_BUFFERS];
	uint8_t *spare, *again;
	size_t size, records;

	(void)state;
	reset();
	cuda_agent.cupti.version = 26;
	for (unsigned i = 0; i < CUDA_BUFFERS; i++)
		fake_buffer_take(&buffers[i]);
	cuda_buffer_requested(&spare, &size, &records);
	assert_non_null(spare);
	assert_int_equal(size, CUDA_SPARE_SIZE);
	memset(spare, 0, size);
	cuda_buffer_completed(NULL, 0, spare, size, 0);
	cuda_buffer_requested(&again, &size, &records);
	assert_int_equal(size, CUDA_SPARE_SIZE);
	cuda_buffer_completed(NULL, 0, again, size, 0);
	for (unsigned i = 0; i < CUDA_BUFFERS; i++)
		fake_buffer_complete(&buffers[i]);
	assert_int_equal(fake_agent.diagnostics, 0);
}

/* A record that CUPTI says is there, but that lies across the end of what is valid. */
static void cut_off(void **state)
{
	struct fake_buffer buffer;
	struct cupti_kernel k = kernel(1);
	const struct record_cuda_batch *batch;

	(void)state;
	reset();
	fake_buffer_take(&buffer);
	fake_buffer_add(&buffer, &k, sizeof(k));
	fake_buffer_add(&buffer, &k, sizeof(k));
	buffer.used -= 16;
	fake_buffer_complete(&buffer);
	assert_int_equal(fake_cuda_count(RECORD_CUDA_KERNEL), 1);
	batch = fake_cuda_only(RECORD_CUDA_BATCH);
	assert_int_equal(batch->records, 2);
}

enum { THREADS = 4, BUFFERS = 20, EACH = 100 };

static void *work(void *argument)
{
	uint32_t thread = (uint32_t)(uintptr_t)argument;
	struct fake_buffer buffer;
	struct cupti_kernel k;

	for (uint32_t b = 0; b < BUFFERS; b++) {
		fake_buffer_take(&buffer);
		for (uint32_t i = 0; i < EACH; i++) {
			k = kernel(1 + (thread * BUFFERS + b) * EACH + i);
			k.grid[0] = (int)i;
			fake_buffer_add(&buffer, &k, sizeof(k));
		}
		fake_buffer_complete(&buffer);
	}
	return NULL;
}

struct found {
	uint8_t correlations[1 + THREADS * BUFFERS * EACH];
	uint32_t launch_of_grid[EACH];
	unsigned kernels, batches;
};

static void look(const uint64_t *record, void *data)
{
	struct found *found = data;
	const struct record_cuda_kernel *k = (const void *)record;
	const struct record_define *define = (const void *)record;

	found->batches += record_type(*record) == RECORD_CUDA_BATCH;
	if (record_type(*record) == RECORD_DEFINE && record_flags(*record) == DEFINE_CUDA_LAUNCH)
		found->launch_of_grid[((const struct cuda_wire_launch *)(define + 1))->grid[0]] = (uint32_t)define->id;
	if (record_type(*record) != RECORD_CUDA_KERNEL)
		return;
	assert_in_range(k->place.correlation, 1, THREADS * BUFFERS * EACH);
	assert_int_equal(found->correlations[k->place.correlation]++, 0);
	found->kernels++;
}

static void several_threads(void **state)
{
	static struct found found;
	pthread_t threads[THREADS];

	(void)state;
	reset();
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	fake_agent_each(look, &found);
	assert_int_equal(found.kernels, THREADS * BUFFERS * EACH);
	assert_int_equal(found.batches, THREADS * BUFFERS);
	for (int i = 1; i < EACH; i++)
		assert_true(found.launch_of_grid[i] != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_buffer), cmocka_unit_test(zeroed_when_reused),
		cmocka_unit_test(bounded),      cmocka_unit_test(old_versions_get_small_ones),
		cmocka_unit_test(cut_off),      cmocka_unit_test(several_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
