/* Push/pop ranges and marks: pairing within a thread and a domain. */
#ifndef SONDE_RECORD_NVTX_PUSH_POP_H
#define SONDE_RECORD_NVTX_PUSH_POP_H

#include "record/session/session.h"

/* `plain`: only start and name of the event count. */
void slices_push(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, unsigned level,
		 const struct event_attributes *event, int plain);
/* `payloads` (may be NULL) came with the pop. */
void slices_pop(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, unsigned level, int64_t time,
		const struct payload_list *payloads);
void slices_mark(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d,
		 const struct event_attributes *event);
/* Ends everything open with SLICE_OPEN. */
void slices_end_all(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, int64_t end);
/* The same, for the journal: nothing changes. */
void slices_provisional(struct domain_state *d, int64_t end);

/* Columns of SLICE from an event; returns which are present. */
uint32_t slice_values(const struct event_attributes *event, int64_t end, int64_t *values);

#endif
