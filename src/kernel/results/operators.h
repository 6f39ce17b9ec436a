/* Operators of PyTorch, from a trace of the same program: it knows which operator started which kernel, the counters do not. */
#ifndef SONDE_KERNEL_RESULTS_OPERATORS_H
#define SONDE_KERNEL_RESULTS_OPERATORS_H

#include "kernel/results/results.h"

/* Kernels are the same where function, grid and block are. One that different operators start is told apart by order where both have as many
 * launches of it; else it is said to be of one or the other. Returns how many kernels were found, or a negative errno. */
int operators_apply(struct kernel_results *results, const char *path, struct error *err);

#endif
