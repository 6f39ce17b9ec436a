/* Where kernels of a report were launched. Private to src/kernel. */
#ifndef SONDE_KERNEL_RESULTS_LAUNCH_PLACES_H
#define SONDE_KERNEL_RESULTS_LAUNCH_PLACES_H

#include "kernel/results/results.h"

/* A row of kernel_metric, if it is about that. */
int result_take_place(struct report *report, struct kernel_result *k, const int64_t *values, uint32_t present);
/* After all rows: ranges in order, and what the stacks consist of. -ENOMEM. */
int results_finish_places(struct kernel_results *results);
void result_release_place(struct kernel_result *k);

#endif
