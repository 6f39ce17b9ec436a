/* Between the parts of the double of CUPTI. */
#ifndef SONDE_TESTS_COUNTED_SOURCE_H
#define SONDE_TESTS_COUNTED_SOURCE_H

#include <stddef.h>
#include <stdint.h>

void source_ran(const char *symbol);
void source_range_enabled(int enabled);
/* The file that COUNTED_CUBIN names: the module of all kernels. */
const void *source_image(size_t *size);
int source_is_series(const uint8_t *image);
double source_series_value(const char *name, size_t sample);

#endif
