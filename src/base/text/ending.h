/* Endings of names. */
#ifndef SONDE_BASE_TEXT_ENDING_H
#define SONDE_BASE_TEXT_ENDING_H

#include <stdbool.h>
#include <string.h>

/* Whether a text ends so, with something before it. */
static inline bool text_has_ending(const char *text, const char *ending)
{
	size_t length = strlen(text), ending_length = strlen(ending);

	return length > ending_length && strcmp(text + length - ending_length, ending) == 0;
}

#endif
