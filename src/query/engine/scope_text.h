/* What people write to choose ranges and times. */
#ifndef SONDE_QUERY_ENGINE_SCOPE_TEXT_H
#define SONDE_QUERY_ENGINE_SCOPE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NUMBER_LIST_MAX 256

/* "3", "2-5", "7-", "-4", and lists of these. */
struct number_list {
	struct {
		uint64_t first, last;
	} spans[NUMBER_LIST_MAX];
	size_t count;
};

int number_list_parse(struct number_list *ret, const char *text, const char *what, struct error *err);
int number_list_has(const struct number_list *list, uint64_t number);

/* "[start]/[end]" in ns, or with ns, us, ms or s behind the number. An empty side is the farthest there is. */
int time_span_parse(const char *text, int64_t *ret_start, int64_t *ret_end, struct error *err);

/* A name with * and ?; what \ stands before is meant as it is. */
int pattern_matches(const char *pattern, const char *text, size_t len);

struct range_filter {
	char *name;
	char *domain; /* NULL: the default domain */
	int has_indices;
	struct number_list indices;
};

/* "range[@domain][/index]": the last @ and the last / that have no \ before them split the text; the / only where
 * numbers are behind it, for names of ranges have slashes. */
int range_filter_parse(struct range_filter *ret, const char *text, struct error *err);
void range_filter_release(struct range_filter *filter);

/* The number at the end of a name: "step 12", "iter_3/100", "batch[7]". */
struct name_number {
	size_t first; /* of its digits */
	uint64_t value;
};

/* 0 when there is none. */
int name_number_find(const char *name, size_t len, struct name_number *ret);
/* Whether what is before the number ends with a word for steps: step, iteration, iter, batch. */
int name_is_step(const char *name, size_t before);

#endif
