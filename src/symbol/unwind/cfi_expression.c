#include "symbol/unwind/cfi_expression.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

#define DEPTH 32
#define STEPS 256

struct machine {
	const struct cfi_expression *expression;
	const struct stack_copy *copy;
	const uint64_t *registers;
	uint64_t cfa;
	uint64_t stack[DEPTH];
	unsigned depth;
	size_t at; /* of the next operation */
};

static int push(struct machine *m, uint64_t value)
{
	if (m->depth == DEPTH)
		return -EBADMSG;
	m->stack[m->depth++] = value;
	return 0;
}

/* The value `below` the top. */
static uint64_t *peek_stack_value(struct machine *m, unsigned below)
{
	return &m->stack[m->depth - 1 - below];
}

static int push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	return number < ARCH_DWARF_REGISTERS ? push(m, m->registers[number] + offset) : -EBADMSG;
}

static int load_stack_value(struct machine *m, uint64_t size)
{
	uint64_t value = 0;
	int r;

	if (size == 0 || size > sizeof(value))
		return -EBADMSG;
	r = stack_copy_read(m->copy, *peek_stack_value(m, 0), &value, size);
	if (r == 0)
		*peek_stack_value(m, 0) = value;
	return r;
}

static int jump(struct machine *m, const Dwarf_Op *op)
{
	/* Counted from behind the operation, which has three bytes. */
	uint64_t to = op->offset + 3 + op->number;

	for (size_t i = 0; i < m->expression->count; i++)
		if (m->expression->ops[i].offset == to) {
			m->at = i;
			return 0;
		}
	return -EBADMSG;
}

static int divide_values(uint64_t *left, uint64_t right, int remainder)
{
	if (right == 0 || (*left == (uint64_t)INT64_MIN && right == UINT64_MAX))
		return -EBADMSG;
	*left = remainder ? *left % right : (uint64_t)((int64_t)*left / (int64_t)right);
	return 0;
}

static uint64_t shift_arithmetic(uint64_t value, uint64_t by)
{
	return (uint64_t)((int64_t)value >> (by > 63 ? 63 : by));
}

/* Two values are taken, the result is left. */
static int binary(struct machine *m, unsigned atom)
{
	uint64_t right = *peek_stack_value(m, 0), *left = peek_stack_value(m, 1);
	int64_t a = (int64_t)*left, b = (int64_t)right;

	m->depth--;
	switch (atom) {
	case DW_OP_plus: *left += right; return 0;
	case DW_OP_minus: *left -= right; return 0;
	case DW_OP_mul: *left *= right; return 0;
	case DW_OP_and: *left &= right; return 0;
	case DW_OP_or: *left |= right; return 0;
	case DW_OP_xor: *left ^= right; return 0;
	case DW_OP_shl: *left = right > 63 ? 0 : *left << right; return 0;
	case DW_OP_shr: *left = right > 63 ? 0 : *left >> right; return 0;
	case DW_OP_shra: *left = shift_arithmetic(*left, right); return 0;
	case DW_OP_div: return divide_values(left, right, 0);
	case DW_OP_mod: return divide_values(left, right, 1);
	case DW_OP_eq: *left = a == b; return 0;
	case DW_OP_ne: *left = a != b; return 0;
	case DW_OP_lt: *left = a < b; return 0;
	case DW_OP_le: *left = a <= b; return 0;
	case DW_OP_gt: *left = a > b; return 0;
	case DW_OP_ge: *left = a >= b; return 0;
	default: return -EBADMSG;
	}
}

static void rotate(struct machine *m)
{
	uint64_t top = *peek_stack_value(m, 0);

	*peek_stack_value(m, 0) = *peek_stack_value(m, 1);
	*peek_stack_value(m, 1) = *peek_stack_value(m, 2);
	*peek_stack_value(m, 2) = top;
}

static void swap(struct machine *m)
{
	uint64_t top = *peek_stack_value(m, 0);

	*peek_stack_value(m, 0) = *peek_stack_value(m, 1);
	*peek_stack_value(m, 1) = top;
}

/* Operations that need no value on the stack; 1: this is none of them. */
static int produce(struct machine *m, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(m, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(m, op->atom - DW_OP_breg0, op->number);
	switch (op->atom) {
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts: return push(m, op->number);
	case DW_OP_bregx: return push_register(m, op->number, op->number2);
	case DW_OP_call_frame_cfa: return push(m, m->cfa);
	case DW_OP_nop: return 0;
	case DW_OP_skip: return jump(m, op);
	default: return 1;
	}
}

/* Operations on the top of the stack, which has at least one value; 1: this is none of them. */
static int transform(struct machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_dup: return push(m, *peek_stack_value(m, 0));
	case DW_OP_drop: m->depth--; return 0;
	case DW_OP_pick: return op->number < m->depth ? push(m, *peek_stack_value(m, (unsigned)op->number)) : -EBADMSG;
	case DW_OP_deref: return load_stack_value(m, 8);
	case DW_OP_deref_size: return load_stack_value(m, op->number);
	case DW_OP_plus_uconst: *peek_stack_value(m, 0) += op->number; return 0;
	case DW_OP_neg: *peek_stack_value(m, 0) = 0 - *peek_stack_value(m, 0); return 0;
	case DW_OP_not: *peek_stack_value(m, 0) = ~*peek_stack_value(m, 0); return 0;
	case DW_OP_abs:
		if ((int64_t)*peek_stack_value(m, 0) < 0)
			*peek_stack_value(m, 0) = 0 - *peek_stack_value(m, 0);
		return 0;
	case DW_OP_bra: return m->stack[--m->depth] ? jump(m, op) : 0;
	default: return 1;
	}
}

static int run_cfi_operation(struct machine *m, const Dwarf_Op *op)
{
	int r = produce(m, op);

	if (r <= 0)
		return r;
	if (m->depth < 1)
		return -EBADMSG;
	r = transform(m, op);
	if (r <= 0)
		return r;
	if (m->depth < 2)
		return -EBADMSG;
	if (op->atom == DW_OP_over)
		return push(m, *peek_stack_value(m, 1));
	if (op->atom == DW_OP_swap) {
		swap(m);
		return 0;
	}
	if (op->atom == DW_OP_rot) {
		if (m->depth < 3)
			return -EBADMSG;
		rotate(m);
		return 0;
	}
	return binary(m, op->atom);
}

int cfi_evaluate(const struct cfi_expression *expression, const struct stack_copy *copy, const uint64_t *registers, uint64_t cfa,
		 uint64_t *ret)
{
	struct machine m;

	m.expression = expression;
	m.copy = copy;
	m.registers = registers;
	m.cfa = cfa;
	m.depth = 0;
	m.at = 0;
	for (unsigned steps = 0; m.at < expression->count; steps++) {
		if (steps == STEPS)
			return -EBADMSG;
		TRY(run_cfi_operation(&m, &expression->ops[m.at++]));
	}
	if (m.depth == 0)
		return -EBADMSG;
	*ret = *peek_stack_value(&m, 0);
	return 0;
}
