/* What is said of a kernel in a line, and what the baseline has of it. */
#include <stdlib.h>

#include "base/sort.h"
#include "view/kernels/kernels.h"

const struct kernel_column kernel_columns[KERNEL_COLUMNS] = {
	{ "duration", "gpu__time_duration.sum" },
	{ "compute", "sm__throughput.avg.pct_of_peak_sustained_elapsed" },
	{ "memory", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed" },
	{ "registers", "launch__registers_per_thread" },
	{ "cycles", "gpc__cycles_elapsed.max" },
	{ "occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active" },
};

void kernel_view_find_before(struct kernel_view *kv, const struct kernel_result *k, struct kernel_before *ret)
{
	kernel_view_compare(kv, k);
	ret->matches = baseline_matches(&kv->baseline, k);
	for (size_t i = 0; i < KERNEL_COLUMNS; i++)
		ret->numbers[i] = baseline_number(&kv->baseline, k, kernel_columns[i].metric);
}

static int by_likeness(const void *a, const void *b)
{
	return compare_launch_kinds(*(const struct kernel_result *const *)a, *(const struct kernel_result *const *)b);
}

struct kernel_before *kernel_view_all_before(struct kernel_view *kv)
{
	const struct kernel_results *results = kv->results;
	const struct kernel_result **order = calloc(results->count + 1, sizeof(*order));
	struct kernel_before *all = calloc(results->count + 1, sizeof(*all));

	for (size_t i = 0; order && i < results->count; i++)
		order[i] = &results->items[i];
	if (order && all) {
		sort_items(order, results->count, sizeof(*order), by_likeness);
		for (size_t i = 0; i < results->count; i++) {
			if (i && compare_launch_kinds(order[i - 1], order[i]) == 0)
				all[order[i] - results->items] = all[order[i - 1] - results->items];
			else
				kernel_view_find_before(kv, order[i], &all[order[i] - results->items]);
		}
	} else {
		free(all);
		all = NULL;
	}
	free(order);
	return all;
}
