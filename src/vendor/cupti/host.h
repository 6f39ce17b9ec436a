/* CUPTI's host side: chips, names of metrics, what they are, how many passes they take. No driver and no GPU is needed for any of it.
 * Blocks of parameters are as in pm.h, some of which are the same. */
#ifndef SONDE_VENDOR_CUPTI_HOST_H
#define SONDE_VENDOR_CUPTI_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "vendor/cupti/pm.h"

enum { HOST_PROFILER_RANGE = 0, HOST_PROFILER_PM = 1 };         /* of CUpti_ProfilerType */
enum { HOST_COUNTER = 0, HOST_RATIO = 1, HOST_THROUGHPUT = 2 }; /* of CUpti_MetricType and NVPW_MetricType */
enum { HOST_NOT_SUPPORTED = 27, HOST_BAD_CHIP = 46 };           /* of CUptiResult */

struct host_chips {
	size_t size;
	void *priv;
	size_t count; /* out, as all that follows */
	const char *const *names;
};

struct host_sub_metrics {
	size_t size;
	void *priv;
	void *host;
	int type;
	const char *metric;
	size_t count;       /* out */
	const char **names; /* out: ".avg.per_second" ... */
};

struct host_properties {
	size_t size;
	void *priv;
	void *host;
	const char *metric;      /* with or without a rollup; one that does not exist is an error */
	const char *description; /* out, as all that follows */
	const char *unit;        /* of the hardware */
	const char *dimension;   /* "byte/second" */
	int type;
};

struct host_most_per_pass {
	size_t size;
	void *priv;
	int type;
	const char *chip;
	uint8_t *availability;
	size_t count; /* out */
};

struct cupti_host {
	void *library;
	char path[512]; /* of CUPTI */
	int (*cuptiGetVersion)(uint32_t *version);
	int (*cuptiGetResultString)(int result, const char **text);
#define HOST_FUNCTION(name, parameters) int (*name)(struct parameters *);
#include "vendor/cupti/host_functions.def"
#undef HOST_FUNCTION
};

/* The first library that has all of it, of those cupti_find() lists. `why` says what was wrong and what to install, in one sentence without a
 * full stop. */
int cupti_host_load(struct cupti_host *ret, char *why, size_t why_size);
void cupti_host_unload(struct cupti_host *c);
const char *cupti_host_text(const struct cupti_host *c, int result);

#endif
