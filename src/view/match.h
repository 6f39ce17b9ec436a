/* Names that have a text in them, whatever its letters' case. */
#ifndef SONDE_VIEW_MATCH_H
#define SONDE_VIEW_MATCH_H

#include "view/recording.h"

struct match {
	struct recording *r;
	char *text;
	uint64_t *bits;   /* by string id */
	uint64_t limit;
	uint64_t count;   /* strings that have it */
};

/* Looks through all strings. -ENOMEM. */
int match_open(struct match *m, struct recording *r, const char *text);
void match_release(struct match *m);
bool match_has(const struct match *m, uint32_t name);

#endif
