#include "vendor/nvml/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

const char *nvml_text(const struct nvml *n, int result)
{
	const char *text = n->nvmlErrorString ? n->nvmlErrorString(result) : NULL;

	return text ? text : "unknown error";
}

static int fill_nvml_functions(struct nvml *n, char *why, size_t why_size)
{
	static const struct {
		const char *name;
		size_t offset;
		int needed;
	} functions[] = {
		{ "nvmlErrorString", offsetof(struct nvml, nvmlErrorString), 0 },
#define NVML_FUNCTION(needed, name, parameters) { #name, offsetof(struct nvml, name), needed },
#include "vendor/nvml/nvml_functions.def"
#undef NVML_FUNCTION
	};
	void *function;

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		function = dlsym(n->library, functions[i].name);
		if (!function && functions[i].needed) {
			snprintf(why, why_size, "NVML has no %s: the driver is too old", functions[i].name);
			return -ENOSYS;
		}
		memcpy((char *)n + functions[i].offset, &function, sizeof(function));
	}
	return 0;
}

/* The library stays loaded: it may have threads. */
int nvml_load(struct nvml *ret, char *why, size_t why_size)
{
	const char *path = getenv("SONDE_NVML"), *message;
	int result;

	memset(ret, 0, sizeof(*ret));
	ret->library = dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!ret->library) {
		message = dlerror();
		snprintf(why, why_size, "NVML was not found (%s)", message ? message : "?");
		return -ENOENT;
	}
	result = fill_nvml_functions(ret, why, why_size);
	if (result < 0)
		return result;
	result = ret->nvmlInit_v2();
	if (result != NVML_OK) {
		snprintf(why, why_size, "NVML does not start: %s", nvml_text(ret, result));
		return -ENODEV;
	}
	return 0;
}
