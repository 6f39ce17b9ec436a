/* A file to import, read in windows: a plain file is mapped, and pages that were read are given back;
 * gzip is unpacked by a thread, which stays a little ahead of the reader. Text that was not released stays
 * where it is, so that spans of it can be handed out. */
#ifndef SONDE_INGEST_INPUT_TRACE_FILE_H
#define SONDE_INGEST_INPUT_TRACE_FILE_H

#include <stddef.h>

#include "base/error.h"

#define SOURCE_WINDOW (4u << 20)
/* Most that may be held between two releases; beyond it no more text comes. */
#define SOURCE_MOST_HELD (32u << 20)

struct unpacker;

struct source {
	const char *text;    /* begin of the file */
	size_t len;          /* how much of it can be read so far; source_more() adds to it */
	const char *trouble; /* unpacking ended early, and why; what was unpacked is there. NULL: it did not */

	size_t window;    /* of a plain file, how much is made readable at a time; tests make it small */
	size_t most_held; /* SOURCE_MOST_HELD; the same */

	size_t released; /* what lies before is not to be read any more */
	size_t lines;    /* that ended before it */
	size_t size;     /* of a plain file */
	int mapped;
	struct unpacker *unpacker; /* NULL: the file is plain */
};

/* Of what can be read the first 64 KiB are there at once, to see what it is. */
int source_open(struct source *ret, const char *path, struct error *err);
/* Text in memory, which stays the caller's. */
void source_of_text(struct source *ret, const char *text, size_t len);
void source_close(struct source *s);

/* Waits for more text: 1, or 0 at the end, or when SOURCE_MOST_HELD bytes are held. */
int source_more(struct source *s);
/* All of it at once, for readers of small files: len is then that of the file. */
void source_hold_all(struct source *s);
/* What lies before `at` is not needed any more. Cheap when called often. */
void source_release(struct source *s, const char *at);
/* Line (from 1) of a place that was not released. */
size_t source_line(const struct source *s, const char *at);

#endif
