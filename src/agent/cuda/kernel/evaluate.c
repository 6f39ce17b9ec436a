/* From counters to metrics. Of hundreds that takes CUPTI milliseconds for each kernel, so several threads share them, each with an object of
 * CUPTI's of its own. */
#include <stdatomic.h>
#include <stdio.h>

#include "agent/cuda/kernel/kernel.h"

struct share {
	const struct kernel_part *part;
	void *host;
	size_t range;
	size_t first;
	size_t count;
	int result;
	_Atomic uint32_t *unfinished;
};

static void evaluate_share(struct share *s)
{
	struct pm_evaluate p = PM_PARAMETERS(pm_evaluate, values);

	p.host = s->host;
	p.counters = s->part->image;
	p.counters_size = s->part->image_size;
	p.index = s->range;
	p.names = s->part->metrics + s->first;
	p.count = s->count;
	p.values = s->part->values + s->first;
	s->result = kernel_agent.range.cuptiProfilerHostEvaluateToGpuValues(&p);
}

static void *evaluate_on_thread(void *data)
{
	struct share *s = data;
	_Atomic uint32_t *unfinished = s->unfinished;

	evaluate_share(s);
	/* The share is gone as soon as the last has ended. */
	if (atomic_fetch_sub(unfinished, 1) == 1)
		kernel_wake(unfinished);
	return NULL;
}

/* The first is this thread's own. */
static void evaluate_all(struct share *shares, size_t count)
{
	_Atomic uint32_t unfinished = (uint32_t)count - 1;
	uint32_t left;

	for (size_t i = 1; i < count; i++) {
		shares[i].unfinished = &unfinished;
		if (cuda_agent.core->start_thread(evaluate_on_thread, &shares[i]) != 0)
			evaluate_on_thread(&shares[i]);
	}
	evaluate_share(&shares[0]);
	while ((left = atomic_load(&unfinished)) != 0)
		kernel_wait_while(&unfinished, left);
}

int kernel_counters_evaluate(struct kernel_part *part, size_t range, char *why)
{
	size_t count = part->metric_count / KERNEL_SHARE, first = 0, end;
	struct share shares[KERNEL_HOSTS];

	count = count < 1 ? 1 : count > part->host_count ? part->host_count : count;
	for (size_t i = 0; i < count; i++, first = end) {
		end = part->metric_count * (i + 1) / count;
		shares[i] = (struct share){ .part = part, .host = part->hosts[i], .range = range, .first = first, .count = end - first };
	}
	evaluate_all(shares, count);
	for (size_t i = 0; i < count; i++)
		if (kernel_failed(shares[i].result, "evaluating the metrics", why) < 0)
			return -1;
	return 0;
}
