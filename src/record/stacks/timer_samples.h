/* Samples taken by timers in the target (RECORD_SAMPLE), where perf is forbidden. */
#ifndef SONDE_RECORD_STACKS_TIMER_SAMPLES_H
#define SONDE_RECORD_STACKS_TIMER_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "fmt/record.h"
#include "record/session/session.h"

/* One record: a sample, or a piece of its stack. -EBADMSG when no agent writes such a thing. */
int timer_samples_add(struct session *s, struct traced_process *p, struct traced_thread *t, const uint8_t *bytes, size_t size,
		      int64_t time);
/* The thread ends: no further piece will come. */
void timer_samples_close(struct session *s, struct traced_process *p, struct traced_thread *t);

/* At the end: whether the timers gave what was asked for. */
void timer_samples_report_rate(struct session *s, uint32_t asked_hz);

#endif
