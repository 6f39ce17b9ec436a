/* All events with the name of one of them. */
#ifndef SONDE_VIEW_ANSWERS_SAME_NAME_H
#define SONDE_VIEW_ANSWERS_SAME_NAME_H

#include "view/events/event.h"

/* The keys statistics, previous, next and command; none where more than `most` events would have to be read. -ENOMEM. */
int same_name_put(struct json_out *j, struct view_report *r, const struct event_ref *self, uint64_t most);

#endif
