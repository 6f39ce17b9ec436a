/* Records of the calling thread as a test wants to see them. */
#ifndef SONDE_TESTS_NVTX_DECODE_H
#define SONDE_TESTS_NVTX_DECODE_H

#include <stdio.h>
#include <string.h>

#include "agent/nvtx/nvtx.h"
#include "fake_agent.h"

struct seen {
	unsigned type, flags, level, domain, size;
	uint64_t time;
	uint32_t color, category;
	uint64_t payload, range, id, extra, schema, total, counter, value, field;
	char text[8192]; /* what follows the fixed part, NUL-terminated */
	unsigned text_size;
	uint64_t string; /* id of a registered message */
};

static inline unsigned nvtx_decode_fixed(const uint64_t *r, struct seen *s)
{
	switch (s->type) {
	case RECORD_NVTX_PUSH_EX:
	case RECORD_NVTX_MARK:
	case RECORD_NVTX_NAME:
	case RECORD_NVTX_START:
		s->color = (uint32_t)r[2];
		s->category = (uint32_t)(r[2] >> 32);
		s->payload = r[3];
		if (s->type != RECORD_NVTX_START)
			return sizeof(struct record_nvtx_event);
		s->range = r[4];
		return sizeof(struct record_nvtx_range);
	case RECORD_NVTX_END: s->range = r[2]; return sizeof(struct record_nvtx_end);
	case RECORD_NVTX_BLOB:
		s->schema = r[2];
		s->total = r[3];
		return sizeof(struct record_blob);
	case RECORD_NVTX_COUNTER:
		s->counter = r[2];
		s->value = r[3];
		s->field = r[4];
		return sizeof(struct record_counter);
	case RECORD_DEFINE:
		s->id = r[2];
		s->extra = r[3];
		return sizeof(struct record_define);
	default: return sizeof(struct record_plain);
	}
}

static inline void nvtx_decode(const uint64_t *r, struct seen *s)
{
	unsigned fixed;

	memset(s, 0, offsetof(struct seen, text));
	s->type = record_type(r[0]);
	s->flags = record_flags(r[0]);
	s->size = record_size(r[0]);
	s->level = record_level(r[0]);
	s->domain = record_domain(r[0]);
	s->time = r[1];
	fixed = nvtx_decode_fixed(r, s);
	s->text_size = s->size - fixed;
	memcpy(s->text, (const char *)r + fixed, s->text_size);
	s->text[s->text_size] = 0;
	s->string = 0;
	if ((s->type <= RECORD_NVTX_MARK || s->type == RECORD_NVTX_NAME) && (s->flags & NVTX_FLAG_REGISTERED))
		memcpy(&s->string, s->text, sizeof(s->string));
}

/* A short record as the long one it stands for. */
static inline void nvtx_decode_short(const uint64_t *r, const struct seen *names, struct seen *s)
{
	unsigned kind = record_short_kind(*r);

	if (kind == RECORD_SHORT_POP) {
		memset(s, 0, offsetof(struct seen, text));
		s->type = RECORD_NVTX_POP;
		s->domain = record_short_which(*r);
	} else {
		*s = names[record_short_which(*r)];
		if (kind == RECORD_SHORT_PUSH_PAYLOAD)
			s->payload = r[1];
		s->type = s->flags || s->color || s->category || s->domain ? RECORD_NVTX_PUSH_EX : RECORD_NVTX_PUSH;
	}
	s->level = record_short_level(*r);
	s->time = record_short_time(*r, agent_now());
}

/* The next event or definition of this thread; 0 when there is none. Names are
 * remembered and looked up on the way. */
static inline int nvtx_next(const void **cursor, struct seen *s)
{
	static __thread struct seen names[RECORD_SHORT_NAMES];
	const uint64_t *record = fake_agent_next(cursor);

	while (record && !record_is_short(*record)) {
		nvtx_decode(record, s);
		if (s->type != RECORD_NVTX_NAME)
			return 1;
		names[s->level] = *s;
		record = fake_agent_next(cursor);
	}
	if (record)
		nvtx_decode_short(record, names, s);
	return record != NULL;
}

#endif
