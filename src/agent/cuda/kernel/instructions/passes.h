/* Passes of a kernel that are not the range profiler's: what single instructions did, and samples while it runs.
 *
 * passes.c: which passes, and what they tell. pc_sampling.c: PC sampling. sass.c: SASS metrics. series.c and series_groups.c: PM sampling.
 * cubins.c: cubins, kept for the recorder. */
#ifndef SONDE_AGENT_CUDA_KERNEL_INSTRUCTIONS_PASSES_H
#define SONDE_AGENT_CUDA_KERNEL_INSTRUCTIONS_PASSES_H

#include "agent/cuda/kernel/kernel.h"
#include "vendor/cupti/source.h"

/* One run of the kernel; between runs, where a pass needs several, memory is put back to what it was. */
struct kernel_pass {
	const struct kernel_launch *launch;
	uint32_t number; /* of the kernel, in records */
	uint64_t time;
	uint64_t run_time; /* ns, from launch to end, when nothing looked at it; 0: not known yet */
	unsigned tries;    /* before this one, that had too many samples */
	int device;
	const struct kernel_request *request;
	struct kernel_caches *caches; /* NULL: they are left alone */
	enum kernel_memory memory;    /* before it */
};

/* Filled at the first use; parts that the library lacks are NULL. */
extern struct cupti_source kernel_cupti KERNEL_HIDDEN;
extern struct cupti_pm kernel_cupti_pm KERNEL_HIDDEN;

/* pc_sampling.c, sass.c: 0, or -1 with a sentence. What was enabled is disabled in any case. */
int kernel_sampling_pass(const struct kernel_pass *pass, char *why) KERNEL_HIDDEN;
int kernel_sass_pass(const struct kernel_pass *pass, char *why) KERNEL_HIDDEN;
/* CUPTI knows only kernels whose first launch it has seen while PC sampling was enabled. Around that launch, of the context that is idle then; met() says whether its samples were kept, and told, and may keep none where meet() would have.
 * -1: it cannot be. */
int kernel_sampling_meet(const struct kernel_pass *pass, int keeps) KERNEL_HIDDEN;
int kernel_sampling_met(const struct kernel_pass *pass, int keeps) KERNEL_HIDDEN;
/* series.c: in how many groups the metrics are sampled on this device; 0, or more where some are left out: `why` says why. */
size_t kernel_series_prepare(int device, const struct kernel_request *request, char *why) KERNEL_HIDDEN;
void kernel_series_report_plan(const struct kernel_pass *pass) KERNEL_HIDDEN;
/* One launch, sampled by a group that stays set up until the end. KERNEL_SERIES_FULL: there were more samples than there is room for. */
enum { KERNEL_SERIES_FULL = 1 };
int kernel_series_pass(const struct kernel_pass *pass, size_t number, char *why) KERNEL_HIDDEN;
void kernel_series_end(void) KERNEL_HIDDEN;

/* passes.c: counts of one function are gathered and written by the thousand. Totals of each metric are kept, until they are told. */
void kernel_source_count(const struct kernel_pass *pass, uint64_t code, const char *function, uint32_t pc, const char *metric,
			 uint64_t value) KERNEL_HIDDEN;
/* A value of the whole kernel. */
void kernel_source_value(const struct kernel_pass *pass, const char *metric, double value) KERNEL_HIDDEN;
void kernel_source_samples(const struct kernel_pass *pass, const char *metric, const struct kernel_sample *samples,
			   uint32_t count) KERNEL_HIDDEN;
/* As the counters have them: to be called before what is looked at begins. */
void kernel_source_empty_caches(const struct kernel_pass *pass) KERNEL_HIDDEN;
/* The pass's error, in words. 0 where there is none. */
int kernel_source_failed(int result, const char *what, char *why) KERNEL_HIDDEN;

#endif
