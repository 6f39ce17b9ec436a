/* NVTX ranges by expressions (--nvtx-include, --nvtx-exclude), in the grammar that ncu has:
 *
 *   A/          push/pop range A is open, wherever in its thread's stack; A/B: B directly inside A
 *   [A          at the bottom of the stack; A]: at its top
 *   A/+/B       exactly one range in between; A/ * /B (without blanks): any number
 *   A           start/end range A is open; A,B: both are
 *   D@...       of domain D; without it, of the default domain
 *   regex:...   domain and names are regular expressions; a bracket of an expression that stands first or last has a / before it
 *   \x          x stands for itself */
#ifndef SONDE_FMT_FILTER_NVTX_FILTER_H
#define SONDE_FMT_FILTER_NVTX_FILTER_H

#include <stdint.h>

#include "fmt/filter/name_pattern.h"

#define NVTX_FILTER_PARTS 32u
#define NVTX_FILTER_DEPTH 63u /* ranges of a stack that are looked at, from the bottom */
#define NVTX_DEFAULT_DOMAIN "<default domain>"

enum nvtx_filter_kind { NVTX_FILTER_NAME, NVTX_FILTER_ONE, NVTX_FILTER_MANY };

struct nvtx_filter_part {
	enum nvtx_filter_kind kind;
	struct name_pattern name;
};

struct nvtx_filter {
	int is_stack; /* push/pop ranges; otherwise start/end */
	int from_bottom, to_top;
	int has_domain;
	struct name_pattern domain;
	struct nvtx_filter_part parts[NVTX_FILTER_PARTS];
	unsigned part_count;
};

/* A range that is open. Pushed ones are in the order in which they were pushed. */
struct nvtx_open_range {
	const char *domain; /* "" for the default one */
	const char *name;   /* NULL: it has none, and is matched by no name */
	int is_pushed;
	uint32_t color;  /* ARGB; 0: none was given */
	uint32_t number; /* what the listener said of it (agent/core/interface.h) */
};

/* -1: `why` says what is wrong, and nothing is to be released. */
int nvtx_filter_parse(struct nvtx_filter *ret, const char *text, char *why, size_t why_size);
int nvtx_filter_matches(const struct nvtx_filter *filter, const struct nvtx_open_range *ranges, size_t count);
void nvtx_filter_release(struct nvtx_filter *filter);

#endif
