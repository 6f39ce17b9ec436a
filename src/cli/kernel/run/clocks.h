/* --clock-control: the clocks of the GPUs stand still while a program's kernels are read. */
#ifndef SONDE_CLI_KERNEL_RUN_CLOCKS_H
#define SONDE_CLI_KERNEL_RUN_CLOCKS_H

#include "cli/command.h"
#include "vendor/nvml/nvml.h"

enum kernel_clock_control { CLOCKS_AS_THEY_ARE, CLOCKS_BASE, CLOCKS_BOOST, CLOCKS_BOOST_TOO, CLOCKS_RESET };

#define MOST_LOCKED 64

struct kernel_clocks {
	struct nvml nvml;
	void *locked[MOST_LOCKED]; /* GPUs */
	unsigned count;
	char what[320]; /* at which clocks kernels are read, for the report */
};

/* What cannot be locked is reported in one line and does not stop the run; that clocks are locked is not reported with -q. */
void kernel_clocks_lock(struct cli *cli, struct kernel_clocks *ret, enum kernel_clock_control control, bool quiet);
void kernel_clocks_release(struct kernel_clocks *clocks);

#endif
