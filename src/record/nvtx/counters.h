/* Samples of NVTX counters. */
#ifndef SONDE_RECORD_NVTX_COUNTERS_H
#define SONDE_RECORD_NVTX_COUNTERS_H

#include "record/session/session.h"

/* Each (thread, counter, field) has a track of its own, so that every one is in order. */
void counters_sample(struct session *s, struct traced_process *p, struct traced_thread *t, const struct record_counter *record,
		     int64_t time);

#endif
