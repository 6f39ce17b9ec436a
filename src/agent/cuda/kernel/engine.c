/* Words of the request that say what is counted and how:
 *
 * part X       metrics that follow are counted together
 * metric NAME  a value of the result
 * schedule NAME  a metric that the configuration is made of, in this order
 * passes N, config HEX  that configuration, for the chip
 * chip NAME    CUPTI's
 * flush 0|1    caches are emptied before each pass
 * graphs node|graph|none  kernels of CUDA graphs one by one, a graph as a whole, or neither
 * ranges runs|calls  what is read are ranges: in runs of the program, or by making calls again
 * warm 0|1     and all is counted again without; these values are numbered from the count of metrics on
 * application PART PASS LAST FOLDER  this run of the program is for one pass */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cuda/kernel/kernel.h"

#define MOST_METRICS 65536u

int kernel_engine_prepare(struct kernel_request *r, size_t lines)
{
	r->flush_caches = 1;
	r->metrics = cuda_agent.core->permanent(lines * sizeof(*r->metrics));
	r->schedule = cuda_agent.core->permanent(lines * sizeof(*r->schedule));
	return r->metrics && r->schedule ? 0 : -1;
}

static int begin_part(struct kernel_request *r)
{
	if (r->part_count == KERNEL_PARTS)
		return -1;
	r->parts[r->part_count++] =
		(struct kernel_wanted){ .metrics = r->metrics + r->metric_count, .schedule = r->schedule + r->schedule_count };
	return 1;
}

static int take_graphs(struct kernel_request *r, const char *value)
{
	r->graphs = strcmp(value, "graph") == 0 ? KERNEL_GRAPHS_WHOLE : strcmp(value, "none") == 0 ? KERNEL_GRAPHS_NONE : KERNEL_GRAPHS_NODES;
	return 1;
}

static int take_application(struct kernel_application *a, char *value)
{
	int size = 0;

	if (sscanf(value, "%zu %zu %d %n", &a->part, &a->pass, &a->is_last, &size) != 3 || !size || !value[size])
		return -1;
	a->folder = value + size;
	return 1;
}

int kernel_engine_take(struct kernel_request *r, const char *word, char *value)
{
	struct kernel_wanted *part = r->part_count ? &r->parts[r->part_count - 1] : NULL;

	if (strcmp(word, "part") == 0)
		return begin_part(r);
	if (strcmp(word, "metric") == 0 || strcmp(word, "schedule") == 0) {
		if (!part || r->metric_count == MOST_METRICS || r->schedule_count == MOST_METRICS)
			return -1;
		if (word[0] == 'm') {
			r->metrics[r->metric_count++] = value;
			part->metric_count++;
		} else {
			r->schedule[r->schedule_count++] = value;
			part->schedule_count++;
		}
		return 1;
	}
	if (strcmp(word, "application") == 0)
		return take_application(&r->application, value);
	if (strcmp(word, "ranges") == 0) {
		r->ranges = strcmp(value, "runs") == 0 ? KERNEL_RANGES_BY_RUNS : KERNEL_RANGES_BY_CALLS;
		return 1;
	}
	if (strcmp(word, "graphs") == 0)
		return take_graphs(r, value);
	if (strcmp(word, "passes") == 0 && part)
		part->passes = strtoull(value, NULL, 10);
	else if (strcmp(word, "config") == 0 && part)
		part->config = value;
	else if (strcmp(word, "chip") == 0)
		r->chip = value;
	else if (strcmp(word, "flush") == 0)
		r->flush_caches = atoi(value);
	else if (strcmp(word, "warm") == 0)
		r->warm = atoi(value);
	else
		return 0;
	return 1;
}
