#include "vendor/cupti_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vendor/cupti.h"

#define NVPERF_NAME "libnvperf_host.so"

struct function {
	const char *name;
	size_t offset;
};

const char *cupti_host_text(const struct cupti_host *c, int result)
{
	const char *text = NULL;

	if (c->cuptiGetResultString)
		c->cuptiGetResultString(result, &text);
	return text ? text : "unknown error";
}

/* Fills the pointers to `functions`; the first one that is missing, or NULL. */
static const char *fill(struct cupti_host *c, void *library, const struct function *functions, size_t count)
{
	void *function;

	for (size_t i = 0; i < count; i++) {
		function = dlsym(library, functions[i].name);
		if (!function)
			return functions[i].name;
		memcpy((char *)c + functions[i].offset, &function, sizeof(function));
	}
	return NULL;
}

static const char *fill_host(struct cupti_host *c)
{
	static const struct function functions[] = {
		{ "cuptiGetVersion", offsetof(struct cupti_host, cuptiGetVersion) },
		{ "cuptiGetResultString", offsetof(struct cupti_host, cuptiGetResultString) },
#define HOST_FUNCTION(name, parameters) { #name, offsetof(struct cupti_host, name) },
#define NVPERF_FUNCTION(name, parameters)
#include "vendor/cupti_host_functions.def"
#undef HOST_FUNCTION
#undef NVPERF_FUNCTION
	};

	return fill(c, c->library, functions, sizeof(functions) / sizeof(functions[0]));
}

static const char *fill_nvperf(struct cupti_host *c)
{
	static const struct function functions[] = {
#define HOST_FUNCTION(name, parameters)
#define NVPERF_FUNCTION(name, parameters) { #name, offsetof(struct cupti_host, name) },
#include "vendor/cupti_host_functions.def"
#undef HOST_FUNCTION
#undef NVPERF_FUNCTION
	};

	return fill(c, c->nvperf, functions, sizeof(functions) / sizeof(functions[0]));
}

/* It lies beside CUPTI, which loads it from there too. */
static void load_nvperf(struct cupti_host *c)
{
	struct nvperf_initialize parameters = PM_PARAMETERS(nvperf_initialize, priv);
	char path[sizeof(c->path) + sizeof(NVPERF_NAME)];
	const char *slash = strrchr(c->path, '/');

	snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash + 1 - c->path) : 0, c->path, NVPERF_NAME);
	c->nvperf = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!c->nvperf)
		c->nvperf = dlopen(NVPERF_NAME, RTLD_NOW | RTLD_LOCAL);
	if (c->nvperf && (fill_nvperf(c) || c->NVPW_InitializeHost(&parameters) != 0)) {
		dlclose(c->nvperf);
		c->nvperf = NULL;
	}
}

/* Does it answer at all? Without libnvperf_host.so beside it CUPTI knows no chip. */
static int try(struct cupti_host *c, const char *path, char *why, size_t why_size)
{
	struct host_chips chips = PM_PARAMETERS(host_chips, names);
	const char *missing = fill_host(c);

	if (missing) {
		snprintf(why, why_size, "%s has no %s: metrics without a GPU came with CUPTI 12.6", path, missing);
		return -ENOSYS;
	}
	if (c->cuptiProfilerHostGetSupportedChips(&chips) != 0 || !chips.count) {
		snprintf(why, why_size, "%s knows no chip: " NVPERF_NAME " must lie beside it (package cuda-cupti-12-6 or later)", path);
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
	snprintf(why, why_size, "CUPTI was not found: install a CUDA toolkit (package cuda-cupti-12-6 or later, or pip's "
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
	if (result == 0)
		load_nvperf(ret);
	return result;
}

void cupti_host_unload(struct cupti_host *c)
{
	if (c->nvperf)
		dlclose(c->nvperf);
	if (c->library)
		dlclose(c->library);
	memset(c, 0, sizeof(*c));
}
