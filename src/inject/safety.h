/* Whether a thread that was stopped may be borrowed: whether it is in the middle of nothing that starting a thread needs. */
#ifndef SONDE_INJECT_SAFETY_H
#define SONDE_INJECT_SAFETY_H

#include <stdint.h>
#include <sys/types.h>

#include "base/arch_borrow.h"
#include "inject/image.h"

struct safety;

/* The image must outlive it. */
int safety_new(struct safety **ret, struct image *image, struct error *err);
void safety_free(struct safety *s);

/* NULL: it may be. Otherwise why not: half a sentence. The thread is stopped; `frame_room` is how much stack must be there to write on. */
const char *safety_check(struct safety *s, pid_t thread, const arch_thread_registers *r, size_t frame_room);

#endif
