/* Numbers of functions and launches: each told once, whatever pointers they come by, and by however many
 * threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "agent/cuda/records/names.h"
#include "fake_cuda.h"

static unsigned definitions(unsigned kind)
{
	unsigned count = 0;

	while (fake_cuda_definition(kind, count))
		count++;
	return count;
}

static void same_name_at_two_places(void **state)
{
	char one[] = "_Z4twicev", two[] = "_Z4twicev";
	uint32_t number;

	(void)state;
	fake_cuda_reset(130001);
	number = cuda_function_number(one);
	assert_true(number != 0);
	assert_int_equal(cuda_function_number(two), number);
	assert_int_equal(cuda_function_number(one), number);
	assert_int_equal(definitions(DEFINE_CUDA_FUNCTION), 1);
	assert_int_equal(fake_cuda_definition(DEFINE_CUDA_FUNCTION, 0)->id, number);
	assert_int_equal(cuda_function_number(NULL), 0);
}

/* A module was unloaded, and another has its names at the same place. */
static void other_name_at_the_same_place(void **state)
{
	char place[32] = "_Z6beforev";
	uint32_t before, after;

	(void)state;
	fake_cuda_reset(130001);
	before = cuda_function_number(place);
	strcpy(place, "_Z5afterv");
	after = cuda_function_number(place);
	assert_true(after != before);
	strcpy(place, "_Z6beforev");
	assert_int_equal(cuda_function_number(place), before);
	strcpy(place, "_Z5after");
	assert_true(cuda_function_number(place) != after);
	assert_int_equal(definitions(DEFINE_CUDA_FUNCTION), 3);
	assert_string_equal(fake_cuda_text(fake_cuda_definition(DEFINE_CUDA_FUNCTION, 1), sizeof(struct record_define)), "_Z5afterv");
}

/* Longer than a record: cut, but names that differ behind that are two. */
static void long_names(void **state)
{
	char *name = malloc(20001);
	uint32_t one, two;

	(void)state;
	fake_cuda_reset(130001);
	memset(name, 'x', 20000);
	name[20000] = '\0';
	one = cuda_function_number(name);
	name[19999] = 'y';
	two = cuda_function_number(name);
	assert_true(one != two);
	assert_int_equal(record_size(fake_cuda_definition(DEFINE_CUDA_FUNCTION, 1)->head), RING_CHUNK_DATA);
	free(name);
}

static struct cuda_wire_launch some_launch(uint32_t n)
{
	struct cuda_wire_launch launch;

	memset(&launch, 0, sizeof(launch));
	launch.function = 1000000 + n % 7;
	launch.grid[0] = (int)n;
	return launch;
}

/* More than the first table holds, several times. */
static void many_launches(void **state)
{
	enum { COUNT = 20000 };
	uint32_t *numbers = calloc(COUNT, sizeof(*numbers));
	struct cuda_wire_launch launch;

	(void)state;
	fake_cuda_reset(130001);
	for (uint32_t i = 0; i < COUNT; i++) {
		launch = some_launch(i);
		numbers[i] = cuda_launch_number(&launch);
		assert_true(numbers[i] != 0);
		assert_true(i == 0 || numbers[i] != numbers[i - 1]);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		launch = some_launch(i);
		assert_int_equal(cuda_launch_number(&launch), numbers[i]);
	}
	launch = some_launch(5);
	launch.from_device = 1;
	assert_true(cuda_launch_number(&launch) > numbers[COUNT - 1]);
	assert_int_equal(fake_cuda_count(RECORD_DEFINE), COUNT + 1);
	assert_int_equal(fake_agent.diagnostics, 0);
	free(numbers);
}

/* Nothing is lost without memory: told anew each time, and said once. */
static void no_memory(void **state)
{
	struct cuda_wire_launch launch = some_launch(900001);
	const struct cuda_wire_launch *reported;
	uint32_t first, second;

	(void)state;
	fake_cuda_reset(130001);
	fake_cuda.no_permanent = 1;
	first = cuda_launch_number(&launch);
	second = cuda_launch_number(&launch);
	assert_true(first != 0 && second != 0 && first != second);
	assert_int_equal(definitions(DEFINE_CUDA_LAUNCH), 2);
	reported = (const void *)(fake_cuda_definition(DEFINE_CUDA_LAUNCH, 1) + 1);
	assert_int_equal(fake_cuda_definition(DEFINE_CUDA_LAUNCH, 1)->id, second);
	assert_int_equal(reported->grid[0], 900001);
	assert_int_equal(fake_agent.diagnostics, 1);
	assert_true(cuda_function_number("_Z8nomemoryv") != cuda_function_number("_Z8nomemoryv"));
	assert_int_equal(definitions(DEFINE_CUDA_FUNCTION), 2);
}

enum { THREADS = 4, NAMES = 300, ROUNDS = 20 };

static uint32_t seen[THREADS][NAMES];

static void *work(void *argument)
{
	uint32_t thread = (uint32_t)(uintptr_t)argument;
	struct cuda_wire_launch launch;
	char name[32];

	for (int round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < NAMES; i++) {
			uint32_t n = thread % 2 ? NAMES - 1 - i : i;

			snprintf(name, sizeof(name), "_Z7threads%uv", n);
			memset(&launch, 0, sizeof(launch));
			launch.function = cuda_function_number(name);
			if (seen[thread][n] && seen[thread][n] != launch.function)
				return argument ? argument : &seen; /* another number for the same name */
			seen[thread][n] = launch.function;
			cuda_launch_number(&launch);
		}
	return NULL;
}

struct reported {
	unsigned functions, launches;
	uint8_t names[1 << 16];
};

static void count_reported(const uint64_t *record, void *data)
{
	const struct record_define *define = (const void *)record;
	struct reported *reported = data;

	if (record_type(*record) != RECORD_DEFINE)
		return;
	reported->functions += record_flags(*record) == DEFINE_CUDA_FUNCTION;
	reported->launches += record_flags(*record) == DEFINE_CUDA_LAUNCH;
	if (record_flags(*record) == DEFINE_CUDA_FUNCTION && define->id < sizeof(reported->names))
		reported->names[define->id] = 1;
}

static void several_threads(void **state)
{
	static struct reported reported;
	pthread_t threads[THREADS];
	void *wrong;

	(void)state;
	fake_cuda_reset(130001);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	for (int i = 1; i < THREADS; i++)
		assert_memory_equal(seen[i], seen[0], sizeof(seen[0]));
	fake_agent_each(count_reported, &reported);
	/* Twice only where two threads met. */
	assert_in_range(reported.functions, NAMES, THREADS * NAMES);
	assert_in_range(reported.launches, NAMES, THREADS * NAMES);
	for (int i = 0; i < NAMES; i++)
		assert_true(reported.names[seen[0][i]]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_name_at_two_places),
		cmocka_unit_test(other_name_at_the_same_place),
		cmocka_unit_test(long_names),
		cmocka_unit_test(many_launches),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(several_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
