#include "vendor/cupti/host.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "vendor/cupti/cupti.h"

const char *cupti_host_text(const struct cupti_host *c, int result)
{
	const char *text = NULL;

	if (c->cuptiGetResultString)
		c->cuptiGetResultString(result, &text);
	return text ? text : "unknown error";
}

/* The first function that is missing, or NULL. */
static const char *fill_host_functions(struct cupti_host *c)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
		{ "cuptiGetVersion", offsetof(struct cupti_host, cuptiGetVersion) },
		{ "cuptiGetResultString", offsetof(struct cupti_host, cuptiGetResultString) },
#define HOST_FUNCTION(name, parameters) { #name, offsetof(struct cupti_host, name) },
#include "vendor/cupti/host_functions.def"
#undef HOST_FUNCTION
	};
	void *function;

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		function = dlsym(c->library, functions[i].name);
		if (!function)
			return functions[i].name;
		memcpy((char *)c + functions[i].offset, &function, sizeof(function));
	}
	return NULL;
}

/* Does it answer at all? Without libnvperf_host.so beside it CUPTI knows no chip. */
static int try(struct cupti_host *c, const char *path, char *why, size_t why_size)
{
	struct host_chips chips = PM_PARAMETERS(host_chips, names);
	const char *missing = fill_host_functions(c);

	if (missing) {
		snprintf(why, why_size, "%s has no %s: metrics without a GPU came with CUPTI 12.6", path, missing);
		return -ENOSYS;
	}
	if (c->cuptiProfilerHostGetSupportedChips(&chips) != 0 || !chips.count) {
		snprintf(why, why_size, "%s knows no chip: libnvperf_host.so must lie beside it (package cuda-cupti-12-6 or later)", path);
		return -ENOENT;
	}
	snprintf(c->path, sizeof(c->path), "%s", path);
	return 0;
}

int cupti_host_load(struct cupti_host *ret, char *why, size_t why_size)
{
	struct cupti_places *places = calloc(1, sizeof(*places));
	int result = -ENOENT;

	memset(ret, 0, sizeof(*ret));
	if (!places) {
		snprintf(why, why_size, "not enough memory");
		return -ENOMEM;
	}
	cupti_find(places, "");
	snprintf(why, why_size,
		 "CUPTI was not found: install a CUDA toolkit (package cuda-cupti-12-6 or later, or pip's "
		 "nvidia-cuda-cupti), or name the library in SONDE_CUPTI");
	for (unsigned i = 0; i < places->count && result < 0; i++) {
		ret->library = dlopen(places->paths[i], RTLD_NOW | RTLD_LOCAL);
		if (!ret->library)
			continue;
		result = try(ret, places->paths[i], why, why_size);
		if (result < 0) {
			dlclose(ret->library);
			memset(ret, 0, sizeof(*ret));
		}
	}
	free(places);
	return result;
}

void cupti_host_unload(struct cupti_host *c)
{
	if (c->library)
		dlclose(c->library);
	memset(c, 0, sizeof(*c));
}
