#include "vendor/cupti/pm.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "vendor/cupti/cupti.h"

const char *cupti_pm_text(const struct cupti_pm *pm, int result)
{
	const char *text = NULL;

	if (pm->cuptiGetResultString)
		pm->cuptiGetResultString(result, &text);
	return text ? text : "unknown error";
}

static int fill_pm_functions(struct cupti_pm *pm, const char *path, char *why, size_t why_size)
{
	static const struct {
		const char *name;
		size_t offset;
		int needed;
	} functions[] = {
		{ "cuptiGetVersion", offsetof(struct cupti_pm, cuptiGetVersion), 1 },
		{ "cuptiGetResultString", offsetof(struct cupti_pm, cuptiGetResultString), 1 },
#define PM_FUNCTION(needed, name, parameters) { #name, offsetof(struct cupti_pm, name), needed },
#include "vendor/cupti/pm_functions.def"
#undef PM_FUNCTION
	};
	void *function;

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		function = dlsym(pm->library, functions[i].name);
		if (!function && functions[i].needed) {
			snprintf(why, why_size, "%s has no %s: PM sampling came with CUPTI 12.6", path, functions[i].name);
			return -ENOSYS;
		}
		memcpy((char *)pm + functions[i].offset, &function, sizeof(function));
	}
	return 0;
}

/* The first CUPTI that can sample, of all there are; the reason of the first that cannot. */
int cupti_pm_load(struct cupti_pm *ret, char *why, size_t why_size)
{
	struct cupti_places *places = calloc(1, sizeof(*places));
	int result = -ENOENT;

	memset(ret, 0, sizeof(*ret));
	if (!places)
		return -ENOMEM;
	cupti_find(places, "");
	snprintf(why, why_size, "CUPTI was not found; SONDE_CUPTI may name the library");
	for (unsigned i = 0; i < places->count && result < 0; i++) {
		ret->library = dlopen(places->paths[i], RTLD_NOW | RTLD_LOCAL);
		if (!ret->library)
			continue;
		result = fill_pm_functions(ret, places->paths[i], why, why_size);
		if (result < 0)
			dlclose(ret->library);
	}
	free(places);
	return result;
}
