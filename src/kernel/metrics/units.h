/* Units of metrics, and numbers as they are printed. */
#ifndef SONDE_KERNEL_METRICS_UNITS_H
#define SONDE_KERNEL_METRICS_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNIT_MAX 32
#define NUMBER_MAX 432 /* the largest double in full, with separators */

/* The unit that a counter of this name has, "" where it has none: for reports that do not tell. */
void unit_of_metric(const char *name, char ret[UNIT_MAX]);

/* By what a value of this unit is divided to be below 1000 of a larger one, which is written to `ret`. 1 where there is none. */
double unit_divisor(const char *unit, double value, char ret[UNIT_MAX]);

/* "12,345", or "12,345.67" where it is no whole number or `decimals` says so. */
void number_text(double value, bool decimals, char ret[NUMBER_MAX]);
void integer_text(int64_t value, char ret[NUMBER_MAX]);

/* How much of a metric's name is its base: "LTS.TriageCompute.lts__t_sectors.sum" has dots before it, too. */
size_t metric_base_len(const char *metric);

#endif
