/* A core and a CUPTI for src/agent/cuda without either: records go to the rings of fake_agent.h, times are what
 * the test says, calls to CUPTI are counted. */
#ifndef SONDE_TESTS_FAKE_CUDA_H
#define SONDE_TESTS_FAKE_CUDA_H

#include "agent/cuda/cuda.h"
#include "fake_agent.h"
#include "vendor/cupti/activity.h"
#include "vendor/cupti/callbacks.h"

#define FAKE_KINDS 64
#define FAKE_CALLS 64

struct fake_cuda {
	struct ring_session session;
	_Atomic uint64_t now; /* core->now() */
	uint64_t cupti_time;  /* cuptiGetTimestamp() */
	int refuse_clock;     /* no time-stamp function is taken */
	uint64_t (*stamp)(void);
	int kinds[FAKE_KINDS];                                   /* enabled */
	int refused_kind;                                        /* this one cannot be enabled */
	int runtime_calls[FAKE_CALLS], driver_calls[FAKE_CALLS]; /* enabled one by one */
	int runtime_callbacks[FAKE_CALLS], driver_callbacks[FAKE_CALLS], resource_callbacks[FAKE_CALLS];
	const char *runtime_names[FAKE_CALLS], *driver_names[FAKE_CALLS]; /* ids are the places */
	_Atomic size_t dropped;                                           /* told and reset by the next buffer */
	unsigned flushes, forced_flushes;
	int no_permanent; /* core->permanent() fails */
	int closed;       /* core->on() */
	unsigned stacks;
	uint64_t stack_time;
	unsigned unified_count;
	uint32_t unified_kinds[16];
	int zeroed; /* value of the attribute */
	int thread_ids;
};

extern struct fake_cuda fake_cuda;

/* A window is open, CUPTI has this version. */
void fake_cuda_reset(uint32_t version);

/* A buffer of records, put one behind the other. */
struct fake_buffer {
	uint8_t *bytes;
	size_t used;
};

void fake_buffer_take(struct fake_buffer *buffer);
/* Appends a record; `size` bytes of it are there in this version. */
void fake_buffer_add(struct fake_buffer *buffer, const void *record, size_t size);
void fake_buffer_complete(struct fake_buffer *buffer);

/* The only record of this type that the calling thread wrote; fails the test when there is none or more. */
const void *fake_cuda_only(unsigned type);
/* The nth definition of this kind, NULL when there are fewer. */
const struct record_define *fake_cuda_definition(unsigned kind, unsigned n);
unsigned fake_cuda_count(unsigned type);
/* The text behind `fixed` bytes of a record, ended by a zero. */
const char *fake_cuda_text(const void *record, size_t fixed);

#endif
