/* The list of a choice: names, each once, and notes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernel/choice/choice_internal.h"

int choice_add(struct choice *c, const char *name, enum metric_origin origin)
{
	uint32_t number = keymap_number(&c->names, name, strlen(name));
	struct selected_metric *added;

	if (number < c->count)
		return 0;
	added = number == KEYMAP_NONE ? NULL : LIST_ADD(c->metrics, c->count);
	if (!added)
		return -ENOMEM;
	*added = (struct selected_metric){ c->names.keys[number].bytes, origin };
	return 0;
}

int choice_note(struct choice *c, const char *text)
{
	char **added;

	for (size_t i = 0; i < c->note_count; i++)
		if (strcmp(c->notes[i], text) == 0)
			return 0;
	added = LIST_ADD(c->notes, c->note_count);
	if (!added)
		return -ENOMEM;
	*added = strdup(text);
	return *added ? 0 : (c->note_count--, -ENOMEM);
}

bool choice_has(const struct choice *c, const char *name)
{
	return keymap_find(&c->names, name, strlen(name)) != KEYMAP_NONE;
}

const char **choice_names(const struct choice *c, enum metric_origin origin, size_t *ret_count)
{
	const char **names = calloc(c->count + 1, sizeof(*names));

	*ret_count = 0;
	for (size_t i = 0; names && i < c->count; i++)
		if (c->metrics[i].origin == origin)
			names[(*ret_count)++] = c->metrics[i].name;
	return names;
}

void choice_release(struct choice *c)
{
	for (size_t i = 0; i < c->note_count; i++)
		free(c->notes[i]);
	free(c->metrics);
	free(c->notes);
	free(c->sections);
	keymap_release(&c->names);
	memset(c, 0, sizeof(*c));
}
