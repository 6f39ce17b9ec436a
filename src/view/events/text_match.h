/* Names that have a text in them, whatever its letters' case. */
#ifndef SONDE_VIEW_EVENTS_TEXT_MATCH_H
#define SONDE_VIEW_EVENTS_TEXT_MATCH_H

#include <stdatomic.h>

#include "view/report/view_report.h"

#define MATCH_REMEMBERED 256u

struct match {
	struct view_report *r;
	char *text;
	uint64_t *bits; /* by string id */
	uint64_t limit;
	uint64_t count; /* strings that have it */
	/* text_match_deep.c: what has it in its whole name, or in a text of its arguments; in order. */
	struct match_ids {
		int64_t *ids;
		size_t count, capacity;
	} launches, sets;
	/* Made names asked for last: name, and above it 1 for no, 3 for yes. */
	_Atomic uint64_t remembered[MATCH_REMEMBERED];
};

/* Looks through all strings. -ENOMEM. */
int match_open(struct match *m, struct view_report *r, const char *text);
void match_release(struct match *m);
bool match_has(struct match *m, uint32_t name);

/* Looks also through whole names of kernels and arguments. -ENOMEM. */
int match_look_deep(struct match *m);
/* By row of the group: 1 where one of these has it; NULL: none has. To be freed. -ENOMEM. */
int match_deep_rows(struct match *m, const struct row_group *p, uint8_t **ret);

#endif
