/* What is released where a variable's scope ends, however it is left:
 *
 *	CLEANUP(buf_release) struct buf text = BUF_INIT;
 *	CLEANUP_FREE char *copy = strdup(name);
 *
 * The variable has to be valid from the start: the function is called with its address on every way out.
 *
 *	TRY(read_head(file, &head));
 *	return read_rows(file, &head);
 *
 * leaves the function where read_head() fails, with what it returned. Whoever has to undo something by hand writes the
 * condition out. */
#ifndef SONDE_BASE_CLEANUP_H
#define SONDE_BASE_CLEANUP_H

#include <stdlib.h>
#include <string.h>

#define CLEANUP(release) __attribute__((cleanup(release)))
#define CLEANUP_FREE CLEANUP(cleanup_free)

/* A negative result, an errno, is returned at once. */
#define TRY(call) \
	do { \
		int tried_ = (call); \
\
		if (tried_ < 0) \
			return tried_; \
	} while (0)

/* Of a pointer of any type. */
static inline void cleanup_free(void *variable)
{
	void *memory;

	memcpy(&memory, variable, sizeof(memory));
	free(memory);
}

#endif
