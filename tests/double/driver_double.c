/* What a program looks up in the CUDA driver: one function by dlsym(), the others with that one. */
#include <stdint.h>
#include <string.h>

static int starts, stops, made;

static int profiler_start(void)
{
	starts++;
	return 0;
}

static int profiler_stop(void)
{
	stops++;
	return 0;
}

/* Says whether its arguments came through as they were given. */
static int make(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g)
{
	made++;
	return a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 ? 0 : 1;
}

__attribute__((visibility("default"))) int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
							       int *status);

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status)
{
	(void)version;
	(void)flags;
	*status = 0;
	*function = !strcmp(symbol, "cuProfilerStart") ? (void *)profiler_start :
		    !strcmp(symbol, "cuProfilerStop")  ? (void *)profiler_stop :
							 (void *)make;
	return 0;
}

__attribute__((visibility("default"))) void driver_double_counts(int *ret);

void driver_double_counts(int *ret)
{
	ret[0] = starts;
	ret[1] = stops;
	ret[2] = made;
}
