/* A file to import, mapped; gzip is unpacked first, into a file that has no name. */
#ifndef SONDE_INGEST_SOURCE_H
#define SONDE_INGEST_SOURCE_H

#include <stddef.h>

#include "base/error.h"

struct source {
	const char *text;
	size_t len;
	const char *trouble; /* unpacking ended early, and why; what was unpacked is there. NULL: it did not */
};

int source_open(struct source *ret, const char *path, struct error *err);
void source_close(struct source *s);

#endif
