/* Opcodes of numbers, texts and bytes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text/utf8.h"
#include "ingest/pickle/machine.h"

static int push_integer(struct machine *m, int64_t integer)
{
	uint32_t value = 0;
	int r = values_add_integer(m->to, integer, &value);

	return machine_push_made(m, r, value);
}

static int push_plain(struct machine *m, struct pickle_value plain)
{
	uint32_t value = 0;
	int r = values_add(m->to, plain, &value);

	return machine_push_made(m, r, value);
}

static int push_text(struct machine *m, const char *text, size_t len)
{
	uint32_t value = 0;
	int r = values_add_text(m->to, text, len, &value);

	return machine_push_made(m, r, value);
}

static int push_constant(struct machine *m, uint8_t letter)
{
	return machine_push(m, letter == 'N' ? VALUE_NONE : letter == 0x88 ? VALUE_TRUE : VALUE_FALSE);
}

static int push_fixed_integer(struct machine *m, uint8_t letter)
{
	uint64_t number;

	TRY(machine_take_number(m, letter == 'K' ? 1 : letter == 'M' ? 2 : 4, &number));
	return push_integer(m, letter == 'J' ? (int32_t)number : (int64_t)number);
}

/* -ERANGE: digits of more than 64 bits. -EINVAL: anything else. */
static int parse_decimal(const char *text, size_t len, int64_t *ret)
{
	int negative = len && text[0] == '-';
	int too_large = 0;

	*ret = 0;
	if (len == (size_t)negative)
		return -EINVAL;
	for (size_t i = (size_t)negative; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		too_large |= __builtin_mul_overflow(*ret, 10, ret);
		too_large |= __builtin_add_overflow(*ret, negative ? '0' - text[i] : text[i] - '0', ret);
	}
	return too_large ? -ERANGE : 0;
}

/* "I01" and "I00" are truth values. */
static int push_decimal(struct machine *m, uint8_t letter)
{
	const char *text;
	int64_t number;
	size_t len;
	int r;

	TRY(machine_take_line(m, &text, &len));
	if (letter == 'I' && len == 2 && text[0] == '0' && (text[1] == '0' || text[1] == '1'))
		return machine_push(m, text[1] == '1' ? VALUE_TRUE : VALUE_FALSE);
	r = parse_decimal(text, len && text[len - 1] == 'L' ? len - 1 : len, &number);
	if (r == -EINVAL)
		return machine_fail(m, "is not a well-formed pickle: a whole number is none");
	return r < 0 ? push_plain(m, (struct pickle_value){ .kind = PICKLE_BIG }) : push_integer(m, number);
}

/* Two's complement, least byte first. */
static int push_long(struct machine *m, uint8_t letter)
{
	uint64_t len, number;

	TRY(machine_take_number(m, letter == 0x8a ? 1 : 4, &len));
	if (len > INT32_MAX)
		return machine_fail(m, "is not a well-formed pickle: a whole number has a negative length");
	if (len > 8) {
		TRY(machine_skip(m, len));
		return push_plain(m, (struct pickle_value){ .kind = PICKLE_BIG });
	}
	TRY(machine_take_number(m, (unsigned)len, &number));
	if (len && len < 8 && number >> (8 * len - 1))
		number |= UINT64_MAX << 8 * len;
	return push_integer(m, (int64_t)number);
}

static int push_written_real(struct machine *m, uint8_t letter)
{
	char digits[64], *end;
	const char *text;
	double real;
	size_t len;

	(void)letter;
	TRY(machine_take_line(m, &text, &len));
	if (!len || len >= sizeof(digits))
		return machine_fail(m, "is not a well-formed pickle: a number is none");
	memcpy(digits, text, len);
	digits[len] = '\0';
	real = strtod(digits, &end);
	if (*end)
		return machine_fail(m, "is not a well-formed pickle: a number is none");
	return push_plain(m, (struct pickle_value){ .kind = PICKLE_REAL, .is.real = real });
}

static int push_real(struct machine *m, uint8_t letter)
{
	uint64_t number;
	double real;

	(void)letter;
	TRY(machine_take_number(m, 8, &number));
	number = __builtin_bswap64(number);
	memcpy(&real, &number, sizeof(real));
	return push_plain(m, (struct pickle_value){ .kind = PICKLE_REAL, .is.real = real });
}

/* The length of a text or of bytes, by the letter of its opcode. */
static unsigned size_of_length(uint8_t letter)
{
	switch (letter) {
	case 'U': /* short texts */
	case 0x8c:
	case 'C': return 1; /* short bytes */
	case 0x8d:
	case 0x8e:
	case 0x96: return 8;
	default: return 4;
	}
}

