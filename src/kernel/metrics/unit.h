/* Units as they are shown: CUPTI's dimensions in ncu's words, and values scaled to a size one can read. */
#ifndef SONDE_KERNEL_METRICS_UNIT_H
#define SONDE_KERNEL_METRICS_UNIT_H

#include <stddef.h>

/* "instruction/gpc_cycle" -> "inst/cycle"; "" for what has no unit of its own. */
const char *unit_of_dimension(const char *dimension, char *buffer, size_t size);
/* 2619000000 hz -> 2.619 Ghz, 1700 ns -> 1.7 us; what is not scaled stays as it is. */
double unit_scale(double value, const char *unit, char *buffer, size_t size);

#endif
