/* A list that owns its strings; `items` always ends with NULL once something was added. */
#ifndef SONDE_CLI_ARGUMENTS_STRING_LIST_H
#define SONDE_CLI_ARGUMENTS_STRING_LIST_H

#include <stddef.h>

struct string_list {
	char **items;
	size_t count;
};

/* clang-format off */
#define STRING_LIST_INIT { NULL, 0 }
/* clang-format on */

int string_list_add(struct string_list *list, const char *text, size_t len);
int string_list_addf(struct string_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void string_list_release(struct string_list *list);

#endif
