#include "ingest/pickle/machine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define MOST_ON_STACK (16u << 20)
#define NEWEST_PROTOCOL 5

int machine_fail(struct machine *m, const char *format, ...)
{
	char why[512];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return error_set(m->err, EBADMSG, "%s (byte %zu)", why, m->at);
}

int machine_fail_value(struct machine *m, int code)
{
	if (code == -E2BIG)
		return machine_fail(
			m, "is too large: more than %u million values, %u million items, %u million texts or %u MB of text cannot be read",
			PICKLE_MOST_VALUES >> 20, PICKLE_MOST_ITEMS >> 20, PICKLE_MOST_TEXTS >> 20, PICKLE_MOST_TEXT_BYTES >> 20);
	return error_set_errno(m->err, -code, "cannot be read");
}

static int fail_cut_off(struct machine *m)
{
	m->at = m->source->len;
	return machine_fail(m, "is cut off%s%s", m->source->trouble ? ": " : "", m->source->trouble ? m->source->trouble : "");
}

/* What was taken before is not needed any more. */
static int make_readable(struct machine *m, size_t len)
{
	while (m->source->len - m->at < len) {
		source_release(m->source, m->source->text + m->at);
		if (!source_more(m->source))
			return fail_cut_off(m);
	}
	return 0;
}

int machine_take(struct machine *m, size_t len, const uint8_t **ret)
{
	TRY(make_readable(m, len));
	*ret = (const uint8_t *)m->source->text + m->at;
	m->at += len;
	return 0;
}

int machine_skip(struct machine *m, uint64_t len)
{
	const uint8_t *bytes;
	size_t step;

	for (; len; len -= step) {
		step = len < SOURCE_WINDOW ? (size_t)len : SOURCE_WINDOW;
		TRY(machine_take(m, step, &bytes));
	}
	return 0;
}

int machine_take_line(struct machine *m, const char **ret, size_t *ret_len)
{
	const char *from, *end;
	size_t len = 1;

	for (;;) {
		TRY(make_readable(m, len));
		from = m->source->text + m->at;
		len = m->source->len - m->at;
		end = memchr(from, '\n', len < PICKLE_MOST_TEXT ? len : PICKLE_MOST_TEXT);
		if (end)
			break;
		if (len >= PICKLE_MOST_TEXT)
			return machine_fail(m, "has a line of more than %u bytes", PICKLE_MOST_TEXT);
		len++;
	}
	*ret = from;
	*ret_len = (size_t)(end - from);
	m->at += *ret_len + 1;
	return 0;
}

int machine_take_number(struct machine *m, unsigned size, uint64_t *ret)
{
	const uint8_t *bytes;

	TRY(machine_take(m, size, &bytes));
	*ret = 0;
	for (unsigned i = 0; i < size; i++)
		*ret |= (uint64_t)bytes[i] << 8 * i;
	return 0;
}

int machine_push(struct machine *m, uint32_t value)
{
	uint32_t *place;

	if (m->count >= MOST_ON_STACK)
		return machine_fail(m, "is too large: more than %u million values wait for what contains them", MOST_ON_STACK >> 20);
	place = ARRAY_ADD(m->stack, m->count, m->cap);
	if (!place)
		return machine_fail_value(m, -ENOMEM);
	*place = value;
	return 0;
}

int machine_push_made(struct machine *m, int result, uint32_t value)
{
	return result < 0 ? machine_fail_value(m, result) : machine_push(m, value);
}

/* Above the last mark. */
int machine_pop(struct machine *m, uint32_t *ret)
{
	if (m->count <= (m->mark_count ? m->marks[m->mark_count - 1] : 0))
		return machine_fail(m, "is not a well-formed pickle: a value is missing");
	*ret = m->stack[--m->count];
	return 0;
}

int machine_pop_mark(struct machine *m, const uint32_t **ret, uint32_t *ret_count)
{
	uint32_t from;

	if (!m->mark_count)
		return machine_fail(m, "is not a well-formed pickle: a mark is missing");
	from = m->marks[--m->mark_count];
	/* Nothing was ever pushed where there is no stack. */
	*ret = m->stack ? m->stack + from : NULL;
	*ret_count = m->count - from;
	m->count = from;
	return 0;
}

static int begin_protocol(struct machine *m, uint8_t letter)
{
	const uint8_t *version;

	(void)letter;
	TRY(machine_take(m, 1, &version));
	if (*version > NEWEST_PROTOCOL)
		return machine_fail(m, "uses protocol %u of pickle; %u is the newest that can be read", *version, NEWEST_PROTOCOL);
	return 0;
}

static machine_op *find_op(uint8_t letter)
{
	machine_op *op = machine_scalar_op(letter);

	op = op ? op : machine_part_op(letter);
	op = op ? op : machine_call_op(letter);
	return op ? op : letter == 0x80 ? begin_protocol : NULL;
}

static int run_machine(struct machine *m)
{
	machine_op *ops[256];
	const uint8_t *letter;

	for (unsigned i = 0; i < 256; i++)
		ops[i] = find_op((uint8_t)i);
	for (;;) {
		TRY(machine_take(m, 1, &letter));
		if (*letter == '.')
			return machine_pop(m, &m->to->top);
		if (!ops[*letter])
			return machine_fail(m, "is not a well-formed pickle: 0x%02x is not an opcode", *letter);
		TRY(ops[*letter](m, *letter));
	}
}

int pickle_read(struct pickle *ret, struct source *source, struct error *err)
{
	struct machine m = { .to = ret, .source = source, .err = err };
	int r = values_begin(ret);

	r = r < 0 ? machine_fail_value(&m, r) : run_machine(&m);
	if (r >= 0) {
		r = values_have_cycle(ret);
		if (r > 0)
			r = machine_fail(&m, "has a part that contains itself; a snapshot has none");
		else if (r < 0)
			r = machine_fail_value(&m, r);
	}
	free(m.stack);
	free(m.marks);
	free(m.memo);
	buf_release(&m.text);
	return r;
}

/* Protocols 2 and later say so; before, dictionaries and lists begin with a mark or are empty first, and are numbered. */
int pickle_is(const char *text, size_t len)
{
	if (len < 2)
		return 0;
	if ((uint8_t)text[0] == 0x80)
		return (uint8_t)text[1] >= 2 && (uint8_t)text[1] < 16;
	if (text[0] == '(')
		return (text[1] == 'd' || text[1] == 'l') && len > 2 && strchr("p.(", text[2]) && text[2];
	return (text[0] == '}' || text[0] == ']') && (text[1] == 'q' || text[1] == '(' || text[1] == '.');
}
