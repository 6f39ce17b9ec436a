#include "record/stacks/call_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text/path.h"
#include "record/session/address_space.h"
#include "record/stacks/stacks.h"

#define MAX_STACK_BYTES (128u << 10)

/* A stack waiting for the call it belongs to. */
struct written_stack {
	uint64_t time; /* ticks; of the call */
	uint32_t pieces_left;
	int whole;
	uint64_t registers[ARCH_DWARF_REGISTERS];
	uint8_t *bytes;
	size_t size;
};

int call_stack_record(struct traced_thread *t, const uint8_t *bytes, uint32_t size)
{
	struct written_stack *w;
	struct record_stack record;
	uint32_t left;
	uint8_t *grown;

	if (size < sizeof(record))
		return -EBADMSG;
	if (!t->stack)
		t->stack = calloc(1, sizeof(*t->stack));
	w = t->stack;
	if (!w)
		return -ENOMEM;
	memcpy(&record, bytes, sizeof(record));
	left = record_level(record.head);
	if (!(w->size && w->time == record.time && w->pieces_left == left + 1)) {
		w->size = 0; /* the first piece of another one */
		w->time = record.time;
		memcpy(w->registers, record.registers, sizeof(w->registers));
	}
	size -= (uint32_t)sizeof(record);
	w->pieces_left = left;
	w->whole = left == 0;
	if (w->size + size > MAX_STACK_BYTES)
		return -EBADMSG;
	grown = realloc(w->bytes, w->size + size + 1);
	if (!grown)
		return -ENOMEM;
	w->bytes = grown;
	memcpy(grown + w->size, bytes + sizeof(record), size);
	w->size += size;
	return 0;
}

static int is_agent_address(const struct traced_process *p, uint64_t pc)
{
	for (uint32_t i = 0; i < p->own_code_count; i++)
		if (pc >= p->own_code[i].start && pc < p->own_code[i].end)
			return 1;
	return 0;
}

/* The wrapper and what it called to get here are not the program's. The call itself is the row. */
static void drop_own_frames(const struct traced_process *p, struct stack_walk *walk)
{
	uint32_t ours = 0;

	while (ours < walk->count && is_agent_address(p, walk->pcs[ours]))
		ours++;
	memmove(walk->pcs, walk->pcs + ours, (walk->count - ours) * sizeof(walk->pcs[0]));
	walk->count -= ours;
}

uint64_t call_stack_take(struct session *s, struct traced_process *p, struct traced_thread *t, uint64_t time, uint32_t depth)
{
	struct space *space = space_of(s, p->uid, p->info.pid);
	struct written_stack *w = t->stack;
	struct stack_copy copy;
	struct stack_walk walk;

	if (!w || !w->whole || w->time != time || !space)
		return 0;
	w->whole = 0;
	copy = (struct stack_copy){ .bytes = w->bytes, .size = w->size };
	memcpy(copy.registers, w->registers, sizeof(copy.registers));
	walk.count = walk.kernel = 0;
	walk.cut = 0;
	space_unwind(s, space, &copy, &walk);
	drop_own_frames(p, &walk);
	if (walk.count > depth) {
		walk.count = depth;
		walk.cut = 1;
	}
	return stacks_intern(s, space, &walk);
}

void call_stack_release(struct traced_thread *t)
{
	if (!t->stack)
		return;
	free(t->stack->bytes);
	free(t->stack);
	t->stack = NULL;
}

void call_stack_module(struct traced_process *p, const char *path, uint64_t start, uint64_t end)
{
	static const char *const names[] = { "libsonde.so", "libsonde-cuda.so", "libcupti.so" };
	const char *file = path_name(path);
	size_t length;

	if (p->own_code_count == COUNT_OF(p->own_code) || is_agent_address(p, start))
		return;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		length = strlen(names[i]);
		if (strncmp(file, names[i], length) == 0 && (!file[length] || file[length] == '.'))
			p->own_code[p->own_code_count++] = (struct code_range){ start, end };
	}
}
