/* Threads of traced processes and what each has open. */
#ifndef SONDE_RECORD_DRAIN_THREAD_H
#define SONDE_RECORD_DRAIN_THREAD_H

#include "record/session/session.h"

struct traced_thread *thread_open(struct session *s, struct traced_process *p, uint32_t slot, const struct ring_slot *info);
struct traced_thread *thread_at(const struct traced_process *p, uint32_t slot);
/* Ends what is open at `end`, writes the thread's row and forgets it. `info` may be
 * NULL (the process is gone); then the slot is looked at a last time. */
void thread_close(struct session *s, struct traced_process *p, struct traced_thread *t, int64_t end, const struct ring_slot *info);

/* The thread's id in our namespace, for a process that may live in another. */
uint32_t thread_outer_tid(struct traced_process *p, uint32_t inner_tid);

/* The thread's state in a domain; NULL without memory. */
struct domain_state *thread_domain(struct session *s, struct traced_process *p, struct traced_thread *t, unsigned id);

/* Loss rows for what was lost since the last call. */
void thread_report_losses(struct session *s, struct traced_process *p, struct traced_thread *t, const struct ring_slot *info);

/* As if the thread ended now, for a report whose recorder dies (see report_writer_tick). */
void thread_provisional(struct session *s, struct traced_process *p, struct traced_thread *t);

#endif
