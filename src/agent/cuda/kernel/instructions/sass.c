/* SASS metrics: CUPTI patches the kernel's code so that it counts what each instruction does. What is counted does not depend on
 * time, so one run tells all; it may take many times as long as without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/instructions/passes.h"
#include "base/macros.h"

#define MOST_RECORDS (1u << 22)
#define DEVICES 16u
#define NOTHING_COUNTED 1

/* As CUPTI calls them, and as sections do. */
static const struct {
	const char *name;
	const char *ours;
} metrics[] = {
	{ "smsp__sass_inst_executed", "inst_executed" },
	{ "smsp__sass_thread_inst_executed", "thread_inst_executed" },
	{ "smsp__sass_thread_inst_executed_pred_on", "thread_inst_executed_true" },
	{ "smsp__sass_branch_targets_threads_divergent", "smsp__branch_targets_threads_divergent" },
	{ "smsp__sass_l1tex_tags_mem_global", "memory_l1_tag_requests_global" },
	{ "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared", "memory_l1_wavefronts_shared" },
	{ "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal", "memory_l1_wavefronts_shared_ideal" },
	{ "smsp__sass_sectors_mem_global", "memory_l2_theoretical_sectors_global" },
	{ "smsp__sass_sectors_mem_global_ideal", "memory_l2_theoretical_sectors_global_ideal" },
	{ "smsp__sass_sectors_mem_local", "memory_l2_theoretical_sectors_local" },
};
#define METRICS COUNT_OF(metrics)

struct selected {
	struct sass_config configs[METRICS];
	const char *names[METRICS];
	size_t count;
};

/* Those that this chip has. */
static int select_sass_metrics(const struct kernel_pass *pass, struct selected *c, char *why)
{
	struct pm_chip_name chip = PM_PARAMETERS(pm_chip_name, chip);
	struct sass_properties p = PM_PARAMETERS(sass_properties, metric);

	chip.device = (size_t)pass->device;
	if (kernel_source_failed(kernel_agent.range.cuptiDeviceGetChipName(&chip), "the name of the chip", why) < 0)
		return -1;
	c->count = 0;
	for (size_t i = 0; i < METRICS; i++) {
		p.chip = chip.chip;
		p.name = metrics[i].name;
		if (kernel_cupti.cuptiSassMetricsGetProperties(&p) != CUPTI_OK)
			continue;
		c->configs[c->count] = (struct sass_config){ .metric = p.metric.id };
		c->names[c->count++] = metrics[i].ours;
	}
	if (c->count)
		return 0;
	snprintf(why, KERNEL_WHY_SIZE, "instructions of the chip %.40s cannot be counted", chip.chip ? chip.chip : "");
	return -1;
}

static void report_record(const struct kernel_pass *pass, const struct selected *c, const struct sass_record *r, size_t values)
{
	for (size_t v = 0; v < values; v++)
		for (size_t m = 0; m < c->count; m++)
			if (r->values[v].metric == c->configs[m].metric)
				kernel_source_count(pass, r->crc, r->function, r->pc, c->names[m], r->values[v].value);
}

static int fetch_sass_counts(const struct kernel_pass *pass, const struct selected *c, char *why)
{
	struct sass_data_properties p = PM_PARAMETERS(sass_data_properties, instances);
	struct sass_flush flush = PM_PARAMETERS(sass_flush, instances);
	struct sass_record *records;
	struct sass_value *values;
	size_t each;
	int result = -1;

	p.context = pass->launch->context;
	if (kernel_source_failed(kernel_cupti.cuptiSassMetricsGetDataProperties(&p), "counts of instructions", why) < 0)
		return -1;
	if (!p.records || !p.instances)
		return NOTHING_COUNTED;
	if (p.records > MOST_RECORDS || p.instances > MOST_RECORDS / p.records) {
		snprintf(why, KERNEL_WHY_SIZE, "%zu instructions are more than can be counted", p.records);
		return -1;
	}
	each = p.instances * c->count;
	records = calloc(p.records, sizeof(*records));
	values = calloc(p.records, (each ? each : 1) * sizeof(*values));
	for (size_t i = 0; records && values && i < p.records; i++)
		records[i] = (struct sass_record){ .size = sizeof(records[i]), .values = values + i * each };
	flush.context = pass->launch->context;
	flush.records = p.records;
	flush.instances = p.instances;
	flush.data = records;
	if (records && values)
		result = kernel_source_failed(kernel_cupti.cuptiSassMetricsFlushData(&flush), "counts of instructions", why);
	for (size_t i = 0; result == 0 && i < p.records; i++)
		report_record(pass, c, &records[i], each);
	free(records);
	free(values);
	return result;
}

static int count_instructions(const struct kernel_pass *pass, const struct selected *c, int lazily, char *why)
{
	struct sass_enable on = PM_PARAMETERS(sass_enable, lazily);
	struct sass_disable off = PM_PARAMETERS(sass_disable, dropped);
	int result;

	on.context = off.context = pass->launch->context;
	on.lazily = (uint8_t)lazily;
	if (kernel_source_failed(kernel_cupti.cuptiSassMetricsEnable(&on), "counting instructions", why) < 0)
		return -1;
	result = kernel_launch_again(pass->launch, why) < 0 ? -1 : fetch_sass_counts(pass, c, why);
	/* Code that stayed as it is would be slow for good. */
	if (kernel_cupti.cuptiSassMetricsDisable(&off) != CUPTI_OK)
		kernel_cupti.cuptiSassMetricsDisable(&off);
	return result;
}

/* Once for each device: CUPTI 13.0 refuses another after having taken one back. */
static int configure_sass_metrics(const struct kernel_pass *pass, struct selected *c, char *why)
{
	static struct selected of_devices[DEVICES];
	struct sass_set_config set = PM_PARAMETERS(sass_set_config, device);

	if (pass->device < 0 || pass->device >= (int)DEVICES) {
		snprintf(why, KERNEL_WHY_SIZE, "instructions are counted on the first %u devices only", DEVICES);
		return -1;
	}
	*c = of_devices[pass->device];
	if (c->count)
		return 0;
	if (select_sass_metrics(pass, c, why) < 0)
		return -1;
	set.count = c->count;
	set.configs = c->configs;
	set.device = (uint32_t)pass->device;
	if (kernel_source_failed(kernel_cupti.cuptiSassMetricsSetConfig(&set), "counting instructions", why) < 0)
		return -1;
	of_devices[pass->device] = *c;
	return 0;
}

int kernel_sass_pass(const struct kernel_pass *pass, char *why)
{
	struct selected c;
	int result;

	if (!kernel_cupti.cuptiSassMetricsGetProperties || !kernel_cupti.cuptiSassMetricsSetConfig ||
	    !kernel_cupti.cuptiSassMetricsEnable || !kernel_cupti.cuptiSassMetricsDisable ||
	    !kernel_cupti.cuptiSassMetricsGetDataProperties || !kernel_cupti.cuptiSassMetricsFlushData) {
		snprintf(why, KERNEL_WHY_SIZE, "this CUPTI does not count instructions");
		return -1;
	}
	if (configure_sass_metrics(pass, &c, why) < 0)
		return -1;
	/* Only what runs is patched, as a module may have thousands of kernels; where CUPTI has missed the launch, everything is. */
	result = count_instructions(pass, &c, 1, why);
	if (result == NOTHING_COUNTED && kernel_memory_restore(pass->memory, why) == 0)
		result = count_instructions(pass, &c, 0, why);
	if (result == NOTHING_COUNTED)
		snprintf(why, KERNEL_WHY_SIZE, "no instruction was counted");
	return result == 0 ? 0 : -1;
}
