/* A library of the program that uses CUPTI itself, as torch.profiler does: linked with it, loaded into a scope of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "vendor/cupti.h"

#define CUPTI_FUNCTION(needed, name, parameters) int name parameters;
#include "vendor/cupti_functions.def"
#undef CUPTI_FUNCTION

void cupti_user_begin(void);
void cupti_user_end(void);

enum { KIND_RUNTIME = 5, KIND_CONCURRENT_KERNEL = 10 };

static void *subscriber;
static unsigned long calls, kernels;

static void ignore(void *user, int domain, uint32_t id, const void *data)
{
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
			calls++;
		else if (*(const uint32_t *)record == KIND_CONCURRENT_KERNEL)
			kernels++;
	}
	free(buffer);
}

void cupti_user_begin(void)
{
	int result = cuptiSubscribe(&subscriber, ignore, NULL);

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
