/* Push, pop, start, end and mark.
 *
 * The calls people make in inner loops are straight functions of their own: push of a name
 * used recently, with attributes or without, and pop; each writes a short record. Everything else
 * (wide, changing and long texts, binary payloads, deep levels, domains beyond the threads'
 * arrays of levels) goes the general way through struct nvtx_event.
 *
 * The level of a thread changes after the record was begun: a signal handler that comes in
 * between is refused by the guard and cannot write its events out of order. A push that
 * finds no room counts its level all the same, so that its pop is not taken for another's.
 *
 * A text that goes into its record is copied in blocks of 16 bytes, up to ARCH_SHORT_TEXT, before
 * its length is known: so much room is asked for, and only what is needed is kept. */
#include "agent/nvtx/recent.h"

_Static_assert(RECORD_SHORT_DOMAINS <= AGENT_LEVEL_DOMAINS, "their levels are in the thread's memory");

static inline unsigned head_level(int32_t level)
{
	return (uint32_t)level < NVTX_WIRE_LEVEL_MAX ? (unsigned)level : NVTX_WIRE_LEVEL_MAX;
}

/* This life of this thread: the upper half of its range ids. */
static inline uint64_t next_range(void)
{
	struct agent_tls *tls = &agent_tls;

	/* Nothing yet, or 2^32 ranges used up: another number for this thread. */
	if (agent_unlikely((uint32_t)tls->ranges == 0))
		tls->ranges = nvtx_thread_life() << 32 | 1;
	return tls->ranges++;
}

/* Domains beyond the array: one counter per slot and domain, reset when another thread
 * has got the slot. */
static AGENT_COLD int32_t *far_level(uint32_t domain)
{
	struct agent_tls *tls = &agent_tls;
	uint32_t slot = agent_slot_index();
	struct nvtx_level *level = (struct nvtx_level *)nvtx_find_number(NVTX_NODE_LEVEL, domain, slot);
	uint64_t life;

	if (!level) {
		struct nvtx_level *fresh = agent_permanent(sizeof(*fresh));

		if (!fresh)
			return NULL;
		level = (struct nvtx_level *)nvtx_insert_number(NVTX_NODE_LEVEL, domain, slot, &fresh->node);
	}
	if (tls->ranges >> 32 == 0)
		tls->ranges = nvtx_thread_life() << 32 | 1;
	life = tls->ranges >> 32;
	if (level->life != life) {
		level->life = life;
		level->level = 0;
	}
	return &level->level;
}

/* Where this thread counts its levels in a domain; NULL before its first event. */
static inline int32_t *find_thread_level(uint32_t domain)
{
	int32_t *levels = agent_tls.levels;

	if (agent_unlikely(!levels))
		return NULL;
	return agent_likely(domain < AGENT_LEVEL_DOMAINS) ? &levels[domain] : far_level(domain);
}

/* A push that is not recorded. */
static AGENT_COLD int push_dropped(uint32_t domain)
{
	int32_t *level = find_thread_level(domain);

	return level ? (*level)++ : NVTX_FAILED;
}

/* A pop in a thread that has no level to end: its first event, one without a ring, or
 * one too many. */
static AGENT_COLD int pop_unmatched(void)
{
	if (!agent_tls.levels) {
		if (!agent_begin(sizeof(struct record_plain)))
			return NVTX_FAILED; /* no ring: counted as dropped, like its push */
		nvtx_abandon();
	}
	agent_count_unmatched();
	return NVTX_FAILED;
}

/* The outermost range of this thread in its domain opened the window. */
static inline int is_end_of_window(uint32_t domain, int32_t level)
{
	return level == 0 && agent_memory()->capture == domain + 1;
}

static inline uint64_t time_or_now(uint64_t time)
{
	return time ? time : agent_now();
}

