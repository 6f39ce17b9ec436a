/* What a name means, in plain words: of a metric, a unit, a pipeline, a stall, a section or a row. */
#ifndef SONDE_KERNEL_SECTIONS_EXPLAIN_H
#define SONDE_KERNEL_SECTIONS_EXPLAIN_H

#include <stdbool.h>

#include "base/buf.h"
#include "kernel/metrics/glossary.h"
#include "kernel/sections/section.h"

/* Appends lines about the name. -ENOENT with the nearest names where nothing is known of it. */
int explain_metric(struct buf *out, const struct glossary *glossary, const struct sections *sections, const char *name, struct error *err);
/* One sentence about a metric's base, made of its parts: "Sectors looked up in L2: of L1/TEX, reads, found." False if a part is not
 * described; it is then in the sentence as it stands. */
bool explain_base(struct buf *out, const struct glossary *glossary, const char *base, size_t len);

#endif
