/* What stands in the way of counters, in one sentence. */
#include <stdio.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"
#include "base/macros.h"

static const struct {
	int result;
	const char *sentence;
} known[] = {
	{ CUPTI_INSUFFICIENT_PRIVILEGES, KERNEL_FORBIDDEN ": the driver does not let this user read counters" },
	{ CUPTI_VIRTUAL_INSUFFICIENT_PRIVILEGES,
	  KERNEL_FORBIDDEN ": the host of this virtual GPU does not allow reading counters (set enable_profiling=1 in the virtual "
			   "machine's settings)" },
	{ CUPTI_HARDWARE_BUSY, KERNEL_HELD ": another tool reads counters of this GPU" },
	{ CUPTI_VIRTUAL_NOT_SUPPORTED,
	  "counters of a virtual GPU cannot be read with this driver; its host decides (enable_profiling=1 in the virtual "
	  "machine's settings)" },
	{ CUPTI_CONFIDENTIAL, "counters cannot be read while the GPU is in confidential-computing mode" },
	{ CUPTI_MINING, "cards made for mining (CMP) have no counters" },
	{ CUPTI_MIG, "counters of this MIG instance cannot be read: use a whole GPU, or an instance that shares nothing with others" },
	{ CUPTI_SLI, "counters cannot be read while SLI is on" },
	{ CUPTI_WSL,
	  "under WSL counters are for those that NVIDIA's control panel on Windows lets read them (Manage GPU Performance Counters)" },
	{ CUPTI_UNKNOWN_CHIP, "this CUPTI is older than the GPU; install the CUPTI of a newer CUDA" },
	{ CUPTI_LEGACY, "counters need a GPU of compute capability 7.0 or later" },
	{ CUPTI_NOT_COMPATIBLE, "this CUPTI does not match the driver: update the driver, or set SONDE_CUPTI to the CUPTI of an older "
				"CUDA" },
};

int kernel_failed(int result, const char *what, char *why)
{
	const char *text = NULL;

	if (result == CUPTI_OK)
		return 0;
	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (known[i].result == result) {
			snprintf(why, KERNEL_WHY_SIZE, "%s", known[i].sentence);
			return -1;
		}
	cuda_agent.cupti.cuptiGetResultString(result, &text);
	snprintf(why, KERNEL_WHY_SIZE, "%s: %.120s (error %d)", what, text ? text : "failed", result);
	return -1;
}

/* Which of several conditions it was. */
static int condition_of(const struct pm_device_supported *p)
{
	return p->architecture == PM_UNSUPPORTED                   ? CUPTI_LEGACY :
	       p->vgpu == PM_UNSUPPORTED || p->vgpu == PM_DISABLED ? CUPTI_VIRTUAL_NOT_SUPPORTED :
	       p->confidential == PM_UNSUPPORTED                   ? CUPTI_CONFIDENTIAL :
	       p->mining == PM_UNSUPPORTED                         ? CUPTI_MINING :
	       p->sli == PM_UNSUPPORTED                            ? CUPTI_SLI :
	       p->wsl == PM_UNSUPPORTED                            ? CUPTI_WSL :
								     CUPTI_OK;
}

int kernel_device_fits(int device, char *why)
{
	struct pm_device_supported p = PM_PARAMETERS(pm_device_supported, api);
	int result;

	p.device = device;
	p.api = RANGE_PROFILER_API;
	result = kernel_agent.range.cuptiProfilerDeviceSupported(&p);
	if (result == CUPTI_INSUFFICIENT_PRIVILEGES || result == CUPTI_VIRTUAL_INSUFFICIENT_PRIVILEGES)
		return kernel_failed(result, "", why);
	/* Not knowing is no reason not to try. */
	if (result != CUPTI_OK || (p.supported != PM_UNSUPPORTED && p.supported != PM_DISABLED))
		return 0;
	return kernel_failed(condition_of(&p), "", why);
}
