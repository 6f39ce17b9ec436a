/* CUPTI's range profiler. A kernel is a range by itself (which is measured from its begin to its end on the GPU), and it is we who
 * make the passes: between them memory is put back and caches are emptied, which CUPTI's own replay does not do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"

#define MOST_CONTEXTS 32u
#define IMAGE_BYTES (64u << 20) /* an image may have, if it has room for one kernel */
#define LEAST_RANGES 2u
#define FEW_RANGES 4u
#define MOST_RANGES 48u

static struct kernel_counters contexts[MOST_CONTEXTS];
static uint32_t context_count;

static int image_size(const struct kernel_counters *c, const struct kernel_part *part, size_t ranges, size_t *ret, char *why)
{
	struct range_counters_size size = PM_PARAMETERS(range_counters_size, counters_size);

	size.profiler = c->profiler;
	size.names = part->metrics;
	size.count = part->metric_count;
	size.max_ranges = ranges;
	size.max_nodes = (uint32_t)ranges;
	if (kernel_failed(kernel_agent.range.cuptiRangeProfilerGetCounterDataSize(&size), "sizing the counters", why) < 0)
		return -1;
	*ret = size.counters_size;
	return 0;
}

static void drop_image(struct kernel_part *part)
{
	free(part->image);
	free(part->empty_image);
	part->image = part->empty_image = NULL;
}

static int make_counter_image(const struct kernel_counters *c, struct kernel_part *part, char *why)
{
	struct range_counters_initialize start = PM_PARAMETERS(range_counters_initialize, counters);

	if (image_size(c, part, part->ranges, &part->image_size, why) < 0)
		return -1;
	part->image = malloc(part->image_size);
	part->empty_image = malloc(part->image_size);
	start.profiler = c->profiler;
	start.counters_size = part->image_size;
	start.counters = part->empty_image;
	if (part->image && part->empty_image &&
	    kernel_failed(kernel_agent.range.cuptiRangeProfilerCounterDataImageInitialize(&start), "preparing the counters", why) == 0)
		return 0;
	/* One without the other would be taken for both. */
	drop_image(part);
	return -1;
}

/* As many as memory allows for: a kernel that is read in one pass is read alone. */
static int find_room(struct kernel_counters *c, char *why)
{
	size_t size, largest = 1, room;

	for (size_t i = 0; i < c->part_count; i++) {
		if (image_size(c, &c->parts[i], 1, &size, why) < 0)
			return -1;
		largest = size > largest ? size : largest;
	}
	room = c->passes > 1 && !kernel_agent.request.application_folder ? IMAGE_BYTES / largest : 0;
	c->most_ranges = room < LEAST_RANGES ? LEAST_RANGES : room > MOST_RANGES ? MOST_RANGES : room;
	return 0;
}

static int enable_range_profiler(struct kernel_counters *c, char *why)
{
	struct range_enable p = PM_PARAMETERS(range_enable, profiler);

	p.context = c->context;
	if (kernel_failed(kernel_agent.range.cuptiRangeProfilerEnable(&p), "reading counters", why) < 0)
		return -1;
	c->profiler = p.profiler;
	return 0;
}

/* A profiler stays with the first configuration it is given, and goes on counting passes from where it was when they were not all
 * made; a pass in which nothing ran spoils those that follow. The next is made when it is needed, as that takes a while. */
void kernel_counters_let_go(struct kernel_counters *c)
{
	struct range_command p = PM_PARAMETERS(range_command, profiler);

	p.profiler = c->profiler;
	if (c->profiler)
		kernel_agent.range.cuptiRangeProfilerDisable(&p);
	c->profiler = NULL;
	c->configured = NULL;
}

void kernel_counters_make_ranges(struct kernel_counters *c, int by_hand)
{
	if (c->by_hand != by_hand)
		kernel_counters_let_go(c);
	c->by_hand = by_hand;
}

static int be_enabled(struct kernel_counters *c, char *why)
{
	if (c->profiler || enable_range_profiler(c, why) == 0)
		return 0;
	c->hopeless = 1;
	return -1;
}

