/* A program that uses CUPTI itself: the calls such a one begins and ends with pass through here, so
 * that our own use, of which there can be only one at a time, makes room for it (docs/cuda.md).
 *
 * CUPTI is usually loaded out of sight of the global scope, as a dependency of somebody's library:
 * the real function is the one that the calling library sees. A call that was a jump does not show
 * who made it: then it is the library used last, or the one that is loaded. */
#include <errno.h>
#include <link.h>
#include <string.h>

#include "agent/core/interface.h"
#include "agent/core/state.h"
#include "base/text/path.h"
#include "vendor/cupti/cupti.h"
#include "vendor/dl.h"

static _Atomic(const struct agent_cupti_listener *) listener;

void agent_on_cupti_use(const struct agent_cupti_listener *wanted)
{
	atomic_store(&listener, wanted);
}

/* CUPTI calling itself is nobody's use of it. */
static int is_cupti(const char *path)
{
	return strncmp(path_name(path), "libcupti.so", 11) == 0;
}

/* Jumps out of CUPTI look like calls by whoever called it. */
static int is_sonde_library(const char *path)
{
	return strncmp(path_name(path), "libsonde", 8) == 0;
}

static _Atomic(void *) last_real;

static void *find_in(const char *library, const char *name)
{
	void *handle = library ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL, *real;

	if (!handle)
		return NULL;
	real = dlsym(handle, name);
	dlclose(handle);
	return real;
}

static int find_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	const char **path = context;

	(void)size;
	if (!info->dlpi_name || !is_cupti(info->dlpi_name))
		return 0;
	*path = info->dlpi_name;
	return 1;
}

static void *find_real(const char *name, const char *library, void *ours)
{
	void *real = dlsym(RTLD_NEXT, name);
	const char *loaded = NULL;
	Dl_info last = { 0 };

	if (!real)
		real = find_in(library, name);
	if ((!real || real == ours) && atomic_load(&last_real) && dladdr(atomic_load(&last_real), &last))
		real = find_in(last.dli_fname, name);
	if (!real || real == ours) {
		dl_iterate_phdr(find_loaded, &loaded);
		real = find_in(loaded, name);
	}
	if (real == ours)
		real = NULL;
	if (real)
		atomic_store(&last_real, real);
	return real;
}

/* Who calls, and what was meant. NULL: the function is nowhere to be seen. */
static void *begin_use(const char *name, void *ours, const void *caller, int uses)
{
	const struct agent_cupti_listener *reported = atomic_load(&listener);
	Dl_info info = { 0 };
	const char *library;
	void *real;
	int saved_errno = errno;

	if (!dlsym || !dlopen || !dladdr || !dlclose)
		return NULL;
	library = dladdr(caller, &info) && info.dli_fname ? info.dli_fname : NULL;
	real = find_real(name, library, ours);
	if (real && uses && reported && !(library && (is_cupti(library) || is_sonde_library(library))))
		reported->used(name, library ? library : "the program");
	errno = saved_errno;
	return real;
}

static void end_use(int result)
{
	const struct agent_cupti_listener *reported = atomic_load(&listener);

	if (result == CUPTI_OK && reported)
		reported->released();
}

#define BEGIN_USE(name) begin_use(#name, (void *)name, __builtin_return_address(0), 1)
#define BEGIN_RELEASE(name) begin_use(#name, (void *)name, __builtin_return_address(0), 0)

int cuptiSubscribe(void **subscriber, cupti_callback *callback, void *user);
int cuptiSubscribe_v2(void **subscriber, cupti_callback *callback, void *user, void *parameters);
int cuptiActivityRegisterCallbacks(cupti_buffer_requested *requested, cupti_buffer_completed *completed);
int cuptiActivityRegisterTimestampCallback(uint64_t (*stamp)(void));
int cuptiActivityEnable(int kind);
int cuptiActivityEnableContext(void *context, int kind);
int cuptiUnsubscribe(void *subscriber);
int cuptiFinalize(void);

AGENT_EXPORT int cuptiSubscribe(void **subscriber, cupti_callback *callback, void *user)
{
	int (*real)(void **, cupti_callback *, void *) = BEGIN_USE(cuptiSubscribe);

	return real ? real(subscriber, callback, user) : CUPTI_NOT_INITIALIZED;
}

AGENT_EXPORT int cuptiSubscribe_v2(void **subscriber, cupti_callback *callback, void *user, void *parameters)
{
	int (*real)(void **, cupti_callback *, void *, void *) = BEGIN_USE(cuptiSubscribe_v2);

	return real ? real(subscriber, callback, user, parameters) : CUPTI_NOT_INITIALIZED;
}

AGENT_EXPORT int cuptiActivityRegisterCallbacks(cupti_buffer_requested *requested, cupti_buffer_completed *completed)
{
	int (*real)(cupti_buffer_requested *, cupti_buffer_completed *) = BEGIN_USE(cuptiActivityRegisterCallbacks);

	return real ? real(requested, completed) : CUPTI_NOT_INITIALIZED;
}

/* torch.profiler begins with it: were we to go only afterwards, its clock would go with us. */
AGENT_EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*stamp)(void))
{
	int (*real)(uint64_t(*)(void)) = BEGIN_USE(cuptiActivityRegisterTimestampCallback);

	return real ? real(stamp) : CUPTI_NOT_INITIALIZED;
}

AGENT_EXPORT int cuptiActivityEnable(int kind)
{
	int (*real)(int) = BEGIN_USE(cuptiActivityEnable);

	return real ? real(kind) : CUPTI_NOT_INITIALIZED;
}

AGENT_EXPORT int cuptiActivityEnableContext(void *context, int kind)
{
	int (*real)(void *, int) = BEGIN_USE(cuptiActivityEnableContext);

	return real ? real(context, kind) : CUPTI_NOT_INITIALIZED;
}

AGENT_EXPORT int cuptiUnsubscribe(void *subscriber)
{
	int (*real)(void *) = BEGIN_RELEASE(cuptiUnsubscribe);
	int result = real ? real(subscriber) : CUPTI_NOT_INITIALIZED;

	end_use(result);
	return result;
}

AGENT_EXPORT int cuptiFinalize(void)
{
	int (*real)(void) = BEGIN_RELEASE(cuptiFinalize);
	int result = real ? real() : CUPTI_NOT_INITIALIZED;

	end_use(result);
	return result;
}
