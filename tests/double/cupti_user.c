/* A library of the program that uses CUPTI itself, as torch.profiler does: linked with it, loaded into a scope of its own, with a clock
 * of its own that is told first. What does not lie within its own time by that clock does not count. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "vendor/cupti/cupti.h"
#include "vendor/cupti/activity.h"

#define CUPTI_FUNCTION(needed, name, parameters) int name parameters;
#include "vendor/cupti/functions.def"
#undef CUPTI_FUNCTION

void cupti_user_begin(void);
void cupti_user_end(void);

enum { KIND_RUNTIME = 5, KIND_CONCURRENT_KERNEL = 10 };

static void *subscriber;
static unsigned long calls, kernels;
static uint64_t began;

static void ignore(void *user, int domain, uint32_t id, const void *data)
{
}

/* Far from what any other clock says. */
static uint64_t stamp(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1000000000000000u + (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int is_in_time(uint64_t time)
{
	return time >= began && time <= stamp();
}

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*size = 65536;
	*buffer = malloc(*size);
	*max_records = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct cupti_record *record = NULL;

	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_OK) {
		if (*(const uint32_t *)record == KIND_RUNTIME)
			calls += is_in_time(((const struct cupti_api *)record)->start);
		else if (*(const uint32_t *)record == KIND_CONCURRENT_KERNEL)
			kernels += is_in_time(((const struct cupti_kernel *)record)->start);
	}
	free(buffer);
}

void cupti_user_begin(void)
{
	int result;

	began = stamp();
	cuptiActivityRegisterTimestampCallback(stamp);
	result = cuptiSubscribe(&subscriber, ignore, NULL);
	calls = kernels = 0;
	printf("user subscribed %d\n", result);
	fflush(stdout);
	if (result != CUPTI_OK)
		return;
	cuptiActivityRegisterCallbacks(requested, completed);
	cuptiActivityEnable(KIND_RUNTIME);
	cuptiActivityEnable(KIND_CONCURRENT_KERNEL);
}

void cupti_user_end(void)
{
	cuptiActivityDisable(KIND_RUNTIME);
	cuptiActivityDisable(KIND_CONCURRENT_KERNEL);
	cuptiActivityFlushAll(1);
	cuptiUnsubscribe(subscriber);
	printf("user calls %lu kernels %lu\n", calls, kernels);
	fflush(stdout);
}
