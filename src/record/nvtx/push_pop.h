/* Push/pop ranges and marks: pairing within a thread and a domain. */
#ifndef SONDE_RECORD_NVTX_PUSH_POP_H
#define SONDE_RECORD_NVTX_PUSH_POP_H

#include "record/session/session.h"

/* `plain`: only start and name of the event count. */
void push_pop_push(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, unsigned level,
		   const struct event_attributes *event, int plain);
/* `payloads` (may be NULL) came with the pop. */
void push_pop_pop(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, unsigned level,
		  int64_t time, const struct payload_list *payloads);
void push_pop_mark(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d,
		   const struct event_attributes *event);
/* Ends everything open with SLICE_OPEN. */
void push_pop_end_all(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, int64_t end);
/* The same, for the journal: nothing changes. */
void push_pop_write_open(struct domain_state *d, int64_t end);

/* Columns of SLICE from an event; returns which are present. */
uint32_t range_values(const struct event_attributes *event, int64_t end, int64_t *values);

#endif
