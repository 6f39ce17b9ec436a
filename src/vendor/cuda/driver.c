#include "vendor/cuda/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

static int fill_driver_functions(struct cuda_driver *d)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
		{ "cuInit", offsetof(struct cuda_driver, cuInit) },
		{ "cuDeviceGetCount", offsetof(struct cuda_driver, cuDeviceGetCount) },
		{ "cuDeviceGetPCIBusId", offsetof(struct cuda_driver, cuDeviceGetPCIBusId) },
		{ "cuGetErrorString", offsetof(struct cuda_driver, cuGetErrorString) },
	};
	void *function;

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		function = dlsym(d->library, functions[i].name);
		if (!function)
			return -ENOSYS;
		memcpy((char *)d + functions[i].offset, &function, sizeof(function));
	}
	return 0;
}

int cuda_driver_load(struct cuda_driver *ret, char *why, size_t why_size)
{
	const char *path = getenv("SONDE_LIBCUDA"), *text;
	int result;

	memset(ret, 0, sizeof(*ret));
	/* CUPTI looks for it by name, and finds the one that is loaded. */
	ret->library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!ret->library) {
		text = dlerror();
		snprintf(why, why_size, "the CUDA driver was not found (%s)", text ? text : "?");
		return -ENOENT;
	}
	if (fill_driver_functions(ret) < 0) {
		snprintf(why, why_size, "the CUDA driver is too old");
		return -ENOSYS;
	}
	result = ret->cuInit(0);
	if (result) {
		text = NULL;
		ret->cuGetErrorString(result, &text);
		snprintf(why, why_size, "the CUDA driver does not start: %s (error %d)", text ? text : "?", result);
		return -ENODEV;
	}
	return 0;
}
