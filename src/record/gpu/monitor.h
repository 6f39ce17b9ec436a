/* The state of GPUs over time, as seen from the recorder: starts the process that reads them (collector.h) and turns what it tells into rows. */
#ifndef SONDE_RECORD_GPU_MONITOR_H
#define SONDE_RECORD_GPU_MONITOR_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "record/profile_options.h"

struct session;
struct ring_session;
struct ring_doorbell;
struct monitor_gpu;
struct monitor_metric;

struct gpu_monitor {
	struct session *session;
	int fd;    /* -1: nothing runs */
	pid_t pid; /* 0: none */
	int ready;
	int ended;        /* it has said so itself */
	uint32_t damaged; /* messages that made no sense */
	struct monitor_gpu *gpus;
	uint32_t gpu_count;
	struct monitor_metric *metrics;
	uint32_t metric_count;
	uint32_t metric_cap;
	uint8_t *buffer;
	struct buf notes; /* warnings, one a line: for the user when it is over */
};

/* Starts the process where the options ask for anything; before the recorder has threads. */
void gpu_monitor_begin(struct gpu_monitor *m, struct session *s, const struct gpu_options *options, struct ring_session *page,
		       struct ring_doorbell *doorbell);
/* Listens to a process that runs already; *m is all zero but for notes. */
int gpu_monitor_attach(struct gpu_monitor *m, struct session *s, int fd, pid_t pid);
/* Hardware counters take a while to set up: the program starts when they are. */
void gpu_monitor_wait(struct gpu_monitor *m, const struct gpu_options *options);

/* Drain thread: takes what has come. Returns bytes. */
uint64_t gpu_monitor_round(struct gpu_monitor *m);
/* Tells the process to end and takes the rest. */
void gpu_monitor_finish(struct gpu_monitor *m);
void gpu_monitor_release(struct gpu_monitor *m);

/* The answer to --gpu-metrics-devices=help (with this set, NULL: none was given), found by a process of its own, and to --gpu-metrics-set=help; to
 * be freed. NULL: no memory. */
char *gpu_monitor_devices_help(const char *set);
char *gpu_monitor_sets_help(void);

#endif
