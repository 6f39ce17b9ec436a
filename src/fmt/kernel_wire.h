/* Bodies of the records about kernels whose hardware counters are read (docs/counters.md). Written by the thread that launched the
 * kernel: KERNEL_BEGUN, KERNEL_PASS for each pass, then all values, then KERNEL_READ, KERNEL_FAILED or KERNEL_TIMED, all with the same number. */
#ifndef SONDE_FMT_KERNEL_WIRE_H
#define SONDE_FMT_KERNEL_WIRE_H

#include <stdint.h>

#include "fmt/cuda_wire.h"

#define KERNEL_NOT_KNOWN 0xffffffffu
#define KERNEL_ATTRIBUTES 16u /* of CUfunction_attribute */

enum kernel_state {
	KERNEL_BEGUN = 0,
	KERNEL_READ = 1,
	KERNEL_FAILED = 2,  /* a sentence follows: why its counters are not there */
	KERNEL_TIMED = 3,   /* no counters can be read, as was said before */
	KERNEL_PASS = 4,    /* another pass begins */
	KERNEL_STUCK = 5,   /* the recorder's own: a pass does not end */
	KERNEL_WAITS = 6,   /* before anything else is told: what ran before it is waited for; the kernel's name follows */
	KERNEL_WENT_ON = 7, /* what was waited for or copied is done, or one of several runs */
	KERNEL_COPIES = 8   /* much memory, to keep it or to put it back; how much follows in words */
};

/* Sentences about what only others can change begin so. */
#define KERNEL_FORBIDDEN "ERR_NVGPUCTRPERM"
#define KERNEL_HELD "A driver resource was unavailable"
/* What a launch has beyond attributes of its function. */
enum kernel_fact {
	KERNEL_FACT_STACK,      /* bytes of a thread */
	KERNEL_FACT_CACHE,      /* CUfunc_cache of the context */
	KERNEL_FACT_PERSISTING, /* bytes of L2 */
	KERNEL_FACT_SMS,        /* of the context: fewer than the device's in a green one */
	KERNEL_FACT_SCHEDULING, /* CUclusterSchedulingPolicy that the launch asks for */
	KERNEL_FACT_LAUNCHES,   /* of a range */
	KERNEL_FACTS = 8
};

/* RECORD_KERNEL; flags = enum kernel_state, + text */
struct record_kernel {
	uint64_t head;
	uint64_t time;     /* of the launch */
	uint32_t number;   /* of the kernels of this process, from 0 */
	uint32_t function; /* id of a DEFINE_CUDA_FUNCTION */
	struct cuda_place place;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t cluster[3]; /* 0: none */
	uint32_t dynamic_shared;
	uint32_t attributes[KERNEL_ATTRIBUTES]; /* as cuFuncGetAttribute() numbers them; KERNEL_NOT_KNOWN: not told */
	uint32_t blocks_per_sm;                 /* what the driver says fits on one */
	uint32_t clusters_active;
	uint32_t cluster_potential;
	uint32_t passes;
	uint64_t spent;               /* ticks that reading its counters took */
	uint64_t spent_in_passes;     /* of these; 0: not known */
	uint64_t duration;            /* ns, where it was timed without counters; 0: not known */
	uint32_t facts[KERNEL_FACTS]; /* by enum kernel_fact; KERNEL_NOT_KNOWN */
};

enum kernel_values {
	KERNEL_VALUES_COUNTED = 0, /* in the order in which the metrics were asked for */
	KERNEL_VALUES_DEVICE = 1   /* attributes of the kernel's device, by their numbers; once for each device */
};

/* RECORD_KERNEL_VALUES; flags = enum kernel_values; doubles follow. */
struct record_kernel_values {
	uint64_t head;
	uint64_t time;
	uint32_t number;
	uint32_t first; /* metric, or attribute, of the first value */
};

/* What single instructions did, and samples over time. Before KERNEL_READ or KERNEL_FAILED of the kernel; names come first. */
enum kernel_source_kind {
	KERNEL_SOURCE_NAME = 0,   /* text: what `id` stands for, a function or a metric */
	KERNEL_SOURCE_COUNTS = 1, /* of the function `id`; struct kernel_count follow */
	KERNEL_SOURCE_SERIES = 2, /* of the metric `id`; struct kernel_sample follow */
	KERNEL_SOURCE_VALUE = 3,  /* of the metric `id`; a double follows */
	KERNEL_SOURCE_TROUBLE = 4 /* text: why something is missing */
};

/* RECORD_KERNEL_SOURCE; flags = enum kernel_source_kind */
struct record_kernel_source {
	uint64_t head;
	uint64_t time;
	uint32_t number; /* of the kernel */
	uint32_t id;
	uint64_t code; /* checksum of the cubin; counts only */
};

struct kernel_count {
	uint32_t pc;     /* offset in the function, bytes */
	uint32_t metric; /* id of its name */
	uint64_t value;
};

struct kernel_sample {
	uint64_t number;
	uint64_t offset; /* ns since the first */
	double value;
};

/* Where a kernel was launched. Written by the thread that did it, then: before or after KERNEL_BEGUN, which may be another thread's. */
enum kernel_place {
	KERNEL_PLACE_PUSHED = 0,  /* in this NVTX range; text: its domain, a NUL, its name, where it has one. Outermost first */
	KERNEL_PLACE_STARTED = 1, /* the same, of a range that was started */
	KERNEL_PLACE_STACK = 2,   /* the RECORD_STACK before is the stack of the call */
	KERNEL_PLACE_PROCESS = 3, /* of no kernel: counters are going to be read in this process */
	KERNEL_PLACE_PYTHON = 4,  /* in this function of Python; text: its name, a NUL, its file; color: the line. Innermost first */
	KERNEL_PLACE_GRAPH = 5,   /* of no kernel: a graph is launched whose kernels are not read; text: why */
	/* In the range of this number: between cuProfilerStart and Stop, or of the NVTX ranges that are included; color: the number, from 1. */
	KERNEL_PLACE_BETWEEN = 6,
	KERNEL_PLACE_RANGE = 7
};

/* RECORD_KERNEL_PLACE; flags = enum kernel_place, + text */
struct record_kernel_place {
	uint64_t head;
	uint64_t time; /* of the launch */
	uint32_t number;
	uint32_t color; /* ARGB; 0: none. Of a function of Python: its line; of a range: its number */
};

#endif
