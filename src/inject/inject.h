/* Calling a function in a program that runs and was not prepared for it (docs/attach.md, "How a
 * thread is borrowed"). */
#ifndef SONDE_INJECT_INJECT_H
#define SONDE_INJECT_INJECT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Why no library can be loaded into a process that could otherwise be looked at. */
enum inject_obstacle {
	INJECT_NO_OBSTACLE = 0,
	INJECT_STATIC,     /* no dynamic linker in it */
	INJECT_OTHER_LIBC, /* musl, bionic */
	INJECT_32BIT,
	INJECT_SANITIZER,     /* its threads must be started by it */
	INJECT_SECCOMP,       /* system calls are filtered, and not as ours are */
	INJECT_NAMESPACE,     /* it sees other files, another network or other processes */
	INJECT_SHADOW_STACK,  /* the CPU checks where functions return to */
	INJECT_SHARED_MEMORY, /* it runs in its parent's, between vfork() and exec() */
	INJECT_STOPPED        /* by job control: nothing in it runs */
};

struct inject_report {
	enum inject_obstacle obstacle;
	char reason[256]; /* half a sentence: "is statically linked"; empty without an obstacle */
	uint32_t tracer;  /* 0: none */
	char tracer_name[32];
	uint32_t threads;
};

/* May this process be visited? 0: *ret says whether a library can be loaded. Otherwise, with one
 * sentence in *err:
 *   -ESRCH    there is none, or it has ended
 *   -ECHILD   it has ended and waits for its parent (a zombie)
 *   -EINVAL   the number is that of one of its threads, or of the caller
 *   -ENOTSUP  it is a thread of the kernel
 *   -EPERM    no permission; the sentence names which one is missing
 *   -EBUSY    it is traced by another (ret->tracer) */
int inject_examine(pid_t pid, struct inject_report *ret, struct error *err);

/* In the process: dlopen(library), then function(copy of the argument), an `int function(const void
 * *)`, in a thread of its own that ends afterwards. *ret_value is what it returned. The library stays
 * loaded. Other errors than those of inject_examine():
 *   -ENOEXEC    a library cannot be loaded (the obstacle)
 *   -EAGAIN     no thread could be borrowed in time: each was in the linker, the allocator or so
 *   -ELIBACC    dlopen() or dlsym() failed; the sentence holds what dlerror() said
 *   -ETIMEDOUT  the function did not return in time; it may do so later
 *   -ESRCH      the process ended meanwhile
 *   -EOWNERDEAD it died after something in it had been changed, of a signal as faults bring it about
 *   -ENODATA    it ended then, and how is not known
 * The work is done by a child process of the caller, which has ended when this returns. */
int inject_call(pid_t pid, const char *library, const char *function, const void *argument, size_t size, int timeout_ms, int64_t *ret_value,
		struct error *err);

#endif
