#include "view/request/json_out.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/json_text.h"

static void append_to_json(struct json_out *j, const char *text, size_t len)
{
	if (j->r == 0)
		j->r = buf_append(j->out, text, len);
}

static void begin_value(struct json_out *j)
{
	if (!j->after_key && j->filled[j->depth])
		append_to_json(j, ",", 1);
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
	append_to_json(j, &bracket, 1);
	if (j->depth + 1 == OUT_MAX_DEPTH) {
		j->r = j->r < 0 ? j->r : -E2BIG;
		return;
	}
	j->filled[++j->depth] = false;
}

void out_close(struct json_out *j, char bracket)
{
	j->depth -= j->depth > 0;
	append_to_json(j, &bracket, 1);
}

void out_text(struct json_out *j, const char *text, size_t len)
{
	if (!text) {
		out_null(j);
		return;
	}
	begin_value(j);
	if (j->r == 0)
		j->r = json_append_text(j->out, text, len);
}

void out_string(struct json_out *j, const char *text)
{
	out_text(j, text, text ? strlen(text) : 0);
}

void out_key(struct json_out *j, const char *key)
{
	out_string(j, key);
	append_to_json(j, ":", 1);
	j->after_key = true;
}

void out_integer(struct json_out *j, int64_t value)
{
	char derived[24];

	begin_value(j);
	append_to_json(j, derived, (size_t)snprintf(derived, sizeof(derived), "%lld", (long long)value));
}

void out_exact(struct json_out *j, int64_t value)
{
	char derived[24];

	if (value > -(INT64_C(1) << 53) && value < INT64_C(1) << 53) {
		out_integer(j, value);
		return;
	}
	snprintf(derived, sizeof(derived), "%lld", (long long)value);
	out_string(j, derived);
}

void out_real(struct json_out *j, double value)
{
	char derived[40];

	if (!isfinite(value)) {
		out_null(j);
		return;
	}
	begin_value(j);
	append_to_json(j, derived, (size_t)snprintf(derived, sizeof(derived), "%.9g", value));
}

void out_bool(struct json_out *j, bool value)
{
	begin_value(j);
	append_to_json(j, value ? "true" : "false", value ? 4 : 5);
}

void out_null(struct json_out *j)
{
	begin_value(j);
	append_to_json(j, "null", 4);
}

void out_raw(struct json_out *j, const char *text, size_t len)
{
	begin_value(j);
	append_to_json(j, text, len);
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
