/* Hashes of keys: quick to write down, and no defence against keys chosen to collide (xxHash with a seed is).
 * Allocates nothing and calls nothing, so agents may use it, too. */
#ifndef SONDE_BASE_HASH_H
#define SONDE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325ull

/* FNV-1a, going on from HASH_START or from what was hashed before. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ull;
	return hash;
}

static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash;
}

/* Spreads the bits of a number over all of the result. */
static inline uint64_t hash_mix(uint64_t number)
{
	number ^= number >> 33;
	number *= 0xff51afd7ed558ccdull;
	number ^= number >> 29;
	return number;
}

#endif
