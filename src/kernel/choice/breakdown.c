/* What a throughput is the largest of, as NVPerf knows it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "kernel/choice/catalog.h"

#define MAX_DEPTH 8
#define MAX_METRIC 256

struct walk {
	const struct nvperf_schedule *nvperf;
	const char *suffix;
	struct nvperf_metric_names counters, throughputs;
	int (*visit)(void *context, const char *part);
	void *context;
};

static int list_names(const struct nvperf_schedule *nvperf, int type, struct nvperf_metric_names *ret)
{
	*ret = (struct nvperf_metric_names)PM_PARAMETERS(nvperf_metric_names, count);
	ret->evaluator = nvperf->evaluator;
	ret->type = (uint8_t)type;
	return nvperf->NVPW_MetricsEvaluator_GetMetricNames(ret) == 0 ? 0 : -EIO;
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

	parts.evaluator = w->nvperf->evaluator;
	parts.index = index;
	if (depth > MAX_DEPTH || w->nvperf->NVPW_MetricsEvaluator_GetThroughputMetricProperties(&parts) != 0)
		return -EIO;
	for (size_t i = 0; i < parts.counter_count; i++)
		TRY(visit_name(w, &w->counters, parts.counters[i]));
	for (size_t i = 0; i < parts.part_count; i++) {
		TRY(visit_name(w, &w->throughputs, parts.parts[i]));
		TRY(walk_throughput(w, parts.parts[i], depth + 1));
	}
	return 0;
}

int catalog_breakdown(const struct catalog *c, const char *metric, int (*visit)(void *context, const char *part), void *context)
{
	struct nvperf_type_and_index found = PM_PARAMETERS(nvperf_type_and_index, index);
	struct walk w = { .nvperf = &c->nvperf, .suffix = metric + metric_base_len(metric), .visit = visit, .context = context };
	char base[MAX_METRIC];

	if (!c->nvperf.library)
		return -ENOSYS;
	if ((size_t)snprintf(base, sizeof(base), "%.*s", (int)(w.suffix - metric), metric) >= sizeof(base))
		return -ENOENT;
	found.evaluator = c->nvperf.evaluator;
	found.metric = base;
	if (c->nvperf.NVPW_MetricsEvaluator_GetMetricTypeAndIndex(&found) != 0 || found.type != HOST_THROUGHPUT)
		return -ENOENT;
	if (list_names(&c->nvperf, HOST_COUNTER, &w.counters) < 0 || list_names(&c->nvperf, HOST_THROUGHPUT, &w.throughputs) < 0)
		return -EIO;
	return walk_throughput(&w, found.index, 0);
}
