/* What a throughput is the largest of, without CUPTI: for reports that are read where there is none. */
#ifndef SONDE_KERNEL_METRICS_THROUGHPUT_H
#define SONDE_KERNEL_METRICS_THROUGHPUT_H

#include <stddef.h>

/* Counters, up to NULL; NULL where the throughput is not known. Their rollup is the throughput's own. */
const char *const *throughput_parts(const char *base, size_t len);

#endif
