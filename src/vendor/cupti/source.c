#include "vendor/cupti/source.h"

#include <string.h>

#include "base/macros.h"
#include "vendor/dl.h"

void cupti_source_fill(struct cupti_source *ret, void *library)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define SOURCE_FUNCTION(name, parameters) { #name, offsetof(struct cupti_source, name) },
#include "vendor/cupti/source_functions.def"
#undef SOURCE_FUNCTION
	};
	void *function;

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		function = dlsym(library, functions[i].name);
		memcpy((char *)ret + functions[i].offset, &function, sizeof(function));
	}
}

int cupti_pm_fill(struct cupti_pm *ret, void *library)
{
	static const struct {
		const char *name;
		size_t offset;
		int needed;
	} functions[] = {
#define PM_FUNCTION(needed, name, parameters) { #name, offsetof(struct cupti_pm, name), needed },
#include "vendor/cupti/pm_functions.def"
#undef PM_FUNCTION
	};
	int complete = 1;
	void *function;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		function = dlsym(library, functions[i].name);
		memcpy((char *)ret + functions[i].offset, &function, sizeof(function));
		complete &= function != NULL || !functions[i].needed;
	}
	return complete;
}
