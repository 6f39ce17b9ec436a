/* The functions a loaded library offers, read from the memory it is loaded in: its file may be gone
 * or replaced. Nothing read is believed. */
#ifndef SONDE_INJECT_DYNSYM_H
#define SONDE_INJECT_DYNSYM_H

#include <stddef.h>
#include <stdint.h>

struct image;

struct dynsym {
	const struct image *image;
	uint64_t bias; /* address in memory - address in the file */
	uint64_t symbols, strings, strings_size;
	uint64_t gnu_hash, sysv_hash; /* 0: none */
};

/* `base`: where the file's beginning is mapped. -ENOENT when there is nothing dynamic there. */
int dynsym_open(struct dynsym *ret, const struct image *image, uint64_t base);
/* The address of a function that it defines: 0, or -ENOENT. */
int dynsym_find(const struct dynsym *d, const char *name, uint64_t *ret);
/* Calls `take` for every function that it defines. */
int dynsym_each(const struct dynsym *d, void (*take)(void *context, const char *name, uint64_t start, uint64_t size), void *context);

#endif