static int make_parts(struct kernel_counters *c, const char *chip, const struct kernel_request *request, char *why)
{
	struct kernel_part *part = c->parts;

	for (size_t i = 0; i < request->part_count; i++) {
		if (kernel_part_make(part, c->context, chip, request, i, why) < 0)
			return -1;
		if (!part->metric_count)
			continue;
		c->passes += part->passes;
		c->part_count++;
		part++;
	}
	return 0;
}

static int prepare_counters(struct kernel_counters *c, const struct kernel_request *request, char *why)
{
	struct pm_initialize begin = PM_PARAMETERS(pm_initialize, priv);
	struct pm_chip_name chip = PM_PARAMETERS(pm_chip_name, chip);

	c->by_hand = request->ranges != KERNEL_RANGES_NONE;
	if (kernel_failed(kernel_agent.range.cuptiProfilerInitialize(&begin), "CUPTI's profiler", why) < 0)
		return -1;
	if (kernel_agent.driver.cuCtxGetDevice(&c->device) != 0) {
		snprintf(why, KERNEL_WHY_SIZE, "the driver does not report the device of the context");
		return -1;
	}
	if (kernel_device_fits(c->device, why) < 0)
		return -1;
	chip.device = (size_t)c->device;
	if (kernel_failed(kernel_agent.range.cuptiDeviceGetChipName(&chip), "the name of the chip", why) < 0 || !chip.chip ||
	    make_parts(c, chip.chip, request, why) < 0)
		return -1;
	return !c->part_count || (enable_range_profiler(c, why) == 0 && find_room(c, why) == 0) ? 0 : -1;
}

int kernel_counters_hopeless(const void *context)
{
	for (uint32_t i = 0; i < context_count; i++)
		if (contexts[i].context == context)
			return contexts[i].hopeless;
	return 0;
}

/* NULL stands for one that was forgotten. */
static struct kernel_counters *find_context_counters(const void *context)
{
	for (uint32_t i = 0; i < context_count; i++)
		if (contexts[i].context == context)
			return &contexts[i];
	return NULL;
}

void kernel_counters_forget(const void *context)
{
	struct kernel_counters *c = context ? find_context_counters(context) : NULL;

	if (!c)
		return;
	kernel_counters_let_go(c);
	for (size_t i = 0; i < KERNEL_REQUEST_PARTS; i++)
		kernel_part_release(&c->parts[i]);
	kernel_caches_release(&c->caches);
	memset(c, 0, sizeof(*c));
}

struct kernel_counters *kernel_counters_of(void *context, const struct kernel_request *request, char *why)
{
	struct kernel_counters *c = find_context_counters(context);

	if (c)
		return c;
	c = find_context_counters(NULL);
	if (!c && context_count == MOST_CONTEXTS) {
		snprintf(why, KERNEL_WHY_SIZE, "more than %u contexts", MOST_CONTEXTS);
		return NULL;
	}
	c = c ? c : &contexts[context_count++];
	c->context = context;
	if (prepare_counters(c, request, why) == 0)
		return c;
	if (!why[0])
		snprintf(why, KERNEL_WHY_SIZE, "%s", KERNEL_NO_MEMORY);
	c->hopeless = 1;
	return NULL;
}

/* Images are made anew for each new profiler, which takes 7 ms for a kernel and 1000 metrics, and are emptied before each batch: they are not
 * much larger than needed. */
static size_t room_for(const struct kernel_counters *c, size_t ranges)
{
	size_t room = FEW_RANGES;

	while (room < ranges)
		room *= 2;
	return room < c->most_ranges ? room : c->most_ranges;
}

static int set_counter_config(struct kernel_counters *c, struct kernel_part *part, int replay, size_t pass, char *why)
{
	struct range_set_config p = PM_PARAMETERS(range_set_config, target_level);

	p.profiler = c->profiler;
	p.image_size = part->config_size;
	p.image = part->config;
	p.counters_size = part->image_size;
	p.counters = part->image;
	p.range = c->by_hand ? RANGE_USER : RANGE_AUTO;
	p.replay = replay;
	p.pass = pass;
	p.max_ranges = part->ranges;
	p.levels = 1;
	p.least_level = 1;
	p.target_level = 1;
	return kernel_failed(kernel_agent.range.cuptiRangeProfilerSetConfig(&p), "setting up the counters", why);
}

