/* Values that no hardware counts: from the launch, from the limits of the chip, and from other values. */
#ifndef SONDE_KERNEL_RESULTS_DERIVED_H
#define SONDE_KERNEL_RESULTS_DERIVED_H

#include "kernel/results/results.h"

/* Adds to every kernel what can be computed and is not there. -ENOMEM. */
int derive_values(struct kernel_results *results);

#endif
