#include "vendor/cupti/checkpoint.h"

#include <errno.h>
#include <stdio.h>

#include "vendor/dl.h"

int cupti_checkpoint_load(struct cupti_checkpoint_library *ret, const char *path, char *why, size_t why_size)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		snprintf(why, why_size, "metrics that need several passes need libcheckpoint.so, which comes with CUPTI: %.120s",
			 dlerror());
		return -ENOENT;
	}
	ret->save = (int (*)(struct cupti_checkpoint *))dlsym(library, "cuptiCheckpointSave");
	ret->restore = (int (*)(struct cupti_checkpoint *))dlsym(library, "cuptiCheckpointRestore");
	ret->forget = (int (*)(struct cupti_checkpoint *))dlsym(library, "cuptiCheckpointFree");
	if (ret->save && ret->restore && ret->forget)
		return 0;
	ret->save = NULL;
	snprintf(why, why_size, "%.180s lacks a function", path);
	return -ENOSYS;
}
