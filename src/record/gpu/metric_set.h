/* Sets of hardware metrics, as text files NAME.set:
 *
 *   # a comment
 *   about = one line that says what it is for
 *   chip = ga*, gh100                    only for these, of any case; without such a line for all
 *   sm__cycles_active.avg.pct_of_peak_sustained_elapsed = SMs Active [Throughput %]
 *   gpc__cycles_elapsed.avg.per_second / 1000000 = GPC Clock Frequency [MHz]
 *
 * Metrics are those of CUPTI's profiler host interface, most important first: what does not fit into one pass with those before it is left out. */
#ifndef SONDE_RECORD_GPU_METRIC_SET_H
#define SONDE_RECORD_GPU_METRIC_SET_H

#include <stddef.h>

#include "base/error.h"

#define METRIC_SET_MAX 256

struct metric_entry {
	char metric[192];
	char title[128];
	char unit[16]; /* the last word in the title's brackets, or "" */
	double divisor;
};

struct metric_set {
	char name[64];
	char about[128];
	char chips[256]; /* "" = all */
	size_t count;
	struct metric_entry entries[METRIC_SET_MAX];
};

/* -EINVAL with the line on anything that is no such file. */
int metric_set_read(struct metric_set *ret, const char *path, struct error *err);
/* Whether it is meant for this chip. */
int metric_set_fits(const struct metric_set *set, const char *chip);
/* The set asked for: a name, file:PATH, or NULL for the first by name that fits ("general" before all others). Looked for in the folders of
 * SONDE_METRICS_PATH and share/metrics. */
int metric_set_find(struct metric_set *ret, const char *wanted, const char *chip, struct error *err);

/* Every set there is, by name; the first folder's where several have it. Returns how many. */
size_t metric_set_each(void (*visit)(void *context, const struct metric_set *set), void *context);

#endif
