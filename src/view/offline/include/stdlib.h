/* With what the library does not have: platform.c. */
#ifndef SONDE_VIEW_OFFLINE_STDLIB_H
#define SONDE_VIEW_OFFLINE_STDLIB_H

#include_next <stdlib.h>

void qsort_r(void *items, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *context);

#endif
