/* From a list of metrics to configurations of the hardware, in the fewest passes. */
#ifndef SONDE_KERNEL_CHOICE_PASS_SCHEDULE_H
#define SONDE_KERNEL_CHOICE_PASS_SCHEDULE_H

#include "kernel/choice/catalog.h"

/* What is counted together, with one configuration. */
struct schedule_part {
	const char **names; /* the caller's texts; of several rollups of a metric only one, as the others come from the same counters */
	size_t count;
	uint8_t *image;
	size_t image_size;
	size_t passes;
	bool by_nvperf;
};

/* CUPTI counts metrics of links to the outside with no others. NVPerf below it does: PCIe needs no part of its own where NVPerf is there, and
 * where agents, which have CUPTI, need not make the configuration again. Whether a GPU has NVLink and C2C its chip does not say: these are
 * parts of their own in any case, whose configuration agents make. */
enum schedule_way { SCHEDULE_APART, SCHEDULE_MIXED };

enum { SCHEDULE_MAIN, SCHEDULE_PCIE, SCHEDULE_NVLINK, SCHEDULE_C2C, SCHEDULE_PARTS };

struct schedule {
	struct schedule_part parts[SCHEDULE_PARTS]; /* those without metrics have a count of 0 */
	enum schedule_way way;                      /* that was taken */
	size_t passes;                              /* of all */
	const char **refused;                       /* metrics that exist but that this chip cannot count so */
	size_t refused_count;
};

/* SCHEDULE_MAIN or a link, by the name alone. */
unsigned schedule_part_of(enum schedule_way way, const char *metric);

/* Names must be metrics of the catalog with their rollup, each once, and outlive the schedule. Mixed where that is possible. -EIO where there is
 * no configuration at all. */
int schedule_make(struct schedule *ret, const struct catalog *c, enum schedule_way way, const char *const *names, size_t count,
		  struct error *err);
/* Keeps, of *count names, those that can be counted in one pass together, the first ones first. Returns how many were left out. */
size_t schedule_fit(const struct catalog *c, enum schedule_way way, const char **names, size_t *count);
/* It, or another rollup of it, is among the refused. */
bool schedule_refuses(const struct schedule *s, const char *metric);
void schedule_release(struct schedule *s);

#endif
