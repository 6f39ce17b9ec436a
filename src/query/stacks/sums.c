/* Adding up what was met at each node of a tree of stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/stacks/weights.h"

int stack_sums_init(struct stack_sums *s, const struct stack_fold *fold)
{
	*s = (struct stack_sums){ .fold = fold, .touched_words = ((size_t)fold->count + 63) / 64 };
	s->self = calloc(fold->count, sizeof(*s->self));
	s->total = calloc(fold->count, sizeof(*s->total));
	s->touched = calloc(s->touched_words, sizeof(*s->touched));
	return s->self && s->total && s->touched ? 0 : -ENOMEM;
}

void stack_sums_release(struct stack_sums *s)
{
	free(s->self);
	free(s->total);
	free(s->touched);
	*s = (struct stack_sums){ 0 };
}

static void touch(struct stack_sums *s, uint32_t node)
{
	s->touched[node / 64] |= 1ull << (node % 64);
}

uint32_t stack_sums_next(const struct stack_sums *s, uint32_t node)
{
	size_t word = node / 64;
	uint64_t bits;

	if (node >= s->fold->count)
		return s->fold->count;
	bits = s->touched[word] >> (node % 64) << (node % 64);
	while (!bits && ++word < s->touched_words)
		bits = s->touched[word];
	return bits ? (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits) : s->fold->count;
}

static void clear(struct stack_sums *s)
{
	for (uint32_t n = stack_sums_next(s, 0); n < s->fold->count; n = stack_sums_next(s, n + 1))
		s->self[n] = s->total[n] = (struct stack_sum){ 0 };
	memset(s->touched, 0, s->touched_words * sizeof(*s->touched));
}

/* A caller is before those it called: one sweep from the end gives every caller its whole. */
static void push_to_callers(struct stack_sums *s)
{
	uint32_t node, parent;
	uint64_t bits;

	for (size_t word = s->touched_words; word-- > 0;)
		for (unsigned bit = 64; bit-- > 0;) {
			bits = s->touched[word] & (~0ull >> (63 - bit));
			if (!bits)
				break;
			bit = 63 - (unsigned)__builtin_clzll(bits);
			node = (uint32_t)(word * 64 + bit);
			s->total[node].count += s->self[node].count;
			s->total[node].weight += s->self[node].weight;
			parent = s->fold->parents[node];
			if (!node || !parent)
				continue;
			s->total[parent].count += s->total[node].count;
			s->total[parent].weight += s->total[node].weight;
			touch(s, parent);
		}
}

void stack_sums_add(struct stack_sums *s, const struct stack_weights *w, const uint32_t *nodes, size_t begin, size_t end)
{
	uint32_t node;

	clear(s);
	for (size_t i = begin; i < end; i++) {
		node = nodes[i];
		s->self[node].count += w->rows[i].count;
		s->self[node].weight += w->rows[i].weight;
		touch(s, node);
	}
	push_to_callers(s);
}
