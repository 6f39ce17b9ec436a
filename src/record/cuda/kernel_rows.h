/* Values of kernels whose counters are read: rows of the table kernel_metric. */
#ifndef SONDE_RECORD_CUDA_KERNEL_ROWS_H
#define SONDE_RECORD_CUDA_KERNEL_ROWS_H

#include "record/session/session.h"

#define KERNEL_NO_INSTANCE UINT32_MAX

/* What a value is of. */
struct kernel_row_of {
	uint64_t result;
	enum kernel_metric_kind kind;
	uint32_t instance; /* number of one of the values it is made of, or KERNEL_NO_INSTANCE */
};

void kernel_metric_row(struct session *s, struct kernel_row_of of, const char *name, const char *unit, double value);
void kernel_text_row(struct session *s, struct kernel_row_of of, const char *name, const char *text, size_t size);

/* kernel_device.c: attributes of the result's device; `values` are doubles. */
void cuda_kernel_device(struct session *s, uint64_t result, uint32_t first, const uint8_t *values, uint32_t count);

#endif
