/* JSON into a buffer. Commas come by themselves; the first failure (-ENOMEM) is kept in `r` and the rest is nothing. */
#ifndef SONDE_VIEW_REQUEST_JSON_OUT_H
#define SONDE_VIEW_REQUEST_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define OUT_MAX_DEPTH 2048u

struct json_out {
	struct buf *out;
	int r;
	unsigned depth;
	bool after_key;
	bool filled[OUT_MAX_DEPTH]; /* by level: something stands there already */
};

void out_begin(struct json_out *j, struct buf *out);
/* '{' or '['; and its end. */
void out_open(struct json_out *j, char bracket);
void out_close(struct json_out *j, char bracket);
void out_key(struct json_out *j, const char *key);
/* In quotes; bytes that are no UTF-8 become U+FFFD. NULL is null. */
void out_text(struct json_out *j, const char *text, size_t len);
void out_string(struct json_out *j, const char *text);
void out_integer(struct json_out *j, int64_t value);
/* Whole numbers beyond 2^53 would be rounded by the page: as text. */
void out_exact(struct json_out *j, int64_t value);
void out_real(struct json_out *j, double value);
void out_bool(struct json_out *j, bool value);
void out_null(struct json_out *j);
/* A value that is JSON already. */
void out_raw(struct json_out *j, const char *text, size_t len);

/* "key": value in one. */
void out_put_text(struct json_out *j, const char *key, const char *text);
void out_put_integer(struct json_out *j, const char *key, int64_t value);
void out_put_real(struct json_out *j, const char *key, double value);
void out_put_bool(struct json_out *j, const char *key, bool value);

#endif
