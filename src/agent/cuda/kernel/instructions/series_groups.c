/* A configuration takes one pass or it is of no use. CUPTI says what fits only when it has made one, so metrics are put into the first
 * group that has room, those of one domain at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/instructions/series.h"
#include "vendor/nvperf/schedule.h"

struct maker {
	struct series_groups *groups;
	struct nvperf_schedule nvperf;
};

static void *new_host(const struct maker *m)
{
	struct pm_host_initialize p = PM_PARAMETERS(pm_host_initialize, host);

	p.type = PM_PROFILER_TYPE;
	p.chip = m->groups->chip;
	p.availability = m->groups->available;
	return kernel_cupti_pm.cuptiProfilerHostInitialize(&p) == CUPTI_OK ? p.host : NULL;
}

static void end_host(void *host)
{
	struct pm_host_deinitialize p = PM_PARAMETERS(pm_host_deinitialize, host);

	p.host = host;
	if (host)
		kernel_cupti_pm.cuptiProfilerHostDeinitialize(&p);
}

/* CUPTI's own config of all of them; 0 passes: one of them is not known. */
static size_t ask_cupti(struct series_group *g)
{
	struct pm_add_metrics add = PM_PARAMETERS(pm_add_metrics, count);
	struct pm_image_size size = PM_PARAMETERS(pm_image_size, image_size);
	struct pm_image image = PM_PARAMETERS(pm_image, image);
	struct pm_passes passes = PM_PARAMETERS(pm_passes, passes);

	add.host = size.host = image.host = g->host;
	add.names = g->metrics;
	add.count = g->count;
	if (kernel_cupti_pm.cuptiProfilerHostConfigAddMetrics(&add) != CUPTI_OK ||
	    kernel_cupti_pm.cuptiProfilerHostGetConfigImageSize(&size) != CUPTI_OK || !size.image_size)
		return 0;
	g->config_size = image.image_size = passes.image_size = size.image_size;
	g->config = image.image = passes.image = malloc(size.image_size);
	if (!g->config || kernel_cupti_pm.cuptiProfilerHostGetConfigImage(&image) != CUPTI_OK ||
	    kernel_cupti_pm.cuptiProfilerHostGetNumOfPasses(&passes) != CUPTI_OK)
		return 0;
	return passes.passes;
}

/* A config of all at once; what a group had before is given back. CUPTI counts warp states in one place only, where they take two passes:
 * NVPerf below it knows others. */
static size_t make_config(const struct maker *m, struct series_group *g)
{
	struct nvperf_config config;

	end_host(g->host);
	free(g->config);
	g->config = NULL;
	g->host = new_host(m);
	if (!g->host)
		return 0;
	if (!m->nvperf.library || nvperf_schedule_make(&m->nvperf, NVPERF_SAMPLES, g->metrics, g->count, &config) < 0)
		return ask_cupti(g);
	g->config = config.image;
	g->config_size = config.image_size;
	return config.passes;
}

static int extend_series_group(const struct maker *m, struct series_group *g, const char *const *metrics, size_t count)
{
	if (count > SERIES_METRICS - g->count)
		return 0;
	memcpy(g->metrics + g->count, metrics, count * sizeof(*metrics));
	g->count += count;
	if (make_config(m, g) == 1)
		return 1;
	g->count -= count;
	return 0;
}

/* A group of their own, which begins with the marker where that leaves room for them. */
static int begin_group(const struct maker *m, const char *const *metrics, size_t count)
{
	struct series_group *g = &m->groups->list[m->groups->count];

	if (m->groups->count == SERIES_GROUPS)
		return 0;
	memset(g, 0, sizeof(*g));
	if (!m->groups->marker || !extend_series_group(m, g, &m->groups->marker, 1) || !extend_series_group(m, g, metrics, count)) {
		g->count = 0;
		if (!extend_series_group(m, g, metrics, count))
			return 0;
	}
	m->groups->count++;
	return 1;
}

/* Into the first group that has room for all of them. */
static int assign_series_metrics(const struct maker *m, const char *const *metrics, size_t count)
{
	for (size_t i = 0; i < m->groups->count; i++)
		if (extend_series_group(m, &m->groups->list[i], metrics, count))
			return 1;
	return begin_group(m, metrics, count);
}

