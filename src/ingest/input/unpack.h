/* gzip unpacked by a thread into addresses set aside for all of it, of which only those are backed by
 * memory that were written and not yet released. */
#ifndef SONDE_INGEST_INPUT_UNPACK_H
#define SONDE_INGEST_INPUT_UNPACK_H

#include <stddef.h>

struct unpacker;

/* Takes over the mapping of the packed file when it succeeds. */
int unpack_begin(struct unpacker **ret, const char *packed, size_t len, const char **ret_text);
void unpack_end(struct unpacker *u);

/* Waits until there is more than `have`: how much there is, the same at the end. `*ret_trouble` is set
 * where that came too early. */
size_t unpack_more(struct unpacker *u, size_t have, const char **ret_trouble);
/* Memory of the text before is given back. */
void unpack_release(struct unpacker *u, size_t upto);

#endif
