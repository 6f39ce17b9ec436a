#include "agent/nvtx/recent.h"

static void remember(struct nvtx_recent *entry, const struct nvtx_look *look)
{
	entry->key = look->key;
	entry->life = agent_memory()->life;
	entry->domain = (uint16_t)look->domain;
	entry->flags = (uint8_t)look->flags;
	entry->color = look->color;
	entry->category = look->category;
	entry->changing = 0;
}

/* The same address with another text. */
static int text_changed(struct nvtx_recent *entry, const struct nvtx_look *look)
{
	if (look->flags & NVTX_FLAG_REGISTERED || entry->key != look->key ||
	    entry->life != agent_memory()->life)
		return 0;
	if (!entry->changing && arch_text_is(entry->text, look->key, RECENT_TEXT))
		return 0; /* another colour or category, the same text */
	entry->changing = 1;
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
	record->color = look->color;
	record->category = look->category;
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
