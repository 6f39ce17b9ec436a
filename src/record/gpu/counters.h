/* Hardware counters of GPUs by CUPTI's PM sampling, in the process that reads the GPUs. */
#ifndef SONDE_RECORD_GPU_COUNTERS_H
#define SONDE_RECORD_GPU_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "record/gpu/collector.h"
#include "record/gpu/metric_set.h"
#include "vendor/cupti/pm.h"
#include "vendor/nvidia/timer.h"

struct counters;

/* Prepares the GPUs that the options name. NULL: none can be sampled; diagnostics have been sent, and NVML reads more often instead. */
struct counters *counters_open(struct collector *c);
/* A capture window opens or closes. */
void counters_window(struct counters *counters, int open);
/* Sends what was counted since. */
void counters_fetch(struct counters *counters);

/* Says for each GPU whether it can be sampled: the text of --gpu-metrics-devices=help, to a descriptor. */
void counters_list(struct collector *c, int fd);

/* Which of a set's metrics one pass can count on this chip, and the configuration for them. */
struct counter_choice {
	const char *names[METRIC_SET_MAX];
	uint32_t entries[METRIC_SET_MAX]; /* their places in the set */
	size_t count;
	uint8_t *image;
	size_t image_size;
	char unknown[768];  /* titles that the chip does not have, with commas between; "" = none */
	char left_out[768]; /* titles that would need another pass */
};

/* counter_choice.c. Returns CUPTI's result, 0 with at least one metric; -1: none is left. */
int counter_choose(const struct cupti_pm *pm, const char *chip, const uint8_t *availability, const struct metric_set *set,
		   struct counter_choice *ret);
void *counter_host(const struct cupti_pm *pm, const char *chip, const uint8_t *availability, int *ret_result);
void counter_host_free(const struct cupti_pm *pm, void *host);

#endif
