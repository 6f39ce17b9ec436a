/* Stacks by the labels of their frames: a second, smaller tree. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "query/functions/fold.h"
#include "query/functions/group.h"
#include "query/index/stack_tree.h"

static uint32_t label_of(const struct stack_tree *tree, enum stack_labels by, uint32_t stack)
{
	uint32_t function = tree->code[tree->frames[stack]].function;

	if (by == STACK_SAME_NAME)
		return tree->same[function];
	return by == STACK_MODULES ? tree->modules[function] : function;
}

/* Places in code without a name are like no other. */
static int find_same_names(struct query *q, struct stack_tree *tree)
{
	struct group_table names = { 0 };
	uint32_t *same = calloc((size_t)tree->function_count + 1, sizeof(*same));
	int r = same ? 0 : -ENOMEM;
	size_t found, before;

	for (uint32_t i = 0; r >= 0 && i < tree->function_count; i++) {
		int64_t key[REQUEST_MAX_KEYS] = { tree->functions[i].name, tree->functions[i].path };

		same[i] = i;
		if (!key[0])
			continue;
		before = names.count;
		r = fold_id(q, &key[0]);
		if (r >= 0)
			r = group_table_find(&names, key, 0, &found);
		if (r >= 0 && names.count > before)
			names.groups[found].cap = i; /* it has no values: the function is kept there */
		else if (r >= 0)
			same[i] = (uint32_t)names.groups[found].cap;
	}
	group_table_release(&names);
	if (r < 0)
		free(same);
	else
		tree->same = same;
	return r;
}

/* Nodes found by parent and label. */
struct fold_making {
	struct stack_fold *fold;
	struct idmap nodes;
	int failed;
};

static uint32_t find_node(struct fold_making *m, uint32_t parent, uint32_t label)
{
	struct stack_fold *fold = m->fold;
	uint64_t key = (uint64_t)parent << 32 | label, found = idmap_get(&m->nodes, key);

	if (found != IDMAP_NONE)
		return (uint32_t)found;
	fold->parents[fold->count] = parent;
	fold->labels[fold->count] = label;
	fold->depths[fold->count] = parent ? fold->depths[parent] + 1 : 0;
	m->failed |= idmap_put(&m->nodes, key, fold->count);
	return fold->count++;
}

/* A caller that has the same label is the same node where labels are modules: calls within one count once. */
static uint32_t node_of(struct fold_making *m, enum stack_labels by, uint32_t parent, uint32_t label)
{
	if (by == STACK_MODULES && parent && m->fold->labels[parent] == label)
		return parent;
	return find_node(m, parent, label);
}

/* Walks the tree depth first with a count of each label on the way from the root. */
static int mark_outermost(struct stack_fold *fold)
{
	uint32_t *child = calloc(fold->count, sizeof(*child)), *sibling = calloc(fold->count, sizeof(*sibling));
	uint32_t *open = calloc(fold->label_count, sizeof(*open)), node = 0;
	int r = child && sibling && open ? 0 : -ENOMEM;

	for (uint32_t i = fold->count; r >= 0 && --i > 0;) {
		sibling[i] = child[fold->parents[i]];
		child[fold->parents[i]] = i;
	}
	node = r < 0 ? 0 : child[0];
	while (node) {
		fold->outermost[node] = open[fold->labels[node]]++ == 0;
		if (child[node]) {
			node = child[node];
			continue;
		}
		for (; node; node = fold->parents[node]) {
			open[fold->labels[node]]--;
			if (sibling[node])
				break;
		}
		node = sibling[node];
	}
	free(child);
	free(sibling);
	free(open);
	return r;
}

static int make_fold(struct stack_tree *tree, enum stack_labels by, struct stack_fold *fold)
{
	struct fold_making m = { .fold = fold };
	size_t most = (size_t)tree->stack_count + 1;

	fold->label_count = by == STACK_MODULES ? tree->module_count : tree->function_count;
	fold->parents = calloc(most, sizeof(*fold->parents));
	fold->labels = calloc(most, sizeof(*fold->labels));
	fold->depths = calloc(most, sizeof(*fold->depths));
	fold->outermost = calloc(most, sizeof(*fold->outermost));
	fold->of_stack = calloc(most, sizeof(*fold->of_stack));
	if (!fold->parents || !fold->labels || !fold->depths || !fold->outermost || !fold->of_stack)
		return -ENOMEM;
	fold->count = 1;
	for (uint32_t i = 1; i < tree->stack_count; i++)
		fold->of_stack[i] = node_of(&m, by, fold->of_stack[tree->parents[i]], label_of(tree, by, i));
	idmap_release(&m.nodes);
	return m.failed ? -ENOMEM : mark_outermost(fold);
}

void stack_fold_release(struct stack_fold *fold)
{
	free(fold->parents);
	free(fold->labels);
	free(fold->depths);
	free(fold->outermost);
	free(fold->of_stack);
	*fold = (struct stack_fold){ 0 };
}

int stack_fold_of(struct query *q, struct stack_tree *tree, enum stack_labels by, struct stack_fold **ret)
{
	struct stack_fold *fold = &tree->folds[by];
	int r = 0;

	*ret = fold;
	if (fold->count)
		return 0;
	if (by == STACK_SAME_NAME && !tree->same)
		r = find_same_names(q, tree);
	if (r >= 0)
		r = make_fold(tree, by, fold);
	if (r < 0)
		stack_fold_release(fold);
	return r;
}
