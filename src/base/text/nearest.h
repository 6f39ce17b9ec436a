/* The valid name a mistyped word comes closest to, for "did you mean" messages:
 * offer every valid name, then take `best` (NULL if nothing was offered). */
#ifndef SONDE_BASE_TEXT_NEAREST_H
#define SONDE_BASE_TEXT_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *word;
	char best[96];
	unsigned cost;
};

void nearest_begin(struct nearest *n, const char *word);
void nearest_offer(struct nearest *n, const char *name, size_t len);
/* " Did you mean X?", with `prefix` before X, or "" when nothing comes close. */
const char *nearest_hint(const struct nearest *n, const char *prefix, char *buffer, size_t size);

/* Edits (insert, delete, replace, swap neighbours) between two words, case ignored. */
unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
