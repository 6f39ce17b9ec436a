/* What the process that reads the GPUs tells the recorder, one message a packet. Both are the same program; the reader checks
 * everything all the same, as vendor libraries share the writer's memory. */
#ifndef SONDE_RECORD_GPU_WIRE_H
#define SONDE_RECORD_GPU_WIRE_H

#include <stdint.h>

#define GPU_WIRE_MAX 49152u       /* bytes of a message */
#define GPU_WIRE_MAX_METRICS 256u /* in one sample of hardware counters */

enum gpu_wire_kind {
	GPU_WIRE_DEVICE = 1,
	GPU_WIRE_METRIC = 2,  /* describes a metric before its first value */
	GPU_WIRE_VALUES = 3,  /* of NVML */
	GPU_WIRE_SAMPLES = 4, /* of hardware counters */
	GPU_WIRE_CLOCK = 5,   /* a reading of a GPU's timer */
	GPU_WIRE_LOST = 6,
	GPU_WIRE_DIAGNOSTIC = 7,
	GPU_WIRE_READY = 8,    /* everything asked for runs, or has been told of */
	GPU_WIRE_END = 9,      /* an orderly end: all has been sent */
	GPU_WIRE_SWITCHES = 10 /* of contexts */
};

struct gpu_wire_head {
	uint32_t kind;
	uint32_t gpu;    /* NVML's number */
	uint32_t count;  /* of what follows */
	uint32_t number; /* metric, or the first of several; severity of a diagnostic */
};

struct gpu_wire_device {
	struct gpu_wire_head head;
	char name[96];
	char uuid[96];
	char bus[32];
	char chip[32];
	int64_t memory; /* INT64_MIN: not known, as those below */
	int64_t clock;
	int64_t major;
	int64_t minor;
	int64_t mig;
	int64_t mps;
};

enum { GPU_SOURCE_NVML = 1, GPU_SOURCE_COUNTERS = 2 };

struct gpu_wire_metric {
	struct gpu_wire_head head;
	uint32_t source;
	uint32_t id;
	uint32_t pid; /* 0: the whole GPU's */
	uint32_t hz;
	uint32_t real; /* values are doubles, else int64_t */
	uint32_t pad;
	char name[128];
	char metric[192];
	char unit[16];
};

struct gpu_wire_value {
	uint32_t metric;
	uint32_t pad;
	int64_t raw; /* MONOTONIC_RAW */
	int64_t value;
};

struct gpu_wire_values {
	struct gpu_wire_head head; /* count */
	struct gpu_wire_value values[];
};

/* `head.count` samples of `metrics` doubles each, for the metrics from head.number on; before each its time by the
 * GPU's timer, in ns. */
struct gpu_wire_samples {
	struct gpu_wire_head head;
	uint32_t metrics;
	uint32_t pad;
	uint64_t data[];
};

struct gpu_wire_clock {
	struct gpu_wire_head head;
	uint64_t ticks; /* ns of the GPU's timer */
	int64_t raw;
	int64_t error; /* width of the bracket */
};

struct gpu_wire_text {
	struct gpu_wire_head head;
	char text[1024];
};

enum { GPU_LOST_SAMPLES = 0, GPU_LOST_SWITCHES = 1 };

struct gpu_wire_lost {
	struct gpu_wire_head head; /* number: of what */
	uint64_t count;
};

struct gpu_wire_switch {
	uint64_t ticks; /* ns of the GPU's timer */
	uint32_t context;
	uint32_t pid; /* 0: not told */
	uint32_t sequence;
	uint32_t begins; /* else it ends */
};

struct gpu_wire_switches {
	struct gpu_wire_head head; /* count */
	struct gpu_wire_switch switches[];
};

#endif
