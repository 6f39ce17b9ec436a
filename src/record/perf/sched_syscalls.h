/* Which system call a thread was in, from the kernel's part of its stack. */
#ifndef SONDE_RECORD_PERF_SCHED_SYSCALLS_H
#define SONDE_RECORD_PERF_SCHED_SYSCALLS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "record/perf/sched.h"

struct kallsyms;

/* What a function of the kernel says about what a thread is in. */
enum kernel_place {
	PLACE_NOTHING,
	PLACE_ENTRY,   /* what it calls carries out the system call */
	PLACE_SYSCALL, /* it is a system call's own function: `name` is the call's */
	PLACE_FAULT,
	PLACE_EXIT
};

/* `name` has room for `size` bytes; it gets the function's name without what the kernel puts
 * around the names of system calls. */
enum kernel_place kernel_place(const char *symbol, char *name, size_t size);

struct sched_syscalls {
	const char *path; /* NULL: /proc/kallsyms */
	struct kallsyms *symbols;
	int tried;
	pthread_t loader;
	int loading; /* the loader was started and not waited for yet */
	_Atomic int loaded;
	/* Until the names are read: stacks whose name is asked for, each with its length before it. */
	int later;
	uint64_t *stacks;
	size_t stacks_used, stacks_cap;
	struct idmap known_stacks; /* hash -> place */
	struct idmap places;       /* address -> enum kernel_place */
	struct idmap names;        /* address -> string id */
	/* How the names become string ids. */
	uint64_t (*intern)(void *context, const char *text);
	void *context;
};

/* Reads the kernel's names in a thread of its own: there are a hundred thousand of them. */
void sched_syscalls_start(struct sched_syscalls *s);
int sched_syscalls_ready(const struct sched_syscalls *s);
void sched_syscalls_wait(struct sched_syscalls *s);

/* Frames are leaf first. Returns a string id; 0 when nothing is known. With `later`, nothing is read
 * for it: the answer is a number with SCHED_UNNAMED, for sched_syscalls_name(). */
uint64_t sched_syscalls_find(struct sched_syscalls *s, const uint64_t *frames, size_t count);
/* Reads the names if nobody did. */
uint64_t sched_syscalls_name(struct sched_syscalls *s, uint64_t later);
void sched_syscalls_release(struct sched_syscalls *s);

#endif
