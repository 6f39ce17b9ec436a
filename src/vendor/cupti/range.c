#include "vendor/cupti/range.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "vendor/dl.h"

int cupti_range_fill(struct cupti_range *ret, void *library, const char *path, char *why, size_t why_size)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define RANGE_FUNCTION(name, parameters) { #name, offsetof(struct cupti_range, name) },
#include "vendor/cupti/range_functions.def"
#undef RANGE_FUNCTION
	};
	void *function;

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		function = dlsym(library, functions[i].name);
		if (!function) {
			snprintf(why, why_size, "%.200s has no %s: counters of kernels need CUPTI 12.6 or later", path, functions[i].name);
			return -ENOSYS;
		}
		memcpy((char *)ret + functions[i].offset, &function, sizeof(function));
	}
	return 0;
}
