/* The hardware metrics of a chip, by name: which there are, what they are, what a throughput is made of, and how many passes
 * a choice of them takes. CUPTI answers for any chip it knows; there need be no GPU. */
#ifndef SONDE_KERNEL_CHOICE_CATALOG_H
#define SONDE_KERNEL_CHOICE_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/metrics/units.h"
#include "vendor/cupti/host.h"
#include "vendor/nvperf/schedule.h"

/* A name without rollup: "sm__cycles_active". */
struct metric_base {
	const char *name; /* CUPTI's */
	uint8_t type;     /* HOST_COUNTER ... */
};

struct catalog {
	const struct cupti_host *cupti;
	char chip[32];
	int profiler; /* HOST_PROFILER_RANGE or _PM */
	const uint8_t *availability;
	const char *kept; /* folder in which schedules are kept; NULL, as it is at first: none is */
	void *host;
	struct metric_base *bases; /* by name */
	size_t count;
	struct nvperf_schedule nvperf; /* has no library where it is not there */
};

struct metric_facts {
	const char *description;
	const char *unit;      /* of the hardware: "sm" */
	const char *dimension; /* "instruction/gpc_cycle" */
	int type;
};

/* Chips by name, in small letters as people type them; the caller frees *ret (one block). Returns how many, or a negative errno. */
#define CHIP_NAME_MAX 16
int catalog_chips(const struct cupti_host *cupti, char (**ret)[CHIP_NAME_MAX]);

/* `chip` in letters of any case. `availability` is what the device said it can count, or NULL; it must outlive the catalog, which stays where
 * it is. An unknown chip is answered with the nearest. */
int catalog_open(struct catalog *ret, const struct cupti_host *cupti, const char *chip, int profiler, const uint8_t *availability,
		 struct error *err);
void catalog_close(struct catalog *c);

/* The base of this name (len bytes), or NULL. */
const struct metric_base *catalog_find(const struct catalog *c, const char *name, size_t len);
/* False: there is no such metric. With or without rollup. */
bool catalog_facts(const struct catalog *c, const char *metric, struct metric_facts *ret);
/* What may follow the name of a metric of this type: ".avg", ".avg.per_second" ... */
const char *const *catalog_suffixes(int type, size_t *ret_count);
/* "Counter", "Ratio", "Throughput". */
const char *catalog_type_name(int type);

/* Calls visit for each metric that a throughput is the largest of, with the suffix that `metric` has; a part that is a throughput itself comes
 * before its own parts. A visitor that returns less than 0 ends it, and that is returned. -ENOENT: no throughput; -ENOSYS: NVPerf is not there. */
int catalog_breakdown(const struct catalog *c, const char *metric, int (*visit)(void *context, const char *part), void *context);

/* The nearest names to one that does not exist, as " Did you mean A, B or C?" or "". */
const char *catalog_hint(const struct catalog *c, const char *metric, char *buffer, size_t size);

#endif
