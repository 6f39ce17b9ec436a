/* What names mean, in plain words, from text files share/metrics/NAME.txt:
 *
 *   kind = metric
 *   collection = launch                              only for metrics that Sonde itself makes
 *   launch__grid_size [block] = Blocks of the grid.  repeated names go on
 */
#ifndef SONDE_KERNEL_METRICS_GLOSSARY_H
#define SONDE_KERNEL_METRICS_GLOSSARY_H

#include <stddef.h>

#include "base/error.h"

enum term_kind {
	TERM_METRIC,   /* a whole name */
	TERM_UNIT,     /* a part of the chip: what stands before the two underscores */
	TERM_QUANTITY, /* what is counted: the first words behind them */
	TERM_WORD,     /* what narrows it down: further words */
	TERM_SUFFIX,   /* rollups and what follows them */
	TERM_PIPE,
	TERM_STALL,
	TERM_ADVICE, /* what to do about a stall */
	TERM_ALIAS,  /* names that people use, and the metric that is meant */
	TERM_KINDS
};

struct term {
	enum term_kind kind;
	char *name;
	char *unit; /* of a metric */
	char *text;
	char *collection; /* "" for those that the hardware counts */
};

struct glossary {
	struct term *terms; /* by kind and name */
	size_t count;
};

/* All NAME.txt of these folders. A name should be there once. */
int glossary_load(struct glossary *ret, const char *const *folders, size_t folder_count, struct error *err);
/* One file's text is added; sort before looking anything up. */
int glossary_parse(struct glossary *g, const char *path, const char *text, size_t size, struct error *err);
void glossary_sort(struct glossary *g);
void glossary_release(struct glossary *g);

const struct term *glossary_find(const struct glossary *g, enum term_kind kind, const char *name, size_t len);

/* The metric that is meant by a name that is none; NULL where the name stands for itself. `room` is for one that is made. */
const char *glossary_meant(const struct glossary *g, const char *name, char *room, size_t size);

#endif
