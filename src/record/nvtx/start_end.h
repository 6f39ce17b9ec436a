/* Start/end ranges: begun in one thread, ended in any. */
#ifndef SONDE_RECORD_NVTX_START_END_H
#define SONDE_RECORD_NVTX_START_END_H

#include "record/session/session.h"

void ranges_start(struct session *s, struct traced_process *p, struct traced_thread *t, struct domain_state *d, uint64_t range_id,
		  const struct event_attributes *event);
/* `payloads` as in slices_pop(). The start may lie in a ring that was not read yet. */
void ranges_end(struct session *s, struct traced_process *p, struct traced_thread *t, uint64_t range_id, int64_t time,
		const struct payload_list *payloads);

/* After each round: gives up on ends whose start does not come. `all`: no round follows. */
void ranges_age(struct session *s, struct traced_process *p, int all);
void ranges_end_all(struct session *s, struct traced_process *p, int64_t end);
void ranges_provisional(struct session *s, struct traced_process *p);
void ranges_release(struct traced_process *p);

void track_set_unref(struct track_set *tracks);

#endif
