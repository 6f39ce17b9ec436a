/* Block size, grid size and the last wave. */
#include <math.h>

#include "kernel/rules/rule.h"

#define LAUNCH_NS 5000

static void check_block(struct rule_run *run, double block)
{
	double last = fmod(block, 32), warps = ceil(block / 32);
	struct rule_result *result;

	if (!(block > 0) || last == 0)
		return;
	result = rule_result(run, RULE_OPTIMIZE, "Block Size");
	rule_say(result, "Blocks of %.0f threads leave %.0f threads of their last warp without work: take a multiple "
		 "of 32.", block, 32 - last);
	rule_gain(result, RULE_GLOBAL, 1 / warps * (1 - last / 32));
}

static void check_grid(struct rule_run *run, double grid, double sms)
{
	struct rule_result *result;

	if (grid < sms) {
		result = rule_result(run, RULE_OPTIMIZE, "Small Grid");
		rule_say(result, "%.0f blocks leave %.0f of %.0f multiprocessors without work: smaller blocks, more of "
			 "them, or other kernels at the same time.", grid,
			 sms - grid, sms);
		rule_gain(result, RULE_GLOBAL, (sms - grid) / sms);
	} else if (grid < 2 * sms) {
		result = rule_result(run, RULE_INFORM, "Small Grid");
		rule_say(result, "With fewer than two blocks for each multiprocessor, it is idle while the threads of "
			 "its only block wait at a barrier.");
	}
}

static void check_tail(struct rule_run *run, double grid, double waves)
{
	double whole = floor(waves), left = waves - whole, share = 1 / (1 + whole);
	struct rule_result *result;

	if (!(left > 0) || !(whole >= 1) || share < 0.2)
		return;
	result = rule_result(run, RULE_OPTIMIZE, "Tail Effect");
	rule_say(result, "After %.0f full wave%s of blocks, the last %.0f run with most of the GPU idle. A grid of "
		 "whole waves, or much smaller blocks, would avoid it.", whole,
		 whole == 1 ? "" : "s", ceil(grid * left / waves));
	rule_gain(result, RULE_GLOBAL, share);
}

/* Less than it takes to launch a kernel: with more work in each, or in a graph, the GPU would not wait. */
static void check_duration(struct rule_run *run, double ns)
{
	struct rule_result *result;

	if (!(ns > 0) || ns >= LAUNCH_NS)
		return;
	result = rule_result(run, RULE_OPTIMIZE, "Short Kernel");
	rule_say(result, "The kernel takes %.1f us, and launching one about %.0f: do more in each launch, join kernels that follow each other, or "
		 "launch them as a CUDA graph.", ns / 1000, LAUNCH_NS / 1000.0);
}

void rule_launch(struct rule_run *run)
{
	double grid = rule_value(run, "launch__grid_size");

	check_block(run, rule_value(run, "launch__block_size"));
	check_grid(run, grid, rule_value(run, "launch__sm_count"));
	check_duration(run, rule_value(run, "gpu__time_duration.sum"));
	check_tail(run, grid, rule_value(run, "launch__waves_per_multiprocessor"));
}