/* Fills what push, start and mark have in common; returns the flags. */
static unsigned fill_event(struct record_nvtx_event *record, void *behind, const struct nvtx_event *event)
{
	unsigned flags = event->flags;

#define PUT_FIELD(NAME, name, type) record->name = event->name;
	record->color = event->color;
	NVTX_FIELDS(PUT_FIELD)
#undef PUT_FIELD
	record->payload = event->payload;
	nvtx_text_put(behind, &event->text);
	if (event->text.type == NVTX_MESSAGE_NONE)
		flags |= NVTX_FLAG_NO_MESSAGE;
	if (event->text.type == NVTX_MESSAGE_REGISTERED)
		flags |= NVTX_FLAG_REGISTERED;
	record->time = time_or_now(event->time);
	return flags;
}

int nvtx_range_is_open(uint32_t domain)
{
	const int32_t *level = find_thread_level(domain);

	return level && *level > 0;
}

/* Room for an event, unless its payload is lost already. */
static inline void *begin_event(const struct nvtx_event *event, uint32_t size)
{
	return event->flags & NVTX_EVENT_LOST ? NULL : agent_begin(size);
}

int nvtx_push_event(uint32_t domain, const struct nvtx_event *event)
{
	uint32_t size = (uint32_t)sizeof(struct record_nvtx_event) + event->text.size;
	struct record_nvtx_event *record = begin_event(event, size);
	unsigned flags;
	int32_t *level;
	int ret = 0;

	if (!record)
		return push_dropped(domain);
	flags = fill_event(record, record + 1, event);
	level = find_thread_level(domain);
	if (level)
		ret = (*level)++;
	agent_end(record, record_head(RECORD_NVTX_PUSH_EX, flags, size, head_level(ret), domain), size);
	if (agent_unlikely(event->text.cut))
		nvtx_text_report_cut();
	return ret;
}

int nvtx_pop_event(uint32_t domain, uint32_t flags, uint64_t time)
{
	struct record_plain *record;
	int32_t *level = find_thread_level(domain);
	int32_t ended;

	if (agent_unlikely(!level || *level <= 0))
		return pop_unmatched();
	record = flags & NVTX_EVENT_LOST ? NULL : agent_begin(sizeof(*record));
	ended = --*level;
	if (agent_likely(record)) {
		record->time = time_or_now(time);
		agent_end(record, record_head(RECORD_NVTX_POP, flags, sizeof(*record), head_level(ended), domain), sizeof(*record));
	}
	return agent_unlikely(is_end_of_window(domain, ended)) ? nvtx_window_popped() : ended;
}

uint64_t nvtx_start_event(uint32_t domain, const struct nvtx_event *event)
{
	uint32_t size = (uint32_t)sizeof(struct record_nvtx_range) + event->text.size;
	struct record_nvtx_range *record = begin_event(event, size);
	uint64_t range = next_range();
	unsigned flags;

	if (!record)
		return range;
	record->range_id = range;
	flags = fill_event(&record->event, record + 1, event);
	agent_end(record, record_head(RECORD_NVTX_START, flags, size, 0, domain), size);
	if (agent_unlikely(event->text.cut))
		nvtx_text_report_cut();
	return range;
}

void nvtx_end_event(uint32_t domain, uint64_t range, uint32_t flags, uint64_t time)
{
	struct record_nvtx_end *record;

	/* Started while the window was closed. */
	if (agent_unlikely(range == 0)) {
		agent_count_unmatched();
		return;
	}
	record = flags & NVTX_EVENT_LOST ? NULL : agent_begin(sizeof(*record));
	if (record) {
		record->range_id = range;
		record->time = time_or_now(time);
		agent_end(record, record_head(RECORD_NVTX_END, flags, sizeof(*record), 0, domain), sizeof(*record));
	}
	if (agent_unlikely(range == atomic_load_explicit(&nvtx_state.window_range, memory_order_relaxed)))
		nvtx_window_ended();
}

void nvtx_mark_event(uint32_t domain, const struct nvtx_event *event)
{
	uint32_t size = (uint32_t)sizeof(struct record_nvtx_event) + event->text.size;
	struct record_nvtx_event *record = begin_event(event, size);
	unsigned flags;

	if (!record)
		return;
	flags = fill_event(record, record + 1, event);
	agent_end(record, record_head(RECORD_NVTX_MARK, flags, size, 0, domain), size);
	if (agent_unlikely(event->text.cut))
		nvtx_text_report_cut();
}

