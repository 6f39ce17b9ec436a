/* The metrics that a report has, whichever of its kernels has them, and which of them words of a command line mean. */
#ifndef SONDE_KERNEL_RESULTS_METRIC_NAMES_H
#define SONDE_KERNEL_RESULTS_METRIC_NAMES_H

#include "kernel/results/results.h"

/* Each name once, in their order, with the first value it has. */
struct metric_names {
	const struct metric_value **items;
	size_t count;
};

/* -ENOMEM. They are the results' own. */
int metric_names_of(struct metric_names *ret, const struct kernel_results *results);
/* Those that one of the words means: a name, a name without rollup for all that it has, regex:EXPRESSION. */
int metric_names_meant(struct metric_names *ret, const struct metric_names *all, char *const *words, size_t count);
const struct metric_value *metric_names_find(const struct metric_names *names, const char *name);
void metric_names_release(struct metric_names *names);

#endif
