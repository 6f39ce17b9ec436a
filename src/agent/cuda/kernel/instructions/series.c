/* PM sampling around one launch: values over time. Counters of the whole device, so the samples of the kernel are those in which SMs
 * were active. Setting a group of metrics up takes a hundred times as long as a short kernel: it is done once for all launches that
 * follow each other. */
#include "agent/cuda/kernel/instructions/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_BUFFER (32ull << 20)
#define SHORTEST 1000u  /* ns between samples */
#define ENOUGH 400u     /* samples of a kernel, where we choose: a thousand more do not fit the buffer of 32 MB */
#define SPARE 600u      /* samples before and behind it */
#define ROOM_STEP 1024u /* so that kernels of about the same length share an image */
#define MOST_SAMPLES 65536u
#define ACTIVE_SHARE 0.005 /* of the most */

/* Of one device, the first that is asked for. */
static struct {
	int device;
	int is_prepared;
	struct series_groups groups;
} series;

/* What is set up now. */
static struct {
	struct series_group *group; /* NULL: nothing is */
	void *sampler;
	uint64_t interval;
	uint8_t *counters;
} session;

/* Of one launch. */
struct samples {
	size_t count;
	double *values; /* of each sample, those of the group's metrics */
	struct kernel_sample *reported;
};

/* Powers of two, so that kernels of about the same length share what is set up. */
static uint64_t interval_of(const struct kernel_pass *pass)
{
	uint64_t interval = SHORTEST;

	if (pass->request->series_interval)
		return pass->request->series_interval;
	while (interval < pass->run_time / ENOUGH)
		interval *= 2;
	return interval << (2 * pass->tries);
}

static uint32_t room_for(uint64_t run_time, uint64_t interval)
{
	uint64_t wanted = (run_time / interval + SPARE + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;

	return (uint32_t)(wanted < MOST_SAMPLES ? wanted : MOST_SAMPLES);
}

static uint64_t buffer_of(const struct kernel_request *r)
{
	return r->series_buffer ? r->series_buffer : DEFAULT_BUFFER;
}

void kernel_series_report_plan(const struct kernel_pass *pass)
{
	kernel_source_value(pass, "profiler__pmsampler_pass_groups", (double)series.groups.count);
	kernel_source_value(pass, "profiler__pmsampler_buffer_size_bytes", (double)buffer_of(pass->request));
}

static int make_empty(struct series_group *g, uint32_t room, char *why)
{
	struct pm_counters_size size = PM_PARAMETERS(pm_counters_size, counters_size);
	struct pm_counters_initialize start = PM_PARAMETERS(pm_counters_initialize, counters);

	if (g->empty && g->room >= room)
		return 0;
	size.sampler = start.sampler = session.sampler;
	size.names = (const char **)g->metrics;
	size.count = g->count;
	size.max_samples = room;
	if (kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingGetCounterDataSize(&size), "setting up PM sampling", why) < 0)
		return -1;
	free(g->empty);
	g->room = room;
	g->empty_size = start.counters_size = size.counters_size;
	g->empty = start.counters = malloc(size.counters_size);
	if (g->empty &&
	    kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingCounterDataImageInitialize(&start), "setting up PM sampling", why) == 0)
		return 0;
	free(g->empty);
	g->empty = NULL;
	return -1;
}

static int set_series_config(const struct kernel_pass *pass, char *why)
{
	struct pm_set_config set = PM_PARAMETERS(pm_set_config, append);

	set.sampler = session.sampler;
	set.image_size = session.group->config_size;
	set.image = session.group->config;
	set.buffer_size = buffer_of(pass->request);
	set.interval = session.interval;
	set.trigger = PM_TRIGGER_TIME;
	set.append = PM_KEEP_OLDEST;
	return kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingSetConfig(&set), "setting up PM sampling", why);
}

static int set_up(const struct kernel_pass *pass, struct series_group *g, uint64_t interval, uint32_t room, char *why)
{
	struct pm_enable enable = PM_PARAMETERS(pm_enable, sampler);

	if (session.group == g && session.interval == interval && g->room >= room)
		return 0;
	kernel_series_end();
	enable.device = (size_t)pass->device;
	if (kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingEnable(&enable), "PM sampling", why) < 0)
		return -1;
	session.group = g;
	session.sampler = enable.sampler;
	session.interval = interval;
	if (set_series_config(pass, why) < 0 || make_empty(g, room, why) < 0)
		return -1;
	session.counters = malloc(g->empty_size);
	return session.counters ? 0 : -1;
}

