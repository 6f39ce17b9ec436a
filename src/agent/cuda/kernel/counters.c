/* CUPTI's range profiler. A kernel is a range by itself (which is measured from its begin to its end on the GPU), and it is we who
 * make the passes: between them memory is put back and caches are emptied, which CUPTI's own replay does not do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"

#define MOST_CONTEXTS 32u

static struct kernel_counters contexts[MOST_CONTEXTS];
static uint32_t context_count;

/* In CUPTI's words, but for what an administrator can change. */
static int failed(int result, const char *what, char *why)
{
	const char *text = NULL;

	if (result == CUPTI_OK)
		return 0;
	if (result == CUPTI_INSUFFICIENT_PRIVILEGES || result == CUPTI_VIRTUAL_INSUFFICIENT_PRIVILEGES) {
		snprintf(why, KERNEL_WHY_SIZE,
			 "the driver does not let this user read counters (ERR_NVGPUCTRPERM); an administrator can, with "
			 "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d");
		return -1;
	}
	cuda_agent.cupti.cuptiGetResultString(result, &text);
	snprintf(why, KERNEL_WHY_SIZE, "%s: %.120s (error %d)", what, text ? text : "failed", result);
	return -1;
}

static uint8_t *availability(void *context)
{
	struct range_availability p = PM_PARAMETERS(range_availability, image);

	p.context = context;
	if (kernel_agent.range.cuptiProfilerGetCounterAvailability(&p) != CUPTI_OK || !p.image_size)
		return NULL;
	p.image = malloc(p.image_size);
	if (p.image && kernel_agent.range.cuptiProfilerGetCounterAvailability(&p) != CUPTI_OK) {
		free(p.image);
		return NULL;
	}
	return p.image;
}

static void *new_host(const char *chip, const uint8_t *available)
{
	struct pm_host_initialize p = PM_PARAMETERS(pm_host_initialize, host);

	p.type = RANGE_PROFILER_TYPE;
	p.chip = chip;
	p.availability = available;
	return kernel_agent.range.cuptiProfilerHostInitialize(&p) == CUPTI_OK ? p.host : NULL;
}

static void end_host(void *host)
{
	struct pm_host_deinitialize p = PM_PARAMETERS(pm_host_deinitialize, host);

	p.host = host;
	if (host)
		kernel_agent.range.cuptiProfilerHostDeinitialize(&p);
}

static int add(void *host, const char **names, size_t count)
{
	struct pm_add_metrics p = PM_PARAMETERS(pm_add_metrics, count);

	p.host = host;
	p.names = names;
	p.count = count;
	return kernel_agent.range.cuptiProfilerHostConfigAddMetrics(&p);
}

/* Where one of many is refused, the half that has it is found, until it is alone. What was tried makes a host unusable. */
static void keep_known(struct kernel_counters *c, const char *chip, const uint8_t *available, const struct kernel_request *r,
		       size_t first, size_t count)
{
	void *host = new_host(chip, available);
	int result = host ? add(host, r->metrics + first, count) : 1;

	end_host(host);
	if (result == CUPTI_OK) {
		for (size_t i = first; i < first + count; i++) {
			c->metrics[c->metric_count] = r->metrics[i];
			c->numbers[c->metric_count++] = (uint32_t)i;
		}
	} else if (count > 1) {
		keep_known(c, chip, available, r, first, count / 2);
		keep_known(c, chip, available, r, first + count / 2, count - count / 2);
	}
}

static void keep_all(struct kernel_counters *c, const struct kernel_request *r)
{
	for (size_t i = 0; i < r->metric_count; i++) {
		c->metrics[i] = r->metrics[i];
		c->numbers[i] = (uint32_t)i;
	}
	c->metric_count = r->metric_count;
}

/* All at once: one by one, each would have passes of its own. */
static int schedule(struct kernel_counters *c, const char *chip, const uint8_t *available, const struct kernel_request *r, char *why)
{
	c->host = new_host(chip, available);
	if (!c->host) {
		snprintf(why, KERNEL_WHY_SIZE, "CUPTI does not know the chip %.40s", chip);
		return -1;
	}
	if (!r->metric_count || add(c->host, r->metrics, r->metric_count) == CUPTI_OK) {
		keep_all(c, r);
		return 0;
	}
	end_host(c->host);
	keep_known(c, chip, available, r, 0, r->metric_count);
	c->host = new_host(chip, available);
	if (!c->host || !c->metric_count)
		return c->host ? 0 : -1;
	return failed(add(c->host, c->metrics, c->metric_count), "scheduling the metrics", why);
}

