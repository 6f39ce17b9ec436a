#include "cli/kernel/run/clocks.h"

#include <stdio.h>
#include <string.h>

#include "cli/kernel/options.h"

static int lock(struct kernel_clocks *c, void *device, enum kernel_clock_control control)
{
	unsigned mhz = NVML_BASE_CLOCK;
	int result = 0;

	if (control == CLOCKS_RESET)
		return c->nvml.nvmlDeviceResetGpuLockedClocks(device);
	if (control != CLOCKS_BASE)
		result = c->nvml.nvmlDeviceGetMaxClockInfo ? c->nvml.nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_GRAPHICS, &mhz) : -1;
	return result ? result : c->nvml.nvmlDeviceSetGpuLockedClocks(device, mhz, mhz);
}

static int lock_all(struct kernel_clocks *c, enum kernel_clock_control control)
{
	unsigned count = 0;
	int result = c->nvml.nvmlDeviceGetCount_v2(&count);
	void *device;

	for (unsigned i = 0; result == 0 && i < count && c->count < MOST_LOCKED; i++) {
		result = c->nvml.nvmlDeviceGetHandleByIndex_v2(i, &device);
		if (result == 0)
			result = lock(c, device, control);
		if (result == 0 && control != CLOCKS_RESET)
			c->locked[c->count++] = device;
	}
	return result;
}

static void note_unlocked_clocks(struct cli *cli, struct kernel_clocks *c, const char *why)
{
	kernel_warn(cli, "note: clocks are not locked: %s", why);
	snprintf(c->what, sizeof(c->what), "not locked: %s", why);
}

static void report_locked(struct cli *cli, struct kernel_clocks *c, enum kernel_clock_control control, bool quiet)
{
	if (control == CLOCKS_RESET) {
		snprintf(c->what, sizeof(c->what), "not locked any more");
		return;
	}
	snprintf(c->what, sizeof(c->what), "locked to %s", control == CLOCKS_BASE ? "base" : "the highest");
	if (cli->role == CLI_NCU && !quiet)
		fprintf(kernel_reported(cli), "==PROF== Clocks are %s until the program ends; --clock-control none does not lock them.\n",
			c->what);
}

void kernel_clocks_lock(struct cli *cli, struct kernel_clocks *ret, enum kernel_clock_control control, bool quiet)
{
	char why[256];
	int result;

	memset(ret, 0, sizeof(*ret));
	snprintf(ret->what, sizeof(ret->what), "not locked");
	if (control == CLOCKS_AS_THEY_ARE)
		return;
	if (nvml_load(&ret->nvml, why, sizeof(why)) < 0) {
		note_unlocked_clocks(cli, ret, why);
	} else if (!ret->nvml.nvmlDeviceSetGpuLockedClocks || !ret->nvml.nvmlDeviceResetGpuLockedClocks) {
		note_unlocked_clocks(cli, ret, "this driver cannot lock them");
	} else {
		result = lock_all(ret, control);
		if (result == 0) {
			report_locked(cli, ret, control, quiet);
			return;
		}
		kernel_clocks_release(ret);
		note_unlocked_clocks(cli, ret, nvml_text(&ret->nvml, result));
	}
}

void kernel_clocks_release(struct kernel_clocks *clocks)
{
	for (unsigned i = 0; i < clocks->count; i++)
		clocks->nvml.nvmlDeviceResetGpuLockedClocks(clocks->locked[i]);
	clocks->count = 0;
}
