/* What the files of a choice share. */
#ifndef SONDE_KERNEL_CHOICE_CHOICE_INTERNAL_H
#define SONDE_KERNEL_CHOICE_CHOICE_INTERNAL_H

#include "kernel/choice/choice.h"

int choice_add(struct choice *c, const char *name, enum metric_origin origin);
int choice_note(struct choice *c, const char *text);

struct choosing {
	struct choice *choice;
	const struct choice_sources *sources;
	const struct choice_request *request;
	struct error *err;
};

/* One word of --metrics; -EINVAL with a sentence. */
int choose_metric(struct choosing *c, const char *text);
/* All that the chosen sections show. */
int choose_section(struct choosing *c, const struct section *section);
/* A block's metrics; companions as asked for. */
int choose_block(struct choosing *c, const struct section *section, const struct section_block *block, bool companions);
/* Adds what is the largest part of a throughput. 0 also where there is nothing to add. */
int choose_breakdown(struct choosing *c, const char *metric, bool companions);
/* A metric with its rollup, with the other rollups beside it. */
int choose_companions(struct choosing *c, const char *metric);

#endif
