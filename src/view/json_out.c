#include "view/json_out.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put(struct json_out *j, const char *text, size_t len)
{
	if (j->r == 0)
		j->r = buf_append(j->out, text, len);
}

static void begin_value(struct json_out *j)
{
	if (!j->after_key && j->filled[j->depth])
		put(j, ",", 1);
	j->filled[j->depth] = true;
	j->after_key = false;
}

void out_begin(struct json_out *j, struct buf *out)
{
	j->out = out;
	j->r = 0;
	j->depth = 0;
	j->filled[0] = j->after_key = false;
}

void out_open(struct json_out *j, char bracket)
{
	begin_value(j);
	put(j, &bracket, 1);
	if (j->depth + 1 == OUT_MAX_DEPTH) {
		j->r = j->r < 0 ? j->r : -E2BIG;
		return;
	}
	j->filled[++j->depth] = false;
}

void out_close(struct json_out *j, char bracket)
{
	j->depth -= j->depth > 0;
	put(j, &bracket, 1);
}

/* How many bytes of text are one character of UTF-8; 0 where they are none. */
static size_t character_length(const unsigned char *at, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf5 ? 4 : 0;
	uint32_t code = length == 1 ? *at : *at & (0x7fu >> length);

	if (length == 0 || length > left)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

static void put_special(struct json_out *j, unsigned char c)
{
	char made[8];

	if (c == '"' || c == '\\')
		snprintf(made, sizeof(made), "\\%c", c);
	else if (c < 0x20 || c == 0x7f)
		snprintf(made, sizeof(made), "\\u%04x", c);
	else
		snprintf(made, sizeof(made), "\xef\xbf\xbd");
	put(j, made, strlen(made));
}

void out_text(struct json_out *j, const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text, *end, *plain = at;
	size_t length;

	if (!text) {
		out_null(j);
		return;
	}
	end = at + len;
	begin_value(j);
	put(j, "\"", 1);
	while (at < end) {
		length = character_length(at, (size_t)(end - at));
		if (length && *at >= 0x20 && *at != '"' && *at != '\\' && *at != 0x7f) {
			at += length;
			continue;
		}
		put(j, (const char *)plain, (size_t)(at - plain));
		put_special(j, *at++);
		plain = at;
	}
	put(j, (const char *)plain, (size_t)(at - plain));
	put(j, "\"", 1);
}

void out_string(struct json_out *j, const char *text)
{
	out_text(j, text, text ? strlen(text) : 0);
}

void out_key(struct json_out *j, const char *key)
{
	out_string(j, key);
	put(j, ":", 1);
	j->after_key = true;
}

void out_integer(struct json_out *j, int64_t value)
{
	char made[24];

	begin_value(j);
	put(j, made, (size_t)snprintf(made, sizeof(made), "%lld", (long long)value));
}

void out_exact(struct json_out *j, int64_t value)
{
	char made[24];

	if (value > -(INT64_C(1) << 53) && value < INT64_C(1) << 53) {
		out_integer(j, value);
		return;
	}
	snprintf(made, sizeof(made), "%lld", (long long)value);
	out_string(j, made);
}

void out_real(struct json_out *j, double value)
{
	char made[40];

	if (!isfinite(value)) {
		out_null(j);
		return;
	}
	begin_value(j);
	put(j, made, (size_t)snprintf(made, sizeof(made), "%.9g", value));
}

void out_bool(struct json_out *j, bool value)
{
	begin_value(j);
	put(j, value ? "true" : "false", value ? 4 : 5);
}

void out_null(struct json_out *j)
{
	begin_value(j);
	put(j, "null", 4);
}

void out_raw(struct json_out *j, const char *text, size_t len)
{
	begin_value(j);
	put(j, text, len);
}

void out_put_text(struct json_out *j, const char *key, const char *text)
{
	out_key(j, key);
	out_string(j, text);
}

void out_put_integer(struct json_out *j, const char *key, int64_t value)
{
	out_key(j, key);
	out_integer(j, value);
}

void out_put_real(struct json_out *j, const char *key, double value)
{
	out_key(j, key);
	out_real(j, value);
}

void out_put_bool(struct json_out *j, const char *key, bool value)
{
	out_key(j, key);
	out_bool(j, value);
}