void kernel_series_end(void)
{
	struct pm_command disable = PM_PARAMETERS(pm_command, sampler);

	disable.sampler = session.sampler;
	if (session.group && kernel_cupti_pm.cuptiPmSamplingDisable(&disable) != CUPTI_OK)
		kernel_cupti_pm.cuptiPmSamplingDisable(&disable);
	free(session.counters);
	memset(&session, 0, sizeof(session));
}

/* Whether the first group can be set up; it stays so for the first launch. */
static int can_sample_series(int device, const struct kernel_request *request)
{
	struct kernel_pass pass = { .device = device, .request = request };
	char ignored[KERNEL_WHY_SIZE];
	uint64_t interval = interval_of(&pass);

	if (!series.groups.count)
		return 0;
	if (set_up(&pass, series.groups.list, interval, room_for(0, interval), ignored) == 0)
		return 1;
	kernel_series_end();
	return 0;
}

/* Where only some of the chip's counters can be used, that is noticed by the first try. */
static int make_groups(int device, const struct kernel_request *request, char *why)
{
	if (series_groups_make(&series.groups, device, request, 0, why) == 0 && can_sample_series(device, request))
		return 0;
	series_groups_release(&series.groups);
	return series_groups_make(&series.groups, device, request, 1, why);
}

size_t kernel_series_prepare(int device, const struct kernel_request *request, char *why)
{
	struct series_groups *groups = &series.groups;

	if (!kernel_cupti_pm.cuptiPmSamplingEnable) {
		snprintf(why, KERNEL_WHY_SIZE, "this CUPTI has no PM sampling");
		return 0;
	}
	if (series.is_prepared && series.device != device) {
		snprintf(why, KERNEL_WHY_SIZE, "metrics over time are sampled on one device");
		return 0;
	}
	if (!series.is_prepared) {
		series.is_prepared = 1;
		series.device = device;
		if (make_groups(device, request, why) < 0)
			return 0;
	}
	if (!groups->count)
		snprintf(why, KERNEL_WHY_SIZE, "no metric can be sampled over time on the chip %.40s", groups->chip);
	else if (groups->left_out)
		snprintf(why, KERNEL_WHY_SIZE, "%zu of %zu metrics cannot be sampled over time on the chip %.40s", groups->left_out,
			 request->series.count, groups->chip);
	return groups->count;
}

static int run_sampled(const struct kernel_pass *pass, struct samples *s, char *why)
{
	struct pm_command command = PM_PARAMETERS(pm_command, sampler);
	struct pm_decode decode = PM_PARAMETERS(pm_decode, overflow);
	struct pm_counters_info info = PM_PARAMETERS(pm_counters_info, completed);
	int result, stopped;

	command.sampler = decode.sampler = session.sampler;
	decode.counters = session.counters;
	info.counters = session.counters;
	decode.counters_size = info.counters_size = session.group->empty_size;
	memcpy(session.counters, session.group->empty, session.group->empty_size);
	kernel_source_empty_caches(pass);
	if (kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingStart(&command), "starting PM sampling", why) < 0)
		return -1;
	result = kernel_launch_again(pass->launch, why);
	stopped = kernel_cupti_pm.cuptiPmSamplingStop(&command);
	if (result < 0 || kernel_source_failed(stopped, "stopping PM sampling", why) < 0)
		return -1;
	result = kernel_cupti_pm.cuptiPmSamplingDecodeData(&decode);
	if (result == CUPTI_OUT_OF_MEMORY) {
		snprintf(why, KERNEL_WHY_SIZE, "PM sampling: the buffer was too small (--pm-sampling-buffer-size, --pm-sampling-interval)");
		return KERNEL_SERIES_FULL;
	}
	if (kernel_source_failed(result, "decoding samples", why) < 0 ||
	    kernel_source_failed(kernel_cupti_pm.cuptiPmSamplingGetCounterDataInfo(&info), "decoding samples", why) < 0)
		return -1;
	s->count = info.completed;
	return 0;
}

