/* From the bytes of a ring to rows. */
#ifndef SONDE_RECORD_DRAIN_DECODE_H
#define SONDE_RECORD_DRAIN_DECODE_H

#include "record/session/session.h"

/* Decodes all blocks of a batch, whose owners are struct traced_process. A snapshot must
 * have been taken after the batch was collected. */
void decode_batch(struct session *s, const struct ring_batch *batch);

#endif
