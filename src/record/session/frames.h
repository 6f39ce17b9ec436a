/* What is known about frames when a recording ends, for those who name them (record/stacks/symbols.c). */
#ifndef SONDE_RECORD_SESSION_FRAMES_H
#define SONDE_RECORD_SESSION_FRAMES_H

#include <stdint.h>

#include "record/session/module.h"

/* MODULE_OTHER, no file: the frame at the root of a stack whose outermost callers are missing. */
#define STACKS_CUT "[truncated]"

struct stack_frame {
	uint64_t offset; /* FRAME.offset */
	uint32_t module; /* uid; 0 where nothing was mapped */
};

/* All frames: number i has the id i + 1. */
const struct stack_frame *stacks_frames(const struct session *s, uint32_t *ret_count);

/* All modules in which frames lie: modules_count(), modules_at() (number i has the uid i + 1) and module_file()
 * of record/session/module.h take this. NULL when nothing was ever mapped.
 *
 * A MODULE_OTHER with a build-id is a file that could not be read (gone, replaced): the offsets of its frames
 * are offsets in the file, and elf_file_address() of a file with that build-id makes addresses of them. */
struct modules *spaces_modules(struct session *s);

#endif
