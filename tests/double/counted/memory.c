/* Memory of the host that Sonde asks for, and may not get: COUNTED_FAULT=malloc:nth:1, as calls of the driver's. */
#include <stdlib.h>

#include "counted.h"

#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static int is_looked_at;

/* What is asked for before that is the loader's. */
__attribute__((constructor)) static void begin(void)
{
	is_looked_at = getenv("COUNTED_FAULT") || getenv("COUNTED_CALLS");
}

static int fails(const char *function, void *caller)
{
	static __thread int is_within;
	int result = 0;

	if (!is_looked_at || is_within)
		return 0;
	is_within = 1;
	result = counted_fault(function, caller);
	is_within = 0;
	return result;
}

EXPORT void *malloc(size_t size)
{
	return fails("malloc", __builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
	return fails("calloc", __builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

EXPORT void *realloc(void *memory, size_t size)
{
	return fails("realloc", __builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}
