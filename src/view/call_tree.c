#include "view/call_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024u
/* Two levels of JSON each. */
#define MAX_DEPTH 1000u
#define LEAST_PART 1000u

static uint64_t hash_text(const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return hash ^ hash >> 29;
}

static uint64_t hash_child(uint32_t parent, uint32_t name)
{
	uint64_t hash = ((uint64_t)parent << 32 | name) * 0x9e3779b97f4a7c15ull;

	return hash ^ hash >> 31;
}

int call_tree_open(struct call_tree *t)
{
	*t = (struct call_tree){ .child_slots = FIRST_SLOTS, .text_slots = FIRST_SLOTS };
	t->children = calloc(t->child_slots, sizeof(*t->children));
	t->text_map = calloc(t->text_slots, sizeof(*t->text_map));
	t->nodes = calloc(64, sizeof(*t->nodes));
	t->capacity = 64;
	t->count = 1;
	return t->children && t->text_map && t->nodes ? 0 : -ENOMEM;
}

void call_tree_release(struct call_tree *t)
{
	for (uint32_t i = 0; i < t->text_count; i++)
		free(t->texts[i]);
	free(t->texts);
	free(t->text_map);
	free(t->children);
	free(t->nodes);
}

static int grow_texts(struct call_tree *t)
{
	uint32_t slots = t->text_slots * 2, capacity = t->text_capacity ? t->text_capacity * 2 : 64;
	uint32_t *map;
	char **texts;

	if (t->text_count == t->text_capacity) {
		texts = reallocarray(t->texts, capacity, sizeof(*texts));
		if (!texts)
			return -ENOMEM;
		t->texts = texts;
		t->text_capacity = capacity;
	}
	if (t->text_count * 2 < t->text_slots)
		return 0;
	map = calloc(slots, sizeof(*map));
	if (!map)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->text_count; i++) {
		uint64_t at = hash_text(t->texts[i], strlen(t->texts[i]));

		while (map[at & (slots - 1)])
			at++;
		map[at & (slots - 1)] = i + 1;
	}
	free(t->text_map);
	t->text_map = map;
	t->text_slots = slots;
	return 0;
}

uint32_t call_tree_text(struct call_tree *t, const char *text, size_t len)
{
	uint64_t at;
	uint32_t found;

	len = strnlen(text, len); /* a name of a report may go on behind a NUL */
	if (grow_texts(t) < 0)
		return UINT32_MAX;
	for (at = hash_text(text, len); (found = t->text_map[at & (t->text_slots - 1)]) != 0; at++)
		if (strncmp(t->texts[found - 1], text, len) == 0 && t->texts[found - 1][len] == '\0')
			return found - 1;
	t->texts[t->text_count] = strndup(text, len);
	if (!t->texts[t->text_count])
		return UINT32_MAX;
	t->text_map[at & (t->text_slots - 1)] = t->text_count + 1;
	return t->text_count++;
}

static int grow_nodes(struct call_tree *t)
{
	struct call_node *nodes;
	uint32_t *map, slots = t->child_slots * 2;

	if (t->count == t->capacity) {
		nodes = reallocarray(t->nodes, (size_t)t->capacity * 2, sizeof(*nodes));
		if (!nodes)
			return -ENOMEM;
		t->nodes = nodes;
		t->capacity *= 2;
	}
	if (t->count * 2 < t->child_slots)
		return 0;
	map = calloc(slots, sizeof(*map));
	if (!map)
		return -ENOMEM;
	for (uint32_t i = 1; i < t->count; i++) {
		uint64_t at = hash_child(t->nodes[i].parent, t->nodes[i].name);

		while (map[at & (slots - 1)])
			at++;
		map[at & (slots - 1)] = i;
	}
	free(t->children);
	t->children = map;
	t->child_slots = slots;
	return 0;
}

uint32_t call_tree_child(struct call_tree *t, uint32_t parent, uint32_t name)
{
	uint64_t at;
	uint32_t found;

	if (grow_nodes(t) < 0)
		return 0;
	for (at = hash_child(parent, name); (found = t->children[at & (t->child_slots - 1)]) != 0; at++)
		if (t->nodes[found].parent == parent && t->nodes[found].name == name)
			return found;
	found = t->count++;
	t->nodes[found] = (struct call_node){ .parent = parent, .name = name, .next = t->nodes[parent].child };
	t->nodes[parent].child = found;
	t->children[at & (t->child_slots - 1)] = found;
	return found;
}

static void put_other(struct json_out *j, uint64_t value)
{
	if (!value)
		return;
	out_open(j, '{');
	out_put_text(j, "name", "(other)");
	out_put_integer(j, "value", (int64_t)value);
	out_put_integer(j, "self", (int64_t)value);
	out_key(j, "children");
	out_open(j, '[');
	out_close(j, ']');
	out_close(j, '}');
}

static void put_node(struct json_out *j, const struct call_tree *t, uint32_t at, unsigned depth)
{
	const struct call_node *node = &t->nodes[at];
	uint64_t least = t->nodes[0].value / LEAST_PART, other = 0;

	out_open(j, '{');
	out_put_text(j, "name", at ? t->texts[node->name] : "all");
	out_put_integer(j, "value", (int64_t)node->value);
	out_put_integer(j, "self", (int64_t)node->self);
	out_key(j, "children");
	out_open(j, '[');
	for (uint32_t child = node->child; child; child = t->nodes[child].next) {
		if (t->nodes[child].value < least || depth == MAX_DEPTH)
			other += t->nodes[child].value;
		else if (t->nodes[child].value)
			put_node(j, t, child, depth + 1);
	}
	put_other(j, other);
	out_close(j, ']');
	out_close(j, '}');
}

void call_tree_put(struct json_out *j, struct call_tree *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		t->nodes[i].value = t->nodes[i].self;
	for (uint32_t i = t->count - 1; i; i--)
		t->nodes[t->nodes[i].parent].value += t->nodes[i].value;
	put_node(j, t, 0, 0);
}
