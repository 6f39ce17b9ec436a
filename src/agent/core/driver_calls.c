/* The calls of the CUDA driver by which a program opens and closes windows, and by which it makes what we want to know of: while
 * windows are waited for they pass through here, so that CUPTI, which slows every launch down as long as it is there at all, can be
 * away meanwhile (docs/cuda.md).
 *
 * The runtime, linked into the program or not, looks the driver's functions up: one with dlsym(), the others with that one. So
 * dlsym() is ours; everything but those few names goes on to the real one as if it had not passed. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/core/interface.h"
#include "agent/core/state.h"
#include "agent/core/wrappers.h"
#include "base/macros.h"
#include "vendor/dl.h"

#define NOT_INITIALIZED 3 /* CUDA_ERROR_NOT_INITIALIZED */
#define VERSION_WITH_STATUS 12000
#define STUBS 128

typedef void *symbol_finder(void *handle, const char *name);
typedef int profiler_call(void);
typedef int address_getter(const char *symbol, void **function, int version, uint64_t flags);
typedef int address_getter_2(const char *symbol, void **function, int version, uint64_t flags, int *status);

static symbol_finder *real_dlsym;
static _Atomic(const struct agent_driver_listener *) listener;
static _Atomic int heard; /* somebody has got our functions in place of the driver's */
static _Atomic(void *) real_start, real_stop, real_get, real_get_2;
static _Atomic(void *) made_by[STUBS]; /* the real functions behind the stubs */

static const struct agent_wrapper wrappers[] = { { "dlsym", NULL, (void **)&real_dlsym } };
const struct agent_part agent_part_driver = { .wrappers = wrappers, .wrapper_count = 1 };

/* Functions that make contexts, streams, modules, graphs or managed memory; an asterisk stands for any rest. */
/* clang-format off */
static const char *const makers[] = {
	"cuCtxCreate*",	   "cuDevicePrimaryCtxRetain", "cuGreenCtxCreate*", "cuStreamCreate*",	    "cuGreenCtxStreamCreate",
	"cuModuleLoad*",   "cuLibraryLoad*",	       "cuGraphCreate",	    "cuStreamBeginCapture*", "cuGraphClone",
	"cuGraphAdd*",	   "cuGraphInstantiate*",      "cuMemAllocManaged",
};
/* clang-format on */

int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status);
int cuProfilerStart(void);
int cuProfilerStop(void);
extern const char agent_driver_stubs[] __attribute__((visibility("hidden")));
void *agent_driver_stub(uint64_t number) __attribute__((visibility("hidden")));
/* Python looks for the entry of an extension when it has loaded it. */
static int is_python_entry(const char *name)
{
	static const char entry[] = "PyInit_";

	return name && name[0] == 'P' && strncmp(name, entry, sizeof(entry) - 1) == 0;
}

void *agent_choose_dlsym(void *handle, const char *name) __attribute__((visibility("hidden")));

ARCH_STUBS(agent_driver_stubs, 128, agent_driver_stub);

/* Where a window is open from the beginning CUPTI has no reason to be away. */
static int is_driver_wanted(void)
{
	const struct ring_session *session = &agent_pages.session;

	return agent_attached() &&
	       (session->cuda_flags & RING_CUDA_PROFILER_API || (session->modules & RING_GATE_CUDA && atomic_load(&session->gate) == 0));
}

static int matches(const char *pattern, const char *name)
{
	size_t length = strlen(pattern);

	return pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0 : strcmp(pattern, name) == 0;
}

static int is_maker(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(makers); i++)
		if (matches(makers[i], name))
			return 1;
	return 0;
}

static int has_driver_wrapper(const char *name)
{
	return name && name[0] == 'c' && name[1] == 'u' &&
	       (matches("cuGetProcAddress*", name) || !strcmp(name, "cuProfilerStart") || !strcmp(name, "cuProfilerStop") ||
		is_maker(name));
}

void *agent_driver_stub(uint64_t number)
{
	const struct agent_driver_listener *reported = atomic_load(&listener);
	int saved_errno = errno;

	if (reported)
		reported->making();
	errno = saved_errno;
	return atomic_load(&made_by[number]);
}

/* One stub for each function, whoever asks; without one left it stays the driver's. */
static void *stub_for(void *real)
{
	for (unsigned i = 0; i < STUBS; i++) {
		void *expected = NULL;

		if (atomic_compare_exchange_strong(&made_by[i], &expected, real) || expected == real)
			return (void *)(uintptr_t)(agent_driver_stubs + i * ARCH_STUB_SIZE);
	}
	return real;
}

