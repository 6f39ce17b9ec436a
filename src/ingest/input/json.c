#include "ingest/input/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/arch.h"
#include "base/text/utf8.h"

#define NAME_PLACES 8u      /* where one name may be kept */
#define EXPECTED_BLANKS 64u /* before a name that is expected, at most */

static int fail_json(struct json *j, const char *what)
{
	if (!j->trouble)
		j->trouble = what;
	return -EBADMSG;
}

void json_begin(struct json *j, const char *text, size_t len)
{
	*j = (struct json){ .begin = text, .at = text, .end = text + len };
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		j->at += 3;
}

void json_begin_source(struct json *j, struct source *source)
{
	while (source->len < 3 && source_more(source))
		;
	json_begin(j, source->text, source->len);
	j->source = source;
}

int json_more(struct json *j)
{
	if (!j->source || !source_more(j->source))
		return 0;
	j->end = j->source->text + j->source->len;
	return 1;
}

static int trouble_at_end(struct json *j)
{
	if (j->source && j->source->len - j->source->released >= j->source->most_held)
		return fail_json(j, "a value is too long");
	return fail_json(j, "the text ends here");
}

static int take_input_char(struct json *j, int wanted, const char *otherwise)
{
	if (json_peek(j) != wanted)
		return j->at == j->end ? trouble_at_end(j) : fail_json(j, otherwise);
	j->at++;
	return 0;
}

static inline __attribute__((always_inline)) int take_string(struct json *j, struct json_value *ret)
{
	const char *from = j->at + 1, *p = from;

	*ret = (struct json_value){ .kind = JSON_STRING, .text = from };
	for (;;) {
		p = arch_find_either(p, j->end, '"', '\\');
		if (p < j->end && *p == '"')
			break;
		if (j->end - p < 2) {
			if (json_more(j))
				continue;
			j->at = j->end;
			return trouble_at_end(j);
		}
		ret->escaped = 1;
		p += 2;
	}
	ret->len = (size_t)(p - from);
	j->at = p + 1;
	return 0;
}

static inline int is_number_byte(char c)
{
	static const uint8_t part[256] = { ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1,
					   ['8'] = 1, ['9'] = 1, ['.'] = 1, ['-'] = 1, ['+'] = 1, ['e'] = 1, ['E'] = 1 };

	return part[(unsigned char)c];
}

static int take_input_word(struct json *j, const char *word, enum json_kind kind, struct json_value *ret)
{
	size_t len = strlen(word);

	while ((size_t)(j->end - j->at) < len && json_more(j))
		;
	if ((size_t)(j->end - j->at) < len || memcmp(j->at, word, len) != 0)
		return fail_json(j, "a value is expected");
	*ret = (struct json_value){ .kind = kind, .text = j->at, .len = len };
	j->at += len;
	return 0;
}

static int next_is(struct json *j, char c)
{
	while (j->end - j->at < 2 && json_more(j))
		;
	return j->end - j->at > 1 && j->at[1] == c;
}

static int take_input_number(struct json *j, struct json_value *ret)
{
	const char *from = j->at;

	if (*j->at == '-' && next_is(j, 'I'))
		return take_input_word(j, "-Infinity", JSON_NUMBER, ret);
	do {
		while (j->at < j->end && is_number_byte(*j->at))
			j->at++;
	} while (j->at == j->end && json_more(j));
	if (j->at == from)
		return fail_json(j, "a value is expected");
	*ret = (struct json_value){ .kind = JSON_NUMBER, .text = from, .len = (size_t)(j->at - from) };
	return 0;
}

/* A string, a number or a word. */
static int take_simple(struct json *j, int c, struct json_value *ret)
{
	switch (c) {
	case '"': return take_string(j, ret);
	case 't': return take_input_word(j, "true", JSON_TRUE, ret);
	case 'f': return take_input_word(j, "false", JSON_FALSE, ret);
	case 'n':
		if (next_is(j, 'a'))
			return take_input_word(j, "nan", JSON_NUMBER, ret);
		return take_input_word(j, "null", JSON_NULL, ret);
	case 'N': return take_input_word(j, "NaN", JSON_NUMBER, ret);
	case 'I': return take_input_word(j, "Infinity", JSON_NUMBER, ret);
	case 'i': return take_input_word(j, "inf", JSON_NUMBER, ret);
	default:
		if (j->at == j->end)
			return trouble_at_end(j);
		return take_input_number(j, ret);
	}
}

