/* Launches that are summed up together, and what came of it. Private to src/kernel. */
#ifndef SONDE_KERNEL_SUMMARY_H
#define SONDE_KERNEL_SUMMARY_H

#include "kernel/page_text.h"
#include "kernel/variation.h"

/* A launch in one of the groups that it belongs to. */
struct summary_item {
	const struct kernel_result *k;
	char *key;           /* an NVTX range or an operator; "" where launches are told apart otherwise */
	double group_time;   /* of all launches of the group; operators stand in this order */
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

struct entry {
	const char *section;
	char *label;
	const char *metric;
	char unit[UNIT_MAX];
	size_t place;        /* as it came */
	bool adds_up;        /* the sum over launches means something */
	struct spread spread;
	double sum, weight;  /* of the mean */
	double before, before_weight; /* of those that the baseline has */
};

struct summary {
	const struct kernel_results *results;
	const struct page_options *options;
	enum page_summary by;
	const struct summary_item *first; /* of the group */
	size_t launches;
	struct entry *entries;
	size_t count;
};

double entry_mean(const struct entry *e);
/* Mean in the baseline, and the change in percent; not a number where there is none. */
double entry_before(const struct entry *e, double *ret_change);
/* Whether launches of one kernel differ by more than the options allow. */
bool entry_varies(const struct summary *s, const struct entry *e);
bool shows_variation(const struct summary *s);

int summary_print_text(FILE *out, const struct summary *s);
void summary_write_csv_heading(FILE *out, const struct summary *s);
void summary_write_csv(FILE *out, const struct summary *s);
void summary_write_json(FILE *out, const struct summary *s);

#endif
