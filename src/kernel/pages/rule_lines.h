/* The lines of a kernel that rules speak of. */
#ifndef SONDE_KERNEL_PAGES_RULE_LINES_H
#define SONDE_KERNEL_PAGES_RULE_LINES_H

#include "kernel/rules/rule.h"
#include "kernel/source/instructions.h"

/* Those with the largest `more` - `less`, the worst first; `less` NULL: nothing. How many; those at or below 0 are left out. */
size_t source_worst_lines(const struct kernel_source *source, const char *more, const char *less, struct rule_line *ret, size_t room);

#endif
