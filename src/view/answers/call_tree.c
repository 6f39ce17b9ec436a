#include "view/answers/call_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Two levels of JSON each. */
#define MAX_DEPTH 1000u
#define LEAST_PART 1000u

int call_tree_open(struct call_tree *t)
{
	*t = (struct call_tree){ .count = 1 };
	return ARRAY_REACH(t->nodes, t->capacity, 0u) ? 0 : -ENOMEM;
}

void call_tree_release(struct call_tree *t)
{
	keymap_release(&t->texts);
	idmap_release(&t->children);
	free(t->nodes);
}

uint32_t call_tree_text(struct call_tree *t, const char *text, size_t len)
{
	/* A name of a report may go on behind a NUL. */
	return keymap_number(&t->texts, text, strnlen(text, len));
}

uint32_t call_tree_child(struct call_tree *t, uint32_t parent, uint32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | name, found = idmap_get(&t->children, key);

	if (found != IDMAP_NONE)
		return (uint32_t)found;
	if (!ARRAY_ROOM(t->nodes, t->count, t->capacity, 1) || idmap_put(&t->children, key, t->count) < 0)
		return 0;
	t->nodes[t->count] = (struct call_node){ .parent = parent, .name = name, .next = t->nodes[parent].child };
	t->nodes[parent].child = t->count;
	return t->count++;
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
	out_put_text(j, "name", at ? t->texts.keys[node->name].bytes : "all");
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
