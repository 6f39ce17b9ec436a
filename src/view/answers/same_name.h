/* All events with the name of one of them. */
#ifndef SONDE_VIEW_ANSWERS_SAME_NAME_H
#define SONDE_VIEW_ANSWERS_SAME_NAME_H

#include "view/events/event.h"

/* The keys statistics, previous, next and command; none where more than `most` events would have to be read. -ENOMEM. */
int alike_put(struct json_out *j, struct recording *r, const struct place *self, uint64_t most);

#endif
