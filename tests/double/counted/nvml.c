/* libnvidia-ml.so.1: two GPUs whose clocks can be locked, if COUNTED_FAIL does not say otherwise. COUNTED_LINKS has words for what they
 * have: nvlink, c2c, mig. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counted.h"
#include "vendor/nvml/nvml.h"

#define EXPORT __attribute__((visibility("default")))

#define NVML_FUNCTION(needed, name, parameters) int name parameters;
#include "vendor/nvml/nvml_functions.def"
#undef NVML_FUNCTION
const char *nvmlErrorString(int result);

static char gpus[2];

EXPORT int nvmlInit_v2(void)
{
	return 0;
}
EXPORT const char *nvmlErrorString(int result)
{
	return result == 4 ? "Insufficient Permissions" : "Unknown Error";
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = 2;
	return 0;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	*device = &gpus[index];
	return 0;
}

EXPORT int nvmlDeviceGetName(void *device, char *name, unsigned size)
{
	snprintf(name, size, "Counted GPU %d", (int)((char *)device - gpus));
	return 0;
}

EXPORT int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size)
{
	snprintf(uuid, size, "GPU-%d", (int)((char *)device - gpus));
	return 0;
}

EXPORT int nvmlDeviceGetPciInfo_v3(void *device, struct nvml_pci *pci)
{
	memset(pci, 0, sizeof(*pci));
	return device ? 0 : 1;
}

EXPORT int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz)
{
	*mhz = 1980;
	return device && clock == NVML_CLOCK_GRAPHICS ? 0 : 1;
}

EXPORT int nvmlDeviceSetGpuLockedClocks(void *device, unsigned least_mhz, unsigned most_mhz)
{
	int result = counted_fails("nvmlDeviceSetGpuLockedClocks");

	if (result == 0)
		counted_log("lock %d %x %x", (int)((char *)device - gpus), least_mhz, most_mhz);
	return result;
}

EXPORT int nvmlDeviceResetGpuLockedClocks(void *device)
{
	counted_log("unlock %d", (int)((char *)device - gpus));
	return 0;
}

static int has(const char *word)
{
	const char *all = getenv("COUNTED_LINKS");

	return all && strstr(all, word) != NULL;
}

EXPORT int nvmlDeviceGetNvLinkState(void *device, unsigned link, int *is_active)
{
	*is_active = device != NULL;
	return has("nvlink") && link < 2 ? NVML_OK : NVML_NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetC2cModeInfoV(void *device, unsigned *is_enabled)
{
	*is_enabled = device && has("c2c");
	return NVML_OK;
}

EXPORT int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
	*current = *pending = device && has("mig");
	return NVML_OK;
}