static void *replace_driver_call(_Atomic(void *) *kept, void *real, void *ours)
{
	if (real == ours)
		return ours;
	atomic_store(kept, real);
	atomic_store(&heard, 1);
	return ours;
}

/* What the program gets in place of a function of the driver. */
static void *stand_in(const char *name, void *real, int version)
{
	if (!strcmp(name, "cuProfilerStart"))
		return replace_driver_call(&real_start, real, (void *)cuProfilerStart);
	if (!strcmp(name, "cuProfilerStop"))
		return replace_driver_call(&real_stop, real, (void *)cuProfilerStop);
	if (!strcmp(name, "cuGetProcAddress_v2") || (!strcmp(name, "cuGetProcAddress") && version >= VERSION_WITH_STATUS))
		return replace_driver_call(&real_get_2, real, (void *)cuGetProcAddress_v2);
	if (!strcmp(name, "cuGetProcAddress"))
		return replace_driver_call(&real_get, real, (void *)cuGetProcAddress);
	return is_maker(name) ? stub_for(real) : real;
}

/* Functions of ours have the names of the driver's: where the program asks whether there are such, it is not us that is meant. */
static int is_this(const void *function)
{
	return function == (void *)cuProfilerStart || function == (void *)cuProfilerStop || function == (void *)cuGetProcAddress ||
	       function == (void *)cuGetProcAddress_v2;
}

static void *find_driver_symbol(void *handle, const char *name)
{
	void *real = real_dlsym(handle, name);

	if (real && is_this(real))
		real = real_dlsym(RTLD_NEXT, name);
	return real && is_driver_wanted() ? stand_in(name, real, 0) : real;
}

static void *find_nothing(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

void *agent_choose_dlsym(void *handle, const char *name)
{
	int saved_errno = errno;

	(void)handle;
	if (!real_dlsym)
		agent_wrappers_resolve();
	if (!real_dlsym)
		agent_wrappers_resolve_missing();
	if (is_python_entry(name))
		agent_program_extended();
	errno = saved_errno;
	if (!real_dlsym)
		return (void *)find_nothing;
	return has_driver_wrapper(name) ? (void *)find_driver_symbol : (void *)real_dlsym;
}

/* Of a program that is linked with the driver itself. */
static void *real_of(_Atomic(void *) *kept, const char *name)
{
	void *real = atomic_load(kept), *library;

	if (real || !dlopen || !real_dlsym)
		return real;
	library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	real = library ? real_dlsym(library, name) : NULL;
	atomic_store(kept, real);
	return real;
}

static int replace_found(int result, const char *symbol, void **function, int version)
{
	if (result == 0 && symbol && function && *function && has_driver_wrapper(symbol) && is_driver_wanted())
		*function = stand_in(symbol, *function, version);
	return result;
}

AGENT_EXPORT int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
	address_getter *real = (address_getter *)real_of(&real_get, "cuGetProcAddress");

	return real ? replace_found(real(symbol, function, version, flags), symbol, function, version) : NOT_INITIALIZED;
}

AGENT_EXPORT int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *status)
{
	address_getter_2 *real = (address_getter_2 *)real_of(&real_get_2, "cuGetProcAddress_v2");

	return real ? replace_found(real(symbol, function, version, flags, status), symbol, function, version) : NOT_INITIALIZED;
}

AGENT_EXPORT int cuProfilerStart(void)
{
	const struct agent_driver_listener *reported = atomic_load(&listener);
	profiler_call *real = (profiler_call *)real_of(&real_start, "cuProfilerStart");
	int result = real ? real() : NOT_INITIALIZED, saved_errno = errno;

	if (reported)
		reported->start();
	errno = saved_errno;
	return result;
}

AGENT_EXPORT int cuProfilerStop(void)
{
	const struct agent_driver_listener *reported = atomic_load(&listener);
	profiler_call *real = (profiler_call *)real_of(&real_stop, "cuProfilerStop");
	int saved_errno = errno;

	if (reported)
		reported->stop();
	errno = saved_errno;
	return real ? real() : NOT_INITIALIZED;
}

int agent_on_driver_calls(const struct agent_driver_listener *wanted)
{
	if (!atomic_load(&heard))
		return 0;
	atomic_store(&listener, wanted);
	return 1;
}
