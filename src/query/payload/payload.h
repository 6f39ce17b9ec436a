/* Binary payloads of NVTX events as JSON, by the schemas the program registered. */
#ifndef SONDE_QUERY_PAYLOAD_PAYLOAD_H
#define SONDE_QUERY_PAYLOAD_PAYLOAD_H

#include "base/buf.h"
#include "query/internal.h"

struct event_payload {
	const uint8_t *data;
	size_t len;
	int64_t schema; /* as registered, or one of NVTX's own types */
	int64_t number; /* in its call; an event has payloads of one call or, a range, two */
};

/* All payloads of one event: the value of a single one, an array of several. Structures and unions
 * are objects, arrays arrays, enumerations names, characters and registered strings texts, bytes
 * hexadecimal digits, infinities and NaN texts. Of a union the selected member, all where
 * nothing selects one. Fields that lie outside of the data, and pointers to texts that were not
 * copied, are null; of arrays that reach beyond the data the elements inside are shown.
 * -ENOENT when no schema is known (the bytes can still be read as they are), -E2BIG when the text
 * would be absurdly long, or `steps`, which it takes its work from, are used up. */
int payloads_to_json(struct buf *json, struct query *q, int64_t process, int64_t domain, const struct event_payload *payloads, size_t count,
		     uint64_t *steps);

/* Steps for all payloads of a scan. Events may share a payload, and schemas name each other: what a small report asks for has no
 * other limit. One that was recorded takes a step for some of its bytes. */
uint64_t payload_steps(struct query *q);

#endif
