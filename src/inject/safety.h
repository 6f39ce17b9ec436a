/* Whether a thread that was stopped may be borrowed: whether it is in the middle of nothing that
 * starting a thread needs. */
#ifndef SONDE_INJECT_SAFETY_H
#define SONDE_INJECT_SAFETY_H

#include <stdint.h>
#include <sys/types.h>

#include "base/system/arch_borrow.h"
#include "inject/image.h"

struct safety;

/* The image must outlive it. */
int safety_new(struct safety **ret, struct image *image, struct error *err);
void safety_free(struct safety *s);

/* Takes down where a thread is, which must be stopped. `frame_room` is how much of its stack will
 * be written on. */
void safety_look(struct safety *s, pid_t thread, const arch_thread_registers *r, size_t frame_room);
/* About what was seen last: NULL when the thread may be borrowed there, otherwise why not, as half
 * a sentence. The thread need not be stopped meanwhile: the first time this reads files. */
const char *safety_judge(struct safety *s);

#endif
