#include "vendor/cuda/launch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "vendor/dl.h"

int cuda_launcher_fill(struct cuda_launcher *ret, char *why, size_t why_size)
{
	static const struct {
		const char *symbol;
		size_t offset;
		int needed;
	} functions[] = {
#define LAUNCH_FUNCTION(needed, symbol, name, parameters) { symbol, offsetof(struct cuda_launcher, name), needed },
#include "vendor/cuda/launch_functions.def"
#undef LAUNCH_FUNCTION
	};
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *function;

	if (!library) {
		snprintf(why, why_size, "the CUDA driver is not in this process");
		return -ENOENT;
	}
	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		function = dlsym(library, functions[i].symbol);
		if (!function && functions[i].needed) {
			snprintf(why, why_size, "the CUDA driver has no %s", functions[i].symbol);
			return -ENOSYS;
		}
		memcpy((char *)ret + functions[i].offset, &function, sizeof(function));
	}
	return 0;
}
