/* Messages between an agent and its recorder, over a SOCK_SEQPACKET socket in
 * the abstract namespace whose random name is in SONDE_SESSION. The token in
 * each message is the second half of that variable; together with the peer's
 * credentials it keeps other users and other programs out.
 *
 * SONDE_SESSION = 1:<name, 32 hex digits>:<token, 32 hex digits>
 */
#ifndef SONDE_RING_WIRE_H
#define SONDE_RING_WIRE_H

#include <stdint.h>

#define WIRE_ENV "SONDE_SESSION"
#define WIRE_MAGIC 0x31575244u
#define WIRE_NAME_HEX 32
#define WIRE_TOKEN_SIZE 16
#define WIRE_PATH_SIZE 512

enum wire_kind {
	WIRE_ATTACH = 1, /* answered by wire_attach_reply and two descriptors: session, pool */
	WIRE_EXEC = 2,   /* a program is about to be executed; not answered */
	WIRE_SPAWNED = 3 /* posix_spawn returned `child`; not answered */
};

enum wire_origin {
	WIRE_ORIGIN_EXEC = 1, /* the library was loaded into a new program */
	WIRE_ORIGIN_FORK = 2, /* a child that went on without exec */
	WIRE_ORIGIN_LATE = 3  /* loaded by dlopen (NVTX injection) or attach */
};

/* Whether the program's environment carries the agent on. */
enum wire_injected {
	WIRE_INJECTED_NOT = 0,
	WIRE_INJECTED = 1,
	WIRE_INJECTED_NO_ROOM = 3,     /* it does, but limits (stack, descriptors) leave the loader no room for one library more */
	WIRE_INJECTED_OUT_OF_REACH = 2 /* it does, but the library is not there: chroot, other mounts */
};

struct wire_request {
	uint32_t magic;
	uint32_t abi;
	uint32_t kind;   /* enum wire_kind */
	uint32_t origin; /* enum wire_origin */
	uint8_t token[WIRE_TOKEN_SIZE];
	uint32_t pid; /* in the sender's namespace */
	uint32_t ppid;
	uint32_t child;            /* WIRE_SPAWNED */
	uint32_t injected;         /* WIRE_EXEC, WIRE_SPAWNED: enum wire_injected */
	uint64_t parent_process;   /* WIRE_ORIGIN_FORK: process uid the child inherits definitions from */
	uint64_t next_string;      /* WIRE_ORIGIN_FORK: string ids below this are the parent's */
	uint64_t next_domain;      /* the same for domains */
	uint64_t time;             /* ticks */
	uint64_t room;             /* WIRE_ATTACH: bytes of address space that the pool may take; 0: as many as it likes */
	char path[WIRE_PATH_SIZE]; /* executable, NUL-terminated */
};

struct wire_attach_reply {
	uint32_t magic;
	uint32_t status;  /* 0 = welcome, otherwise an errno */
	uint64_t process; /* uid of this life of the process */
	uint64_t pool_size;
	uint32_t prefault_chunks; /* the agent faults these in before it starts */
	uint32_t pad;
};

#endif
