/* From names of metrics to what CUPTI counts, for the chip of a context. Metrics that a chip does not have are left out, so that one
 * request serves processes on different GPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"

struct maker {
	struct kernel_part *part;
	const struct kernel_wanted *wanted;
	const char *chip;
	uint32_t first;
	uint8_t *available;
};

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

static void *new_host(const struct maker *m)
{
	struct pm_host_initialize p = PM_PARAMETERS(pm_host_initialize, host);

	p.type = RANGE_PROFILER_TYPE;
	p.chip = m->chip;
	p.availability = m->available;
	return kernel_agent.range.cuptiProfilerHostInitialize(&p) == CUPTI_OK ? p.host : NULL;
}

static void end_host(void *host)
{
	struct pm_host_deinitialize p = PM_PARAMETERS(pm_host_deinitialize, host);

	p.host = host;
	if (host)
		kernel_agent.range.cuptiProfilerHostDeinitialize(&p);
}

static int add_host_metrics(void *host, const char *const *names, size_t count)
{
	struct pm_add_metrics p = PM_PARAMETERS(pm_add_metrics, count);

	p.host = host;
	p.names = names;
	p.count = count;
	return kernel_agent.range.cuptiProfilerHostConfigAddMetrics(&p);
}

static int make_config(struct kernel_part *part, char *why)
{
	struct pm_image_size size = PM_PARAMETERS(pm_image_size, image_size);
	struct pm_image image = PM_PARAMETERS(pm_image, image);
	struct pm_passes passes = PM_PARAMETERS(pm_passes, passes);

	size.host = part->hosts[0];
	if (kernel_failed(kernel_agent.range.cuptiProfilerHostGetConfigImageSize(&size), "scheduling the metrics", why) < 0)
		return -1;
	part->config_size = size.image_size;
	part->config = malloc(part->config_size);
	image.host = part->hosts[0];
	image.image_size = part->config_size;
	image.image = part->config;
	passes.image_size = part->config_size;
	passes.image = part->config;
	if (!part->config || kernel_failed(kernel_agent.range.cuptiProfilerHostGetConfigImage(&image), "scheduling the metrics", why) < 0 ||
	    kernel_failed(kernel_agent.range.cuptiProfilerHostGetNumOfPasses(&passes), "counting the passes", why) < 0)
		return -1;
	part->passes = passes.passes;
	return 0;
}

static void drop_config(struct kernel_part *part)
{
	for (size_t i = 0; i < part->host_count; i++)
		end_host(part->hosts[i]);
	part->host_count = 0;
	free(part->config);
	part->config = NULL;
}

/* -1: none could be made. */
static int make_hosts(const struct maker *m, size_t count)
{
	struct kernel_part *part = m->part;

	for (part->host_count = 0; part->host_count < count; part->host_count++) {
		part->hosts[part->host_count] = new_host(m);
		if (!part->hosts[part->host_count])
			break;
	}
	return part->host_count ? 0 : -1;
}

/* All at once: one by one, each would have passes of its own. An object that refused one is of no use any more. */
static int configure_part(const struct maker *m, const char *const *names, size_t count, char *why)
{
	struct kernel_part *part = m->part;

	if (make_hosts(m, 1) < 0)
		snprintf(why, KERNEL_WHY_SIZE, "CUPTI does not know the chip %.40s", m->chip);
	else if (kernel_failed(add_host_metrics(part->hosts[0], names, count), "scheduling the metrics", why) == 0 &&
		 make_config(part, why) == 0) {
		/* Of an attempt with metrics that the chip does not have. */
		why[0] = '\0';
		return 0;
	}
	drop_config(part);
	return -1;
}

static int can_count_names(const struct maker *m, const char *const *names, size_t count)
{
	char ignored[KERNEL_WHY_SIZE];
	int result = configure_part(m, names, count, ignored);

	drop_config(m->part);
	return result == 0;
}

/* Where one of many is refused, the half that has it is found, until it is alone. */
static void keep_known(const struct maker *m, size_t from, size_t count)
{
	struct kernel_part *part = m->part;

	if (can_count_names(m, m->wanted->metrics.items + from, count)) {
		for (size_t i = from; i < from + count; i++) {
			part->metrics[part->metric_count] = m->wanted->metrics.items[i];
			part->numbers[part->metric_count++] = m->first + (uint32_t)i;
		}
	} else if (count > 1) {
		keep_known(m, from, count / 2);
		keep_known(m, from + count / 2, count - count / 2);
	}
}

/* Those that take long to evaluate stand side by side, as they have like names: they are dealt out to the threads. */
static void keep_all(const struct maker *m)
{
	struct kernel_part *part = m->part;
	size_t at = 0, step = m->wanted->metrics.count >= 2 * KERNEL_SHARE ? KERNEL_HOSTS : 1;

	part->metric_count = m->wanted->metrics.count;
	for (size_t first = 0; first < step; first++) {
		for (size_t i = first; i < part->metric_count; i += step) {
			part->metrics[at] = m->wanted->metrics.items[i];
			part->numbers[at++] = m->first + (uint32_t)i;
		}
	}
}

/* CUPTI takes longest to pack many metrics into passes: that was done before the program began. */
static int take_config(const struct maker *m)
{
	struct kernel_part *part = m->part;
	const struct kernel_request_bytes *made = &m->wanted->config;

	part->config = malloc(made->size + 1);
	if (part->config && made->size)
		memcpy(part->config, made->data, made->size);
	part->config_size = made->size;
	part->passes = m->wanted->passes;
	return part->config && part->passes && make_hosts(m, KERNEL_HOSTS) == 0 ? 0 : -1;
}

static int make_part_config(const struct maker *m, char *why)
{
	const struct kernel_wanted *w = m->wanted;
	const struct kernel_request_list *added = w->schedule.count ? &w->schedule : &w->metrics;

	if (configure_part(m, added->items, added->count, why) == 0) {
		keep_all(m);
		return 0;
	}
	keep_known(m, 0, w->metrics.count);
	/* What is left out is no trouble. */
	why[0] = '\0';
	return m->part->metric_count ? configure_part(m, m->part->metrics, m->part->metric_count, why) : 0;
}

int kernel_part_make(struct kernel_part *p, void *context, const char *chip, const struct kernel_request *request, size_t number, char *why)
{
	const struct kernel_wanted *wanted = &request->parts[number];
	struct maker m = { p, wanted, chip, (uint32_t)kernel_request_metrics_before(request, number), NULL };
	size_t count = wanted->metrics.count + 1;
	int result;

	p->number = number;
	p->metrics = malloc(count * sizeof(*p->metrics));
	p->numbers = malloc(count * sizeof(*p->numbers));
	p->values = malloc(count * sizeof(*p->values));
	if (!p->metrics || !p->numbers || !p->values)
		return -1;
	if (!wanted->metrics.count)
		return 0;
	if (wanted->config.data && request->chip && strcmp(chip, request->chip) == 0) {
		if (take_config(&m) == 0) {
			keep_all(&m);
			return 0;
		}
		drop_config(p);
	}
	m.available = availability(context);
	result = make_part_config(&m, why);
	free(m.available);
	return result;
}

void kernel_part_release(struct kernel_part *p)
{
	drop_config(p);
	free(p->metrics);
	free(p->numbers);
	free(p->values);
	free(p->image);
	free(p->empty_image);
	memset(p, 0, sizeof(*p));
}
