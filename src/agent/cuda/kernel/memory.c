/* Memory is kept and put back by the library that comes with CUPTI for this (libcheckpoint.so): device memory however it was
 * allocated, variables of modules, host memory that the device reaches. */
#include <stdio.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"
#include "vendor/cupti_checkpoint.h"
#include "vendor/dl.h"

static struct cupti_checkpoint_library library;
static struct cupti_checkpoint kept[KERNEL_MEMORIES];

static int load(char *why)
{
	char path[600];

	if (library.save)
		return 0;
	snprintf(path, sizeof(path), "%s%slibcheckpoint.so", kernel_agent.folder, *kernel_agent.folder ? "/" : "");
	return cupti_checkpoint_load(&library, path, why, KERNEL_WHY_SIZE);
}

int kernel_memory_save(enum kernel_memory which, void *context, char *why)
{
	struct cupti_checkpoint *k = &kept[which];
	int result;

	if (load(why) < 0)
		return -1;
	memset(k, 0, sizeof(*k));
	k->size = sizeof(*k);
	k->context = context;
	k->overwrite = 1;
	result = library.save(k);
	if (result == CUPTI_OK)
		return 0;
	snprintf(why, KERNEL_WHY_SIZE, "memory could not be kept for another pass (error %d); fewer metrics need fewer passes", result);
	return -1;
}

int kernel_memory_restore(enum kernel_memory which, char *why)
{
	int result = library.restore(&kept[which]);

	if (result == CUPTI_OK)
		return 0;
	snprintf(why, KERNEL_WHY_SIZE, "memory could not be put back (error %d)", result);
	return -1;
}

/* There is no other way back: what failed once may not fail again. */
int kernel_memory_put_back(enum kernel_memory which, char *why)
{
	size_t size;

	if (kernel_memory_restore(which, why) == 0 || kernel_memory_restore(which, why) == 0)
		return 0;
	size = strlen(why);
	snprintf(why + size, KERNEL_WHY_SIZE - size, ": what the program computes from here on may be wrong");
	return -1;
}

void kernel_memory_forget(enum kernel_memory which)
{
	if (library.forget)
		library.forget(&kept[which]);
}