/* Upper half of a 32-bit payload's union is whatever the program's stack had. */
static inline uint64_t payload_bits(const struct nvtx_attributes *attributes)
{
	switch (attributes->payload_type) {
	case NVTX_PAYLOAD_UINT32:
	case NVTX_PAYLOAD_FLOAT: return (uint32_t)attributes->payload;
	case NVTX_PAYLOAD_INT32: return (uint64_t)(int64_t)(int32_t)attributes->payload;
	default: return attributes->payload;
	}
}

/* Colour and scalar payload as flags of a record's head. */
static inline unsigned attribute_flags(const struct nvtx_attributes *attributes)
{
	unsigned flags = attributes->color_type == NVTX_COLOR_IS_ARGB ? NVTX_FLAG_COLOR : 0;

	if ((uint32_t)attributes->payload_type < NVTX_PAYLOAD_KIND_COUNT)
		flags |= (unsigned)attributes->payload_type << NVTX_FLAG_PAYLOAD_SHIFT;
	return flags;
}

/* Attributes of any size and kind. Binary payloads are written here, before their event. */
static struct nvtx_event event_from(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct nvtx_attributes all = { 0 };
	struct nvtx_event event = { .time = 0 };

	if (attributes)
		arch_copy(&all, attributes, attributes->size < sizeof(all) ? attributes->size : sizeof(all));
	event.flags = attribute_flags(&all);
	event.category = all.category;
	if (event.flags & NVTX_FLAG_COLOR)
		event.color = all.color;
	if (event.flags >> NVTX_FLAG_PAYLOAD_SHIFT)
		event.payload = payload_bits(&all);
	event.text = nvtx_text_message(all.message_type, all.message);
	if (all.payload_type == NVTX_PAYLOAD_IS_EXTENDED && all.payload && all.payload_count > 0) {
		event.time = agent_now();
		event.flags |= nvtx_payload_put(domain, (const struct nvtx_payload *)(uintptr_t)all.payload, (size_t)all.payload_count,
						event.time);
	}
	return event;
}

static AGENT_COLD int push_any(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct nvtx_event event = event_from(domain, attributes);

	return nvtx_push_event(domain, &event);
}

static AGENT_COLD int push_text(struct nvtx_text text)
{
	struct nvtx_event event = { .text = text };

	return nvtx_push_event(0, &event);
}

/* A push with its text in the record: names that change, long ones, deep levels. */
static AGENT_COLD int push_in_full(const char *message)
{
	struct record_plain *record = agent_begin(sizeof(*record) + ARCH_SHORT_TEXT);
	uint32_t size;
	int32_t level;
	int length;

	if (!record)
		return push_dropped(0);
	length = arch_copy_short_text(record + 1, message);
	if (length < 0) {
		nvtx_abandon();
		return push_text(nvtx_text_ascii(message));
	}
	level = agent_tls.levels[0]++;
	record->time = agent_now();
	size = (uint32_t)sizeof(*record) + (uint32_t)length;
	agent_end(record, record_head(RECORD_NVTX_PUSH, 0, size, head_level(level), 0), size);
	return level;
}

/* Gives the name a number if it has none. 1: write the short record; 0: write it in full;
 * -1: lost, and counted. */
static int prepare_short(const struct nvtx_look *look)
{
	struct agent_thread_memory *memory = agent_memory();
	unsigned number = nvtx_recent_number(look->key, look->domain);
	struct nvtx_recent *entry;

	/* The thread's first event has no memory yet. */
	if (!memory || memory->levels[look->domain] >= (int32_t)RECORD_SHORT_LEVELS)
		return 0;
	entry = nvtx_recent_at(memory, number);
	if (nvtx_window_is_awaited() && nvtx_window_counts(look->flags & NVTX_FLAG_REGISTERED, look->key)) {
		/* It may have a number since a capture that did not count. */
		if (nvtx_recent_is(entry, memory->life, look))
			entry->key = NULL;
		return 0;
	}
	return nvtx_recent_is(entry, memory->life, look) ? 1 : nvtx_recent_learn(entry, number, look);
}

static inline int put_short_push(uint64_t *record, unsigned kind, uint32_t domain, unsigned number, uint32_t size, uint64_t time)
{
	int32_t level = agent_tls.levels[domain]++;

	agent_end(record, record_short(kind, (unsigned)level, number, time), size);
	return level;
}

