/* Instructions and lines of a launch beside those of the same kernel in another report. */
#ifndef SONDE_KERNEL_SOURCE_BEFORE_H
#define SONDE_KERNEL_SOURCE_BEFORE_H

#include "kernel/source/instructions.h"

/* The mean over launches with the same instructions as the first. -ENOMEM. */
int kernel_source_mean(struct kernel_source *ret, const struct source_book *book, const int64_t *results, size_t count);
/* Gives each item its counterpart (source_item.before), which lives as long as `before`. Instructions are the same when function, source line and
 * text are; lines when their texts are, or their numbers where the text is not in both reports. Of several alike, the first is that of the first.
 * -ENOMEM. */
int kernel_source_match(struct kernel_source *now, const struct kernel_source *before, enum source_key key);
int kernel_source_match_instructions(struct kernel_source *now, const struct kernel_source *before);

#endif
