/* How rows of pages are made, and what charts have in rows. Private to src/kernel. */
#ifndef SONDE_KERNEL_PAGES_CHARTS_H
#define SONDE_KERNEL_PAGES_CHARTS_H

#include "kernel/pages/page.h"

struct page_maker {
	const struct page_options *options;
	const struct kernel_results *results;
	const struct kernel_result *k;
	struct page_sections *sections;
	unsigned cc; /* 0: not known */
};

int page_add_row(struct page_group *g, struct page_row row);
/* The value of a formula; false where nothing of it was counted. */
bool page_cell(const struct page_maker *m, const struct formula *f, const char *unit, struct page_row *row);
/* A label that lives as long as the sections; NULL: no memory. */
const char *page_label(struct page_maker *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Counters that a throughput is the largest of, the largest first. */
int page_add_breakdown(struct page_maker *m, struct page_group *g, const struct section_row *row);
/* Work that was done, traffic, their peaks, and the work for each byte; nothing where no work was done. */
int page_add_roofline(struct page_maker *m, struct page_group *g, const struct section_block *block);

#endif
