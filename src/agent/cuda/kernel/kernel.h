/* Hardware counters of single kernels: a launch that is wanted is made several times, with other counters each time, on the same
 * memory and with caches as asked for; then the program goes on as if it had been made once.
 *
 * request.c: what is wanted. calls.c: which calls of the driver matter. choose.c: is it this launch? replay.c: the passes.
 * counters.c: CUPTI's range profiler. memory.c: what the kernel wrote is taken back. caches.c: emptied between passes.
 * result.c: records. */
#ifndef SONDE_AGENT_KERNEL_KERNEL_H
#define SONDE_AGENT_KERNEL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "agent/cuda/cuda.h"
#include "fmt/kernel_wire.h"
#include "vendor/cuda_launch.h"
#include "vendor/cupti_callbacks.h"
#include "vendor/cupti_range.h"

#define KERNEL_HIDDEN __attribute__((visibility("hidden")))
#define KERNEL_WHY_SIZE 240

/* What is asked for beyond counters: see source.h. */
struct kernel_source_request {
	int sampling;                 /* of PCs */
	int sampling_interval;        /* 2^(5+n) cycles; -1: CUPTI chooses */
	uint64_t sampling_buffer;     /* bytes; 0: CUPTI's choice */
	int sampling_passes;          /* at most, where the buffer was too small */
	int sass;
	const char **series;          /* metrics over time */
	size_t series_count;
	uint64_t series_interval;     /* ns; 0: by the kernel's length */
	uint64_t series_buffer;       /* bytes; 0: enough */
	uint64_t series_passes;       /* at most; 0: as many as it takes */
	const char *code;             /* folder that gets cubins; NULL: they are not kept */
};

/* What the command line asks for, in a text file named by SONDE_KERNEL_REQUEST. Texts lie in the file's mapping. */
struct kernel_request {
	const char **metrics;
	size_t metric_count;
	const char *pattern;          /* of names of kernels; NULL: all */
	int pattern_is_regex;
	enum kernel_name_base { KERNEL_NAME_FUNCTION, KERNEL_NAME_DEMANGLED, KERNEL_NAME_MANGLED } name_base;
	uint64_t skip_before;         /* launches, before any filter */
	uint64_t skip;                /* launches that match */
	uint64_t count;               /* and are read */
	int flush_caches;
	int kill;                     /* the program ends when all were read */
	struct kernel_source_request source;
};

int kernel_request_read(struct kernel_request *ret, const char *path, char *why) KERNEL_HIDDEN;

/* calls.c */
enum kernel_call {
	KERNEL_CALL_NONE,
	KERNEL_CALL_KERNEL,           /* cuLaunchKernel */
	KERNEL_CALL_KERNEL_EX,        /* cuLaunchKernelEx */
	KERNEL_CALL_COOPERATIVE,      /* cuLaunchCooperativeKernel */
	KERNEL_CALL_GRAPH,            /* cuGraphLaunch */
	KERNEL_CALL_OTHER             /* changes memory: must not run while another thread's kernel is replayed */
};
void kernel_calls_prepare(void) KERNEL_HIDDEN;
void kernel_calls_enable(int enable) KERNEL_HIDDEN;
enum kernel_call kernel_call(uint32_t id) KERNEL_HIDDEN;

/* A launch as the program makes it. */
struct kernel_launch {
	enum kernel_call call;
	const void *parameters;       /* of the call */
	void *function;
	void *stream;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t cluster[3];
	uint32_t shared;
	const char *name;             /* mangled */
	void *context;
	uint32_t context_id;
	uint32_t correlation;
};

/* choose.c: counts the launch, and says whether it is to be read. All wanted ones were: kernel_choose_done(). */
int kernel_choose_prepare(const struct kernel_request *request, char *why) KERNEL_HIDDEN;
int kernel_choose(const struct kernel_launch *launch) KERNEL_HIDDEN;
int kernel_choose_done(void) KERNEL_HIDDEN;

/* caches.c */
struct kernel_caches {
	void *function;               /* that reads; NULL: not prepared */
	uint64_t memory;
	uint64_t size;
};

/* counters.c: one for each context. */
struct kernel_counters {
	void *context;
	int device;
	void *host;
	void *profiler;
	uint8_t *config;
	size_t config_size;
	uint8_t *image;               /* of counters */
	uint8_t *empty_image;
	size_t image_size;
	size_t passes;
	size_t metric_count;          /* those that this chip has */
	const char **metrics;
	uint32_t *numbers;            /* of each, in the request */
	double *values;
	struct kernel_caches caches;
};

/* It has been said why there are none: kernels of this context are passed over. */
int kernel_counters_hopeless(const void *context) KERNEL_HIDDEN;
/* The context is current, and not hopeless. NULL: `why` says what is in the way. */
struct kernel_counters *kernel_counters_of(void *context, const struct kernel_request *request, char *why) KERNEL_HIDDEN;
int kernel_counters_configure(struct kernel_counters *c, char *why) KERNEL_HIDDEN;
/* After passes that were not completed. */
void kernel_counters_renew(struct kernel_counters *c) KERNEL_HIDDEN;
/* The hardware is left to others in between. */
void kernel_counters_suspend(struct kernel_counters *c) KERNEL_HIDDEN;
void kernel_counters_resume(struct kernel_counters *c) KERNEL_HIDDEN;
int kernel_counters_start(struct kernel_counters *c, char *why) KERNEL_HIDDEN;
int kernel_counters_stop(struct kernel_counters *c, char *why) KERNEL_HIDDEN;
/* Fills c->values. */
int kernel_counters_evaluate(struct kernel_counters *c, char *why) KERNEL_HIDDEN;

/* memory.c: what device memory, and memory that the device reaches, holds now. */
int kernel_memory_save(void *context, char *why) KERNEL_HIDDEN;
int kernel_memory_restore(char *why) KERNEL_HIDDEN;
void kernel_memory_forget(void) KERNEL_HIDDEN;

/* caches.c: the context is current, and idle. What it takes is allocated by prepare(), which is to come before memory is kept. */
int kernel_caches_prepare(struct kernel_caches *c, int device, char *why) KERNEL_HIDDEN;
int kernel_caches_flush(struct kernel_caches *c, char *why) KERNEL_HIDDEN;

/* replay.c: around the program's own call, which is the last pass. enter() returns whether leave() is to be called. */
int kernel_replay_enter(const struct kernel_launch *launch, const struct kernel_request *request) KERNEL_HIDDEN;
void kernel_replay_leave(int result) KERNEL_HIDDEN;

/* result.c */
void kernel_tell(const struct record_kernel *record, enum kernel_state state, const char *text) KERNEL_HIDDEN;
void kernel_tell_values(const struct kernel_counters *c, uint32_t number, uint64_t time) KERNEL_HIDDEN;

/* source.c: passes beyond those of the counters. Memory is kept, and is as it was when each returns; what fails is told, and is no
 * reason to give the kernel up. */
int kernel_source_wanted(const struct kernel_request *request) KERNEL_HIDDEN;
/* How many runs of the kernel were made; -1 when memory could not be put back. */
int kernel_source_collect(const struct kernel_launch *launch, const struct kernel_request *request, const struct record_kernel *record,
			  struct kernel_caches *caches, int (*run)(const struct kernel_launch *launch, char *why), char *why) KERNEL_HIDDEN;
struct kernel_agent {
	struct kernel_request request;
	struct cupti_range range;
	struct cuda_launcher driver;
	char folder[512];             /* of CUPTI: what belongs to it lies beside it */
};
extern struct kernel_agent kernel_agent KERNEL_HIDDEN;

#endif