/* "SM_A.TriageCompute.sm__...": metrics of one domain mostly go together. */
static size_t domain_size(const char *metric)
{
	const char *name = strstr(metric, "__"), *at = metric, *next;

	while ((next = strchr(at, '.')) && (!name || next < name))
		at = next + 1;
	return (size_t)(at - metric);
}

static size_t same_domain(const char *const *names, size_t count)
{
	size_t size = domain_size(names[0]), n = 1;

	while (n < count && domain_size(names[n]) == size && strncmp(names[n], names[0], size) == 0)
		n++;
	return n;
}

static int by_domain(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	size_t size = domain_size(x), other = domain_size(y), least = size < other ? size : other;
	int order = strncmp(x, y, least);

	return order ? order : size != other ? (size > other) - (size < other) : strcmp(x, y);
}

static int ask_chip(struct series_groups *groups, int device, char *why)
{
	struct pm_chip_name chip = PM_PARAMETERS(pm_chip_name, chip);

	chip.device = (size_t)device;
	if (kernel_source_failed(kernel_cupti_pm.cuptiDeviceGetChipName(&chip), "the name of the chip", why) < 0)
		return -1;
	snprintf(groups->chip, sizeof(groups->chip), "%s", chip.chip ? chip.chip : "");
	return 0;
}

static int ask_availability(struct series_groups *groups, int device, char *why)
{
	struct pm_availability p = PM_PARAMETERS(pm_availability, image);

	p.device = (size_t)device;
	if (!kernel_cupti_pm.cuptiPmSamplingGetCounterAvailability)
		return 0;
	if (kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingGetCounterAvailability(&p), "PM sampling", why) < 0)
		return -1;
	p.image = groups->available = malloc(p.image_size ? p.image_size : 1);
	return groups->available ? kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingGetCounterAvailability(&p), "PM sampling", why) : -1;
}

/* Those that are not the marker, by domain. */
static size_t sort(struct series_groups *groups, const struct kernel_request *request, const char **ret)
{
	const char *const *names = request->series.items;
	size_t count = 0;

	for (size_t i = 0; i < request->series.count && !groups->marker; i++)
		if (strstr(names[i], "sm__cycles_active"))
			groups->marker = names[i];
	for (size_t i = 0; i < request->series.count && count < SERIES_METRICS; i++)
		if (names[i] != groups->marker)
			ret[count++] = names[i];
	qsort(ret, count, sizeof(*ret), by_domain);
	return count;
}

static void place_by_domain(const struct maker *m, const char *const *sorted, size_t count)
{
	for (size_t i = 0, n; i < count; i += n) {
		n = same_domain(sorted + i, count - i);
		if (n > 1 && assign_series_metrics(m, sorted + i, n))
			continue;
		for (size_t k = 0; k < n; k++)
			m->groups->left_out += !assign_series_metrics(m, sorted + i + k, 1);
	}
}

static void put_into_groups(const struct maker *m, const struct kernel_request *request)
{
	struct series_groups *groups = m->groups;
	const char *sorted[SERIES_METRICS];
	size_t count = sort(groups, request, sorted);

	if (groups->marker && extend_series_group(m, &groups->list[0], &groups->marker, 1))
		groups->count = 1;
	else {
		groups->left_out += groups->marker != NULL;
		groups->marker = NULL;
	}
	/* Mostly all of them fit at once. */
	if (count && !assign_series_metrics(m, sorted, count))
		place_by_domain(m, sorted, count);
	if (request->series_passes && groups->count > request->series_passes)
		groups->count = request->series_passes;
	/* A trial that did not fit has left its config. */
	for (size_t i = 0; i < groups->count; i++)
		make_config(m, &groups->list[i]);
}

int series_groups_make(struct series_groups *ret, int device, const struct kernel_request *request, int by_availability, char *why)
{
	struct maker m = { .groups = ret };

	if (ask_chip(ret, device, why) < 0 || (by_availability && ask_availability(ret, device, why) < 0))
		return -1;
	nvperf_schedule_open(&m.nvperf, cuda_agent.cupti.path, ret->chip, ret->available);
	put_into_groups(&m, request);
	nvperf_schedule_close(&m.nvperf);
	return 0;
}

void series_groups_release(struct series_groups *groups)
{
	for (size_t i = 0; i < SERIES_GROUPS; i++) {
		end_host(groups->list[i].host);
		free(groups->list[i].config);
		free(groups->list[i].empty);
	}
	free(groups->available);
	memset(groups, 0, sizeof(*groups));
}
