/* NVTX's calls where only what is open matters (open.h). */
#include "agent/nvtx/open.h"
#include "base/macros.h"

/* Attributes may be of an older version, and shorter. */
static struct nvtx_text name_and_color(const struct nvtx_attributes *attributes, uint32_t *color)
{
	struct nvtx_attributes all = { 0 };

	if (attributes)
		arch_copy(&all, attributes, attributes->size < sizeof(all) ? attributes->size : sizeof(all));
	*color = all.color_type == NVTX_COLOR_IS_ARGB ? all.color : 0;
	return nvtx_text_name(all.message_type, all.message);
}

static int push_ex(struct nvtx_domain *domain, const struct nvtx_attributes *attributes)
{
	uint32_t color;
	struct nvtx_text name = name_and_color(attributes, &color);

	return nvtx_open_push(domain, &name, color);
}

static int push_default(const struct nvtx_attributes *attributes)
{
	return push_ex(NULL, attributes);
}

static int push_a(const char *message)
{
	struct nvtx_text name = nvtx_text_ascii(message);

	return nvtx_open_push(NULL, &name, 0);
}

static int push_w(const wchar_t *message)
{
	struct nvtx_text name = nvtx_text_wide(message);

	return nvtx_open_push(NULL, &name, 0);
}

static int pop(struct nvtx_domain *domain)
{
	return nvtx_open_pop(domain);
}

static int pop_default(void)
{
	return nvtx_open_pop(NULL);
}

static uint64_t start_ex(struct nvtx_domain *domain, const struct nvtx_attributes *attributes)
{
	uint32_t color;
	struct nvtx_text name = name_and_color(attributes, &color);

	return nvtx_open_start(domain, &name, color);
}

static uint64_t start_default(const struct nvtx_attributes *attributes)
{
	return start_ex(NULL, attributes);
}

static uint64_t start_a(const char *message)
{
	struct nvtx_text name = nvtx_text_ascii(message);

	return nvtx_open_start(NULL, &name, 0);
}

static uint64_t start_w(const wchar_t *message)
{
	struct nvtx_text name = nvtx_text_wide(message);

	return nvtx_open_start(NULL, &name, 0);
}

static void end_open_range(struct nvtx_domain *domain, uint64_t range)
{
	(void)domain;
	nvtx_open_end(range);
}

/* Ranges whose name is somewhere in a payload have none here. */
static int push_payload(struct nvtx_domain *domain, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_text none = { .type = NVTX_MESSAGE_NONE };

	(void)payloads;
	(void)count;
	return nvtx_open_push(domain, &none, 0);
}

static int pop_payload(struct nvtx_domain *domain, const struct nvtx_payload *payloads, size_t count)
{
	(void)payloads;
	(void)count;
	return nvtx_open_pop(domain);
}

static uint64_t start_payload(struct nvtx_domain *domain, const struct nvtx_payload *payloads, size_t count)
{
	struct nvtx_text none = { .type = NVTX_MESSAGE_NONE };

	(void)payloads;
	(void)count;
	return nvtx_open_start(domain, &none, 0);
}

static void end_payload(struct nvtx_domain *domain, uint64_t range, const struct nvtx_payload *payloads, size_t count)
{
	(void)payloads;
	(void)count;
	end_open_range(domain, range);
}

static void name_a(void *handle, const char *text)
{
	struct nvtx_text name = nvtx_text_ascii(text);

	nvtx_open_name(handle, &name);
}

static void name_w(void *handle, const wchar_t *text)
{
	struct nvtx_text name = nvtx_text_wide(text);

	nvtx_open_name(handle, &name);
}

struct instead {
	uint8_t module;
	uint8_t index;
	nvtx_function function;
};

nvtx_function nvtx_open_call(int module, unsigned index)
{
	/* Places as in calls.def. */
	/* clang-format off */
	static const struct instead calls[] = {
		{ NVTX_MODULE_CORE, 4, (nvtx_function)start_default },  { NVTX_MODULE_CORE, 5, (nvtx_function)start_a },
		{ NVTX_MODULE_CORE, 6, (nvtx_function)start_w },	{ NVTX_MODULE_CORE, 7, (nvtx_function)nvtx_open_end },
		{ NVTX_MODULE_CORE, 8, (nvtx_function)push_default },	{ NVTX_MODULE_CORE, 9, (nvtx_function)push_a },
		{ NVTX_MODULE_CORE, 10, (nvtx_function)push_w },	{ NVTX_MODULE_CORE, 11, (nvtx_function)pop_default },
		{ NVTX_MODULE_CORE2, 2, (nvtx_function)start_ex },	{ NVTX_MODULE_CORE2, 3, (nvtx_function)end_open_range },
		{ NVTX_MODULE_CORE2, 4, (nvtx_function)push_ex },	{ NVTX_MODULE_CORE2, 5, (nvtx_function)pop },
		{ NVTX_MODULE_CUDA, 3, (nvtx_function)name_a },		{ NVTX_MODULE_CUDA, 4, (nvtx_function)name_w },
		{ NVTX_MODULE_CUDA, 5, (nvtx_function)name_a },		{ NVTX_MODULE_CUDA, 6, (nvtx_function)name_w },
		{ NVTX_MODULE_CUDART, 3, (nvtx_function)name_a },	{ NVTX_MODULE_CUDART, 4, (nvtx_function)name_w },
	};
	/* clang-format on */

	for (size_t i = 0; i < COUNT_OF(calls); i++)
		if (calls[i].module == module && calls[i].index == index)
			return calls[i].function;
	return NULL;
}

nvtx_function nvtx_open_extension_call(int extension, unsigned index)
{
	static const struct instead calls[] = {
		{ NVTX_EXTENSION_PAYLOAD, 3, (nvtx_function)push_payload },
		{ NVTX_EXTENSION_PAYLOAD, 4, (nvtx_function)pop_payload },
		{ NVTX_EXTENSION_PAYLOAD, 5, (nvtx_function)start_payload },
		{ NVTX_EXTENSION_PAYLOAD, 6, (nvtx_function)end_payload },
	};

	for (size_t i = 0; i < COUNT_OF(calls); i++)
		if (calls[i].module == extension && calls[i].index == index)
			return calls[i].function;
	return NULL;
}
