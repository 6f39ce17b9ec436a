/* libFuzzer: arbitrary bytes as JSON, whole and in windows of a few bytes: the same values, the same trouble at the
 * same place.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/fuzz_json.c */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/input/json.h"
#include "replay.h"

struct outcome {
	int result;
	size_t offset, len;
	const char *trouble;
	uint64_t sum; /* of what the values said */
};

static void add(struct outcome *o, uint64_t value)
{
	o->sum = (o->sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static void look_at(struct outcome *o, const struct json_value *v)
{
	char text[256];
	int64_t number;
	double real;

	add(o, (uint64_t)v->kind);
	add(o, v->len);
	if (json_scaled(v, 3, &number))
		add(o, (uint64_t)number);
	if (json_integer(v, &number))
		add(o, (uint64_t)number);
	if (json_real(v, &real))
		add(o, 1);
	if (v->kind == JSON_STRING && v->len < sizeof(text) && json_unescape(v, text, v->len + 1) > v->len)
		abort();
}

static struct outcome read_with(const uint8_t *data, size_t size, size_t window)
{
	struct outcome o = { 0 };
	struct json_value key, v = { 0 };
	struct source source;
	struct json j;
	int first = 1;

	source_of_text(&source, (const char *)data, size);
	source.window = window;
	json_begin_source(&j, &source);
	if (json_peek(&j) == '{') {
		while ((o.result = json_next_member(&j, &first, &key)) > 0 && (o.result = json_value(&j, &v)) >= 0) {
			look_at(&o, &key);
			look_at(&o, &v);
		}
	} else if (json_peek(&j) == '[') {
		while ((o.result = json_next_element(&j, &first)) > 0 && (o.result = json_value(&j, &v)) >= 0)
			look_at(&o, &v);
	} else {
		o.result = json_value(&j, &v);
		if (o.result >= 0)
			look_at(&o, &v);
	}
	o.offset = (size_t)(j.at - j.begin);
	o.trouble = j.trouble;
	return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole = read_with(data, size, size + 1), parts;

	for (size_t window = 1; window < 8; window += 3) {
		parts = read_with(data, size, window);
		if (whole.result != parts.result || whole.offset != parts.offset || whole.sum != parts.sum ||
		    !whole.trouble != !parts.trouble || (whole.trouble && strcmp(whole.trouble, parts.trouble) != 0) || whole.offset > size)
			abort();
	}
	return 0;
}
