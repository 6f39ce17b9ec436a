/* One string id per text. Strings with the same text may have several ids (a name
 * that was registered and later given literally): as keys they are one. The first id asked
 * about stands for its text for as long as the report is open. */
#ifndef SONDE_QUERY_INDEX_SAME_TEXT_H
#define SONDE_QUERY_INDEX_SAME_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"

struct query;

struct first_texts {
	uint64_t *ids; /* of strings, each text once */
	size_t count, cap;
	struct hash_index index;
};

/* Replaces *id; an id without text becomes 0. -ENOMEM. */
int first_text_id(struct query *q, int64_t *id);
/* The id of a text that need not be in the report. -ENOMEM. */
int first_text_of(struct query *q, const char *text, size_t len, int64_t *ret);
void first_texts_release(struct first_texts *c);

#endif
