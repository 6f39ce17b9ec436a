/* Address spaces: what code is mapped where in a process, as far as perf's side-band, the agent
 * and /proc tell. From an address to (module, offset), and from a copied stack to the
 * addresses of its callers. */
#ifndef SONDE_RECORD_SESSION_ADDRESS_SPACE_H
#define SONDE_RECORD_SESSION_ADDRESS_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/unwind/unwind.h"

struct session;
struct space;

/* Frames of one stack that are looked at; what lies beyond is cut, and marked so. */
#define STACK_MAX_FRAMES 512

/* Program counters, leaf first: those of the kernel, then the program's. The first one of each part
 * was executing; the others are return addresses. Where a signal interrupted, and where its handler
 * will return to, is given plus one, as if it were a return address. */
struct stack_walk {
	uint32_t count;
	uint32_t kernel; /* how many of them are the kernel's */
	uint8_t cut;     /* the outermost callers are missing */
	uint64_t pcs[STACK_MAX_FRAMES];
};

struct space_mapping {
	int64_t time; /* ns since the session started */
	uint64_t address;
	uint64_t size;
	uint64_t offset;         /* in the file */
	const char *path;        /* as the process sees it; "[vdso]", "//anon" ... as perf writes them */
	const uint8_t *build_id; /* NULL: not told */
	size_t build_id_size;
	uint64_t device; /* 0: not told */
	uint64_t inode;
};

/* The space of a process life (uid), made at first use. `pid` is where /proc is asked, in the
 * recorder's namespace; 0 = nowhere. NULL only without memory, and then everything below does
 * nothing. */
struct space *space_of(struct session *s, uint64_t process, uint32_t pid);
/* A child begins with what its parent has. */
void space_fork(struct session *s, uint64_t parent, uint64_t child, uint32_t child_pid);
/* The process is gone; what its stacks need is kept. */
void space_end(struct session *s, uint64_t process);

/* Code was mapped. Replaces what overlaps; the same mapping again changes nothing. */
void space_map(struct session *s, struct space *space, const struct space_mapping *mapping);

/* Appends the callers found in a copy of the stack to `walk`: registers, unwind tables of the
 * mapped files (cached), frame pointers where there are none. Stops at the root, or where
 * nothing more can be found (walk->cut). */
void space_unwind(struct session *s, struct space *space, const struct stack_copy *copy, struct stack_walk *walk);

/* All spaces of the session. */
struct spaces;
void spaces_release(struct session *s);

#endif