static int make_config(struct kernel_counters *c, char *why)
{
	struct pm_image_size size = PM_PARAMETERS(pm_image_size, image_size);
	struct pm_image image = PM_PARAMETERS(pm_image, image);
	struct pm_passes passes = PM_PARAMETERS(pm_passes, passes);

	size.host = c->host;
	if (failed(kernel_agent.range.cuptiProfilerHostGetConfigImageSize(&size), "scheduling the metrics", why) < 0)
		return -1;
	c->config_size = size.image_size;
	c->config = malloc(c->config_size);
	image.host = c->host;
	image.image_size = c->config_size;
	image.image = c->config;
	passes.image_size = c->config_size;
	passes.image = c->config;
	if (!c->config || failed(kernel_agent.range.cuptiProfilerHostGetConfigImage(&image), "scheduling the metrics", why) < 0 ||
	    failed(kernel_agent.range.cuptiProfilerHostGetNumOfPasses(&passes), "counting the passes", why) < 0)
		return -1;
	c->passes = passes.passes;
	return 0;
}

static int make_image(struct kernel_counters *c, char *why)
{
	struct range_counters_size size = PM_PARAMETERS(range_counters_size, counters_size);
	struct range_counters_initialize start = PM_PARAMETERS(range_counters_initialize, counters);

	size.profiler = c->profiler;
	size.names = c->metrics;
	size.count = c->metric_count;
	size.max_ranges = 1;
	size.max_nodes = 1;
	if (failed(kernel_agent.range.cuptiRangeProfilerGetCounterDataSize(&size), "sizing the counters", why) < 0)
		return -1;
	c->image_size = size.counters_size;
	c->image = malloc(c->image_size);
	c->empty_image = malloc(c->image_size);
	start.profiler = c->profiler;
	start.counters_size = c->image_size;
	start.counters = c->empty_image;
	if (!c->image || !c->empty_image ||
	    failed(kernel_agent.range.cuptiRangeProfilerCounterDataImageInitialize(&start), "preparing the counters", why) < 0)
		return -1;
	return 0;
}

static int enable(struct kernel_counters *c, char *why)
{
	struct range_enable p = PM_PARAMETERS(range_enable, profiler);

	p.context = c->context;
	if (failed(kernel_agent.range.cuptiRangeProfilerEnable(&p), "reading counters", why) < 0)
		return -1;
	c->profiler = p.profiler;
	return 0;
}

static int prepare(struct kernel_counters *c, const struct kernel_request *request, char *why)
{
	struct pm_initialize begin = PM_PARAMETERS(pm_initialize, priv);
	struct pm_chip_name chip = PM_PARAMETERS(pm_chip_name, chip);
	size_t count = request->metric_count;
	uint8_t *available;
	int result;

	if (failed(kernel_agent.range.cuptiProfilerInitialize(&begin), "CUPTI's profiler", why) < 0 ||
	    kernel_agent.driver.cuCtxGetDevice(&c->device) != 0)
		return -1;
	chip.device = (size_t)c->device;
	if (failed(kernel_agent.range.cuptiDeviceGetChipName(&chip), "the name of the chip", why) < 0)
		return -1;
	c->metrics = malloc((count + 1) * sizeof(*c->metrics));
	c->numbers = malloc((count + 1) * sizeof(*c->numbers));
	c->values = malloc((count + 1) * sizeof(*c->values));
	if (!c->metrics || !c->numbers || !c->values || !chip.chip)
		return -1;
	available = availability(c->context);
	result = schedule(c, chip.chip, available, request, why);
	free(available);
	if (result < 0 || !c->metric_count)
		return result;
	return make_config(c, why) < 0 || enable(c, why) < 0 || make_image(c, why) < 0 ? -1 : 0;
}

