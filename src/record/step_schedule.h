/* torch.profiler's schedule: which steps of a program are recorded. docs/windows.md */
#ifndef SONDE_RECORD_STEP_SCHEDULE_H
#define SONDE_RECORD_STEP_SCHEDULE_H

#include <stdint.h>

/* Each at most SCHEDULE_MAX, so that sums and products of two fit. */
#define SCHEDULE_MAX 1000000000u

struct schedule {
	uint64_t skip_first;
	uint64_t wait;
	uint64_t warmup;
	uint64_t active;          /* 0: there is no schedule */
	uint64_t repeat;          /* 0: for ever */
	uint64_t skip_first_wait; /* other than 0: the first cycle has no wait */
};

enum schedule_phase { SCHEDULE_OFF, SCHEDULE_WARM, SCHEDULE_ACTIVE };

/* Of a step, counted from 0. *ret_cycle, from 0, is of phases other than SCHEDULE_OFF. */
enum schedule_phase schedule_phase(const struct schedule *s, uint64_t step, uint64_t *ret_cycle);
/* The first step after this one that is of another phase or cycle; UINT64_MAX: none ever is. */
uint64_t schedule_next(const struct schedule *s, uint64_t step);
/* The first step that is recorded. */
uint64_t schedule_first_active(const struct schedule *s);

#endif
