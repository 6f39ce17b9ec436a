/* What address_space.c, address_space_proc.c and stacks.c share. */
#ifndef SONDE_RECORD_SESSION_ADDRESS_SPACE_INTERNAL_H
#define SONDE_RECORD_SESSION_ADDRESS_SPACE_INTERNAL_H

#include "base/idmap.h"
#include "record/session/module.h"
#include "record/session/address_space.h"

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	int64_t time;
	struct module *module;
	uint64_t bias;   /* pc - bias = ELF address; set when used is */
	uint8_t used;    /* a frame lies in it: it has a row */
	uint8_t nowhere; /* this part of the file belongs nowhere in memory */
};

/* Sorted, without overlaps; shared by processes that were forked until one changes it. */
struct mapping_set {
	uint32_t refs;
	uint32_t count;
	uint32_t cap;
	uint64_t generation; /* another one whenever the mappings change, never used twice */
	struct mapping *mappings;
};

struct space {
	uint64_t process;
	uint32_t pid;
	uint8_t ended;
	int64_t maps_read; /* CLOCK_MONOTONIC of the last look at /proc/PID/maps; 0 = never */
	struct mapping_set *set;
};

struct spaces {
	struct idmap by_process; /* uid -> struct space */
	struct modules *modules;
	struct unwinder *unwinder; /* made when first needed */
	uint64_t *ended;           /* uids, the oldest of the last few is dropped next */
	uint64_t ended_count;
	uint64_t generations;
};

/* The mapping an address lies in, ready for use, or NULL. `sure`: there is code at the address, so
 * a mapping that is not known is worth a look into /proc. */
struct mapping *space_lookup(struct session *s, struct space *space, uint64_t pc, int sure);

/* Where an address is, as FRAME has it; module 0 where nothing is mapped. */
struct code_address {
	uint64_t module;
	uint64_t offset;
};

void space_place(struct session *s, struct space *space, uint64_t pc, struct code_address *ret);
uint64_t space_generation(const struct space *space);

/* address_space_proc.c: takes what /proc/PID/maps has; 0 when it was not read (too soon again, no process). */
int space_read_maps(struct session *s, struct space *space);

#endif
