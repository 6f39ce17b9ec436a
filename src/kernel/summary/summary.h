/* What came of launches that are summed up together. Private to src/kernel. */
#ifndef SONDE_KERNEL_SUMMARY_SUMMARY_H
#define SONDE_KERNEL_SUMMARY_SUMMARY_H

#include "kernel/pages/text.h"
#include "kernel/summary/group.h"
#include "kernel/results/variation.h"

struct entry {
	const char *section;
	char *label;
	const char *metric;
	char unit[UNIT_MAX];
	size_t place; /* as it came */
	bool adds_up; /* the sum over launches means something */
	struct spread spread;
	double sum, weight;           /* of the mean */
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
