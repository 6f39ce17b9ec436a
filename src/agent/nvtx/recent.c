#include "agent/nvtx/recent.h"

/* No entry of a thread that lives has this kind. */
#define KIND_CHANGING UINT64_MAX

static void remember(struct nvtx_recent *entry, const struct nvtx_look *look)
{
	entry->key = look->key;
	entry->kind = nvtx_look_kind(agent_memory()->life, look->domain, look->flags);
	entry->look = look->look;
}

/* The same address with another text. */
static int text_changed(struct nvtx_recent *entry, const struct nvtx_look *look)
{
	if (look->flags & NVTX_FLAG_REGISTERED || entry->key != look->key)
		return 0;
	if (entry->kind == KIND_CHANGING)
		return 1;
	if ((uint32_t)entry->kind != agent_memory()->life || arch_text_is(entry->text, look->key, RECENT_TEXT))
		return 0; /* another thread's, or another colour or category of the same text */
	entry->kind = KIND_CHANGING;
	return 1;
}

int nvtx_recent_learn(struct nvtx_recent *entry, unsigned number, const struct nvtx_look *look)
{
	uint32_t size = sizeof(struct record_nvtx_event) + sizeof(uint64_t);
	struct record_nvtx_event *record;
	char text[ARCH_SHORT_TEXT];
	int length = sizeof(uint64_t);

	if (text_changed(entry, look))
		return 0;
	if (!(look->flags & NVTX_FLAG_REGISTERED)) {
		length = arch_copy_short_text(text, look->key);
		if (length < 0 || (unsigned)length >= RECENT_TEXT)
			return 0;
		size = (uint32_t)sizeof(*record) + (uint32_t)length;
	}
	record = agent_begin(size);
	if (!record)
		return -1;
	record->color = (uint32_t)look->look;
	record->category = (uint32_t)(look->look >> 32);
	record->payload = 0;
	if (look->flags & NVTX_FLAG_REGISTERED)
		*(uint64_t *)(record + 1) = ((const struct nvtx_string *)look->key)->id;
	else
		arch_copy(record + 1, text, (size_t)length);
	record->time = agent_now();
	remember(entry, look);
	if (!(look->flags & NVTX_FLAG_REGISTERED))
		arch_copy(entry->text, text, (size_t)length + 1);
	agent_end(record, record_head(RECORD_NVTX_NAME, look->flags, size, number, look->domain), size);
	return 1;
}
