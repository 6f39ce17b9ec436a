/* Ends of a process that run no exit handlers: _exit, _Exit, quick_exit, and becoming another
 * program (exec.c). */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/core/state.h"
#include "agent/core/syscalls.h"
#include "agent/core/wrappers.h"
#include "base/macros.h"

/* Other libraries of ours that want to know: there are not many. */
#define LISTENERS 4

typedef void (*leaving_fn)(void);
typedef void (*exit_fn)(int);

static struct {
	_Atomic uint32_t pid;
	_Atomic(leaving_fn) listeners[LISTENERS];
} leaving;

static struct {
	exit_fn exit_now;
	exit_fn exit_now_too;
	exit_fn quick_exit;
} real;

int agent_on_leaving(void (*listener)(void))
{
	leaving_fn none;

	atomic_store(&leaving.pid, (uint32_t)raw_getpid());
	for (unsigned i = 0; i < LISTENERS; i++) {
		none = NULL;
		if (atomic_load(&leaving.listeners[i]) == listener ||
		    atomic_compare_exchange_strong(&leaving.listeners[i], &none, listener))
			return 0;
	}
	return -ENOSPC;
}

void agent_leaving(void)
{
	int saved_errno = errno;
	leaving_fn listener;

	/* No system call before it is known that there may be one. */
	if (!atomic_load(&leaving.listeners[0]) || !agent_attached() || atomic_load(&leaving.pid) != (uint32_t)raw_getpid())
		return;
	for (unsigned i = 0; i < LISTENERS; i++) {
		listener = atomic_load(&leaving.listeners[i]);
		if (listener)
			listener();
	}
	errno = saved_errno;
}

static void end_process(exit_fn function, int status)
{
	agent_leaving();
	if (function)
		function(status);
	for (;;)
		raw_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

AGENT_EXPORT void _exit(int status)
{
	agent_wrappers_resolve();
	end_process(real.exit_now, status);
	__builtin_unreachable();
}

AGENT_EXPORT void _Exit(int status)
{
	agent_wrappers_resolve();
	end_process(real.exit_now_too, status);
	__builtin_unreachable();
}

AGENT_EXPORT void quick_exit(int status)
{
	agent_wrappers_resolve();
	end_process(real.quick_exit, status);
	__builtin_unreachable();
}

static const struct agent_wrapper wrappers[] = {
	{ "_exit", ARCH_GLIBC_FIRST, (void **)&real.exit_now },
	{ "_Exit", ARCH_GLIBC_FIRST, (void **)&real.exit_now_too },
	{ "quick_exit", NULL, (void **)&real.quick_exit },
};

const struct agent_part agent_part_leave = { .wrappers = wrappers, .wrapper_count = COUNT_OF(wrappers) };
