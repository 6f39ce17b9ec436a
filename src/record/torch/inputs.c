#include "record/torch/inputs.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "fmt/torch_wire.h"

/* A third of how long ids of passing texts are good for. */
#define TEXT_NS (PASSING_SECONDS * 1000000000ll / 3)

void input_type_set(struct input_type *type, uint64_t id, const char *text, size_t size)
{
	type->id = id;
	type->text[0] = '\0';
	if (size + 3 <= sizeof(type->text) && !memchr(text, '"', size) && !memchr(text, '\\', size))
		snprintf(type->text, sizeof(type->text), "\"%.*s\"", (int)size, text);
}

struct input {
	uint32_t word;
	uint32_t count;
	uint32_t width; /* bytes of a size */
	const uint8_t *dims;
};

/* Returns 0 where it makes no sense. */
static int next_input(const uint8_t **at, const uint8_t *end, struct input *ret)
{
	if (end - *at < 4)
		return 0;
	memcpy(&ret->word, *at, 4);
	ret->count = ret->word >> TORCH_INPUT_COUNT_SHIFT;
	ret->width = ret->word & TORCH_INPUT_WIDE ? 8 : 4;
	ret->dims = *at + 4;
	if ((size_t)(end - ret->dims) / ret->width < ret->count)
		return 0;
	*at = ret->dims + (size_t)ret->count * ret->width;
	return 1;
}

static const struct input_type *type_of(const struct input *input, const struct input_type *types)
{
	return input->word & TORCH_INPUT_TYPED ? &types[input->word & TORCH_INPUT_TYPE_MASK] : NULL;
}

static int put_sizes(struct buf *shapes, const struct input *input)
{
	uint64_t size;
	uint32_t narrow;
	int r = buf_puts(shapes, "[");

	for (uint32_t i = 0; r >= 0 && i < input->count; i++) {
		if (input->width == 8) {
			memcpy(&size, input->dims + (size_t)i * 8, 8);
		} else {
			memcpy(&narrow, input->dims + (size_t)i * 4, 4);
			size = narrow;
		}
		r = buf_printf(shapes, "%s%lld", i ? ", " : "", (long long)size);
	}
	return r >= 0 ? buf_puts(shapes, "]") : r;
}

static int put_inputs(struct buf *shapes, struct buf *names, const struct input_type *types, const uint8_t *at, const uint8_t *end)
{
	const struct input_type *type;
	const char *comma = "[";
	struct input input;
	int r = 0;

	while (r >= 0 && at < end && next_input(&at, end, &input)) {
		type = type_of(&input, types);
		r = buf_puts(shapes, comma);
		if (r >= 0)
			r = put_sizes(shapes, &input);
		if (r >= 0)
			r = buf_printf(names, "%s%s", comma, type && type->text[0] ? type->text : "\"\"");
		comma = ", ";
	}
	if (r >= 0)
		r = buf_puts(shapes, *comma == '[' ? "[]" : "]");
	return r >= 0 ? buf_puts(names, *comma == '[' ? "[]" : "]") : r;
}

/* 0: the bytes make no sense. */
static uint64_t key_of(const struct input_type *types, const uint8_t *bytes, uint32_t size)
{
	uint64_t key = hash_bytes(HASH_START, bytes, size);
	const uint8_t *at = bytes, *end = bytes + size;
	const struct input_type *type;
	struct input input;

	while (at < end) {
		if (!next_input(&at, end, &input))
			return 0;
		type = type_of(&input, types);
		key = hash_mix(key ^ (type ? type->id : 0));
	}
	return key ? key : 1;
}

const struct input_texts *input_texts_of(struct session *s, struct input_texts *cache, const struct input_type *types, const uint8_t *bytes,
					 uint32_t size)
{
	uint64_t key = key_of(types, bytes, size);
	struct input_texts *texts = &cache[key % INPUT_TEXTS];
	struct buf shapes = BUF_INIT, names = BUF_INIT;
	int r;

	if (!key)
		return NULL;
	if (texts->key == key && s->now - texts->since < TEXT_NS)
		return texts;
	r = put_inputs(&shapes, &names, types, bytes, bytes + size);
	*texts = (struct input_texts){ 0 };
	if (r >= 0) {
		texts->key = key;
		texts->since = s->now;
		texts->shapes = report_string_passing(s->writer, buf_cstr(&shapes), shapes.len);
		texts->types = report_string_passing(s->writer, buf_cstr(&names), names.len);
	}
	buf_release(&shapes);
	buf_release(&names);
	return r >= 0 ? texts : NULL;
}
