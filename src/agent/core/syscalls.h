/* Raw system calls: they leave errno alone, are no cancellation points, cannot be
 * interposed (not even by us), and are safe in a vfork child. Results are
 * negative errno values on failure. */
#ifndef SONDE_AGENT_CORE_SYSCALLS_H
#define SONDE_AGENT_CORE_SYSCALLS_H

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/system/arch.h"

static inline long raw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	return arch_syscall(number, a, b, c, d, e, f);
}

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static inline int raw_getpid(void)
{
	return (int)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}
static inline int raw_getppid(void)
{
	return (int)raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
}
static inline int raw_gettid(void)
{
	return (int)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}
static inline int raw_close(int fd)
{
	return (int)raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline void *raw_mmap(void *where, size_t size, int protection, int flags, int fd, long offset)
{
	return (void *)raw_syscall(SYS_mmap, (long)where, (long)size, protection, flags, fd, offset);
}

static inline int raw_failed(const void *mapping)
{
	return (uintptr_t)mapping >= (uintptr_t)-4095;
}

static inline int raw_madvise(void *where, size_t size, int advice)
{
	return (int)raw_syscall(SYS_madvise, (long)where, (long)size, advice, 0, 0, 0);
}

/* Whether these 8 bytes can be read. The kernel reads them as a set of signals, and then finds that it
 * knows of no such thing to do with it. */
static inline int raw_readable(const void *address)
{
	return raw_syscall(SYS_rt_sigprocmask, -1, (long)address, 0, 8, 0, 0) == -EINVAL;
}

static inline void raw_thread_name(char name[16])
{
	raw_syscall(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
}

static inline void raw_futex_wake(void *word)
{
	raw_syscall(SYS_futex, (long)word, FUTEX_WAKE, 1, 0, 0, 0);
}

#endif
