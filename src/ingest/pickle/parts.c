/* Opcodes of lists, tuples, sets and dictionaries, of the stack and of the memo. */
#include <errno.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "ingest/pickle/machine.h"

static enum pickle_kind made_kind(uint8_t letter)
{
	switch (letter) {
	case ']':
	case 'l': return PICKLE_LIST;
	case '}':
	case 'd': return PICKLE_DICT;
	case 0x8f:
	case 0x91: return PICKLE_SET;
	default: return PICKLE_TUPLE;
	}
}

static int push_part(struct machine *m, enum pickle_kind kind, const uint32_t *items, uint32_t count)
{
	uint32_t value = 0;
	int r;

	if (kind == PICKLE_DICT && count % 2)
		return machine_fail(m, "is not a well-formed pickle: a dictionary has a key without a value");
	r = values_add(m->to, (struct pickle_value){ .kind = kind }, &value);
	if (r >= 0)
		r = values_append(m->to, value, items, count);
	return machine_push_made(m, r, value);
}

static int push_empty(struct machine *m, uint8_t letter)
{
	return push_part(m, made_kind(letter), NULL, 0);
}

static int push_marked(struct machine *m, uint8_t letter)
{
	const uint32_t *items;
	uint32_t count;

	TRY(machine_pop_mark(m, &items, &count));
	return push_part(m, made_kind(letter), items, count);
}

static int push_short_tuple(struct machine *m, uint8_t letter)
{
	uint32_t items[3], count = letter - 0x84u;

	for (uint32_t i = count; i-- > 0;)
		TRY(machine_pop(m, &items[i]));
	return push_part(m, PICKLE_TUPLE, items, count);
}

/* The value below, which is extended, stays on the stack. */
static int extend_top(struct machine *m, enum pickle_kind kind, const uint32_t *items, uint32_t count)
{
	uint32_t to;
	int r;

	TRY(machine_pop(m, &to));
	m->count++;
	if (pickle_value(m->to, to)->kind != kind)
		return machine_fail(m, "is not a well-formed pickle: items are added to what is not a %s",
				    kind == PICKLE_LIST ? "list" :
				    kind == PICKLE_SET  ? "set" :
							  "dictionary");
	if (kind == PICKLE_DICT && count % 2)
		return machine_fail(m, "is not a well-formed pickle: a dictionary has a key without a value");
	r = values_append(m->to, to, items, count);
	return r < 0 ? machine_fail_value(m, r) : 0;
}

static enum pickle_kind extended_kind(uint8_t letter)
{
	return letter == 'a' || letter == 'e' ? PICKLE_LIST : letter == 0x90 ? PICKLE_SET : PICKLE_DICT;
}

static int extend_by_some(struct machine *m, uint8_t letter)
{
	uint32_t items[2], count = letter == 's' ? 2 : 1;

	for (uint32_t i = count; i-- > 0;)
		TRY(machine_pop(m, &items[i]));
	return extend_top(m, extended_kind(letter), items, count);
}

static int extend_by_marked(struct machine *m, uint8_t letter)
{
	const uint32_t *items;
	uint32_t count;

	TRY(machine_pop_mark(m, &items, &count));
	return extend_top(m, extended_kind(letter), items, count);
}

static int push_mark(struct machine *m, uint8_t letter)
{
	uint32_t *mark;

	(void)letter;
	/* Each takes a byte of the file, and no more memory than values may. */
	if (m->mark_count >= PICKLE_MOST_VALUES)
		return machine_fail_value(m, -E2BIG);
	mark = ARRAY_ADD(m->marks, m->mark_count, m->mark_cap);
	if (!mark)
		return machine_fail_value(m, -ENOMEM);
	*mark = m->count;
	return 0;
}

static int drop_marked(struct machine *m, uint8_t letter)
{
	const uint32_t *items;
	uint32_t count;

	(void)letter;
	return machine_pop_mark(m, &items, &count);
}

/* A mark that is on top is dropped, as Python does. */
static int drop_top(struct machine *m, uint8_t letter)
{
	uint32_t value;

	if (m->mark_count && m->marks[m->mark_count - 1] == m->count)
		return drop_marked(m, letter);
	return machine_pop(m, &value);
}

static int repeat_top(struct machine *m, uint8_t letter)
{
	uint32_t value;

	(void)letter;
	TRY(machine_pop(m, &value));
	TRY(machine_push(m, value));
	return machine_push(m, value);
}

static int take_memo_line(struct machine *m, uint64_t *ret)
{
	const char *text;
	size_t len;

	TRY(machine_take_line(m, &text, &len));
	*ret = 0;
	if (!len || len > 10)
		return machine_fail(m, "is not a well-formed pickle: the number of a memo is none");
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return machine_fail(m, "is not a well-formed pickle: the number of a memo is none");
		*ret = *ret * 10 + (uint64_t)(text[i] - '0');
	}
	return 0;
}

static int take_memo_number(struct machine *m, uint8_t letter, uint64_t *ret)
{
	if (letter == 'p' || letter == 'g')
		return take_memo_line(m, ret);
	return machine_take_number(m, letter == 'q' || letter == 'h' ? 1 : 4, ret);
}

/* Python numbers memos one by one, and each takes at least a byte: none has a number beyond its place in the file. */
static int remember_top(struct machine *m, uint8_t letter)
{
	uint64_t number = m->memo_next;
	uint32_t value;

	if (letter != 0x94)
		TRY(take_memo_number(m, letter, &number));
	if (number > m->at || number >= PICKLE_MOST_VALUES)
		return machine_fail(m, "has a memo of number %llu, which is too large", (unsigned long long)number);
	TRY(machine_pop(m, &value));
	m->count++;
	if (!ARRAY_REACH(m->memo, m->memo_cap, number))
		return machine_fail_value(m, -ENOMEM);
	/* MEMOIZE numbers by how many there are. */
	m->memo_next += !m->memo[number];
	m->memo[number] = value + 1;
	return 0;
}

static int push_remembered(struct machine *m, uint8_t letter)
{
	uint64_t number;

	TRY(take_memo_number(m, letter, &number));
	if (number >= m->memo_cap || !m->memo[number])
		return machine_fail(m, "is not a well-formed pickle: there is no memo of number %llu", (unsigned long long)number);
	return machine_push(m, m->memo[number] - 1);
}

/* What protocol 4 and later write between parts; they may be left out. */
static int skip_frame_size(struct machine *m, uint8_t letter)
{
	(void)letter;
	return machine_skip(m, 8);
}

machine_op *machine_part_op(uint8_t letter)
{
	switch (letter) {
	case ']':
	case '}':
	case ')':
	case 0x8f: return push_empty;
	case 'l':
	case 'd':
	case 't':
	case 0x91: return push_marked;
	case 0x85:
	case 0x86:
	case 0x87: return push_short_tuple;
	case 'a':
	case 's': return extend_by_some;
	case 'e':
	case 'u':
	case 0x90: return extend_by_marked;
	case '(': return push_mark;
	case '0': return drop_top;
	case '1': return drop_marked;
	case '2': return repeat_top;
	case 'p':
	case 'q':
	case 'r':
	case 0x94: return remember_top;
	case 'g':
	case 'h':
	case 'j': return push_remembered;
	case 0x95: return skip_frame_size;
	default: return NULL;
	}
}
