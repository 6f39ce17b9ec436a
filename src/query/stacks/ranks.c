/* The order of labels by their texts: what weighs the same is listed the same way in every report that holds it,
 * whatever numbers its stacks have there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "query/stacks/weights.h"

struct ranked_label {
	uint32_t label;
	size_t from; /* in the texts */
};

static int compare_texts(const void *a, const void *b, void *context)
{
	const struct ranked_label *x = a, *y = b;
	const char *texts = context;

	return strcmp(texts + x->from, texts + y->from);
}

static int list_labels(struct query *q, const struct stack_view *v, const uint32_t *nodes, size_t count, struct ranked_label *list,
		       uint32_t *seen, struct buf *texts, size_t *ret)
{
	size_t listed = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++) {
		uint32_t label = stack_view_label(v, nodes[i]);

		if (seen[label]++)
			continue;
		list[listed++] = (struct ranked_label){ label, texts->len };
		r = stack_view_text(q, v, label, texts);
		if (r >= 0)
			r = buf_append(texts, "", 1);
	}
	*ret = listed;
	return r;
}

int stack_view_ranks(struct query *q, const struct stack_view *v, const uint32_t *nodes, size_t count, uint32_t **ret)
{
	size_t labels = (size_t)v->fold.label_count + 1, listed = 0;
	uint32_t *ranks = calloc(labels, sizeof(*ranks));
	struct ranked_label *list = calloc(labels, sizeof(*list));
	struct buf texts = BUF_INIT;
	int r = ranks && list ? list_labels(q, v, nodes, count, list, ranks, &texts, &listed) : -ENOMEM;

	if (r >= 0 && listed)
		sort_items_with(list, listed, sizeof(*list), compare_texts, texts.data);
	for (size_t i = 0; r >= 0 && i < listed; i++)
		ranks[list[i].label] = i && compare_texts(&list[i - 1], &list[i], texts.data) == 0 ? ranks[list[i - 1].label] : (uint32_t)i;
	if (r >= 0)
		*ret = ranks;
	else
		free(ranks);
	free(list);
	buf_release(&texts);
	return r;
}
