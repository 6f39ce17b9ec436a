/* Words for CUPTI's numbers; the numbers are those of CUPTI's documentation, the words those that nsys and Kineto write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fmt/gpu_enums.h"

static void numbers_are_those_of_cupti(void **state)
{
	(void)state;
	assert_int_equal(GPU_COPY_HTOD, 1);
	assert_int_equal(GPU_COPY_PTOP, 10);
	assert_int_equal(GPU_MEMORY_PAGEABLE, 1);
	assert_int_equal(GPU_MEMORY_MANAGED_STATIC, 7);
	assert_int_equal(GPU_MEMORY_RELEASE, 2);
	assert_int_equal(GPU_SYNC_STREAM, 3);
	assert_int_equal(GPU_SYNC_CONTEXT, 4);
}

static void words_are_those_of_each_reader(void **state)
{
	(void)state;
	assert_string_equal(gpu_copy_kind(GPU_COPY_DTOH)->text, "Device-to-Host");
	assert_string_equal(gpu_copy_kind(GPU_COPY_DTOH)->kineto, "DtoH");
	assert_string_equal(gpu_copy_kind(GPU_COPY_DTOH)->word, "copy DtoH");
	assert_string_equal(gpu_memory_kind(GPU_MEMORY_PINNED)->kineto, "Pinned");
	assert_string_equal(gpu_sync_kind(GPU_SYNC_STREAM_WAIT)->kineto, "Stream Wait Event");
	assert_string_equal(gpu_memory_operation_word(GPU_MEMORY_ALLOCATION), "allocation");
	assert_string_equal(gpu_jit_operation_kineto(GPU_JIT_CACHE_STORE), "JIT cache store");
	/* As cupti/activity.h numbers them. */
	assert_string_equal(gpu_overhead_word(1), "driver compiler");
	assert_string_equal(gpu_overhead_word(1 << 16), "buffer flush");
	assert_string_equal(gpu_overhead_text(1 << 16), "Buffer Flush");
	assert_string_equal(gpu_overhead_text(8 << 16), "Unified Memory Activity Initialization");
}

static void numbers_of_a_newer_cupti_are_unknown(void **state)
{
	static const int64_t numbers[] = { -1, 0, 9, 14, 1000000, INT64_MIN, INT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_string_equal(gpu_memory_kind(numbers[i])->text, "Unknown");
		assert_string_equal(gpu_sync_kind(numbers[i])->kineto, "Unknown Sync");
		assert_null(gpu_memory_operation_word(numbers[i]));
		assert_null(gpu_jit_operation_word(numbers[i]));
		assert_string_equal(gpu_jit_operation_kineto(numbers[i]), "JIT compilation");
	}
	assert_string_equal(gpu_copy_kind(14)->text, "Unknown");
	assert_null(gpu_copy_kind(14)->word);
	assert_null(gpu_overhead_word(2));
	assert_null(gpu_overhead_word(9 << 16));
	assert_null(gpu_overhead_text((1 << 16) + 1));
}

/* nsys counts kinds of memory from 0, with "unknown" as the last. */
static void kinds_of_memory_come_back_from_nsys(void **state)
{
	(void)state;
	assert_int_equal(gpu_memory_kind(GPU_MEMORY_PAGEABLE)->nsys, 0);
	assert_int_equal(gpu_memory_kind(GPU_MEMORY_UNKNOWN)->nsys, 7);
	for (int64_t kind = 0; kind <= GPU_MEMORY_MANAGED_STATIC; kind++)
		assert_int_equal(gpu_memory_kind_of_nsys(gpu_memory_kind(kind)->nsys), kind);
	assert_int_equal(gpu_memory_kind_of_nsys(-1), GPU_MEMORY_UNKNOWN);
	assert_int_equal(gpu_memory_kind_of_nsys(8), GPU_MEMORY_UNKNOWN);
}

static void the_longest_word_is_meant(void **state)
{
	(void)state;
	assert_int_equal(gpu_memory_kind_of_text("Device -> Pinned)"), GPU_MEMORY_DEVICE);
	assert_int_equal(gpu_memory_kind_of_text("Device Static)"), GPU_MEMORY_DEVICE_STATIC);
	assert_int_equal(gpu_memory_kind_of_text("Managed Static -> Device)"), GPU_MEMORY_MANAGED_STATIC);
	assert_int_equal(gpu_memory_kind_of_text("Host)"), GPU_MEMORY_HOST);
	assert_int_equal(gpu_memory_kind_of_text("device)"), GPU_MEMORY_UNKNOWN);
	assert_int_equal(gpu_memory_kind_of_text(""), GPU_MEMORY_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_cupti),
		cmocka_unit_test(words_are_those_of_each_reader),
		cmocka_unit_test(numbers_of_a_newer_cupti_are_unknown),
		cmocka_unit_test(kinds_of_memory_come_back_from_nsys),
		cmocka_unit_test(the_longest_word_is_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
