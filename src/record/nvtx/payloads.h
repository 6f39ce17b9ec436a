/* Binary payloads of events: from pieces in a ring to blobs of the report. */
#ifndef SONDE_RECORD_NVTX_PAYLOADS_H
#define SONDE_RECORD_NVTX_PAYLOADS_H

#include "record/session/session.h"

/* One piece. Pieces of another event that are still there were left by one that got lost. */
void payloads_collect(struct session *s, struct pending_payloads *p, const struct record_blob *piece, const uint8_t *bytes, size_t size);
/* What belongs to the event stamped `ticks`; never NULL, valid until the next piece. */
const struct payload_list *payloads_take(struct pending_payloads *p, uint64_t ticks);
void payloads_release(struct pending_payloads *p);

/* Adds payloads to those the event has: the first becomes its blob, others rows of ARG. A list
 * of NULL is empty. */
void payloads_attach(struct session *s, struct event_attributes *event, const struct payload_list *list);

/* Without memory the copy says that something is lost. */
void payload_list_copy(struct payload_list *ret, const struct payload_list *from);
void payload_list_release(struct payload_list *list);

#endif
