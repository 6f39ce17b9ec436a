/* Stacks, stored once: frames are (module, offset), a stack is a node of one tree of all callers
 * in the report (tables FRAME and STACK). */
#ifndef SONDE_RECORD_STACKS_STACKS_H
#define SONDE_RECORD_STACKS_STACKS_H

#include <stdint.h>

#include "record/session/address_space.h"

/* The id of a stack, for columns that refer to STACK; 0 for an empty one or without memory. */
uint64_t stacks_intern(struct session *s, struct space *space, const struct stack_walk *walk);

/* The frame.id of an instruction; 0 without memory. */
uint32_t stacks_frame(struct session *s, struct space *space, uint64_t pc);

void stacks_release(struct session *s);

/* At the end of a recording: names for all frames (tables SYMBOL and FRAME_SYMBOL), as far as they can
 * be found. In record/stacks/symbols.c. */
void stacks_resolve(struct session *s, const char *debug_folders);

#endif
