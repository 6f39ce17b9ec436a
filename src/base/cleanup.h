/* What is released where a variable's scope ends, however it is left:
 *
 *	CLEANUP(buf_release) struct buf text = BUF_INIT;
 *	CLEANUP_FREE char *copy = strdup(name);
 *
 * The variable has to be valid from the start: the function is called with its address on every way out. */
#ifndef SONDE_BASE_CLEANUP_H
#define SONDE_BASE_CLEANUP_H

#include <stdlib.h>
#include <string.h>

#define CLEANUP(release) __attribute__((cleanup(release)))
#define CLEANUP_FREE CLEANUP(cleanup_free)

/* Of a pointer of any type. */
static inline void cleanup_free(void *variable)
{
	void *memory;

	memcpy(&memory, variable, sizeof(memory));
	free(memory);
}

#endif
