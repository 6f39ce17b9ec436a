/* Between options.c and values.c: a checked value and where it goes. */
#ifndef SONDE_BASE_OPTIONS_STORE_H
#define SONDE_BASE_OPTIONS_STORE_H

#include "base/options/options.h"

struct option_value {
	const char *text;
	int64_t number; /* INTEGER, SECONDS, and the index for BOOL and CHOICE */
	uint64_t mask;  /* CHOICES */
};

int option_read(const struct option_spec *spec, const char *text, struct option_value *ret, struct error *err);
/* A TEXTS field must have room for one more. */
void option_store(const struct option_spec *spec, const struct option_value *value, void *fields);

#endif
