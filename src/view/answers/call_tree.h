/* Trees of names with a weight: flame graphs. */
#ifndef SONDE_VIEW_ANSWERS_CALL_TREE_H
#define SONDE_VIEW_ANSWERS_CALL_TREE_H

#include "base/idmap.h"
#include "base/keymap.h"
#include "view/request/json_out.h"

struct call_node {
	uint32_t parent;
	uint32_t name;  /* number of the text */
	uint32_t child; /* the first; 0: none */
	uint32_t next;  /* sibling */
	uint64_t self;
	uint64_t value; /* with what is below; known when the tree is put */
};

/* Node 0 is the root. A parent is always before its children. */
struct call_tree {
	struct call_node *nodes;
	uint32_t count, capacity;
	struct idmap children; /* by parent and name */
	struct keymap texts;
};

int call_tree_open(struct call_tree *t);
void call_tree_release(struct call_tree *t);
/* The number of a text; UINT32_MAX: no memory. */
uint32_t call_tree_text(struct call_tree *t, const char *text, size_t len);
/* The child of that name; 0: no memory. */
uint32_t call_tree_child(struct call_tree *t, uint32_t parent, uint32_t name);

/* {"name", "value", "self", "children"}; what is less than a thousandth of the whole is put together. */
void call_tree_put(struct json_out *j, struct call_tree *t);

#endif
