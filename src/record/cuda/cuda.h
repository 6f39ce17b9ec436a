/* CUDA: from what a process's agent tells (fmt/cuda_wire.h) to rows of the tables 38 to 58. docs/cuda.md. */
#ifndef SONDE_RECORD_CUDA_CUDA_H
#define SONDE_RECORD_CUDA_CUDA_H

#include "record/session/session.h"

/* RECORD_CUDA_*; `size` is the record's, checked against the block. -EBADMSG when it makes no sense. */
int cuda_record(struct session *s, struct traced_process *p, const uint8_t *bytes, uint32_t size);
/* RECORD_KERNEL and RECORD_KERNEL_VALUES, as above. */
int cuda_kernel_counters(struct session *s, struct traced_process *p, const uint8_t *bytes, uint32_t size);
int cuda_kernel_values(struct session *s, struct traced_process *p, const uint8_t *bytes, uint32_t size);
int cuda_kernel_source(struct session *s, struct traced_process *p, const uint8_t *bytes, uint32_t size);
int cuda_kernel_place(struct session *s, struct traced_process *p, struct traced_thread *t, const uint8_t *bytes, uint32_t size);
/* Whoever wants to know is told, once: the process has CUDA, and has ended. */
void cuda_kernel_connect(struct session *s, struct traced_process *p);
void cuda_kernel_disconnect(struct session *s, struct traced_process *p);
/* DEFINE_CUDA_*, written by `t`. */
int cuda_definition(struct session *s, struct traced_process *p, struct traced_thread *t, const struct record_define *define,
		    const uint8_t *body, size_t size, int64_t time);

/* A thread's ring was opened. Returns the uid that rows of it have already, whose thread row is now the ring's to write;
 * 0 when there is none. */
uint64_t cuda_thread_opened(struct traced_process *p, uint32_t inner_tid);
/* The uid the thread has in the end. */
void cuda_thread_known(struct traced_process *p, uint32_t inner_tid, uint64_t uid);

/* About every 50 ms: what waits for the end of its buffer waits no longer than that. */
void cuda_tick(struct session *s, struct traced_process *p);
void cuda_provisional(struct session *s, struct traced_process *p);
void cuda_process_end(struct session *s, struct traced_process *p, int64_t end);
void cuda_process_free(struct traced_process *p);
void cuda_session_release(struct session *s);

#endif