/* The straight ways below call nothing, so that they need no stack: recording is on, and time is
 * a register of the CPU. Everything else is left to the functions called ..._otherwise. */
static inline int is_straight_path(void)
{
	uint32_t attached = atomic_load_explicit(&agent_pages.attached, memory_order_relaxed);
	uint32_t gate = atomic_load_explicit(&agent_pages.session.gate, memory_order_relaxed);

	/* The thread's own copy of the gate is that of a window in which it made events. */
	return agent_likely(attached == agent_tls.attached && gate == agent_tls.gate && (gate & RING_GATE_NVTX) &&
			    agent_pages.session.clock == RING_CLOCK_TSC);
}

/* Recording is on, or this range turns it on. */
static inline int is_push_recorded(uint32_t domain, int32_t type, union nvtx_message message)
{
	return nvtx_window_is_awaited() ? nvtx_window_opens_by_push(domain, type, message) : agent_on(RING_GATE_NVTX);
}

static inline int has_message(const struct nvtx_attributes *attributes)
{
	return attributes && attributes->size >= sizeof(*attributes);
}

static inline int is_push_ex_recorded(uint32_t domain, const struct nvtx_attributes *attributes)
{
	return has_message(attributes) ? is_push_recorded(domain, attributes->message_type, attributes->message) : agent_on(RING_GATE_NVTX);
}

static __attribute__((noinline)) int push_a_otherwise(const char *message)
{
	struct nvtx_look look = { .key = message };
	uint64_t *record;
	int prepared;

	if (!is_push_recorded(0, NVTX_MESSAGE_ASCII, (union nvtx_message){ .ascii = message }))
		return NVTX_UNTRACKED;
	if (!message)
		return push_text(nvtx_text_ascii(NULL));
	prepared = prepare_short(&look);
	if (prepared <= 0)
		return prepared == 0 ? push_in_full(message) : push_dropped(0);
	record = agent_begin(sizeof(*record));
	if (!record)
		return push_dropped(0);
	return put_short_push(record, RECORD_SHORT_PUSH, 0, nvtx_recent_number(message, 0), sizeof(*record), agent_now());
}

static inline __attribute__((always_inline)) int push_a(const char *message)
{
	struct agent_thread_memory *memory = agent_memory();
	struct nvtx_look look = { .key = message };
	unsigned number = nvtx_recent_number(message, 0);

	if (agent_unlikely(!message || !memory || !agent_has_room(sizeof(uint64_t)) || memory->levels[0] >= (int32_t)RECORD_SHORT_LEVELS ||
			   !nvtx_recent_is(nvtx_recent_at(memory, number), memory->life, &look)))
		return push_a_otherwise(message);
	return put_short_push(agent_begin_here(), RECORD_SHORT_PUSH, 0, number, sizeof(uint64_t), arch_cycles());
}

int nvtx_range_push_a(const char *message)
{
	return is_straight_path() ? push_a(message) : push_a_otherwise(message);
}

/* The fast way asks for attributes of full size, an ASCII or registered message and no
 * binary payload. */
static inline int plain_attributes(uint32_t domain, const struct nvtx_attributes *attributes)
{
	return attributes && attributes->size >= sizeof(*attributes) &&
	       (attributes->message_type == NVTX_MESSAGE_ASCII || attributes->message_type == NVTX_MESSAGE_REGISTERED) &&
	       attributes->message.ascii && (uint32_t)attributes->payload_type < NVTX_PAYLOAD_KIND_COUNT && domain < RECORD_SHORT_DOMAINS;
}

static inline struct nvtx_look look_of(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct nvtx_look look = { .key = attributes->message.ascii,
				  .domain = domain,
				  .flags = attribute_flags(attributes),
				  .look = (uint64_t)attributes->category << 32 };

	if (look.flags & NVTX_FLAG_COLOR)
		look.look |= attributes->color;
	if (attributes->message_type == NVTX_MESSAGE_REGISTERED)
		look.flags |= NVTX_FLAG_REGISTERED;
	return look;
}

