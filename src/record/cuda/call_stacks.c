/* Stacks of CUDA calls: they come in the ring of the calling thread, the calls in another, later or sooner. */
#include "record/cuda/internal.h"

#include <stdlib.h>

#include "record/stacks/call_stack.h"
#include "record/session/address_space.h"

#define KEPT_STACKS (1u << 16) /* by the low bits of the correlation: an old one makes room */

struct call_stack_entry {
	uint32_t correlation;
	uint64_t stack; /* 0: none */
};

void cuda_define_stack(struct cuda_decoder *d, struct traced_thread *t, uint64_t correlation, uint64_t ticks)
{
	uint64_t stack = call_stack_take(d->s, d->p, t, ticks, STACK_MAX_FRAMES);

	if (!stack)
		return;
	if (!d->c->stacks)
		d->c->stacks = calloc(KEPT_STACKS, sizeof(*d->c->stacks));
	if (d->c->stacks)
		d->c->stacks[correlation % KEPT_STACKS] = (struct call_stack_entry){ (uint32_t)correlation, stack };
}

static uint64_t take_call_stack(struct cuda_process *c, uint32_t correlation)
{
	struct call_stack_entry *entry = c->stacks ? &c->stacks[correlation % KEPT_STACKS] : NULL;
	uint64_t stack;

	if (!entry || entry->correlation != correlation)
		return 0;
	stack = entry->stack;
	entry->stack = 0;
	return stack;
}

void cuda_stacks_fill(struct cuda_process *c, struct cuda_rows *rows, uint32_t final)
{
	uint64_t stack;
	int64_t *row;

	rows->stacks = 0;
	for (uint32_t i = 0; i < rows->count; i++) {
		row = rows->values + (size_t)i * rows->stride;
		if (!(row[0] & BIT(COLUMN_CUDA_API_STACK)) || row[1 + COLUMN_CUDA_API_STACK] >= 0)
			continue;
		stack = take_call_stack(c, (uint32_t)~row[1 + COLUMN_CUDA_API_STACK]);
		if (stack)
			row[1 + COLUMN_CUDA_API_STACK] = (int64_t)stack;
		else if (i < final)
			row[0] &= ~(int64_t)BIT(COLUMN_CUDA_API_STACK);
		else
			rows->stacks++;
	}
}
