/* What the store keeps. */
#ifndef SONDE_VIEW_RECORDING_STORE_ITEMS_H
#define SONDE_VIEW_RECORDING_STORE_ITEMS_H

#include "view/report/store.h"

struct store_item {
	struct store_item *next;
	struct store_item *newer, *older;
	uint64_t key;
	size_t size;
	unsigned users;
	union {
		struct decoded_rows decoded;
		struct summary summary;
		struct plot_summary plot;
	} content; /* its arrays lie behind it */
};

/* The item that decoded rows or a summary are in. */
static inline struct store_item *item_of(const void *content)
{
	return (struct store_item *)((char *)(uintptr_t)content - offsetof(struct store_item, content));
}

/* decoded_rows.c, summary.c */
int decoded_rows_make(struct view_report *r, const struct row_group *p, struct store_item **ret);
int summary_make(struct view_report *r, const struct row_group *p, struct store_item **ret);
int plot_summary_make(struct view_report *r, const struct row_group *p, struct store_item **ret);

#endif
