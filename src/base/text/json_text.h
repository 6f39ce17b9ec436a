/* Texts as strings of JSON: valid UTF-8 whatever they hold. Bytes that are no text become U+FFFD, as JSON cannot hold them. */
#ifndef SONDE_BASE_TEXT_JSON_TEXT_H
#define SONDE_BASE_TEXT_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

/* In quotes. */
int json_append_text(struct buf *b, const char *text, size_t len);
void json_put_text(FILE *f, const char *text, size_t len);
void json_put_string(FILE *f, const char *text);

/* The next string of a list of strings, without its quotes and escapes. Returns what is behind it, NULL where there is none. */
const char *json_next_text(const char *list, struct buf *ret);

#endif
