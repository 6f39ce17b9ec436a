#include "cli/arguments/string_list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int take_owned_string(struct string_list *list, char *owned)
{
	char **items;

	if (!owned)
		return -ENOMEM;
	items = realloc(list->items, (list->count + 2) * sizeof(*items));
	if (!items) {
		free(owned);
		return -ENOMEM;
	}
	items[list->count++] = owned;
	items[list->count] = NULL;
	list->items = items;
	return 0;
}

int string_list_add(struct string_list *list, const char *text, size_t len)
{
	return take_owned_string(list, strndup(text, len));
}

int string_list_addf(struct string_list *list, const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	return len < 0 ? -ENOMEM : take_owned_string(list, text);
}

void string_list_release(struct string_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct string_list)STRING_LIST_INIT;
}
