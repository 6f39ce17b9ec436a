/* A config holds the names of its metrics; each pass has PER_PASS of them, or all of a set in a few passes. */
#ifndef SONDE_TESTS_COUNTED_CONFIG_H
#define SONDE_TESTS_COUNTED_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#define PER_PASS 3
#define FEW 64
#define METRICS 4096
#define NAME 128
#define MAGIC 0x636f756e746564ull

struct config {
	uint64_t magic;
	size_t count;
	char names[METRICS][NAME];
};

static inline size_t passes_of(const struct config *c)
{
	size_t per_pass = c->count > FEW ? METRICS / 8 : PER_PASS;

	return (c->count + per_pass - 1) / per_pass;
}

#endif
