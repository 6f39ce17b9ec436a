/* Binary payloads of NVTX events as JSON, by the schema the program registered. */
#ifndef SONDE_QUERY_PAYLOAD_H
#define SONDE_QUERY_PAYLOAD_H

#include "base/buf.h"
#include "query/internal.h"

/* -ENOENT when the schema is not known (its bytes can still be read as they are).
 * Fields that lie outside of the data, or whose type has no plain value, are null. */
int payload_to_json(struct buf *json, struct query *q, int64_t process, int64_t domain, int64_t schema,
		    const uint8_t *data, size_t len);

/* Appends text as a JSON string, quotes included. */
int json_append_string(struct buf *json, const char *text, size_t len);

#endif
