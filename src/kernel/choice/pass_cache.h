/* Packing the counters of a large set takes NVPerf half a second, and is the same each time: the result is kept in a folder. */
#ifndef SONDE_KERNEL_CHOICE_PASS_CACHE_H
#define SONDE_KERNEL_CHOICE_PASS_CACHE_H

#include "base/buf.h"
#include "kernel/choice/pass_schedule.h"

/* What all of it hangs on, for the names of the part in the order in which they are: 0, or a negative errno where nothing can be kept. */
int schedule_key(const struct catalog *c, const struct schedule_part *part, struct buf *ret);
/* False: there is none. Otherwise the part has its configuration, and *ret_order is what was kept with it. */
bool schedule_take_kept(const struct catalog *c, const struct buf *key, struct schedule_part *part, uint32_t *ret_order);
/* What goes wrong is nobody's concern: it is made again. */
void schedule_keep(const struct catalog *c, const struct buf *key, const struct schedule_part *part, uint32_t order);

#endif
