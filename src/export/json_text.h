#ifndef SONDE_EXPORT_JSON_TEXT_H
#define SONDE_EXPORT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text/json_text.h"

void json_put_integer(FILE *f, int64_t value);
void json_put_real(FILE *f, double value);
/* Whether a text is JSON of at most 128 levels, and can be written as it is. */
bool json_is_valid(const char *text, size_t len);

#endif