/* take_simple(), the most common ones first. */
static inline __attribute__((always_inline)) int take_plain(struct json *j, int c, struct json_value *ret)
{
	const char *from = j->at, *p = from;

	if (c == '"')
		return take_string(j, ret);
	if ((unsigned)(c - '0') >= 10)
		return take_simple(j, c, ret);
	while (p < j->end && is_number_byte(*p))
		p++;
	if (p == j->end)
		return take_input_number(j, ret);
	*ret = (struct json_value){ .kind = JSON_NUMBER, .text = from, .len = (size_t)(p - from) };
	j->at = p;
	return 0;
}

static int take_key(struct json *j, struct json_value *ret)
{
	if (json_peek(j) != '"')
		return j->at == j->end ? trouble_at_end(j) : fail_json(j, "a name in quotes is expected");
	return take_string(j, ret) < 0 ? -EBADMSG : take_input_char(j, ':', "a colon is expected");
}

static uint64_t load8(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* `text` has JSON_NAME_BYTES that can be read. */
static int is_name(const struct json_name *name, const char *text)
{
	uint32_t i = 0;

	for (; i + 8 < name->len; i += 8)
		if (load8(name->text + i) != load8(text + i))
			return 0;
	return name->len && (load8(name->text + i) ^ load8(text + i)) << (64 - 8 * (name->len - i)) == 0;
}

/* Where a name is kept, or can be; NULL: there is no room. Names that are kept stay. */
static struct json_name *place_of_name(struct json *j, const char *text, size_t len)
{
	size_t hash = len * 31 + (unsigned char)text[1] * 7u + (unsigned char)text[len / 2] * 5u + (unsigned char)text[len - 3];
	struct json_name *name;

	for (unsigned i = 0; i < NAME_PLACES; i++) {
		name = &j->names[(hash + i) % JSON_NAMES];
		if (!name->len || (name->len == len && memcmp(name->text, text, len) == 0))
			return name;
	}
	return NULL;
}

/* The cursor is behind the colon of `key`. */
static void learn_name(struct json *j, struct json_value *key)
{
	size_t len = key->len + 3;
	struct json_name *name, *before = &j->names[j->name];

	if (len > JSON_NAME_BYTES || key->escaped || key->text + key->len + 2 != j->at)
		return;
	name = place_of_name(j, key->text - 1, len);
	if (!name)
		return;
	memcpy(name->text, key->text - 1, len);
	name->len = (uint32_t)len;
	j->name = (uint16_t)(name - j->names);
	before->next[1] = before->next[0];
	before->next[0] = j->name;
	key->name = (uint16_t)(j->name + 1);
}

/* A comma (a brace before the first), white space and one of the names that are expected. 0: it is something else, and nothing
 * was taken. */
static int take_expected(struct json *j, char before, struct json_value *ret)
{
	const struct json_name *name;
	const char *p = j->at, *most = p + EXPECTED_BLANKS;

	if (j->end - p < (ptrdiff_t)(EXPECTED_BLANKS + JSON_NAME_BYTES) || *p++ != before)
		return 0;
	while (p < most && (*p == ' ' || *p == '\n'))
		p++;
	for (unsigned i = 0; i < 2; i++) {
		uint16_t number = j->names[j->name].next[i];

		name = &j->names[number];
		if (!is_name(name, p))
			continue;
		*ret = (struct json_value){ .kind = JSON_STRING, .name = (uint16_t)(number + 1), .text = p + 1, .len = name->len - 3 };
		j->at = p + name->len;
		j->name = number;
		return 1;
	}
	return 0;
}

/* Behind a value inside `depth` brackets, of which it closes those that end here. 1: another value
 * follows, in front of the cursor; 0: the outermost is closed. */
static int to_next_value(struct json *j, const char *closing, unsigned *depth)
{
	struct json_value key;
	int c;

	while ((c = json_peek(j)) == closing[*depth - 1] && c) {
		j->at++;
		if (!--*depth)
			return 0;
	}
	if (take_input_char(j, ',', "a comma or a closing bracket is expected") < 0)
		return -EBADMSG;
	return closing[*depth - 1] == ']' || take_key(j, &key) >= 0 ? 1 : -EBADMSG;
}

/* Opens brackets up to a value that has none, or that is empty. 1: the value is in front of the cursor. */
static int open_brackets(struct json *j, char *closing, unsigned *depth)
{
	struct json_value key;
	int c;

	while ((c = json_peek(j)) == '{' || c == '[') {
		if (*depth == JSON_MAX_DEPTH)
			return fail_json(j, "objects and arrays are nested too deep");
		closing[(*depth)++] = c == '{' ? '}' : ']';
		j->at++;
		if (json_peek(j) == closing[*depth - 1])
			return 0;
		if (c == '{' && take_key(j, &key) < 0)
			return -EBADMSG;
	}
	return 1;
}

static int take_compound(struct json *j, struct json_value *ret)
{
	const char *from = j->at;
	enum json_kind kind = *from == '{' ? JSON_OBJECT : JSON_ARRAY;
	char closing[JSON_MAX_DEPTH];
	struct json_value inner;
	unsigned depth = 0;
	int r;

	do {
		r = open_brackets(j, closing, &depth);
		if (r > 0)
			r = take_plain(j, json_peek(j), &inner);
		if (r >= 0)
			r = to_next_value(j, closing, &depth);
	} while (r > 0);
	*ret = (struct json_value){ .kind = kind, .text = from, .len = (size_t)(j->at - from) };
	return r;
}

int json_value(struct json *j, struct json_value *ret)
{
	int c = json_peek(j);

	return c == '{' || c == '[' ? take_compound(j, ret) : take_plain(j, c, ret);
}

/* Takes what stands before the next value: the bracket, a comma, or the closing bracket. */
static int take_json_delimiter(struct json *j, int *first, int close)
{
	int c;

	if (*first)
		j->at++;
	c = json_peek(j);
	if (c == close) {
		j->at++;
		return 0;
	}
	if (!*first && take_input_char(j, ',', "a comma or a closing bracket is expected") < 0)
		return -EBADMSG;
	*first = 0;
	return 1;
}

int json_next_member(struct json *j, int *first, struct json_value *ret_key)
{
	int r;

	if (j->names && take_expected(j, *first ? '{' : ',', ret_key)) {
		*first = 0;
		return 1;
	}
	r = take_json_delimiter(j, first, '}');
	if (r <= 0)
		return r;
	if (take_key(j, ret_key) < 0)
		return -EBADMSG;
	if (j->names)
		learn_name(j, ret_key);
	return 1;
}

int json_next_element(struct json *j, int *first)
{
	return take_json_delimiter(j, first, ']');
}

static int hex4(const char *p, const char *end, unsigned *ret)
{
	unsigned value = 0;

	if (end - p < 4)
		return 0;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') :
				 c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) :
				 c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) :
							16;

		if (digit == 16)
			return 0;
		value = value << 4 | digit;
	}
	*ret = value;
	return 1;
}

