/* Metrics over time: which of them can be sampled together on a device (series_groups.c), for which each group takes a run of the
 * kernel (series.c). */
#ifndef SONDE_AGENT_CUDA_KERNEL_INSTRUCTIONS_SERIES_H
#define SONDE_AGENT_CUDA_KERNEL_INSTRUCTIONS_SERIES_H

#include "agent/cuda/kernel/instructions/passes.h"

#define SERIES_METRICS 128u
#define SERIES_GROUPS 32u

struct series_group {
	void *host;
	const char *metrics[SERIES_METRICS];
	size_t count;
	uint8_t *config;
	size_t config_size;
	uint8_t *empty; /* an image without samples, which takes long to make; NULL: not yet */
	size_t empty_size;
	uint32_t room; /* samples */
};

struct series_groups {
	char chip[64];
	uint8_t *available; /* what the device can count, which the hosts refer to; NULL: all */
	const char *marker; /* tells when the kernel ran; NULL: none */
	struct series_group list[SERIES_GROUPS];
	size_t count;
	size_t left_out; /* metrics that take several passes by themselves, which cannot be sampled */
};

/* `by_availability`: not all counters of the chip can be used here; which ones takes CUPTI a while to tell. */
int series_groups_make(struct series_groups *ret, int device, const struct kernel_request *request, int by_availability,
		       char *why) KERNEL_HIDDEN;
void series_groups_release(struct series_groups *groups) KERNEL_HIDDEN;

#endif
