/* A text without the blanks at both of its ends. */
#ifndef SONDE_BASE_TEXT_TRIM_H
#define SONDE_BASE_TEXT_TRIM_H

#include <string.h>

/* In place; returns where it begins. */
static inline char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n");
	len = strlen(text);
	while (len && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
	return text;
}

#endif
