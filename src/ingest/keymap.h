/* Keys (runs of bytes) numbered in order of arrival, from 0. */
#ifndef SONDE_INGEST_KEYMAP_H
#define SONDE_INGEST_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

#define KEYMAP_NONE UINT32_MAX

struct keymap {
	uint32_t *slots; /* number + 1; 0 is free */
	uint32_t slot_count;
	struct keymap_key *keys;
	uint32_t count;
	uint32_t capacity;
};

struct keymap_key {
	uint64_t hash;
	char *bytes;
	size_t len;
};

/* The number of a key, which is added if it is new (then the number is the old count).
 * KEYMAP_NONE without memory. */
uint32_t keymap_number(struct keymap *m, const void *key, size_t len);
/* The number of a key that is known, or KEYMAP_NONE. */
uint32_t keymap_find(const struct keymap *m, const void *key, size_t len);
void keymap_release(struct keymap *m);

#endif