/* The short record of a push with attributes; the payload, if any, is its second word. */
static inline int put_attributes(uint64_t *record, const struct nvtx_look *look, const struct nvtx_attributes *attributes, uint64_t time)
{
	unsigned number = nvtx_recent_number(look->key, look->domain);

	if (!attributes->payload_type)
		return put_short_push(record, RECORD_SHORT_PUSH, look->domain, number, sizeof(*record), time);
	record[1] = payload_bits(attributes);
	return put_short_push(record, RECORD_SHORT_PUSH_PAYLOAD, look->domain, number, 2 * sizeof(*record), time);
}

static __attribute__((noinline)) int push_ex_otherwise(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct nvtx_look look;
	uint64_t *record;
	int prepared;

	if (!is_push_ex_recorded(domain, attributes))
		return NVTX_UNTRACKED;
	if (!plain_attributes(domain, attributes))
		return push_any(domain, attributes);
	look = look_of(domain, attributes);
	prepared = prepare_short(&look);
	if (prepared <= 0)
		return prepared == 0 ? push_any(domain, attributes) : push_dropped(domain);
	record = agent_begin(2 * sizeof(*record));
	return record ? put_attributes(record, &look, attributes, agent_now()) : push_dropped(domain);
}

static inline __attribute__((always_inline)) int push_ex(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct agent_thread_memory *memory = agent_memory();
	struct nvtx_look look;

	if (agent_unlikely(!is_straight_path() || !plain_attributes(domain, attributes) || !memory ||
			   !agent_has_room(2 * sizeof(uint64_t)) || memory->levels[domain] >= (int32_t)RECORD_SHORT_LEVELS))
		return push_ex_otherwise(domain, attributes);
	look = look_of(domain, attributes);
	if (agent_unlikely(!nvtx_recent_is(nvtx_recent_at(memory, nvtx_recent_number(look.key, domain)), memory->life, &look)))
		return push_ex_otherwise(domain, attributes);
	return put_attributes(agent_begin_here(), &look, attributes, arch_cycles());
}

int nvtx_range_push_ex(const struct nvtx_attributes *attributes)
{
	return push_ex(0, attributes);
}

int nvtx_domain_range_push_ex(struct nvtx_domain *domain, const struct nvtx_attributes *attributes)
{
	return push_ex(nvtx_domain_id(domain), attributes);
}

int nvtx_range_push_w(const wchar_t *message)
{
	if (!is_push_recorded(0, NVTX_MESSAGE_WIDE, (union nvtx_message){ .wide = message }))
		return NVTX_UNTRACKED;
	return push_text(nvtx_text_wide(message));
}

static __attribute__((noinline)) int pop_otherwise(uint32_t domain)
{
	return agent_on(RING_GATE_NVTX) ? nvtx_pop_event(domain, 0, 0) : NVTX_UNTRACKED;
}

static inline __attribute__((always_inline)) int pop_nvtx_range(uint32_t domain)
{
	uint64_t *record;
	int32_t level;

	if (agent_unlikely(domain >= RECORD_SHORT_DOMAINS || !agent_tls.levels || !agent_has_room(sizeof(*record))))
		return pop_otherwise(domain);
	level = agent_tls.levels[domain] - 1;
	if (agent_unlikely((uint32_t)level >= RECORD_SHORT_LEVELS))
		return pop_otherwise(domain);
	record = agent_begin_here();
	agent_tls.levels[domain] = level;
	agent_end(record, record_short(RECORD_SHORT_POP, (unsigned)level, domain, arch_cycles()), sizeof(*record));
	return agent_unlikely(is_end_of_window(domain, level)) ? nvtx_window_popped() : level;
}

int nvtx_range_pop(void)
{
	return is_straight_path() ? pop_nvtx_range(0) : pop_otherwise(0);
}

int nvtx_domain_range_pop(struct nvtx_domain *domain)
{
	return is_straight_path() ? pop_nvtx_range(nvtx_domain_id(domain)) : pop_otherwise(nvtx_domain_id(domain));
}

const char nvtx_cost_name[] = "twenty characters ab";

