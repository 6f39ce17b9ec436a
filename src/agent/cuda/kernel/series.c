/* PM sampling around one launch: values over time. Counters of the whole device, so the samples of the kernel are those in which SMs
 * were active. Metrics that cannot be sampled at the same time are put into groups, each with a run of the kernel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/cuda/kernel/source.h"
#include "vendor/nvperf_schedule.h"

#define MOST_METRICS 128u
#define MOST_GROUPS 32u
#define DEFAULT_BUFFER (32ull << 20)
#define SHORTEST 1000u           /* ns between samples */
#define ENOUGH 2000u             /* samples of a kernel, where we choose */
#define SPARE 2048u              /* samples before and behind it */
#define MOST_SAMPLES 65536u
#define ACTIVE_SHARE 0.005       /* of the most */

struct group {
	void *host;
	const char *metrics[MOST_METRICS];
	size_t count;
	uint8_t *config;
	size_t config_size;
};

/* Of one device, the first that is asked for. */
static struct {
	int device;
	int prepared;
	uint8_t *available;
	char chip[64];
	struct nvperf_schedule nvperf;
	const char *marker;           /* tells when the kernel ran; NULL: none */
	struct group groups[MOST_GROUPS];
	size_t group_count;
	size_t left_out;              /* metrics that take several passes by themselves, which cannot be sampled */
	uint64_t interval;
	uint64_t run_time;            /* ns, from launch to end */
} series;

static void *new_host(void)
{
	struct pm_host_initialize p = PM_PARAMETERS(pm_host_initialize, host);

	p.type = PM_PROFILER_TYPE;
	p.chip = series.chip;
	p.availability = series.available;
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
static size_t ask_cupti(struct group *g)
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
static size_t make_config(struct group *g)
{
	struct nvperf_config config;

	end_host(g->host);
	free(g->config);
	g->config = NULL;
	g->host = new_host();
	if (!g->host)
		return 0;
	if (!series.nvperf.library || nvperf_schedule_make(&series.nvperf, NVPERF_SAMPLES, g->metrics, g->count, &config) < 0)
		return ask_cupti(g);
	g->config = config.image;
	g->config_size = config.image_size;
	return config.passes;
}

static int fits(struct group *g, const char *const *metrics, size_t count)
{
	if (count > MOST_METRICS - g->count)
		return 0;
	memcpy(g->metrics + g->count, metrics, count * sizeof(*metrics));
	g->count += count;
	if (make_config(g) == 1)
		return 1;
	g->count -= count;
	return 0;
}

/* A group of their own, which begins with the marker where that leaves room for them. */
static int begin_group(const char *const *metrics, size_t count)
{
	struct group *g = &series.groups[series.group_count];

	if (series.group_count == MOST_GROUPS)
		return 0;
	memset(g, 0, sizeof(*g));
	if (!series.marker || !fits(g, &series.marker, 1) || !fits(g, metrics, count)) {
		g->count = 0;
		if (!fits(g, metrics, count))
			return 0;
	}
	series.group_count++;
	return 1;
}

/* Into the first group that has room for all of them. */
static int place(const char *const *metrics, size_t count)
{
	for (size_t i = 0; i < series.group_count; i++)
		if (fits(&series.groups[i], metrics, count))
			return 1;
	return begin_group(metrics, count);
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

static int ask_device(int device, char *why)
{
	struct pm_availability p = PM_PARAMETERS(pm_availability, image);
	struct pm_chip_name chip = PM_PARAMETERS(pm_chip_name, chip);

	chip.device = p.device = (size_t)device;
	if (kernel_source_failed(kernel_cupti_pm.cuptiDeviceGetChipName(&chip), "the name of the chip", why) < 0)
		return -1;
	snprintf(series.chip, sizeof(series.chip), "%s", chip.chip ? chip.chip : "");
	if (!kernel_cupti_pm.cuptiPmSamplingGetCounterAvailability)
		return 0;
	if (kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingGetCounterAvailability(&p), "PM sampling", why) < 0)
		return -1;
	p.image = series.available = malloc(p.image_size ? p.image_size : 1);
	return series.available ? kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingGetCounterAvailability(&p), "PM sampling", why) : -1;
}

static void make_groups(const struct kernel_pass *pass)
{
	const char *const *names = pass->request->series, *sorted[MOST_METRICS];
	size_t count = 0;

	for (size_t i = 0; i < pass->request->series_count && !series.marker; i++)
		if (strstr(names[i], "sm__cycles_active"))
			series.marker = names[i];
	for (size_t i = 0; i < pass->request->series_count && count < MOST_METRICS; i++)
		if (names[i] != series.marker)
			sorted[count++] = names[i];
	qsort(sorted, count, sizeof(*sorted), by_domain);
	if (series.marker && fits(&series.groups[0], &series.marker, 1))
		series.group_count = 1;
	else
		series.marker = NULL;
	for (size_t i = 0, n; i < count; i += n) {
		n = same_domain(sorted + i, count - i);
		if (n > 1 && place(sorted + i, n))
			continue;
		for (size_t k = 0; k < n; k++)
			series.left_out += !place(sorted + i + k, 1);
	}
	if (pass->request->series_passes && series.group_count > pass->request->series_passes)
		series.group_count = pass->request->series_passes;
	/* A trial that did not fit has left its config. */
	for (size_t i = 0; i < series.group_count; i++)
		make_config(&series.groups[i]);
}

