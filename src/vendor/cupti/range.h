/* CUPTI's range profiler: hardware counters between two points of a context's work, in as many passes as they take (12.6 and
 * later). Parameters and the host side are as in pm.h. */
#ifndef SONDE_VENDOR_CUPTI_RANGE_H
#define SONDE_VENDOR_CUPTI_RANGE_H

#include "vendor/cupti/pm.h"

enum { RANGE_PROFILER_TYPE = 0 };                                /* of CUpti_ProfilerType */
enum { RANGE_PROFILER_API = 0 };                                 /* of CUpti_Profiler_API */
enum { RANGE_AUTO = 1, RANGE_USER = 2 };                         /* of CUpti_ProfilerRange: each kernel is one; between push and pop */
enum { RANGE_REPLAYED_BY_RUNS = 1, RANGE_REPLAYED_BY_USER = 3 }; /* of CUpti_ProfilerReplayMode */

/* Counters that exist for this context; `image` NULL asks for the size. */
struct range_availability {
	size_t size;
	void *priv;
	void *context;
	size_t image_size;
	uint8_t *image;
};

struct range_enable {
	size_t size;
	void *priv;
	void *context;
	void *profiler; /* out */
};

/* cuptiRangeProfilerDisable, Start and PopRange. */
struct range_command {
	size_t size;
	void *priv;
	void *profiler;
};

struct range_set_config {
	size_t size;
	void *priv;
	void *profiler;
	size_t image_size;
	const uint8_t *image;
	size_t counters_size;
	uint8_t *counters;
	int range;
	int replay;
	size_t max_ranges;
	uint16_t levels;
	uint16_t least_level;
	size_t pass;
	uint16_t target_level;
};

struct range_stop {
	size_t size;
	void *priv;
	void *profiler;
	size_t pass; /* out, as what follows */
	size_t target_level;
	uint8_t all_submitted;
};

struct range_push {
	size_t size;
	void *priv;
	void *profiler;
	const char *name;
};

struct range_decode {
	size_t size;
	void *priv;
	void *profiler;
	size_t dropped; /* out: ranges */
};

struct range_counters_size {
	size_t size;
	void *priv;
	void *profiler;
	const char **names;
	size_t count;
	size_t max_ranges;
	uint32_t max_nodes;
	size_t counters_size; /* out */
};

struct range_counters_initialize {
	size_t size;
	void *priv;
	void *profiler;
	size_t counters_size;
	uint8_t *counters;
};

struct range_counters_info {
	size_t size;
	void *priv;
	const uint8_t *counters;
	size_t counters_size;
	size_t ranges; /* out */
};

struct cupti_range {
#define RANGE_FUNCTION(name, parameters) int (*name)(struct parameters *);
#include "vendor/cupti/range_functions.def"
#undef RANGE_FUNCTION
};

/* Out of a CUPTI that is loaded. `why`: one sentence without a full stop. */
int cupti_range_fill(struct cupti_range *ret, void *library, const char *path, char *why, size_t why_size);

#endif
