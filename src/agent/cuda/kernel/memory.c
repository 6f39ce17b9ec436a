/* Memory is kept and put back by the library that comes with CUPTI for this (libcheckpoint.so): device memory however it was
 * allocated, variables of modules, host memory that the device reaches. */
#include <stdio.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"
#include "vendor/cupti/checkpoint.h"
#include "vendor/dl.h"

#define MUCH_GIB 8

static struct cupti_checkpoint_library library;
static struct cupti_checkpoint kept[KERNEL_MEMORIES];
static double kept_gib[KERNEL_MEMORIES];

static int load_checkpoint_library(char *why)
{
	char path[600];

	if (library.save)
		return 0;
	snprintf(path, sizeof(path), "%s%slibcheckpoint.so", kernel_agent.folder, *kernel_agent.folder ? "/" : "");
	return cupti_checkpoint_load(&library, path, why, KERNEL_WHY_SIZE);
}

/* Bytes of the GPU's memory; returns those in use, by other processes, too, and 0 where that is not known. */
static size_t in_use(size_t *free_bytes)
{
	size_t total = 0;

	*free_bytes = 0;
	if (!kernel_agent.driver.cuMemGetInfo || kernel_agent.driver.cuMemGetInfo(free_bytes, &total) != 0)
		return 0;
	return total - *free_bytes;
}

int kernel_memory_fits(size_t copies)
{
	size_t free_bytes, used = in_use(&free_bytes);

	return copies * used <= free_bytes;
}

/* Copying much memory may take seconds, and is not to be taken for a kernel that does not end. */
static int copy_checkpoint(int (*how)(struct cupti_checkpoint *handle), enum kernel_memory which)
{
	struct record_kernel reported = { .time = cuda_agent.core->now() };
	char amount[40];
	int result;

	if (kept_gib[which] < MUCH_GIB)
		return how(&kept[which]);
	snprintf(amount, sizeof(amount), "%.0f GiB", kept_gib[which]);
	kernel_report(&reported, KERNEL_COPIES, amount);
	result = how(&kept[which]);
	kernel_report(&reported, KERNEL_WENT_ON, NULL);
	return result;
}

int kernel_memory_save(enum kernel_memory which, void *context, char *why)
{
	struct cupti_checkpoint *k = &kept[which];
	size_t free_bytes;
	int result;

	if (load_checkpoint_library(why) < 0)
		return -1;
	memset(k, 0, sizeof(*k));
	k->size = sizeof(*k);
	k->context = context;
	k->overwrite = 1;
	kept_gib[which] = (double)in_use(&free_bytes) / (1 << 30);
	result = copy_checkpoint(library.save, which);
	if (result == CUPTI_OK)
		return 0;
	snprintf(why, KERNEL_WHY_SIZE, "memory could not be saved for another pass (error %d); fewer metrics need fewer passes", result);
	return -1;
}

int kernel_memory_restore(enum kernel_memory which, char *why)
{
	int result = copy_checkpoint(library.restore, which);

	if (result == CUPTI_OK)
		return 0;
	snprintf(why, KERNEL_WHY_SIZE, "memory could not be restored (error %d)", result);
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
