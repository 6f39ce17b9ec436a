/* Keys (runs of bytes, texts among them) numbered in order of arrival, from 0. */
#ifndef SONDE_BASE_KEYMAP_H
#define SONDE_BASE_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"

#define KEYMAP_NONE UINT32_MAX

struct keymap {
	struct hash_index index;
	struct keymap_key *keys;
	uint32_t count;
	uint32_t capacity;
};

struct keymap_key {
	char *bytes; /* with a NUL behind them */
	size_t len;
};

/* The number of a key, which is added if it is new (then the number is the old count).
 * KEYMAP_NONE without memory. */
uint32_t keymap_number(struct keymap *m, const void *key, size_t len);
/* The number of a key that is known, or KEYMAP_NONE. */
uint32_t keymap_find(const struct keymap *m, const void *key, size_t len);
void keymap_release(struct keymap *m);

#endif
