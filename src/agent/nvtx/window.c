/* Ranges that open the capture window (-c nvtx), or are steps that are counted (--schedule). While one is waited for, each range that
 * begins is compared with its name, a registered string by its length first; a session may wait for another name with each capture. Of
 * steps those in a window count, too: their name is kept out of the names that have a number (recent.h), so that the straight ways never
 * see it. A few of the other names are told to the recorder, so that it can say what there was when none came. */
#include "agent/nvtx/nvtx.h"
#include "fmt/cuda_wire.h"

/* Names that come in ever new places are not looked at for ever. */
#define SEEN_LOOKS 1000u
#define SEEN_TEXT 128u

static int same_bytes(const char *a, const char *b, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

static int is_range_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int may_precede_number(char c)
{
	return c == ' ' || c == '_' || c == '-' || c == '#' || c == ':';
}

/* "", "12", " 12", "#12" ..., up to `end` or a NUL. */
static int is_name_number(const char *rest, const char *end)
{
	if (rest == end || !*rest)
		return 1;
	if (may_precede_number(*rest))
		rest++;
	if (rest == end || !is_range_digit(*rest))
		return 0;
	while (rest != end && is_range_digit(*rest))
		rest++;
	return rest == end || !*rest;
}

static int is_awaited_name(const char *name, uint32_t size)
{
	const struct ring_session *session = &agent_pages.session;
	uint32_t awaited = session->nvtx_range_size;

	if (!awaited || awaited > RING_NVTX_RANGE || size < awaited || !same_bytes(name, session->nvtx_range, awaited))
		return 0;
	return size == awaited || (session->nvtx_numbered && is_name_number(name + awaited, name + size));
}

/* Asked only where the name of the range is right. */
static int is_awaited_domain(uint32_t domain, uint32_t wait)
{
	const struct ring_session *session = &agent_pages.session;
	uint64_t key = (uint64_t)NVTX_NODE_DOMAIN << 32;
	uint32_t hash, size = session->nvtx_domain_size;
	const struct nvtx_domain *found;

	if (wait & RING_NVTX_ANY_DOMAIN)
		return 1;
	if (size == 0 || domain == 0 || size > RING_NVTX_DOMAIN)
		return size == 0 && domain == 0;
	hash = nvtx_hash(key, session->nvtx_domain, size);
	found = (const struct nvtx_domain *)nvtx_find(&nvtx_state.others[hash % NVTX_OTHER_BUCKETS], key, hash, session->nvtx_domain, size,
						      offsetof(struct nvtx_domain, name));
	return found && found->id == domain;
}

/* Ends at the first byte that differs, which is most often the first. */
static int is_awaited_ascii(const char *name)
{
	const struct ring_session *session = &agent_pages.session;
	uint32_t i = 0;

	while (i < session->nvtx_range_size && name[i] == session->nvtx_range[i] && name[i])
		i++;
	if (i != session->nvtx_range_size)
		return 0;
	return name[i] == '\0' || (session->nvtx_numbered && is_name_number(name + i, NULL));
}

static int is_awaited_wide(const wchar_t *name)
{
	struct nvtx_text text = nvtx_text_wide(name);
	char bytes[RING_NVTX_RANGE];

	if (text.size > sizeof(bytes))
		return 0;
	nvtx_text_put(bytes, &text);
	return is_awaited_name(bytes, text.size);
}

static int is_awaited(int32_t type, union nvtx_message message)
{
	switch (type) {
	case NVTX_MESSAGE_ASCII: return is_awaited_ascii(message.ascii);
	case NVTX_MESSAGE_REGISTERED: return is_awaited_name(message.string->text, message.string->node.size);
	case NVTX_MESSAGE_WIDE: return is_awaited_wide(message.wide);
	default: return 0;
	}
}

/* By its number: few are ever asked for. */
static const struct nvtx_domain *find_domain_by_id(uint32_t id)
{
	uint64_t key = (uint64_t)NVTX_NODE_DOMAIN << 32;
	const struct nvtx_node *node;

	for (uint32_t i = 0; i < NVTX_OTHER_BUCKETS; i++)
		for (node = atomic_load_explicit(&nvtx_state.others[i], memory_order_acquire); node;
		     node = atomic_load_explicit(&node->next, memory_order_relaxed))
			if (node->key == key && ((const struct nvtx_domain *)node)->id == id)
				return (const struct nvtx_domain *)node;
	return NULL;
}

static void report_seen(uint32_t id, struct nvtx_text name)
{
	const struct nvtx_domain *domain = id ? find_domain_by_id(id) : NULL;
	uint32_t domain_size = domain ? domain->node.size : 0;
	struct record_capture *record;
	uint32_t size;

	name.size = name.size < SEEN_TEXT ? name.size : SEEN_TEXT;
	domain_size = domain_size < SEEN_TEXT ? domain_size : SEEN_TEXT;
	size = (uint32_t)sizeof(*record) + name.size + (domain ? 1 + domain_size : 0);
	record = agent_begin_definition(size);
	if (!record)
		return;
	nvtx_text_put(record + 1, &name);
	if (domain) {
		((char *)(record + 1))[name.size] = '@';
		arch_copy((char *)(record + 1) + name.size + 1, domain->name, domain_size);
	}
	record->time = agent_now();
	agent_end(record, record_head(RECORD_CAPTURE, CAPTURE_SEEN, size, CAPTURE_NVTX, 0), size);
}

/* The bytes of short names make the difference. */
static uint64_t hash_range_name(uint32_t domain, const struct nvtx_text *name)
{
	char bytes[SEEN_TEXT];

	if (name->type == NVTX_MESSAGE_ASCII)
		return (uint64_t)domain << 32 | nvtx_hash(0, name->value.ascii, name->size);
	if (name->size > sizeof(bytes))
		return (uint64_t)domain << 32 | name->size;
	nvtx_text_put(bytes, name);
	return (uint64_t)domain << 32 | nvtx_hash(0, bytes, name->size);
}

static int claim(struct nvtx_seen *seen, const void *key, uint64_t what, const struct nvtx_text *name)
{
	const void *nobody = NULL;

	if (!atomic_compare_exchange_strong(&seen->key, &nobody, key))
		return 0;
	atomic_store_explicit(&seen->what, what, memory_order_relaxed);
	/* Who looks meanwhile sees another text, and tells of the same name again: no harm. */
	if (name->type == NVTX_MESSAGE_ASCII)
		arch_copy(seen->text, name->value.ascii, name->size < NVTX_SEEN_TEXT ? name->size : NVTX_SEEN_TEXT);
	return 1;
}

static void examine_range_name(uint32_t domain, int32_t type, union nvtx_message message)
{
	struct nvtx_text name = nvtx_text_name(type, message);
	uint64_t what = hash_range_name(domain, &name);

	for (uint32_t i = 0; i < NVTX_SEEN; i++) {
		if (claim(&nvtx_state.seen[i], message.ascii, what, &name)) {
			report_seen(domain, name);
			return;
		}
		if (atomic_load_explicit(&nvtx_state.seen[i].what, memory_order_relaxed) == what) {
			/* Likely to be here the next time. */
			atomic_store_explicit(&nvtx_state.seen[i].key, message.ascii, memory_order_relaxed);
			return;
		}
	}
	atomic_store_explicit(&nvtx_state.seen_looks, SEEN_LOOKS, memory_order_relaxed);
}

/* The same place may hold another text now; a long one is taken for the same. */
static int is_same_seen_name(const struct nvtx_seen *seen, int32_t type, const char *name)
{
	return type != NVTX_MESSAGE_ASCII || seen->text[NVTX_SEEN_TEXT - 1] || arch_text_is(seen->text, name, NVTX_SEEN_TEXT);
}

/* Cheap for names that come again and again from the same place. */
static void keep_seen(uint32_t domain, int32_t type, union nvtx_message message)
{
	const struct nvtx_seen *seen = nvtx_state.seen;
	const void *key;

	if (atomic_load_explicit(&nvtx_state.seen_looks, memory_order_relaxed) >= SEEN_LOOKS)
		return;
	for (uint32_t i = 0; i < NVTX_SEEN; i++) {
		key = atomic_load_explicit(&seen[i].key, memory_order_relaxed);
		if (key == message.ascii && is_same_seen_name(&seen[i], type, message.ascii))
			return;
		if (!key)
			break;
	}
	atomic_fetch_add_explicit(&nvtx_state.seen_looks, 1, memory_order_relaxed);
	examine_range_name(domain, type, message);
}

int nvtx_window_counts(int registered, const void *name)
{
	if (!(atomic_load_explicit(&agent_pages.session.nvtx_wait, memory_order_relaxed) & RING_NVTX_STEPS))
		return 0;
	if (!registered)
		return is_awaited_ascii(name);
	return is_awaited_name(((const struct nvtx_string *)name)->text, ((const struct nvtx_string *)name)->node.size);
}

static enum nvtx_opens as_it_is(void)
{
	return agent_on(RING_GATE_NVTX) ? NVTX_OPENS_ANOTHERS : NVTX_OPENS_NOTHING;
}

enum nvtx_opens nvtx_window_opens(uint32_t domain, int32_t type, union nvtx_message message)
{
	uint32_t wait = atomic_load_explicit(&agent_pages.session.nvtx_wait, memory_order_relaxed);
	enum nvtx_opens now = as_it_is();

	if (!wait || (now == NVTX_OPENS_ANOTHERS && !(wait & RING_NVTX_STEPS)))
		return now;
	if (type == NVTX_MESSAGE_NONE || !message.ascii || message.ascii == nvtx_cost_name)
		return now;
	if (agent_likely(!is_awaited(type, message) || !is_awaited_domain(domain, wait))) {
		if (wait & RING_NVTX_TELL)
			keep_seen(domain, type, message);
		return now;
	}
	if (wait & RING_NVTX_STEPS) {
		agent_step();
		return as_it_is();
	}
	if (!agent_ask_window(CAPTURE_START, CAPTURE_NVTX) || !agent_on(RING_GATE_NVTX))
		return NVTX_OPENS_NOTHING;
	return agent_owns_window() && !(wait & RING_NVTX_KEEP_OPEN) ? NVTX_OPENS_OWN : NVTX_OPENS_ANOTHERS;
}

int nvtx_window_opens_by_push(uint32_t domain, int32_t type, union nvtx_message message)
{
	enum nvtx_opens opens = nvtx_window_opens(domain, type, message);

	if (opens == NVTX_OPENS_OWN && agent_memory())
		agent_memory()->capture = domain + 1;
	return opens != NVTX_OPENS_NOTHING;
}

int nvtx_window_popped(void)
{
	agent_memory()->capture = 0;
	agent_ask_window(CAPTURE_STOP, CAPTURE_NVTX);
	return 0;
}

void nvtx_window_is(uint64_t range)
{
	atomic_store(&nvtx_state.window_gate, atomic_load(&agent_pages.session.gate));
	atomic_store(&nvtx_state.window_range, range);
}

void nvtx_window_ended(void)
{
	uint32_t gate = atomic_load(&nvtx_state.window_gate);

	atomic_store(&nvtx_state.window_range, 0);
	/* Its time may have been over, and another window open now. */
	if (gate == atomic_load(&agent_pages.session.gate))
		agent_ask_window(CAPTURE_STOP, CAPTURE_NVTX);
}
