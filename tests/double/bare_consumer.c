/* The least a tool can do with CUPTI: API calls and GPU work, records thrown away. What Sonde's cost is compared with, and
 * the test of the double itself: BARE_COUNTS names a file for how many of each kind came. BARE_NOTHING: subscribes only. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/system/arch.h"
#include "vendor/cupti/cupti.h"

int InitializeInjection(void);

static struct cupti cupti;
static unsigned long counts[64];
/* Buffers are used again: new ones would cost page faults. */
#define KEPT 16
static _Atomic(uint8_t *) kept[KEPT];

static void ignore(void *user, int domain, uint32_t id, const void *data)
{
}

/* As Sonde's. */
static uint64_t now(void)
{
	return arch_cycles();
}

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*size = 8 << 20;
	*buffer = NULL;
	*max_records = 0;
	for (int i = 0; i < KEPT && !*buffer; i++)
		*buffer = atomic_exchange(&kept[i], NULL);
	if (!*buffer)
		*buffer = malloc(*size);
}

static void keep(uint8_t *buffer)
{
	for (int i = 0; i < KEPT; i++) {
		uint8_t *none = NULL;

		if (atomic_compare_exchange_strong(&kept[i], &none, buffer))
			return;
	}
	free(buffer);
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct cupti_record *record = NULL;

	while (cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_OK)
		counts[*(const uint32_t *)record % 64]++;
	keep(buffer);
}

static void finish(void)
{
	const char *path = getenv("BARE_COUNTS");
	FILE *file;

	cupti.cuptiActivityFlushAll(1);
	file = path ? fopen(path, "we") : NULL;
	for (int i = 0; file && i < 64; i++)
		if (counts[i])
			fprintf(file, "%d %lu\n", i, counts[i]);
	if (file)
		fclose(file);
}

int InitializeInjection(void)
{
	static const int kinds[] = { 1, 2, 5, 10, 22, 36, 38 };
	void *subscriber;

	cupti.library = dlopen(getenv("SONDE_CUPTI"), RTLD_NOW);
	if (!cupti.library)
		return 0;
#define CUPTI_FUNCTION(needed, name, parameters) *(void **)&cupti.name = dlsym(cupti.library, #name);
#include "vendor/cupti/functions.def"
#undef CUPTI_FUNCTION
	cupti.cuptiSubscribe(&subscriber, ignore, NULL);
	cupti.cuptiActivityRegisterTimestampCallback(now);
	cupti.cuptiSetThreadIdType(1);
	cupti.cuptiActivityRegisterCallbacks(requested, completed);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !getenv("BARE_NOTHING"); i++)
		cupti.cuptiActivityEnable(kinds[i]);
	atexit(finish);
	return 1;
}
