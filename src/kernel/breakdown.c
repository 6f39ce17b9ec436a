/* What a throughput is the largest of, as NVPerf knows it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/catalog.h"

#define MAX_DEPTH 8
#define MAX_METRIC 256

struct walk {
	struct catalog *catalog;
	const char *suffix;
	struct nvperf_metric_names counters, throughputs;
	int (*visit)(void *context, const char *part);
	void *context;
};

static int open_evaluator(struct catalog *c)
{
	struct nvperf_scratch_size size = PM_PARAMETERS(nvperf_scratch_size, scratch_size);
	struct nvperf_evaluator_initialize initialize = PM_PARAMETERS(nvperf_evaluator_initialize, evaluator);

	if (c->evaluator)
		return 0;
	if (!c->cupti->nvperf)
		return -ENOSYS;
	size.chip = c->chip;
	if (c->cupti->NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize(&size) != 0)
		return -EIO;
	c->scratch = malloc(size.scratch_size);
	if (!c->scratch)
		return -ENOMEM;
	initialize.chip = c->chip;
	initialize.scratch = c->scratch;
	initialize.scratch_size = size.scratch_size;
	if (c->cupti->NVPW_CUDA_MetricsEvaluator_Initialize(&initialize) != 0) {
		free(c->scratch);
		c->scratch = NULL;
		return -EIO;
	}
	c->evaluator = initialize.evaluator;
	return 0;
}

static int list_names(struct catalog *c, int type, struct nvperf_metric_names *ret)
{
	*ret = (struct nvperf_metric_names)PM_PARAMETERS(nvperf_metric_names, count);
	ret->evaluator = c->evaluator;
	ret->type = (uint8_t)type;
	return c->cupti->NVPW_MetricsEvaluator_GetMetricNames(ret) == 0 ? 0 : -EIO;
}

static int visit_name(const struct walk *w, const struct nvperf_metric_names *names, size_t index)
{
	char text[MAX_METRIC];

	if (index >= names->count)
		return 0;
	if ((size_t)snprintf(text, sizeof(text), "%s%s", names->names + names->offsets[index], w->suffix) >= sizeof(text))
		return 0;
	return w->visit(w->context, text);
}

static int walk_throughput(const struct walk *w, size_t index, unsigned depth)
{
	struct nvperf_throughput parts = PM_PARAMETERS(nvperf_throughput, parts);
	int r = 0;

	parts.evaluator = w->catalog->evaluator;
	parts.index = index;
	if (depth > MAX_DEPTH || w->catalog->cupti->NVPW_MetricsEvaluator_GetThroughputMetricProperties(&parts) != 0)
		return -EIO;
	for (size_t i = 0; r >= 0 && i < parts.counter_count; i++)
		r = visit_name(w, &w->counters, parts.counters[i]);
	for (size_t i = 0; r >= 0 && i < parts.part_count; i++) {
		r = visit_name(w, &w->throughputs, parts.parts[i]);
		if (r >= 0)
			r = walk_throughput(w, parts.parts[i], depth + 1);
	}
	return r < 0 ? r : 0;
}

int catalog_breakdown(struct catalog *c, const char *metric, int (*visit)(void *context, const char *part), void *context)
{
	struct nvperf_type_and_index found = PM_PARAMETERS(nvperf_type_and_index, index);
	struct walk w = { .catalog = c, .suffix = metric + metric_base_len(metric), .visit = visit, .context = context };
	char base[MAX_METRIC];
	int r = open_evaluator(c);

	if (r < 0)
		return r;
	if ((size_t)snprintf(base, sizeof(base), "%.*s", (int)(w.suffix - metric), metric) >= sizeof(base))
		return -ENOENT;
	found.evaluator = c->evaluator;
	found.metric = base;
	if (c->cupti->NVPW_MetricsEvaluator_GetMetricTypeAndIndex(&found) != 0 || found.type != HOST_THROUGHPUT)
		return -ENOENT;
	if (list_names(c, HOST_COUNTER, &w.counters) < 0 || list_names(c, HOST_THROUGHPUT, &w.throughputs) < 0)
		return -EIO;
	return walk_throughput(&w, found.index, 0);
}
