#include "agent/nvtx/nvtx.h"

void *nvtx_define_begin(const struct nvtx_definition *what, uint32_t size)
{
	struct record_define *record;

	if (!nvtx_defining())
		return NULL;
	if (agent_unlikely(nvtx_is_kept(what)))
		return nvtx_keep_begin(what, size);
	record = agent_begin_definition((uint32_t)sizeof(*record) + size);
	if (!record)
		return NULL;
	record->id = what->id;
	record->extra = what->extra;
	return record + 1;
}

void nvtx_define_end(const struct nvtx_definition *what, void *body, uint32_t size)
{
	struct record_define *record = (struct record_define *)body - 1;

	if (agent_unlikely(nvtx_is_kept(what))) {
		nvtx_keep_end(body, size);
		return;
	}
	size += (uint32_t)sizeof(*record);
	record->time = agent_now();
	agent_end(record, record_head(RECORD_DEFINE, what->kind, size, 0, what->domain), size);
}

int nvtx_define(const struct nvtx_definition *what, const void *fixed, uint32_t fixed_size, const struct nvtx_text *text)
{
	uint32_t size = fixed_size + text->size;
	uint8_t *body = nvtx_define_begin(what, size);

	if (!body)
		return -1;
	arch_copy(body, fixed, fixed_size);
	nvtx_text_put(body + fixed_size, text);
	nvtx_define_end(what, body, size);
	if (agent_unlikely(text->cut))
		nvtx_text_report_cut();
	return 0;
}
