/* The tree that statistics are made over: folded stacks, and the calls made in them as leaves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/sort.h"
#include "query/functions/fold.h"
#include "query/stacks/weights.h"

/* Calls of the same text have one id from here on; each gets a number. */
static int number_calls(struct stack_view *v, struct query *q, struct stack_weights *w)
{
	uint32_t count = 0;
	int64_t id;
	int r = 0;

	v->calls = calloc(w->count + 1, sizeof(*v->calls));
	if (!v->calls)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < w->count; i++) {
		id = w->rows[i].call;
		if (id)
			r = first_text_id(q, &id);
		w->rows[i].call = (uint32_t)id;
		v->calls[v->call_count] = (uint32_t)id;
		v->call_count += id != 0;
	}
	sort_items(v->calls, v->call_count, sizeof(*v->calls), compare_uint32);
	for (uint32_t i = 0; i < v->call_count; i++)
		if (i == 0 || v->calls[i] != v->calls[count - 1])
			v->calls[count++] = v->calls[i];
	v->call_count = count;
	return r;
}

static int copy_column(void *to, const void *from, size_t size, size_t old, size_t all)
{
	void **column = to;

	*column = calloc(all, size);
	if (!*column)
		return -ENOMEM;
	memcpy(*column, from, old * size);
	return 0;
}

/* The fold again, with room for a leaf per row. */
static int copy_fold(struct stack_fold *to, const struct stack_fold *from, size_t more)
{
	size_t all = from->count + more;

	*to = (struct stack_fold){ .count = from->count, .label_count = from->label_count };
	if (all > UINT32_MAX || copy_column(&to->parents, from->parents, sizeof(*to->parents), from->count, all) < 0 ||
	    copy_column(&to->labels, from->labels, sizeof(*to->labels), from->count, all) < 0 ||
	    copy_column(&to->depths, from->depths, sizeof(*to->depths), from->count, all) < 0 ||
	    copy_column(&to->outermost, from->outermost, sizeof(*to->outermost), from->count, all) < 0)
		return -ENOMEM;
	return 0;
}

/* -ENOMEM. */
static int leaf_of(struct stack_fold *fold, struct idmap *leaves, uint32_t parent, uint32_t label, uint32_t *ret)
{
	uint64_t key = (uint64_t)parent << 32 | label, found = idmap_get(leaves, key);

	*ret = (uint32_t)found;
	if (found != IDMAP_NONE)
		return 0;
	*ret = fold->count;
	fold->parents[fold->count] = parent;
	fold->labels[fold->count] = label;
	fold->depths[fold->count] = parent ? fold->depths[parent] + 1 : 0;
	fold->outermost[fold->count] = 1;
	return idmap_put(leaves, key, fold->count++);
}

static int add_leaves(struct stack_view *v, const struct stack_weights *w)
{
	struct idmap leaves = { 0 };
	const uint32_t *call;
	int r = 0;

	for (size_t i = 0; i < w->count && r == 0; i++) {
		if (!w->rows[i].call)
			continue;
		call = find_item(&w->rows[i].call, v->calls, v->call_count, sizeof(*v->calls), compare_uint32);
		r = leaf_of(&v->fold, &leaves, v->nodes[i], v->frame_labels + (uint32_t)(call - v->calls), &v->nodes[i]);
	}
	v->fold.label_count += v->call_count;
	idmap_release(&leaves);
	return r;
}

int stack_view_open(struct stack_view *v, struct query *q, enum stack_labels by, struct stack_weights *w)
{
	struct stack_fold *fold;
	int r = stack_tree_of(q, &v->tree);

	v->by = by;
	if (r >= 0)
		r = stack_fold_of(q, v->tree, by, &fold);
	if (r < 0)
		return r;
	v->fold = *fold;
	v->frame_labels = fold->label_count;
	v->nodes = calloc(w->count + 1, sizeof(*v->nodes));
	if (!v->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < w->count; i++)
		v->nodes[i] = fold->of_stack[w->rows[i].stack];
	if (by == STACK_MODULES)
		return 0;
	r = number_calls(v, q, w);
	if (r < 0 || v->call_count == 0)
		return r;
	v->owned = 1;
	TRY(copy_fold(&v->fold, fold, w->count));
	return add_leaves(v, w);
}

void stack_view_release(struct stack_view *v)
{
	if (v->owned)
		stack_fold_release(&v->fold);
	free(v->calls);
	free(v->nodes);
	*v = (struct stack_view){ 0 };
}

uint32_t stack_view_label(const struct stack_view *v, uint32_t node)
{
	return node ? v->fold.labels[node] : v->fold.label_count;
}

const struct code_function *stack_view_function(const struct stack_view *v, uint32_t label)
{
	return v->by != STACK_MODULES && label && label < v->frame_labels ? &v->tree->functions[label] : NULL;
}

static int function_text(struct query *q, const struct stack_view *v, uint32_t label, struct buf *ret)
{
	size_t before = ret->len;
	int r = code_function_text(q, &v->tree->functions[label], ret);

	if (r >= 0 && v->by == STACK_SAME_NAME && v->tree->functions[label].name)
		ret->len = before + fold_text(ret->data + before, ret->len - before, ret->data + before);
	return r;
}

int stack_view_text(struct query *q, const struct stack_view *v, uint32_t label, struct buf *ret)
{
	size_t len = 0;
	const char *text;

	if (label == v->fold.label_count)
		return buf_puts(ret, "[no stack]");
	if (label == 0)
		return buf_puts(ret, "[Unknown]");
	if (label < v->frame_labels && v->by != STACK_MODULES)
		return function_text(q, v, label, ret);
	text = report_text(q->report,
			   (uint64_t)(label < v->frame_labels ? v->tree->module_paths[label] : v->calls[label - v->frame_labels]), &len);
	return text ? buf_append(ret, text, len) : 0;
}
