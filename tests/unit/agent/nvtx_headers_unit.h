/* One linkage unit that uses the vendor's headers. The same source is built into the test and
 * into a library, so that two units of one program attach. */
#ifndef SONDE_TESTS_NVTX_HEADERS_UNIT_H
#define SONDE_TESTS_NVTX_HEADERS_UNIT_H

#include <stdint.h>

struct unit_results {
	int push, inner, pop;
	uint64_t range;
	void *domain, *string;
	uint64_t schema, counter;
	uint8_t enabled;
};

/* Attaches this unit to the given entry points and makes a few calls of each kind. */
__attribute__((visibility("default"))) void unit_in_library(void *attach, void *attach_extension, struct unit_results *ret);
void unit_in_program(void *attach, void *attach_extension, struct unit_results *ret);

#endif
