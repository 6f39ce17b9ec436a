#include "agent/nvtx/nvtx.h"

#include "base/text/utf8.h"

/* Not in the middle of a UTF-8 sequence. */
static uint32_t cut_at(const char *text, uint32_t size)
{
	for (int i = 0; i < 3 && size > 0 && ((uint8_t)text[size] & 0xc0) == 0x80; i++)
		size--;
	return size;
}

struct nvtx_text nvtx_text_ascii(const char *text)
{
	struct nvtx_text ret = { .type = NVTX_MESSAGE_NONE };
	size_t size;

	if (!text)
		return ret;
	size = arch_text_length(text, NVTX_WIRE_TEXT_MAX + 1);
	if (size > NVTX_WIRE_TEXT_MAX) {
		size = cut_at(text, NVTX_WIRE_TEXT_MAX);
		ret.cut = 1;
	}
	ret.type = NVTX_MESSAGE_ASCII;
	ret.size = (uint32_t)size;
	ret.value.ascii = text;
	return ret;
}

static uint32_t decode_wide_char(wchar_t c)
{
	uint32_t code = (uint32_t)c;

	return code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? UTF8_REPLACEMENT : code;
}

struct nvtx_text nvtx_text_wide(const wchar_t *text)
{
	struct nvtx_text ret = { .type = NVTX_MESSAGE_NONE };
	uint32_t size = 0;

	if (!text)
		return ret;
	for (const wchar_t *c = text; *c; c++) {
		uint32_t more = (uint32_t)utf8_size(decode_wide_char(*c));

		if (size + more > NVTX_WIRE_TEXT_MAX) {
			ret.cut = 1;
			break;
		}
		size += more;
	}
	ret.type = NVTX_MESSAGE_WIDE;
	ret.size = size;
	ret.value.wide = text;
	return ret;
}

struct nvtx_text nvtx_text_message(int32_t type, union nvtx_message value)
{
	struct nvtx_text none = { .type = NVTX_MESSAGE_NONE };

	if (type == NVTX_MESSAGE_ASCII)
		return nvtx_text_ascii(value.ascii);
	if (type == NVTX_MESSAGE_WIDE)
		return nvtx_text_wide(value.wide);
	if (type == NVTX_MESSAGE_REGISTERED && value.string)
		return (struct nvtx_text){ .type = NVTX_MESSAGE_REGISTERED, .size = sizeof(uint64_t), .value = value };
	return none;
}

struct nvtx_text nvtx_text_name(int32_t type, union nvtx_message value)
{
	if (type == NVTX_MESSAGE_REGISTERED && value.string)
		return (struct nvtx_text){ .type = NVTX_MESSAGE_ASCII, .size = value.string->node.size, .value.ascii = value.string->text };
	return nvtx_text_message(type, value);
}

static void put_wide(uint8_t *to, const struct nvtx_text *text)
{
	uint32_t done = 0;

	for (const wchar_t *c = text->value.wide; done < text->size && *c; c++) {
		uint32_t code = decode_wide_char(*c);

		if (done + utf8_size(code) > text->size)
			break;
		done += (uint32_t)utf8_put(to + done, code);
	}
	/* Only when the program shortened its text between measuring and copying. */
	while (done < text->size)
		to[done++] = '?';
}

void nvtx_text_put(void *to, const struct nvtx_text *text)
{
	switch (text->type) {
	case NVTX_MESSAGE_ASCII: arch_copy(to, text->value.ascii, text->size); break;
	case NVTX_MESSAGE_WIDE: put_wide(to, text); break;
	case NVTX_MESSAGE_REGISTERED: *(uint64_t *)to = text->value.string->id; break;
	case NVTX_MESSAGE_NONE: break;
	}
}

void nvtx_text_report_cut(void)
{
	if (atomic_exchange_explicit(&nvtx_state.cut_reported, 1, memory_order_relaxed))
		return;
	agent_diagnose(DIAGNOSTIC_WARNING, "NVTX: a name longer than 4000 bytes was cut");
}
