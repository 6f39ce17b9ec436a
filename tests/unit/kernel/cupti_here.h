/* The CUPTI of this machine, or none. */
#ifndef TESTS_KERNEL_CUPTI_HERE_H
#define TESTS_KERNEL_CUPTI_HERE_H

#include <string.h>

#include "vendor/cupti_host.h"

/* CUPTI loads a library in a way that sanitizers refuse. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static inline void cupti_here(struct cupti_host *ret)
{
	char why[512];

	if (SANITIZED || cupti_host_load(ret, why, sizeof(why)) < 0)
		memset(ret, 0, sizeof(*ret));
}

#endif
