/* libnvperf_host.so: configs as the CUPTI beside it makes them, but of links together with others. A metric is its only counter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "vendor/nvperf/schedule.h"

#define EXPORT __attribute__((visibility("default")))

#define SCHEDULE_FUNCTION(name, parameters) int name(struct parameters *);
#include "vendor/nvperf/schedule_functions.def"
#undef SCHEDULE_FUNCTION

static char metrics[METRICS][NAME]; /* that were asked for, by index */
static size_t metric_count;

EXPORT int NVPW_InitializeHost(struct nvperf_initialize *p)
{
	return p->size < sizeof(*p);
}

EXPORT int NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize(struct nvperf_scratch_size *p)
{
	p->scratch_size = 16;
	return strncmp(p->chip, "COUNTED", 7) != 0;
}

EXPORT int NVPW_CUDA_MetricsEvaluator_Initialize(struct nvperf_evaluator_initialize *p)
{
	p->evaluator = metrics;
	return p->scratch_size < 16;
}

EXPORT int NVPW_MetricsEvaluator_Destroy(struct nvperf_evaluator_destroy *p)
{
	return p->evaluator != metrics;
}

/* There are no throughputs. */
EXPORT int NVPW_MetricsEvaluator_GetMetricNames(struct nvperf_metric_names *p)
{
	return p->type + 1;
}
EXPORT int NVPW_MetricsEvaluator_GetMetricTypeAndIndex(struct nvperf_type_and_index *p)
{
	return p->metric != NULL;
}
EXPORT int NVPW_MetricsEvaluator_GetThroughputMetricProperties(struct nvperf_throughput *p)
{
	return p->evaluator == metrics;
}

/* Names that begin with "no" are those of another chip. */
EXPORT int NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(struct nvperf_convert *p)
{
	size_t i = 0;

	while (i < metric_count && strcmp(metrics[i], p->name) != 0)
		i++;
	if (strncmp(p->name, "no", 2) == 0 || i == METRICS)
		return 1;
	if (i == metric_count)
		snprintf(metrics[metric_count++], NAME, "%s", p->name);
	p->metric->index = i;
	return 0;
}

EXPORT int NVPW_MetricsEvaluator_GetMetricRawDependencies(struct nvperf_dependencies *p)
{
	if (p->metric_count != 1 || !p->counter_count)
		return 1;
	p->counters[0] = metrics[p->metrics[0].index];
	p->counter_count = 1;
	p->optional_count = 0;
	return 0;
}

EXPORT int NVPW_CUDA_RawCounterConfig_Create(struct nvperf_config_create *p)
{
	struct config *config = calloc(1, sizeof(*config));

	if (config)
		config->magic = MAGIC;
	p->config = config;
	return !config;
}

EXPORT int NVPW_RawCounterConfig_Destroy(struct nvperf_config_command *p)
{
	free(p->config);
	return 0;
}

EXPORT int NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains(struct nvperf_domains *p)
{
	p->domains[0] = 1;
	p->count = 1;
	return 0;
}

EXPORT int NVPW_RawCounterConfig_BeginPassGroup(struct nvperf_pass_group *p)
{
	return p->count != 1;
}
EXPORT int NVPW_RawCounterConfig_EndPassGroup(struct nvperf_pass_group *p)
{
	return p->count != 1;
}

EXPORT int NVPW_RawCounterConfig_AddRawCounters(struct nvperf_add_counters *p)
{
	struct config *config = p->config;

	for (size_t i = 0; i < p->count && config->count < METRICS; i++)
		snprintf(config->names[config->count++], NAME, "%s", p->counters[i].name);
	return 0;
}

EXPORT int NVPW_RawCounterConfig_GenerateConfigImage(struct nvperf_config_command *p)
{
	return !p->config;
}

EXPORT int NVPW_RawCounterConfig_GetConfigImage(struct nvperf_config_image *p)
{
	if (p->image)
		memcpy(p->image, p->config, sizeof(struct config));
	p->image_size = sizeof(struct config);
	return 0;
}

EXPORT int NVPW_RawCounterConfig_GetNumPasses(struct nvperf_passes *p)
{
	p->passes = passes_of(p->config);
	return 0;
}
