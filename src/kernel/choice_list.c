/* The list of a choice: names, each once, and notes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/choice_internal.h"

static size_t hash(const char *name)
{
	size_t h = 1469598103934665603u;

	while (*name)
		h = (h ^ (unsigned char)*name++) * 1099511628211u;
	return h;
}

/* Where the name is, or would be; slots hold the index plus one. */
static size_t find_slot(const struct choice *c, const char *name)
{
	size_t at = hash(name) & (c->slot_count - 1);

	while (c->slots[at] && strcmp(c->metrics[c->slots[at] - 1].name, name) != 0)
		at = (at + 1) & (c->slot_count - 1);
	return at;
}

static int grow_slots(struct choice *c)
{
	size_t count = c->slot_count ? 2 * c->slot_count : 1024;
	size_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(c->slots);
	c->slots = slots;
	c->slot_count = count;
	for (size_t i = 0; i < c->count; i++)
		c->slots[find_slot(c, c->metrics[i].name)] = i + 1;
	return 0;
}

int choice_add(struct choice *c, const char *name, enum metric_origin origin)
{
	struct chosen_metric *grown;
	size_t at;

	if (2 * c->count >= c->slot_count && grow_slots(c) < 0)
		return -ENOMEM;
	at = find_slot(c, name);
	if (c->slots[at])
		return 0;
	grown = realloc(c->metrics, (c->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->metrics = grown;
	grown[c->count] = (struct chosen_metric){ strdup(name), origin };
	if (!grown[c->count].name)
		return -ENOMEM;
	c->slots[at] = ++c->count;
	return 0;
}

int choice_note(struct choice *c, const char *text)
{
	char **grown;

	for (size_t i = 0; i < c->note_count; i++)
		if (strcmp(c->notes[i], text) == 0)
			return 0;
	grown = realloc(c->notes, (c->note_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->notes = grown;
	grown[c->note_count] = strdup(text);
	return grown[c->note_count] ? (int)(c->note_count++, 0) : -ENOMEM;
}

bool choice_has(const struct choice *c, const char *name)
{
	return c->slot_count && c->slots[find_slot(c, name)];
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
	for (size_t i = 0; i < c->count; i++)
		free(c->metrics[i].name);
	for (size_t i = 0; i < c->note_count; i++)
		free(c->notes[i]);
	free(c->metrics);
	free(c->notes);
	free(c->sections);
	free(c->slots);
	memset(c, 0, sizeof(*c));
}
