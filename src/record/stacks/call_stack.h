/* Stacks that a thread wrote into its ring (RECORD_STACK) and the call they belong to: gathered, unwound, interned. */
#ifndef SONDE_RECORD_STACKS_CALL_STACK_H
#define SONDE_RECORD_STACKS_CALL_STACK_H

#include "record/session/session.h"

/* A piece of a stack; `size` is the record's, checked. -EBADMSG when it makes no sense. */
int call_stack_record(struct traced_thread *t, const uint8_t *bytes, uint32_t size);
/* The id of the stack that the thread wrote last, if it is whole and has this time (ticks): callers of our own code, at
 * most `depth` of them. 0 otherwise. */
uint64_t call_stack_take(struct session *s, struct traced_process *p, struct traced_thread *t, uint64_t time, uint32_t depth);
void call_stack_release(struct traced_thread *t);

/* Code was mapped: our libraries, and CUPTI's which call them, are remembered: their frames are not the program's. */
void call_stack_module(struct traced_process *p, const char *path, uint64_t start, uint64_t end);

#endif
