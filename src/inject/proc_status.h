/* What /proc says of a process. */
#ifndef SONDE_INJECT_PROC_STATUS_H
#define SONDE_INJECT_PROC_STATUS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_status {
	char state;     /* R, S, D, T, t, Z, X, I */
	uint32_t group; /* the process a thread belongs to */
	uint32_t parent;
	uint32_t tracer;
	uint32_t user; /* effective */
	uint32_t threads;
	uint32_t seccomp; /* 0, 1 strict, 2 filter */
	uint32_t filters; /* how many; 0 also where the kernel does not tell */
	uint8_t has_memory;
	uint8_t kernel; /* a thread of the kernel */
	uint8_t shadow_stack;
	char name[64];
};

/* Of a process, or of one of its threads. -ESRCH. */
int proc_status_read(pid_t pid, struct proc_status *ret);
/* The numbers of its threads, to be freed; how many, or a negative errno. */
ssize_t proc_threads(pid_t pid, pid_t **ret);

/* A thread of the process that has not ended: the first may have, before the others, and /proc
 * tells little of it then. -ESRCH: none. */
pid_t proc_living_thread(pid_t pid);

#endif