/* Behind "\u". Half a surrogate pair is the replacement character, and NUL, too. At most three bytes for six,
 * four for twelve: never longer than what it stands for. */
static size_t put_code(const char **p, const char *end, char *ret)
{
	unsigned code, low;

	if (!hex4(*p, end, &code)) {
		ret[0] = 'u';
		return 1;
	}
	*p += 4;
	if (code >= 0xd800 && code < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u' && hex4(*p + 2, end, &low) &&
	    low >= 0xdc00 && low < 0xe000) {
		*p += 6;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	} else if (!code || (code >= 0xd800 && code < 0xe000)) {
		code = UTF8_REPLACEMENT;
	}
	return utf8_put(ret, code);
}

size_t json_unescape(const struct json_value *string, char *ret, size_t size)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *p = string->text, *end = p + string->len, *known;
	size_t len = 0;

	while (p < end && len < size) {
		if (*p != '\\' || p + 1 == end) {
			ret[len++] = *p++;
			continue;
		}
		p += 2;
		if (p[-1] == 'u') {
			len += put_code(&p, end, ret + len);
			continue;
		}
		known = p[-1] ? strchr(from, p[-1]) : NULL;
		ret[len++] = known ? to[known - from] : p[-1];
	}
	return len;
}

int json_real(const struct json_value *v, double *ret)
{
	char text[64], *end;

	if ((v->kind != JSON_NUMBER && v->kind != JSON_STRING) || !v->len || v->len >= sizeof(text))
		return 0;
	memcpy(text, v->text, v->len);
	text[v->len] = '\0';
	*ret = strtod(text, &end);
	return *end == '\0';
}

