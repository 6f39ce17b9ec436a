/* Values as JSON, and numbers as all texts have them. */
#include "export/json_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes of valid UTF-8 begin here; 0 for none. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (len == 0 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static void put_json_control(FILE *f, unsigned char c)
{
	static const char named[] = "\bb\tt\nn\ff\rr";
	const char *found = c ? strchr(named, c) : NULL;

	if (found)
		fprintf(f, "\\%c", found[1]);
	else
		fprintf(f, "\\u%04x", c);
}

/* Bytes that are no text become U+FFFD: JSON cannot hold them. */
void json_put_text(FILE *f, const char *bytes, size_t len)
{
	const unsigned char *text = (const unsigned char *)bytes;
	size_t plain = 0, step;

	putc_unlocked('"', f);
	for (size_t i = 0; i < len; i += step ? step : 1) {
		step = utf8_length(text + i, len - i);
		if (step && text[i] >= 0x20 && text[i] != '"' && text[i] != '\\') {
			plain += step;
			continue;
		}
		fwrite_unlocked(text + i - plain, 1, plain, f);
		plain = 0;
		if (step == 0)
			fputs("\xef\xbf\xbd", f);
		else if (text[i] < 0x20)
			put_json_control(f, text[i]);
		else
			fprintf(f, "\\%c", text[i]);
	}
	fwrite_unlocked(text + len - plain, 1, plain, f);
	putc_unlocked('"', f);
}

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

static void skip_space(struct checked *c)
{
	while (c->at < c->end && memchr(" \t\r\n", *c->at, 4))
		c->at++;
}

static bool take(struct checked *c, const char *word)
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

static bool take_number(struct checked *c)
{
	take(c, "-");
	if (!take(c, "0") && take_digits(c) == 0)
		return false;
	if (take(c, ".") && take_digits(c) == 0)
		return false;
	if (!take(c, "e") && !take(c, "E"))
		return true;
	if (!take(c, "+"))
		take(c, "-");
	return take_digits(c) > 0;
}

static bool take_string(struct checked *c)
{
	size_t step;

	if (!take(c, "\""))
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
		step = utf8_length((const unsigned char *)c->at, (size_t)(c->end - c->at));
		if (step == 0 || (unsigned char)*c->at < ' ')
			return false;
		c->at += step;
	}
	return take(c, "\"");
}

static bool take_value(struct checked *c);

static bool take_list(struct checked *c, bool is_object)
{
	const char *end = is_object ? "}" : "]";

	skip_space(c);
	if (take(c, end))
		return true;
	do {
		skip_space(c);
		if (is_object) {
			if (!take_string(c))
				return false;
			skip_space(c);
			if (!take(c, ":"))
				return false;
		}
		if (!take_value(c))
			return false;
		skip_space(c);
	} while (take(c, ","));
	return take(c, end);
}

static bool take_value(struct checked *c)
{
	bool good;

	skip_space(c);
	if (c->at == c->end || c->depth == MAX_DEPTH)
		return false;
	if (*c->at == '[' || *c->at == '{') {
		c->depth++;
		good = take_list(c, *c->at++ == '{');
		c->depth--;
		return good;
	}
	return *c->at == '"' ? take_string(c) :
	       take(c, "true") || take(c, "false") || take(c, "null") || take_number(c);
}

bool json_is_valid(const char *text, size_t len)
{
	struct checked c = { text, text + len, 0 };

	if (!take_value(&c))
		return false;
	skip_space(&c);
	return c.at == c.end;
}
