/* CUPTI's functions, from one library. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "vendor/cupti/cupti.h"
#include "vendor/dl.h"

/* 11.8; see docs/cuda.md for how versions are counted. */
#define OLDEST_VERSION 18u

static int fill_cupti_functions(struct cupti *c, char *why, size_t why_size)
{
	static const struct {
		const char *name;
		size_t offset;
		int needed;
	} functions[] = {
#define CUPTI_FUNCTION(needed, name, parameters) { #name, offsetof(struct cupti, name), needed },
#include "vendor/cupti/functions.def"
#undef CUPTI_FUNCTION
	};
	void *function;

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		function = dlsym(c->library, functions[i].name);
		if (!function && functions[i].needed) {
			snprintf(why, why_size, "%s has no %s", c->path, functions[i].name);
			return -ENOSYS;
		}
		memcpy((char *)c + functions[i].offset, &function, sizeof(function));
	}
	return 0;
}

/* The file that a soname turned out to be. */
static void find_path(struct cupti *c)
{
	Dl_info info = { 0 };

	if (dladdr((void *)c->cuptiGetVersion, &info) && info.dli_fname)
		snprintf(c->path, sizeof(c->path), "%s", info.dli_fname);
}

static int check_version(struct cupti *c, char *why, size_t why_size)
{
	int result = c->cuptiGetVersion(&c->version);

	if (result == CUPTI_OK && c->version >= OLDEST_VERSION)
		return 0;
	if (result == CUPTI_OK)
		snprintf(why, why_size, "%s is older than CUDA 11.8 (its version is %u)", c->path, c->version);
	else
		snprintf(why, why_size, "%s does not report its version (error %d)", c->path, result);
	return -ENOTSUP;
}

void cupti_unload(struct cupti *c)
{
	if (c->library)
		dlclose(c->library);
	memset(c, 0, sizeof(*c));
}

int cupti_load(struct cupti *ret, const char *path, char *why, size_t why_size)
{
	const char *message;
	int result;

	memset(ret, 0, sizeof(*ret));
	if (!dlopen || !dlsym || !dlclose || !dlerror || !dladdr) {
		snprintf(why, why_size, "this program cannot load libraries");
		return -ENOSYS;
	}
	snprintf(ret->path, sizeof(ret->path), "%s", path);
	ret->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!ret->library) {
		message = dlerror();
		snprintf(why, why_size, "%s", message ? message : path);
		return -ENOENT;
	}
	result = fill_cupti_functions(ret, why, why_size);
	if (result == 0) {
		find_path(ret);
		result = check_version(ret, why, why_size);
	}
	if (result < 0)
		cupti_unload(ret);
	return result;
}
