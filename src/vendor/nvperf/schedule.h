/* NVPerf, the library below CUPTI, and configurations of the hardware made by it. CUPTI's own are made the same way, byte for byte, but it
 * refuses links to the outside beside other metrics, and for sampling it asks for one place of each counter where the hardware has
 * several: what it says takes two passes may take one. */
#ifndef SONDE_VENDOR_NVPERF_SCHEDULE_H
#define SONDE_VENDOR_NVPERF_SCHEDULE_H

#include "vendor/nvperf/nvperf.h"

enum nvperf_kind { NVPERF_RANGES = 1, NVPERF_SAMPLES = 2 }; /* of NVPA_ActivityKind */

struct nvperf_schedule {
	void *library; /* NULL: not there, or it has not all of this */
	const char *chip;
	const uint8_t *availability;
	void *evaluator;
	uint8_t *scratch;
#define SCHEDULE_FUNCTION(name, parameters) int (*name)(struct parameters *);
#include "vendor/nvperf/schedule_functions.def"
#undef SCHEDULE_FUNCTION
};

struct nvperf_config {
	uint8_t *image; /* to be freed */
	size_t image_size;
	size_t passes;
};

/* The library lies beside CUPTI, whose path this is. `chip` and `availability` (NULL: of any such chip) must outlive it. -1: not there. */
int nvperf_schedule_open(struct nvperf_schedule *s, const char *cupti, const char *chip, const uint8_t *availability);
void nvperf_schedule_close(struct nvperf_schedule *s);
/* All of these metrics together. -1: one of them is not known, or cannot be counted. */
int nvperf_schedule_make(const struct nvperf_schedule *s, enum nvperf_kind kind, const char *const *names, size_t count,
			 struct nvperf_config *ret);

#endif
