/* Pickles of Python, read as data: a stack machine that builds numbers, texts, lists, tuples, sets and dictionaries, and calls nothing.
 * A pickle that asks for anything else is refused. Memory is bounded whatever the file says, and no part contains itself. */
#ifndef SONDE_INGEST_PICKLE_PICKLE_H
#define SONDE_INGEST_PICKLE_PICKLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/keymap.h"
#include "ingest/input/trace_file.h"

#define PICKLE_MOST_VALUES (32u << 20)
#define PICKLE_MOST_ITEMS (128u << 20)
#define PICKLE_MOST_TEXTS (2u << 20)
#define PICKLE_MOST_TEXT_BYTES (128u << 20)
#define PICKLE_MOST_TEXT (1u << 20) /* bytes of one */

enum pickle_kind {
	PICKLE_NONE,
	PICKLE_BOOL,
	PICKLE_INT,
	PICKLE_BIG, /* an integer of more than 64 bits: it has no value here */
	PICKLE_REAL,
	PICKLE_TEXT,
	PICKLE_BYTES, /* not kept */
	PICKLE_LIST,
	PICKLE_TUPLE,
	PICKLE_SET,
	PICKLE_DICT /* keys and values by turns */
};

struct pickle_value {
	uint32_t kind;  /* enum pickle_kind */
	uint32_t count; /* of items; of a dictionary, of keys and values */
	union {
		int64_t integer; /* bool, int */
		double real;
		uint32_t text; /* number, for pickle_text() */
		struct {
			uint32_t first, last; /* places in `items`; 0: none */
		} chunks;
	} is;
};

/* Items of a list are in chunks: the place of the next one (0: none), how many items follow, and those, as numbers of values. */
enum { PICKLE_CHUNK_NEXT, PICKLE_CHUNK_COUNT, PICKLE_CHUNK_ITEMS };

struct pickle {
	struct pickle_value *values;
	uint32_t value_count, value_cap;
	uint32_t *items;
	uint32_t item_count, item_cap;
	struct keymap texts;
	size_t text_bytes;
	uint32_t top; /* the value that the pickle stands for */
};

/* True where bytes begin as a pickle does; of protocols 0 and 1 only dictionaries and lists are recognised. */
int pickle_is(const char *text, size_t len);

/* -EBADMSG: it is not well-formed, cut off or too large, or asks to call something. *err then has a sentence without subject and full stop that
 * follows the name of the file. */
int pickle_read(struct pickle *ret, struct source *source, struct error *err);
void pickle_release(struct pickle *p);

static inline const struct pickle_value *pickle_value(const struct pickle *p, uint32_t number)
{
	return &p->values[number];
}

static inline const struct keymap_key *pickle_text(const struct pickle *p, const struct pickle_value *v)
{
	return &p->texts.keys[v->is.text];
}

/* The items of a list, tuple, set or dictionary, in order.
 *
 *	struct pickle_items at = pickle_items(p, list);
 *
 *	while (pickle_next(&at, &number))
 *		... pickle_value(p, number) */
struct pickle_items {
	const struct pickle *of;
	uint32_t chunk, at;
};

struct pickle_items pickle_items(const struct pickle *p, const struct pickle_value *of);
int pickle_next(struct pickle_items *at, uint32_t *ret);

#endif
