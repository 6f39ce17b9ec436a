/* Values as JSON, and numbers as all texts have them. */
#include "export/json_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"

void json_put_integer(FILE *f, int64_t value)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[24], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + left % 10);
	while ((left /= 10) != 0);
	if (value < 0)
		*--at = '-';
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), f);
}

/* As few digits as give the same number again. */
void json_put_real(FILE *f, double value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.15g", value);
	if (strtod(digits, NULL) != value)
		snprintf(digits, sizeof(digits), "%.17g", value);
	fputs(digits, f);
	if (!strpbrk(digits, ".eE"))
		fputs(".0", f);
}

struct checked {
	const char *at;
	const char *end;
	unsigned depth;
};

#define MAX_DEPTH 128

static void skip_json_space(struct checked *c)
{
	while (c->at < c->end && memchr(" \t\r\n", *c->at, 4))
		c->at++;
}

static bool check_json_word(struct checked *c, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(c->end - c->at) < len || memcmp(c->at, word, len) != 0)
		return false;
	c->at += len;
	return true;
}

static size_t take_digits(struct checked *c)
{
	const char *begin = c->at;

	while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
		c->at++;
	return (size_t)(c->at - begin);
}

static bool check_json_number(struct checked *c)
{
	check_json_word(c, "-");
	if (!check_json_word(c, "0") && take_digits(c) == 0)
		return false;
	if (check_json_word(c, ".") && take_digits(c) == 0)
		return false;
	if (!check_json_word(c, "e") && !check_json_word(c, "E"))
		return true;
	if (!check_json_word(c, "+"))
		check_json_word(c, "-");
	return take_digits(c) > 0;
}

static bool take_string(struct checked *c)
{
	size_t step;

	if (!check_json_word(c, "\""))
		return false;
	while (c->at < c->end && *c->at != '"') {
		if (*c->at == '\\') {
			c->at++;
			if (c->at == c->end || !memchr("\"\\/bfnrtu", *c->at, 9))
				return false;
			if (*c->at == 'u')
				for (unsigned i = 0; i < 4; i++)
					if (++c->at == c->end || !isxdigit((unsigned char)*c->at))
						return false;
			c->at++;
			continue;
		}
		step = utf8_length(c->at, (size_t)(c->end - c->at));
		if (step == 0 || (unsigned char)*c->at < ' ')
			return false;
		c->at += step;
	}
	return check_json_word(c, "\"");
}

static bool check_json_value(struct checked *c);

static bool take_list(struct checked *c, bool is_object)
{
	const char *end = is_object ? "}" : "]";

	skip_json_space(c);
	if (check_json_word(c, end))
		return true;
	do {
		skip_json_space(c);
		if (is_object) {
			if (!take_string(c))
				return false;
			skip_json_space(c);
			if (!check_json_word(c, ":"))
				return false;
		}
		if (!check_json_value(c))
			return false;
		skip_json_space(c);
	} while (check_json_word(c, ","));
	return check_json_word(c, end);
}

static bool check_json_value(struct checked *c)
{
	bool good;

	skip_json_space(c);
	if (c->at == c->end || c->depth == MAX_DEPTH)
		return false;
	if (*c->at == '[' || *c->at == '{') {
		c->depth++;
		good = take_list(c, *c->at++ == '{');
		c->depth--;
		return good;
	}
	return *c->at == '"' ?
		       take_string(c) :
		       check_json_word(c, "true") || check_json_word(c, "false") || check_json_word(c, "null") || check_json_number(c);
}

bool json_is_valid(const char *text, size_t len)
{
	struct checked c = { text, text + len, 0 };

	if (!check_json_value(&c))
		return false;
	skip_json_space(&c);
	return c.at == c.end;
}
