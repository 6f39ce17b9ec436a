/* The process that reads the GPUs (sonde-gpu): NVML in threads of its own, hardware counters and context switches in the main one. It is forked off the
 * recorder before that has threads, shares the session page with it, and ends with it. */
#ifndef SONDE_RECORD_GPU_COLLECTOR_H
#define SONDE_RECORD_GPU_COLLECTOR_H

#include <stdatomic.h>
#include <stdint.h>

#include "record/gpu/wire.h"
#include "record/profile_options.h"
#include "vendor/nvidia/timer.h"
#include "vendor/nvml/nvml.h"

struct ring_session;
struct ring_doorbell;

#define COLLECTOR_MAX_GPUS 64

struct gpu_device {
	void *nvml;
	uint32_t index; /* NVML's */
	struct nvml_pci pci;
	char bus[32]; /* 0000:06:00.0 */
	char name[96];
	char uuid[96];
};

struct collector {
	const struct gpu_options *options;
	int fd; /* to the recorder */
	const struct ring_session *page;
	struct ring_doorbell *doorbell;
	struct nvml nvml;
	struct gpu_device gpus[COLLECTOR_MAX_GPUS];
	uint32_t gpu_count;
	_Atomic uint32_t next_metric;
	_Atomic uint32_t nvml_hz; /* more than asked for where it stands in for hardware counters */
};

/* Never returns; `fd` is the one descriptor that is kept. */
_Noreturn void collector_main(struct collector *c);
/* Loads NVML and finds the GPUs. */
int collector_open(struct collector *c, char *why, size_t why_size);

/* Sends a message; the process ends when nobody listens any more. */
void collector_send(struct collector *c, const void *message, size_t size);
/* The recorder is to look at what was sent. */
void collector_ring(struct collector *c);
void collector_diagnose(struct collector *c, int severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Describes a metric; its number. */
uint32_t collector_metric(struct collector *c, struct gpu_wire_metric *m);
/* Whether a capture window is open. */
int collector_window(const struct collector *c);
int64_t collector_raw(void);
/* A reading of a GPU's timer: ours at the same moment, and how long the moment was. */
void collector_clock(struct collector *c, const struct gpu_device *g, uint64_t ticks, int64_t raw, int64_t error);
/* Reads it and sends that. */
void collector_read_timer(struct collector *c, const struct gpu_device *g, const struct nvidia_subdevice *t);

/* nvml_values.c: threads that read NVML until the process ends. */
void nvml_values_start(struct collector *c);
/* 1: an MPS server uses this GPU. */
int nvml_has_mps(const struct collector *c, const struct gpu_device *g);

#endif
