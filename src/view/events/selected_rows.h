/* Rows that a request is about. */
#ifndef SONDE_VIEW_EVENTS_CHOSEN_ROWS_H
#define SONDE_VIEW_EVENTS_CHOSEN_ROWS_H

#include "view/request/params.h"
#include "view/report/view_report.h"

/* By row: 1 for those in the list and what is below them, all where there is no list; of them, rows that have events. -EINVAL. */
int rows_selected(struct view_report *r, const char *list, uint8_t **ret, struct error *err);
/* The same by the parameters "rows" or "row". */
int param_rows(struct params *p, struct view_report *r, uint8_t **ret, struct error *err);
/* Their tracks. NULL: no memory. */
uint32_t *chosen_tracks(const struct view_report *r, const uint8_t *selected, size_t *ret_count);

#endif
