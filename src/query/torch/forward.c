/* Backward operators belong to the forward operator that made their node of autograd's graph. Both carry the node's sequence number;
 * the number counts up on each thread by itself, so backward operators also say which thread it was, in torch's own numbers. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "query/torch/ops.h"

/* A sequence number on a thread. */
struct forward_key {
	int64_t sequence;
	uint32_t thread;
	uint32_t place;
};

/* Which thread a number of torch's seems to be: how many backward operators find their forward operator there. */
struct guess {
	uint32_t number;
	uint32_t thread;
	uint32_t found;
};

struct forwards {
	struct torch_ops *ops;
	struct forward_key *keys; /* by sequence number, then thread; of several the operator that started last */
	uint32_t count;
	uint32_t cap;
	struct guess *guesses;
	uint32_t guess_count;
	uint32_t guess_cap;
	uint32_t budget; /* so many more may be counted: enough for any real program, and an end for a hostile trace */
};

#define MOST_GUESSES 1024
#define GUESS_BUDGET 100000

static int is_backward(const struct torch_ops *t, uint32_t place)
{
	return t->details[place].forward_thread && t->details[place].sequence >= 0;
}

static int compare_forward_keys(const void *a, const void *b)
{
	const struct forward_key *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int list_forward_operators(struct forwards *f)
{
	const struct torch_ops *t = f->ops;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->host_count; i++) {
		if (t->details[i].sequence < 0 || t->details[i].forward_thread || t->events[i].kind != TORCH_OPERATOR)
			continue;
		if (!ARRAY_ROOM(f->keys, f->count, f->cap, 1))
			return -ENOMEM;
		f->keys[f->count++] = (struct forward_key){ t->details[i].sequence, t->events[i].thread, i };
	}
	sort_items(f->keys, f->count, sizeof(*f->keys), compare_forward_keys);
	/* An operator carries the number that the next node will have: the last and innermost of several made the node. */
	for (uint32_t i = 0; i < f->count; i++)
		if (i + 1 == f->count || f->keys[i].sequence != f->keys[i + 1].sequence || f->keys[i].thread != f->keys[i + 1].thread)
			f->keys[kept++] = f->keys[i];
	f->count = kept;
	return 0;
}

/* The first operator of that number on that thread or a later one. */
static uint32_t first_key(const struct forwards *f, int64_t sequence, uint32_t thread)
{
	const struct forward_key wanted = { sequence, thread, 0 };
	uint32_t low = 0, high = f->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_forward_keys(&f->keys[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int count_guess(struct forwards *f, uint32_t number, uint32_t thread)
{
	for (uint32_t i = 0; i < f->guess_count; i++)
		if (f->guesses[i].number == number && f->guesses[i].thread == thread) {
			f->guesses[i].found++;
			return 0;
		}
	if (f->guess_count == MOST_GUESSES)
		return 0;
	if (!ARRAY_ROOM(f->guesses, f->guess_count, f->guess_cap, 1))
		return -ENOMEM;
	f->guesses[f->guess_count++] = (struct guess){ number, thread, 1 };
	return 0;
}

/* Backward follows forward. */
static int may_belong(const struct forwards *f, uint32_t key, uint32_t place)
{
	return f->keys[key].sequence == f->ops->details[place].sequence &&
	       f->ops->events[f->keys[key].place].start < f->ops->events[place].start;
}

static int guess_threads(struct forwards *f)
{
	const struct torch_ops *t = f->ops;
	int r = 0;

	f->budget = GUESS_BUDGET;
	for (uint32_t i = 0; r >= 0 && f->budget && i < t->host_count; i++) {
		if (!is_backward(t, i))
			continue;
		for (uint32_t k = first_key(f, t->details[i].sequence, 0);
		     r >= 0 && f->budget && k < f->count && f->keys[k].sequence == t->details[i].sequence; k++, f->budget--)
			if (may_belong(f, k, i))
				r = count_guess(f, t->details[i].forward_thread, f->keys[k].thread);
	}
	return r;
}

/* Most operators found first; then the lower number and the thread that came first, as torch numbers threads. */
static int compare_guesses(const void *a, const void *b)
{
	const struct guess *x = a, *y = b;

	if (x->found != y->found)
		return x->found > y->found ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* One thread for each number; each thread has one number. */
static void settle_guesses(struct forwards *f)
{
	uint32_t kept = 0;
	int is_free;

	sort_items(f->guesses, f->guess_count, sizeof(*f->guesses), compare_guesses);
	for (uint32_t i = 0; i < f->guess_count; i++) {
		is_free = 1;
		for (uint32_t k = 0; is_free && k < kept; k++)
			is_free = f->guesses[k].number != f->guesses[i].number && f->guesses[k].thread != f->guesses[i].thread;
		if (is_free)
			f->guesses[kept++] = f->guesses[i];
	}
	f->guess_count = kept;
}

static uint32_t find_forward_thread(const struct forwards *f, uint32_t number)
{
	for (uint32_t i = 0; i < f->guess_count; i++)
		if (f->guesses[i].number == number)
			return f->guesses[i].thread;
	return 0;
}

/* Place + 1; 0: not in the trace. */
static uint32_t find_forward(const struct forwards *f, uint32_t place)
{
	uint32_t thread = find_forward_thread(f, f->ops->details[place].forward_thread);
	uint32_t key = first_key(f, f->ops->details[place].sequence, thread), at;

	if (!thread || key == f->count || f->keys[key].thread != thread || !may_belong(f, key, place))
		return 0;
	at = f->keys[key].place + 1;
	while (at && f->ops->events[at - 1].flags & TORCH_MERGED)
		at = f->ops->events[at - 1].parent;
	return at;
}

/* What a backward operator calls, and what that starts, belongs where it does. Parents stand before their children. */
static void pass_down(struct torch_ops *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (!t->forward[i] && t->events[i].parent)
			t->forward[i] = t->forward[t->events[i].parent - 1];
}

static int find_forwards(struct forwards *f)
{
	int r = list_forward_operators(f);

	if (r >= 0)
		r = guess_threads(f);
	if (r < 0)
		return r;
	settle_guesses(f);
	for (uint32_t i = 0; i < f->ops->host_count; i++)
		if (is_backward(f->ops, i))
			f->ops->forward[i] = find_forward(f, i);
	pass_down(f->ops);
	return 0;
}

int torch_load_forwards(struct torch_ops *t)
{
	struct forwards f = { .ops = t };
	int r;

	if (t->forward)
		return 0;
	r = torch_load_details(t);
	if (r < 0)
		return r;
	t->forward = calloc((size_t)t->count + 1, sizeof(*t->forward));
	r = t->forward ? find_forwards(&f) : -ENOMEM;
	free(f.keys);
	free(f.guesses);
	if (r < 0) {
		free(t->forward);
		t->forward = NULL;
	}
	return r;
}
