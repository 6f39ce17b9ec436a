/* The functions of the C library that a visit needs, as addresses in the other process. */
#ifndef SONDE_INJECT_FUNCTIONS_H
#define SONDE_INJECT_FUNCTIONS_H

#include <stdint.h>

#include "base/error.h"
#include "inject/image.h"

struct functions {
	uint64_t mmap, mprotect, munmap;
	uint64_t dlopen, dlsym;
	uint64_t dlerror;        /* 0: there is none, because libdl is not loaded (glibc before 2.34) */
	uint64_t mode;           /* for dlopen */
	uint64_t pthread_create; /* 0: none, because libpthread is not loaded */
	uint64_t pthread_self, pthread_detach;
	uint64_t trampoline;
};

int functions_find(struct functions *ret, struct image *image, struct error *err);

#endif
