/* Launches that are summed up together. */
#ifndef SONDE_KERNEL_SUMMARY_GROUP_H
#define SONDE_KERNEL_SUMMARY_GROUP_H

#include "kernel/pages/page.h"

/* A launch in one of the groups that it belongs to. */
struct summary_item {
	const struct kernel_result *k;
	char *key;         /* an NVTX range or an operator; "" where launches are told apart otherwise */
	double group_time; /* of all launches of the group; operators stand in this order */
};

struct summary_items {
	struct summary_item *items;
	size_t count, capacity;
};

/* Groups stand behind each other. -ENOMEM: what was made is to be released, too. */
int summary_items_make(struct summary_items *ret, const struct kernel_results *results, enum page_summary by);
void summary_items_release(struct summary_items *items);
/* Whether two belong to the same group. */
bool summary_same_group(enum page_summary by, const struct summary_item *x, const struct summary_item *y);
/* The name of PyTorch's operator out of the text of a range: without sequence, number and sizes. False where it is none. */
bool operator_of(const char *range, char *ret, size_t size);

#endif
