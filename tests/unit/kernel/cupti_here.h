/* The CUPTI of this machine, or none. */
#ifndef TESTS_KERNEL_CUPTI_HERE_H
#define TESTS_KERNEL_CUPTI_HERE_H

#include <string.h>

#include "../sanitized.h"
#include "vendor/cupti/host.h"

/* CUPTI loads a library in a way that sanitizers refuse. */
static inline void cupti_here(struct cupti_host *ret)
{
	char why[512];

	if (SANITIZED || cupti_host_load(ret, why, sizeof(why)) < 0)
		memset(ret, 0, sizeof(*ret));
}

#endif
