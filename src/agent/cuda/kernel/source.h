/* Passes of a kernel that are not the range profiler's: what single instructions did, and samples while it runs.
 *
 * source.c: which passes, and what they tell. sampling.c: PC sampling. sass.c: SASS metrics. series.c: PM sampling.
 * code.c: cubins, kept for the recorder. */
#ifndef SONDE_AGENT_KERNEL_SOURCE_H
#define SONDE_AGENT_KERNEL_SOURCE_H

#include "agent/cuda/kernel/kernel.h"
#include "vendor/cupti_source.h"

/* One run of the kernel; memory is put back by the caller. */
struct kernel_pass {
	const struct kernel_launch *launch;
	int (*run)(const struct kernel_launch *launch, char *why);
	int (*restore)(char *why);    /* between runs, where a pass needs several */
	uint32_t number;              /* of the kernel, in records */
	uint64_t time;
	int device;
	const struct kernel_source_request *request;
};

/* Filled at the first use; parts that the library lacks are NULL. */
extern struct cupti_source kernel_cupti KERNEL_HIDDEN;
extern struct cupti_pm kernel_cupti_pm KERNEL_HIDDEN;

/* sampling.c, sass.c: 0, or -1 with a sentence. What was enabled is disabled in any case. */
int kernel_sampling_pass(const struct kernel_pass *pass, char *why) KERNEL_HIDDEN;
int kernel_sass_pass(const struct kernel_pass *pass, char *why) KERNEL_HIDDEN;
/* series.c: how many passes the metrics take on this device, and one of them. */
size_t kernel_series_prepare(const struct kernel_pass *pass, char *why) KERNEL_HIDDEN;
int kernel_series_pass(const struct kernel_pass *pass, size_t number, char *why) KERNEL_HIDDEN;

/* source.c: counts of one function are gathered and written by the thousand. Totals of each metric are kept, until they are told. */
void kernel_source_count(const struct kernel_pass *pass, uint64_t code, const char *function, uint32_t pc, const char *metric,
			 uint64_t value) KERNEL_HIDDEN;
/* A value of the whole kernel. */
void kernel_source_value(const struct kernel_pass *pass, const char *metric, double value) KERNEL_HIDDEN;
void kernel_source_samples(const struct kernel_pass *pass, const char *metric, const struct kernel_sample *samples,
			   uint32_t count) KERNEL_HIDDEN;
/* The pass's error, in words. 0 where there is none. */
int kernel_source_failed(int result, const char *what, char *why) KERNEL_HIDDEN;

#endif