/* Digits of a number without its sign, point and exponent. */
struct digits {
	uint64_t value;
	int power;         /* of ten, that the value is to be multiplied with */
	int seen, dropped; /* digits there are; that did not fit, and whether the first of them rounds up */
	int round;
};

static void put_digit(struct digits *d, int digit, int behind_point)
{
	d->seen = 1;
	if (d->value <= (UINT64_MAX - 9) / 10 && !d->dropped) {
		d->value = d->value * 10 + (unsigned)digit;
		d->power -= behind_point;
		return;
	}
	if (!d->dropped++)
		d->round = digit >= 5;
	d->power += !behind_point;
}

/* "e-12"; 0 where it is none. */
static int take_exponent(const char *p, const char *end, int *ret)
{
	int value = 0, negative = p < end && *p == '-';

	p += p < end && (*p == '-' || *p == '+');
	if (p == end)
		return 0;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return 0;
		if (value < 10000)
			value = value * 10 + (*p - '0');
	}
	*ret = negative ? -value : value;
	return 1;
}

static int scale_digits(struct digits *d)
{
	for (; d->power > 0 && d->value; d->power--)
		if (__builtin_mul_overflow(d->value, UINT64_C(10), &d->value))
			return 0;
	for (; d->power < 0 && (d->value || d->round); d->power++) {
		d->round = d->value % 10 >= 5;
		d->value /= 10;
	}
	return d->value <= (uint64_t)INT64_MAX - 1;
}

/* In integers all the way: a double would lose nanoseconds of times since 1970. */
int json_scaled(const struct json_value *v, unsigned scale, int64_t *ret)
{
	struct digits d = { .power = (int)scale };
	const char *p, *end;
	int negative, point = 0, exponent = 0;

	if ((v->kind != JSON_NUMBER && v->kind != JSON_STRING) || v->len > 64)
		return 0;
	p = v->text;
	end = p + v->len;
	negative = p < end && *p == '-';
	for (p += negative; p < end; p++) {
		if ((unsigned)(*p - '0') < 10)
			put_digit(&d, *p - '0', point);
		else if (*p == '.' && !point)
			point = 1;
		else if ((*p | 0x20) == 'e' && take_exponent(p + 1, end, &exponent))
			break;
		else
			return 0;
	}
	d.power += exponent;
	if (!d.seen || !scale_digits(&d))
		return 0;
	*ret = negative ? -(int64_t)(d.value + (unsigned)d.round) : (int64_t)(d.value + (unsigned)d.round);
	return 1;
}

/* Addresses above half of the range keep their bits. */
int json_integer(const struct json_value *v, int64_t *ret)
{
	uint64_t value = 0;
	size_t i = 0, negative = v->len && v->text[0] == '-';

	if (v->kind != JSON_NUMBER || v->len == negative)
		return 0;
	for (i = negative; i < v->len; i++) {
		if (v->text[i] < '0' || v->text[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(v->text[i] - '0'), &value))
			return 0;
	}
	if (negative && value > (uint64_t)INT64_MAX)
		return 0;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return 1;
}