int kernel_counters_hopeless(const void *context)
{
	for (uint32_t i = 0; i < context_count; i++)
		if (contexts[i].context == context)
			return !contexts[i].values;
	return 0;
}

struct kernel_counters *kernel_counters_of(void *context, const struct kernel_request *request, char *why)
{
	struct kernel_counters *c;

	for (uint32_t i = 0; i < context_count; i++)
		if (contexts[i].context == context)
			return &contexts[i];
	if (context_count == MOST_CONTEXTS) {
		snprintf(why, KERNEL_WHY_SIZE, "more than %u contexts", MOST_CONTEXTS);
		return NULL;
	}
	c = &contexts[context_count++];
	c->context = context;
	if (prepare(c, request, why) == 0)
		return c;
	free(c->values);
	c->values = NULL;
	return NULL;
}

int kernel_counters_configure(struct kernel_counters *c, char *why)
{
	struct range_set_config p = PM_PARAMETERS(range_set_config, target_level);

	memcpy(c->image, c->empty_image, c->image_size);
	p.profiler = c->profiler;
	p.image_size = c->config_size;
	p.image = c->config;
	p.counters_size = c->image_size;
	p.counters = c->image;
	p.range = RANGE_AUTO;
	p.replay = RANGE_REPLAYED_BY_USER;
	p.max_ranges = 1;
	p.levels = 1;
	p.least_level = 1;
	p.target_level = 1;
	return failed(kernel_agent.range.cuptiRangeProfilerSetConfig(&p), "setting up the counters", why);
}

void kernel_counters_suspend(struct kernel_counters *c)
{
	struct range_command p = PM_PARAMETERS(range_command, profiler);

	p.profiler = c->profiler;
	kernel_agent.range.cuptiRangeProfilerDisable(&p);
	free(c->image);
	free(c->empty_image);
	c->image = c->empty_image = NULL;
}

/* CUPTI goes on counting passes from where it was, and a pass in which nothing ran spoils those that follow. */
void kernel_counters_renew(struct kernel_counters *c)
{
	kernel_counters_suspend(c);
	kernel_counters_resume(c);
}

void kernel_counters_resume(struct kernel_counters *c)
{
	char why[KERNEL_WHY_SIZE];

	if (enable(c, why) < 0 || make_image(c, why) < 0) {
		free(c->values);
		c->values = NULL;
	}
}

int kernel_counters_start(struct kernel_counters *c, char *why)
{
	struct range_command p = PM_PARAMETERS(range_command, profiler);

	p.profiler = c->profiler;
	return failed(kernel_agent.range.cuptiRangeProfilerStart(&p), "starting the counters", why);
}

int kernel_counters_stop(struct kernel_counters *c, char *why)
{
	struct range_stop p = PM_PARAMETERS(range_stop, all_submitted);

	p.profiler = c->profiler;
	return failed(kernel_agent.range.cuptiRangeProfilerStop(&p), "stopping the counters", why);
}

int kernel_counters_evaluate(struct kernel_counters *c, char *why)
{
	struct range_decode decode = PM_PARAMETERS(range_decode, dropped);
	struct range_counters_info info = PM_PARAMETERS(range_counters_info, ranges);
	struct pm_evaluate p = PM_PARAMETERS(pm_evaluate, values);

	decode.profiler = c->profiler;
	if (failed(kernel_agent.range.cuptiRangeProfilerDecodeData(&decode), "decoding the counters", why) < 0)
		return -1;
	info.counters = c->image;
	info.counters_size = c->image_size;
	if (failed(kernel_agent.range.cuptiRangeProfilerGetCounterDataInfo(&info), "decoding the counters", why) < 0)
		return -1;
	if (info.ranges != 1) {
		snprintf(why, KERNEL_WHY_SIZE, "CUPTI saw %zu kernels instead of one", info.ranges);
		return -1;
	}
	p.host = c->host;
	p.counters = c->image;
	p.counters_size = c->image_size;
	p.names = c->metrics;
	p.count = c->metric_count;
	p.values = c->values;
	return failed(kernel_agent.range.cuptiProfilerHostEvaluateToGpuValues(&p), "evaluating the metrics", why);
}