static uint64_t nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How long the kernel runs tells how often it is worth looking. */
static int measure(const struct kernel_pass *pass, char *why)
{
	uint64_t begin = nanoseconds(), time;

	if (pass->run(pass->launch, why) < 0)
		return -1;
	time = nanoseconds() - begin;
	if (pass->restore(why) < 0)
		return -1;
	series.run_time = time;
	series.interval = pass->request->series_interval;
	if (!series.interval)
		series.interval = time / ENOUGH < SHORTEST ? SHORTEST : time / ENOUGH;
	return 0;
}

size_t kernel_series_prepare(const struct kernel_pass *pass, char *why)
{
	if (!kernel_cupti_pm.cuptiPmSamplingEnable) {
		snprintf(why, KERNEL_WHY_SIZE, "this CUPTI has no PM sampling");
		return 0;
	}
	if (series.prepared && series.device != pass->device) {
		snprintf(why, KERNEL_WHY_SIZE, "metrics over time are sampled on one device");
		return 0;
	}
	if (!series.prepared) {
		series.prepared = 1;
		series.device = pass->device;
		if (ask_device(pass->device, why) < 0)
			return 0;
		nvperf_schedule_open(&series.nvperf, cuda_agent.cupti.path, series.chip, series.available);
		make_groups(pass);
		nvperf_schedule_close(&series.nvperf);
	}
	if (!series.group_count) {
		if (!why[0])
			snprintf(why, KERNEL_WHY_SIZE, "no metric can be sampled over time on the chip %.40s", series.chip);
		return 0;
	}
	if (measure(pass, why) < 0)
		return 0;
	if (series.left_out)
		snprintf(why, KERNEL_WHY_SIZE, "%zu of %zu metrics cannot be sampled over time on the chip %.40s", series.left_out,
			 pass->request->series_count, series.chip);
	kernel_source_value(pass, "profiler__pmsampler_interval_time", (double)series.interval);
	kernel_source_value(pass, "profiler__pmsampler_pass_groups", (double)series.group_count);
	kernel_source_value(pass, "profiler__pmsampler_buffer_size_bytes",
			    (double)(pass->request->series_buffer ? pass->request->series_buffer : DEFAULT_BUFFER));
	return series.group_count;
}

struct sampler {
	void *sampler;
	uint8_t *counters;
	size_t counters_size;
	size_t samples;
	double *values;               /* of each sample, those of the group's metrics */
	struct kernel_sample *told;
};

static int set_up(const struct kernel_pass *pass, const struct group *g, struct sampler *s, char *why)
{
	struct pm_set_config set = PM_PARAMETERS(pm_set_config, append);
	struct pm_counters_size size = PM_PARAMETERS(pm_counters_size, counters_size);
	struct pm_counters_initialize start = PM_PARAMETERS(pm_counters_initialize, counters);
	uint64_t wanted = series.run_time / series.interval + SPARE;

	set.sampler = size.sampler = start.sampler = s->sampler;
	set.image_size = g->config_size;
	set.image = g->config;
	set.buffer_size = pass->request->series_buffer ? pass->request->series_buffer : DEFAULT_BUFFER;
	set.interval = series.interval;
	set.trigger = PM_TRIGGER_TIME;
	set.append = PM_KEEP_OLDEST;
	if (kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingSetConfig(&set), "setting up PM sampling", why) < 0)
		return -1;
	size.names = (const char **)g->metrics;
	size.count = g->count;
	size.max_samples = (uint32_t)(wanted < MOST_SAMPLES ? wanted : MOST_SAMPLES);
	if (kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingGetCounterDataSize(&size), "setting up PM sampling", why) < 0)
		return -1;
	s->counters_size = start.counters_size = size.counters_size;
	s->counters = start.counters = malloc(size.counters_size);
	if (!s->counters)
		return -1;
	return kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingCounterDataImageInitialize(&start), "setting up PM sampling", why);
}

