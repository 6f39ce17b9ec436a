/* Values of a pickle while it is read. Numbers of values stay what they are. */
#ifndef SONDE_INGEST_PICKLE_VALUES_H
#define SONDE_INGEST_PICKLE_VALUES_H

#include "ingest/pickle/pickle.h"

/* -ENOMEM, -E2BIG where there are more than are read; else 0 and the number of the new value. */
int values_add(struct pickle *p, struct pickle_value value, uint32_t *ret);
int values_add_integer(struct pickle *p, int64_t integer, uint32_t *ret);
int values_add_text(struct pickle *p, const char *text, size_t len, uint32_t *ret);

/* Appends to a list, set or dictionary. */
int values_append(struct pickle *p, uint32_t to, const uint32_t *items, uint32_t count);

/* Values that every pickle has. */
enum { VALUE_NONE, VALUE_FALSE, VALUE_TRUE, VALUE_SMALL /* the integer 0 */, VALUE_SMALL_END = VALUE_SMALL + 256 };
int values_begin(struct pickle *p);

/* 1: some part contains itself, 0: none does. */
int values_have_cycle(const struct pickle *p);

#endif
