/* The threads of a process that runs, and of the processes below it, as /proc tells. */
#ifndef SONDE_RECORD_SESSION_PROCESS_TREE_H
#define SONDE_RECORD_SESSION_PROCESS_TREE_H

#include <stddef.h>
#include <stdint.h>

struct tree_thread {
	uint32_t pid;
	uint32_t tid;
	uint32_t parent; /* of the process */
	uint64_t start;  /* ticks since boot */
	uint8_t ended;   /* a zombie: the first thread, others may live */
};

struct tree {
	struct tree_thread *threads; /* by process; that which was asked for comes first */
	size_t count;
	size_t cap;
};

/* What is in /proc/PID/stat. */
struct tree_stat {
	char state;
	uint32_t parent;
	uint64_t flags; /* the kernel's PF_ bits */
	uint64_t start;
};
int tree_read_stat(const char *path, struct tree_stat *ret);

/* 0, -ESRCH when there is no such process, or -ENOMEM. */
int tree_read(struct tree *ret, uint32_t pid, int with_children);
void tree_release(struct tree *tree);

#endif
