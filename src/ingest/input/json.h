/* JSON read in place: a cursor over bytes in memory, which hands out spans of them. Nothing is
 * allocated, nothing is copied, and no input leads to nested calls. Text
 * of a source comes in windows: where one ends in the middle of a value, the cursor waits for the next. */
#ifndef SONDE_INGEST_INPUT_JSON_H
#define SONDE_INGEST_INPUT_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ingest/input/trace_file.h"

#define JSON_MAX_DEPTH 128
/* A bit for each byte, up to the blank itself, that is white space. */
#define JSON_SPACES (UINT64_C(1) << ' ' | UINT64_C(1) << '\n' | UINT64_C(1) << '\t' | UINT64_C(1) << '\r')

enum json_kind {
	JSON_NONE = 0,
	JSON_STRING, /* text: between the quotes, escapes as they stand */
	JSON_NUMBER, /* also NaN and Infinity, which some writers put out */
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
	JSON_OBJECT, /* text: all of it, with its braces */
	JSON_ARRAY
};

struct json_value {
	enum json_kind kind;
	uint16_t escaped; /* a string that has escapes */
	uint16_t name;    /* of a member, where it is among the names its cursor knows: its number + 1 */
	const char *text;
	size_t len;
};

/* Names of members, the first few hundred. Objects are mostly like one before: each name knows which came behind it, so
 * that a name is compared to one that is expected instead of being searched for its end. */
#define JSON_NAMES 512u
#define JSON_NAME_BYTES 48u
struct json_name {
	char text[JSON_NAME_BYTES]; /* quotes and colon included */
	uint32_t len;               /* of all that; 0: none */
	uint16_t next[2];           /* what came behind it */
	uint64_t tag;               /* the reader's own; 0 at first */
};

struct json {
	const char *begin;
	const char *at;
	const char *end;
	const char *trouble;     /* what is wrong at `at`; NULL while all is well */
	struct source *source;   /* of more text; NULL: there is none */
	struct json_name *names; /* JSON_NAMES of them; NULL: none are kept */
	uint16_t name;           /* the last one */
};

void json_begin(struct json *j, const char *text, size_t len);
void json_begin_source(struct json *j, struct source *source);

/* Moves `end`: 1, or 0 where there is no more text, or where too much of it is held. */
int json_more(struct json *j);

/* The next byte that is not white space, without taking it; 0 at the end. */
static inline int json_peek(struct json *j)
{
	for (;;) {
		if (j->at == j->end) {
			if (!json_more(j))
				return 0;
		} else if ((unsigned char)*j->at > ' ' || !(JSON_SPACES >> *j->at & 1)) {
			return (unsigned char)*j->at;
		} else {
			j->at++;
		}
	}
}

/* Takes a whole value. Negative (and j->trouble) where it is not well-formed. */
int json_value(struct json *j, struct json_value *ret);

/* Objects and arrays, entered with the cursor at the bracket: 1 and a member, 0 behind the
 * last, negative where they are not well-formed. `*first` is 1 before the first call. An array's
 * values are left to the caller: the cursor stands before the next one. */
int json_next_member(struct json *j, int *first, struct json_value *ret_key);
int json_next_element(struct json *j, int *first);

/* Escapes replaced, into ret[size] (size > len); returns the length. What is not UTF-8 stays as it is. */
size_t json_unescape(const struct json_value *string, char *ret, size_t size);

/* Inline, as `text` is nearly always a constant. */
static inline int json_equals(const struct json_value *string, const char *text)
{
	size_t len = strlen(text);

	return string->len == len && string->kind == JSON_STRING && memcmp(string->text, text, len) == 0;
}

/* A number, or a string that holds one, times ten to the `scale`, rounded; 0 if it is none or does
 * not fit. */
int json_scaled(const struct json_value *v, unsigned scale, int64_t *ret);
int json_integer(const struct json_value *v, int64_t *ret);
int json_real(const struct json_value *v, double *ret);

#endif