static int push_counted_text(struct machine *m, uint8_t letter)
{
	const uint8_t *text;
	uint64_t len;

	TRY(machine_take_number(m, size_of_length(letter), &len));
	if (len > PICKLE_MOST_TEXT)
		return machine_fail(m, "has a text of %llu bytes; %u is the most that can be read", (unsigned long long)len,
				    PICKLE_MOST_TEXT);
	TRY(machine_take(m, (size_t)len, &text));
	return push_text(m, (const char *)text, (size_t)len);
}

static int push_bytes(struct machine *m, uint8_t letter)
{
	uint64_t len;

	TRY(machine_take_number(m, size_of_length(letter), &len));
	TRY(machine_skip(m, len));
	return push_plain(m, (struct pickle_value){ .kind = PICKLE_BYTES });
}

static int hex_value(const char *text, size_t len, uint32_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < len; i++) {
		const char *digits = "0123456789abcdef0123456789ABCDEF", *digit = text[i] ? strchr(digits, text[i]) : NULL;

		if (!digit)
			return 0;
		*ret = *ret << 4 | (uint32_t)((digit - digits) & 15);
	}
	return 1;
}

static int append_code(struct buf *to, uint32_t code)
{
	char bytes[4];

	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		code = UTF8_REPLACEMENT;
	return buf_append(to, bytes, utf8_put(bytes, code));
}

/* A text of protocol 0: code points up to 255 as bytes, others as \u1234 or \U00012345. */
static int push_unicode_line(struct machine *m, uint8_t letter)
{
	const char *text;
	uint32_t code;
	size_t len;

	(void)letter;
	TRY(machine_take_line(m, &text, &len));
	buf_clear(&m->text);
	for (size_t i = 0, size; i < len && !buf_result(&m->text); i += size) {
		size = i + 1 < len && text[i] == '\\' ? (text[i + 1] == 'u' ? 6 : text[i + 1] == 'U' ? 10 : 1) : 1;
		if (size > 1 && (i + size > len || !hex_value(text + i + 2, size - 2, &code)))
			return machine_fail(m, "is not a well-formed pickle: a text has a broken escape");
		append_code(&m->text, size > 1 ? code : (uint8_t)text[i]);
	}
	if (buf_result(&m->text))
		return machine_fail_value(m, -ENOMEM);
	return push_text(m, m->text.data ? m->text.data : "", m->text.len);
}

/* How many bytes of the literal an escape takes; 0: it is none. */
static size_t read_escape(const char *text, size_t len, char *ret)
{
	static const char letters[] = "\\'\"nrtabfv", meant[] = "\\'\"\n\r\t\a\b\f\v";
	const char *letter = len > 1 && text[1] ? strchr(letters, text[1]) : NULL;
	uint32_t code;

	if (letter) {
		*ret = meant[letter - letters];
		return 2;
	}
	if (len < 4 || text[1] != 'x' || !hex_value(text + 2, 2, &code))
		return 0;
	*ret = (char)code;
	return 4;
}

/* A text of Python 2, as it is written in a program. */
static int push_quoted_line(struct machine *m, uint8_t letter)
{
	const char *text;
	size_t len;
	char byte;

	(void)letter;
	TRY(machine_take_line(m, &text, &len));
	if (len < 2 || text[0] != text[len - 1] || (text[0] != '\'' && text[0] != '"'))
		return machine_fail(m, "is not a well-formed pickle: a text has no quotes");
	buf_clear(&m->text);
	for (size_t i = 1, size; i < len - 1; i += size) {
		byte = text[i];
		size = byte == '\\' ? read_escape(text + i, len - 1 - i, &byte) : 1;
		if (!size)
			return machine_fail(m, "is not a well-formed pickle: a text has a broken escape");
		if (buf_append(&m->text, &byte, 1) < 0)
			return machine_fail_value(m, -ENOMEM);
	}
	return push_text(m, m->text.data ? m->text.data : "", m->text.len);
}

machine_op *machine_scalar_op(uint8_t letter)
{
	switch (letter) {
	case 'N':
	case 0x88:
	case 0x89: return push_constant;
	case 'J':
	case 'K':
	case 'M': return push_fixed_integer;
	case 'I':
	case 'L': return push_decimal;
	case 0x8a:
	case 0x8b: return push_long;
	case 'F': return push_written_real;
	case 'G': return push_real;
	case 'T':
	case 'U':
	case 'X':
	case 0x8c:
	case 0x8d: return push_counted_text;
	case 'B':
	case 'C':
	case 0x8e:
	case 0x96: return push_bytes;
	case 'V': return push_unicode_line;
	case 'S': return push_quoted_line;
	default: return NULL;
	}
}
