/* Spreading the bits of a number over a hash table. */
#ifndef SONDE_QUERY_HASH_H
#define SONDE_QUERY_HASH_H

#include <stdint.h>

static inline uint64_t hash_mix(uint64_t h)
{
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdull;
	h ^= h >> 29;
	return h;
}

#endif
