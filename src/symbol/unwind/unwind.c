#include "symbol/unwind/unwind.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "symbol/unwind/cfi_expression.h"

#define CACHE_SIZE 16384u /* a power of two */

struct cached_place {
	uint64_t generation; /* 0 = empty */
	uint64_t address;
	const struct cfi *cfi;
	const struct cfi_row *row;
};

struct unwinder {
	struct cached_place cache[CACHE_SIZE];
};

/* Where the walk has got to. */
struct frame {
	uint64_t registers[ARCH_DWARF_REGISTERS];
	int exact; /* the program counter is that of an instruction, not a return address */
	int first;
};

enum next { NEXT_CALLER, NEXT_ROOT, NEXT_LOST };

struct unwinder *unwinder_new(void)
{
	return calloc(1, sizeof(struct unwinder));
}

void unwinder_free(struct unwinder *u)
{
	free(u);
}

static int find_unwind_row(struct unwinder *u, const struct unwind_source *source, uint64_t address, int sure, struct unwind_place *ret)
{
	uint64_t hash = address * 0x9e3779b97f4a7c15ull;
	struct cached_place *cached = &u->cache[hash >> 32 & (CACHE_SIZE - 1)];

	if (cached->address == address && cached->generation == source->generation && cached->generation) {
		ret->cfi = cached->cfi;
		ret->row = cached->row;
		return 0;
	}
	if (source->find(source->context, address, sure, ret) < 0)
		return -ENOENT;
	*cached = (struct cached_place){ ret->generation, address, ret->cfi, ret->row };
	return 0;
}

static int read_stack_word(const struct stack_copy *copy, uint64_t address, uint64_t *ret)
{
	return stack_copy_read(copy, address, ret, sizeof(*ret));
}

static int evaluate_cfi_rule(const struct unwind_place *place, int32_t number, const struct stack_copy *copy, const struct frame *f,
			     uint64_t cfa, uint64_t *ret)
{
	struct cfi_expression expression = cfi_expression(place->cfi, number);

	return cfi_evaluate(&expression, copy, f->registers, cfa, ret);
}

static int apply_rule(const struct unwind_place *place, const struct cfi_rule *rule, const struct stack_copy *copy, const struct frame *f,
		      uint64_t cfa, uint64_t *ret)
{
	uint64_t address;

	switch (rule->kind) {
	case CFI_SAVED:
		address = cfa + (uint64_t)(int64_t)rule->value;
		/* Below the stack: an epilogue has restored the register already. */
		if (address < copy->registers[ARCH_DWARF_STACK] && rule->target != ARCH_DWARF_RETURN) {
			*ret = f->registers[rule->target];
			return 0;
		}
		return read_stack_word(copy, address, ret);
	case CFI_VALUE: *ret = cfa + (uint64_t)(int64_t)rule->value; return 0;
	case CFI_REGISTER: *ret = f->registers[rule->value]; return 0;
	case CFI_VALUE_BY_EXPRESSION: return evaluate_cfi_rule(place, rule->value, copy, f, cfa, ret);
	case CFI_SAVED_BY_EXPRESSION:
		TRY(evaluate_cfi_rule(place, rule->value, copy, f, cfa, &address));
		return read_stack_word(copy, address, ret);
	default: return -EBADMSG;
	}
}

/* A caller is further up the stack, or the walk would never end. */
static enum next move_up(struct frame *f, uint64_t stack_before)
{
	if (f->registers[ARCH_DWARF_STACK] <= stack_before)
		return NEXT_LOST;
	return f->registers[ARCH_DWARF_RETURN] ? NEXT_CALLER : NEXT_ROOT;
}

static enum next step_by_table(const struct unwind_place *place, const struct stack_copy *copy, struct frame *f)
{
	const struct cfi_row *row = place->row;
	uint64_t values[ARCH_DWARF_REGISTERS], stack = f->registers[ARCH_DWARF_STACK];
	uint64_t cfa;

	if (row->root)
		return NEXT_ROOT;
	if (row->cfa_register != CFI_BY_EXPRESSION)
		cfa = f->registers[row->cfa_register] + (uint64_t)(int64_t)row->cfa_offset;
	else if (evaluate_cfi_rule(place, row->cfa_offset, copy, f, 0, &cfa) < 0)
		return NEXT_LOST;
	/* All rules are about the callee's registers: none is changed before all are known. */
	for (uint32_t i = 0; i < row->rule_count; i++)
		if (apply_rule(place, &row->rules[i], copy, f, cfa, &values[i]) < 0)
			return NEXT_LOST;
	f->registers[ARCH_DWARF_STACK] = cfa;
	for (uint32_t i = 0; i < row->rule_count; i++)
		f->registers[row->rules[i].target] = values[i];
	f->exact = row->signal;
	f->first = 0;
	return move_up(f, stack);
}

/* Whether it may be a return address: there is code in front of it. */
static int is_code(struct unwinder *u, const struct unwind_source *source, uint64_t pc)
{
	struct unwind_place place;

	return pc && find_unwind_row(u, source, pc - 1, 0, &place) == 0;
}

/* No table: either there is a chain of frame pointers, or the innermost function has not touched the
 * stack. */
static enum next step_by_guess(struct unwinder *u, const struct unwind_source *source, const struct stack_copy *copy, struct frame *f)
{
	uint64_t base = f->registers[ARCH_DWARF_FRAME], stack = f->registers[ARCH_DWARF_STACK];
	int first = f->first;
	uint64_t pc, saved;

	f->exact = f->first = 0;
	if (base >= stack && base % 8 == 0 && read_stack_word(copy, base, &saved) == 0 && read_stack_word(copy, base + 8, &pc) == 0 &&
	    (pc == 0 || is_code(u, source, pc))) {
		f->registers[ARCH_DWARF_FRAME] = saved;
		f->registers[ARCH_DWARF_RETURN] = pc;
		f->registers[ARCH_DWARF_STACK] = base + 16;
		return move_up(f, stack);
	}
	if (first && read_stack_word(copy, stack, &pc) == 0 && is_code(u, source, pc)) {
		f->registers[ARCH_DWARF_RETURN] = pc;
		f->registers[ARCH_DWARF_STACK] = stack + 8;
		return move_up(f, stack);
	}
	/* Where a thread begins, by the ABI. */
	return base == 0 ? NEXT_ROOT : NEXT_LOST;
}

uint32_t unwind(struct unwinder *u, const struct unwind_source *source, const struct stack_copy *copy, uint64_t *pcs, uint32_t room,
		uint8_t *ret_cut)
{
	struct unwind_place place;
	enum next next = NEXT_CALLER;
	uint32_t count = 0;
	struct frame f;

	memcpy(f.registers, copy->registers, sizeof(f.registers));
	f.exact = f.first = 1;
	while (next == NEXT_CALLER) {
		uint64_t pc = f.registers[ARCH_DWARF_RETURN];
		int known = find_unwind_row(u, source, f.exact ? pc : pc - 1, 1, &place) == 0, by_table, exact;

		if (count == room || (!known && !f.first)) {
			next = NEXT_LOST;
			break;
		}
		by_table = known && place.row && place.row->covered;
		/* A handler returns to the first instruction of the trampoline, which called nothing. */
		exact = f.exact || (by_table && place.row->signal);
		pcs[count++] = exact && !f.first ? pc + 1 : pc;
		next = by_table ? step_by_table(&place, copy, &f) : step_by_guess(u, source, copy, &f);
	}
	*ret_cut = next == NEXT_LOST;
	return count;
}
