#include "agent/cuda/records/definitions.h"

#include <string.h>

uint32_t cuda_text_room(uint32_t record_size, const char *text)
{
	size_t room = RING_CHUNK_DATA - record_size;

	return text ? (uint32_t)strnlen(text, room) : 0;
}

int cuda_report(const struct cuda_definition *d)
{
	const struct agent_interface *core = cuda_agent.core;
	uint32_t fixed = (uint32_t)sizeof(struct record_define) + d->body_size;
	uint32_t text_size = cuda_text_room(fixed, d->text);
	struct record_define *record;

	record = d->reporter == CUDA_REPORTER_OURS ? core->begin_patiently(fixed + text_size) : core->begin_definition(fixed + text_size);
	if (!record)
		return -1;
	record->time = d->time;
	record->id = d->id;
	record->extra = d->extra;
	if (d->body_size)
		memcpy(record + 1, d->body, d->body_size);
	if (text_size)
		memcpy((uint8_t *)record + fixed, d->text, text_size);
	core->end(record, record_head(RECORD_DEFINE, d->kind, fixed + text_size, d->level, 0), fixed + text_size);
	return 0;
}