int kernel_counters_clear(struct kernel_counters *c, struct kernel_part *part, char *why)
{
	if (!part->image) {
		part->ranges = part->ranges ? part->ranges : c->most_ranges;
		if (be_enabled(c, why) < 0 || make_counter_image(c, part, why) < 0)
			return -1;
	}
	memcpy(part->image, part->empty_image, part->image_size);
	return 0;
}

int kernel_counters_configure(struct kernel_counters *c, struct kernel_part *part, size_t ranges, char *why)
{
	if (c->configured && (c->configured != part || part->ranges < ranges))
		kernel_counters_let_go(c);
	if (c->configured != part) {
		drop_image(part);
		part->ranges = room_for(c, ranges);
	}
	if (be_enabled(c, why) < 0 || kernel_counters_clear(c, part, why) < 0 ||
	    set_counter_config(c, part, RANGE_REPLAYED_BY_USER, 0, why) < 0)
		return -1;
	c->configured = part;
	return 0;
}

/* Only a profiler that is new takes the pass that it is told. */
int kernel_counters_continue(struct kernel_counters *c, struct kernel_part *part, size_t pass, char *why)
{
	if (c->configured)
		kernel_counters_let_go(c);
	if (be_enabled(c, why) < 0)
		return -1;
	c->configured = part;
	return set_counter_config(c, part, RANGE_REPLAYED_BY_RUNS, pass, why);
}

int kernel_counters_start(struct kernel_counters *c, char *why)
{
	struct range_command p = PM_PARAMETERS(range_command, profiler);

	p.profiler = c->profiler;
	return kernel_failed(kernel_agent.range.cuptiRangeProfilerStart(&p), "starting the counters", why);
}

int kernel_counters_push(struct kernel_counters *c, const char *name, char *why)
{
	struct range_push p = PM_PARAMETERS(range_push, name);

	p.profiler = c->profiler;
	p.name = name;
	return kernel_failed(kernel_agent.range.cuptiRangeProfilerPushRange(&p), "beginning the range", why);
}

int kernel_counters_pop(struct kernel_counters *c, char *why)
{
	struct range_command p = PM_PARAMETERS(range_command, profiler);

	p.profiler = c->profiler;
	return kernel_failed(kernel_agent.range.cuptiRangeProfilerPopRange(&p), "ending the range", why);
}

int kernel_counters_stop(struct kernel_counters *c, char *why)
{
	struct range_stop p = PM_PARAMETERS(range_stop, all_submitted);

	if (!c->profiler) {
		snprintf(why, KERNEL_WHY_SIZE, "there were no counters to stop");
		return -1;
	}
	p.profiler = c->profiler;
	return kernel_failed(kernel_agent.range.cuptiRangeProfilerStop(&p), "stopping the counters", why);
}

int kernel_counters_decode_pass(struct kernel_counters *c, char *why)
{
	struct range_decode decode = PM_PARAMETERS(range_decode, dropped);

	decode.profiler = c->profiler;
	return kernel_failed(kernel_agent.range.cuptiRangeProfilerDecodeData(&decode), "decoding the counters", why);
}

int kernel_counters_decode(struct kernel_counters *c, struct kernel_part *part, size_t ranges, char *why)
{
	struct range_counters_info info = PM_PARAMETERS(range_counters_info, ranges);

	if (kernel_counters_decode_pass(c, why) < 0)
		return -1;
	info.counters = part->image;
	info.counters_size = part->image_size;
	if (kernel_failed(kernel_agent.range.cuptiRangeProfilerGetCounterDataInfo(&info), "decoding the counters", why) < 0)
		return -1;
	if (info.ranges == ranges)
		return 0;
	snprintf(why, KERNEL_WHY_SIZE, "CUPTI saw %zu %s instead of %zu", info.ranges, c->by_hand ? "ranges" : "kernels", ranges);
	return -1;
}
