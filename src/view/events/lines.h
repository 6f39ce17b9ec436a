/* Work of a stream lies in several tracks where it overlaps, and also where it only arrived out of order: several threads
 * launch into one stream, and their records come one buffer after the other. How it is drawn goes by time: every event is in
 * the first line that is free when it starts. */
#ifndef SONDE_VIEW_EVENTS_LINES_H
#define SONDE_VIEW_EVENTS_LINES_H

#include <stdatomic.h>

#include "view/report/view_report.h"

/* For all rows that are joined and have no lines yet. -ECANCELED, -ENOMEM. */
int view_report_find_lines(struct view_report *r, const _Atomic bool *stop);

/* How many lines a row is drawn in, and the line of an event of one of its tracks. */
uint32_t row_line_count(const struct row *row);
uint32_t event_line(const struct view_report *r, const struct view_track *track, uint64_t index);

/* Of a group's row. */
static inline unsigned group_line(const struct row_group *p, uint64_t row)
{
	return p->lines ? p->lines[row] : p->line;
}

#endif