/* Whether a window is open or not: what it would cost if it were. */
void nvtx_cost_pair(void)
{
	struct nvtx_look look = { .key = nvtx_cost_name };
	struct agent_thread_memory *memory = agent_memory();

	/* A closed gate keeps the other way from giving the name its number. */
	if (memory && nvtx_recent_at(memory, nvtx_recent_number(look.key, 0))->key != look.key)
		prepare_short(&look);
	push_a(nvtx_cost_name);
	pop_nvtx_range(0);
}

/* Whether a range that starts is recorded; NVTX_OPENS_OWN: its end closes the window. */
static inline enum nvtx_opens start_is_recorded(uint32_t domain, int32_t type, union nvtx_message message)
{
	if (nvtx_window_is_awaited())
		return nvtx_window_opens(domain, type, message);
	return agent_on(RING_GATE_NVTX) ? NVTX_OPENS_ANOTHERS : NVTX_OPENS_NOTHING;
}

static uint64_t start_event(uint32_t domain, const struct nvtx_event *event, enum nvtx_opens opens)
{
	uint64_t range = nvtx_start_event(domain, event);

	if (agent_unlikely(opens == NVTX_OPENS_OWN))
		nvtx_window_is(range);
	return range;
}

static uint64_t start_ex(uint32_t domain, const struct nvtx_attributes *attributes)
{
	int named = has_message(attributes);
	enum nvtx_opens opens = start_is_recorded(domain, named ? attributes->message_type : NVTX_MESSAGE_NONE,
						  named ? attributes->message : (union nvtx_message){ .ascii = NULL });
	struct nvtx_event event;

	if (opens == NVTX_OPENS_NOTHING)
		return 0;
	event = event_from(domain, attributes);
	return start_event(domain, &event, opens);
}

uint64_t nvtx_range_start_ex(const struct nvtx_attributes *attributes)
{
	return start_ex(0, attributes);
}

uint64_t nvtx_domain_range_start_ex(struct nvtx_domain *domain, const struct nvtx_attributes *attributes)
{
	return start_ex(nvtx_domain_id(domain), attributes);
}

static uint64_t start_text(int32_t type, union nvtx_message message)
{
	enum nvtx_opens opens = start_is_recorded(0, type, message);
	struct nvtx_event event = { .time = 0 };

	if (opens == NVTX_OPENS_NOTHING)
		return 0;
	event.text = nvtx_text_message(type, message);
	return start_event(0, &event, opens);
}

uint64_t nvtx_range_start_a(const char *message)
{
	return start_text(NVTX_MESSAGE_ASCII, (union nvtx_message){ .ascii = message });
}

uint64_t nvtx_range_start_w(const wchar_t *message)
{
	return start_text(NVTX_MESSAGE_WIDE, (union nvtx_message){ .wide = message });
}

void nvtx_range_end(uint64_t range)
{
	if (agent_on(RING_GATE_NVTX))
		nvtx_end_event(0, range, 0, 0);
}

void nvtx_domain_range_end(struct nvtx_domain *domain, uint64_t range)
{
	if (agent_on(RING_GATE_NVTX))
		nvtx_end_event(nvtx_domain_id(domain), range, 0, 0);
}

static void mark_ex(uint32_t domain, const struct nvtx_attributes *attributes)
{
	struct nvtx_event event;

	if (!agent_on(RING_GATE_NVTX))
		return;
	event = event_from(domain, attributes);
	nvtx_mark_event(domain, &event);
}

void nvtx_mark_ex(const struct nvtx_attributes *attributes)
{
	mark_ex(0, attributes);
}

void nvtx_domain_mark_ex(struct nvtx_domain *domain, const struct nvtx_attributes *attributes)
{
	mark_ex(nvtx_domain_id(domain), attributes);
}

static void mark_text(struct nvtx_text text)
{
	struct nvtx_event event = { .text = text };

	nvtx_mark_event(0, &event);
}

void nvtx_mark_a(const char *message)
{
	if (agent_on(RING_GATE_NVTX))
		mark_text(nvtx_text_ascii(message));
}

void nvtx_mark_w(const wchar_t *message)
{
	if (agent_on(RING_GATE_NVTX))
		mark_text(nvtx_text_wide(message));
}