/* The first `count` metrics of the group, of samples from `first` on. */
static int evaluate_series(const struct samples *s, size_t count, size_t first, size_t end, char *why)
{
	struct pm_evaluate p = PM_PARAMETERS(pm_evaluate, values);

	p.host = session.group->host;
	p.counters = session.counters;
	p.counters_size = session.group->empty_size;
	p.names = (const char **)session.group->metrics;
	p.count = count;
	for (p.index = first; p.index < end; p.index++) {
		p.values = s->values + p.index * session.group->count;
		if (kernel_source_failed(kernel_cupti_pm.cuptiProfilerHostEvaluateToGpuValues(&p), "evaluating samples", why) < 0)
			return -1;
	}
	return 0;
}

static void times_of(size_t sample, uint64_t *start, uint64_t *end)
{
	struct pm_sample_info p = PM_PARAMETERS(pm_sample_info, end);

	p.sampler = session.sampler;
	p.counters = session.counters;
	p.counters_size = session.group->empty_size;
	p.index = sample;
	*start = *end = 0;
	if (kernel_cupti_pm.cuptiPmSamplingCounterDataGetSampleInfo(&p) == CUPTI_OK) {
		*start = p.start;
		*end = p.end;
	}
}

/* The first one may be of all that was since the sampler was set up. */
static int is_regular(size_t sample)
{
	uint64_t start, end;

	times_of(sample, &start, &end);
	return end - start < 4 * session.interval;
}

/* By the first metric, which is the marker where it has room. */
static void find_kernel(const struct samples *s, size_t *first, size_t *end)
{
	size_t each = session.group->count;
	double most = 0;

	for (*first = 0; *first < s->count && !is_regular(*first);)
		++*first;
	for (size_t i = *first; i < s->count; i++)
		most = s->values[i * each] > most ? s->values[i * each] : most;
	*end = s->count;
	while (*first < *end && !(s->values[*first * each] > ACTIVE_SHARE * most))
		++*first;
	while (*end > *first && !(s->values[(*end - 1) * each] > ACTIVE_SHARE * most))
		--*end;
}

static void report_metric(const struct kernel_pass *pass, struct samples *s, size_t metric, size_t first, size_t end)
{
	double sum = 0, value;
	uint64_t begin, start, unused;
	uint32_t count = 0;
	char name[400];

	times_of(first, &begin, &unused);
	for (size_t i = first; i < end; i++) {
		value = s->values[i * session.group->count + metric];
		if (!isfinite(value))
			continue;
		s->reported[count].number = i - first;
		s->reported[count].value = value;
		times_of(i, &start, &unused);
		s->reported[count++].offset = start - begin;
		sum += value;
	}
	snprintf(name, sizeof(name), "pmsampling:%.380s", session.group->metrics[metric]);
	kernel_source_samples(pass, name, s->reported, count);
	if (count)
		kernel_source_value(pass, name, sum / count);
}

/* Samples are many, and those of the kernel few. The marker is told by the first group alone. */
static int report_series(const struct kernel_pass *pass, struct samples *s, char *why)
{
	const struct series_group *g = session.group;
	size_t first, end;

	s->values = calloc(s->count + 1, g->count * sizeof(*s->values));
	s->reported = calloc(s->count + 1, sizeof(*s->reported));
	if (!s->values || !s->reported || evaluate_series(s, 1, 0, s->count, why) < 0)
		return -1;
	find_kernel(s, &first, &end);
	if (evaluate_series(s, g->count, first, end, why) < 0)
		return -1;
	if (g == series.groups.list)
		kernel_source_value(pass, "profiler__pmsampler_interval_time", (double)session.interval);
	for (size_t m = 0; m < g->count; m++)
		if (g == series.groups.list || g->metrics[m] != series.groups.marker)
			report_metric(pass, s, m, first, end);
	return 0;
}

int kernel_series_pass(const struct kernel_pass *pass, size_t number, char *why)
{
	uint64_t interval = interval_of(pass);
	struct samples s = { 0 };
	int result;

	result = set_up(pass, &series.groups.list[number], interval, room_for(pass->run_time, interval), why);
	if (result == 0)
		result = run_sampled(pass, &s, why);
	if (result == 0)
		result = report_series(pass, &s, why);
	free(s.values);
	free(s.reported);
	return result;
}
