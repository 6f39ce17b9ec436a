/* CUPTI's records become ring records (fmt/cuda_wire.h). */
#ifndef SONDE_AGENT_CUDA_RECORDS_DECODE_H
#define SONDE_AGENT_CUDA_RECORDS_DECODE_H

#include "agent/cuda/records/clock.h"
#include "agent/cuda/cuda.h"
#include "vendor/cupti/activity.h"

/* What is the same for all records of a buffer, and what was counted. */
struct cuda_decoding {
	struct cuda_clock_fit clock;
	uint64_t records;
	uint64_t unknown; /* of kinds we do not know, or cut off by the buffer's end */
};

struct cuda_source {
	struct cuda_decoding *decoding;
	const void *record; /* a copy, zeros where this CUPTI's ends */
	uint32_t size;      /* bytes that this CUPTI filled in */
};

#define CUDA_HAS(source, structure, field) ((source)->size > offsetof(struct structure, field))

/* Which fields there are follows from CUPTI's version. */
void cuda_decode_prepare(uint32_t version) __attribute__((visibility("hidden")));
/* `room`: bytes from the record to the end of the buffer. */
void cuda_decode(struct cuda_decoding *decoding, const struct cupti_record *record, size_t room) __attribute__((visibility("hidden")));

/* A kind of CUPTI's records, and what is made of one. */
struct cuda_kind {
	uint8_t kind;      /* enum cupti_kind; 0 ends a list */
	uint8_t in_window; /* enabled while a window is open; others are enabled by whoever needs them */
	void (*decode)(const struct cuda_source *source);
	uint32_t option;   /* RING_CUDA_*: enabled with it only; 0: always */
	const char *asked; /* what a user would have given to ask for it */
};

extern const struct cuda_kind cuda_work_kinds[] __attribute__((visibility("hidden")));   /* decode_work.c: what runs on a device */
extern const struct cuda_kind cuda_host_kinds[] __attribute__((visibility("hidden")));   /* decode_host.c: what threads do */
extern const struct cuda_kind cuda_memory_kinds[] __attribute__((visibility("hidden"))); /* decode_memory.c */
extern const struct cuda_kind cuda_object_kinds[] __attribute__((visibility("hidden"))); /* decode_objects.c */
/* NULL behind the last. */
const struct cuda_kind *cuda_kind_at(unsigned i) __attribute__((visibility("hidden")));

/* Asks the driver where the device is, once it can; on a thread of the program, in a callback. */
void cuda_device_seen(uint32_t device) __attribute__((visibility("hidden")));
/* All that the driver knows; returns whether there are some. */
int cuda_devices_look(void) __attribute__((visibility("hidden")));
/* They are told anew, by another recorder. */
void cuda_devices_forget(void) __attribute__((visibility("hidden")));

/* CUPTI counts calls from 1 again each time it has been away: ours go on. 0 and CUDA_NO_ID stay. */
uint32_t cuda_correlation(uint32_t theirs) __attribute__((visibility("hidden")));
/* CUPTI is gone, and all its records have been seen. */
void cuda_correlation_restart(void) __attribute__((visibility("hidden")));

/* Of a schedule's warm-up CUPTI records everything, and nothing is kept: what began from `from` on, up to `until`, all ones while it
 * lasts. */
void cuda_warm_set(uint64_t from, uint64_t until) __attribute__((visibility("hidden")));
int cuda_warm_is_used(void) __attribute__((visibility("hidden")));
/* Calls that are kept are known from now on, and nothing is written. */
void cuda_decode_look(struct cuda_decoding *decoding, const struct cupti_record *record, size_t room) __attribute__((visibility("hidden")));
/* Whether a call, or what runs on the device for one, is left out. Work is not if its call was made before. */
int cuda_call_is_left_out(uint64_t ticks, uint32_t call) __attribute__((visibility("hidden")));
int cuda_work_is_left_out(uint64_t ticks, uint32_t call) __attribute__((visibility("hidden")));

static inline uint64_t cuda_at(const struct cuda_source *source, uint64_t time)
{
	return cuda_clock_ticks(&source->decoding->clock, time);
}

static inline void *cuda_begin(uint32_t size)
{
	return cuda_agent.core->begin_patiently(size);
}

/* For what began then; NULL also where it is left out. */
static inline void *cuda_begin_work(const struct cuda_source *source, uint64_t time, uint32_t correlation, uint32_t size)
{
	return cuda_work_is_left_out(cuda_at(source, time), cuda_correlation(correlation)) ? NULL : cuda_begin(size);
}

static inline void cuda_end(void *record, unsigned type, unsigned flags, unsigned domain, uint32_t size)
{
	cuda_agent.core->end(record, record_head(type, flags, size, 0, domain), size);
}

#endif