static int run_sampled(const struct kernel_pass *pass, struct sampler *s, char *why)
{
	struct pm_command command = PM_PARAMETERS(pm_command, sampler);
	struct pm_decode decode = PM_PARAMETERS(pm_decode, overflow);
	struct pm_counters_info info = PM_PARAMETERS(pm_counters_info, completed);
	int result, stopped;

	command.sampler = decode.sampler = s->sampler;
	if (kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingStart(&command), "starting PM sampling", why) < 0)
		return -1;
	result = pass->run(pass->launch, why);
	stopped = kernel_cupti_pm.cuptiPmSamplingStop(&command);
	decode.counters = s->counters;
	decode.counters_size = s->counters_size;
	if (result < 0 || kernel_source_failed(stopped, "stopping PM sampling", why) < 0 ||
	    kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingDecodeData(&decode), "decoding samples", why) < 0)
		return -1;
	info.counters = s->counters;
	info.counters_size = s->counters_size;
	if (kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingGetCounterDataInfo(&info), "decoding samples", why) < 0)
		return -1;
	s->samples = info.completed;
	return 0;
}

/* The first `count` metrics of the group, of samples from `first` on. */
static int evaluate(const struct group *g, const struct sampler *s, size_t count, size_t first, size_t end, char *why)
{
	struct pm_evaluate p = PM_PARAMETERS(pm_evaluate, values);

	p.host = g->host;
	p.counters = s->counters;
	p.counters_size = s->counters_size;
	p.names = (const char **)g->metrics;
	p.count = count;
	for (p.index = first; p.index < end; p.index++) {
		p.values = s->values + p.index * g->count;
		if (kernel_source_failed(kernel_cupti_pm.cuptiProfilerHostEvaluateToGpuValues(&p), "evaluating samples", why) < 0)
			return -1;
	}
	return 0;
}

/* Of the first metric, which is the marker where it has room. */
static void find_kernel(const struct group *g, const struct sampler *s, size_t *first, size_t *end)
{
	double most = 0;

	for (size_t i = 0; i < s->samples; i++)
		most = s->values[i * g->count] > most ? s->values[i * g->count] : most;
	*first = 0;
	*end = s->samples;
	while (*first < *end && !(s->values[*first * g->count] > ACTIVE_SHARE * most))
		++*first;
	while (*end > *first && !(s->values[(*end - 1) * g->count] > ACTIVE_SHARE * most))
		--*end;
}

static uint64_t time_of(const struct sampler *s, size_t sample)
{
	struct pm_sample_info p = PM_PARAMETERS(pm_sample_info, end);

	p.sampler = s->sampler;
	p.counters = s->counters;
	p.counters_size = s->counters_size;
	p.index = sample;
	return kernel_cupti_pm.cuptiPmSamplingCounterDataGetSampleInfo(&p) == CUPTI_OK ? p.start : 0;
}

static void tell_metric(const struct kernel_pass *pass, const struct group *g, struct sampler *s, size_t metric, size_t first, size_t end)
{
	double sum = 0, value;
	uint32_t count = 0;
	char name[400];

	for (size_t i = first; i < end; i++) {
		value = s->values[i * g->count + metric];
		if (!isfinite(value))
			continue;
		s->told[count].number = i - first;
		s->told[count].value = value;
		s->told[count++].offset = time_of(s, i) - time_of(s, first);
		sum += value;
	}
	snprintf(name, sizeof(name), "pmsampling:%.380s", g->metrics[metric]);
	kernel_source_samples(pass, name, s->told, count);
	if (count)
		kernel_source_value(pass, name, sum / count);
}

/* Samples are many, and those of the kernel few. */
static int tell(const struct kernel_pass *pass, size_t number, const struct group *g, struct sampler *s, char *why)
{
	size_t first, end;

	s->values = calloc(s->samples + 1, g->count * sizeof(*s->values));
	s->told = calloc(s->samples + 1, sizeof(*s->told));
	if (!s->values || !s->told || evaluate(g, s, 1, 0, s->samples, why) < 0)
		return -1;
	find_kernel(g, s, &first, &end);
	if (evaluate(g, s, g->count, first, end, why) < 0)
		return -1;
	for (size_t m = 0; m < g->count; m++)
		if (number == 0 || g->metrics[m] != series.marker)
			tell_metric(pass, g, s, m, first, end);
	return 0;
}

int kernel_series_pass(const struct kernel_pass *pass, size_t number, char *why)
{
	struct pm_enable enable = PM_PARAMETERS(pm_enable, sampler);
	struct pm_command disable = PM_PARAMETERS(pm_command, sampler);
	const struct group *g = &series.groups[number];
	struct sampler s = { 0 };
	int result;

	enable.device = (size_t)pass->device;
	if (kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingEnable(&enable), "PM sampling", why) < 0)
		return -1;
	s.sampler = disable.sampler = enable.sampler;
	result = set_up(pass, g, &s, why) < 0 || run_sampled(pass, &s, why) < 0 || tell(pass, number, g, &s, why) < 0 ? -1 : 0;
	kernel_cupti_pm.cuptiPmSamplingDisable(&disable);
	free(s.counters);
	free(s.values);
	free(s.told);
	return result;
}
