/* User-defined synchronisation objects. An object is a resource; what happens to it are
 * marks of the calling thread, in the object's domain, named "<object>: acquire" and so on, with
 * the resource id as payload. Not ranges: an object may be waited for by many threads
 * at once and given back by another thread than the one that got it. */
#include "agent/nvtx/nvtx.h"

enum sync_event { SYNC_ACQUIRE = 0, SYNC_FAILED = 1, SYNC_ACQUIRED = 2, SYNC_RELEASING = 3, SYNC_EVENT_COUNT };

#define SYNC_NAME_MAX 1000u
#define SYNC_SUFFIX_MAX 24u

static const char suffixes[SYNC_EVENT_COUNT][SYNC_SUFFIX_MAX] = { ": acquire", ": acquire failed", ": acquired", ": releasing" };

static void register_events(struct nvtx_resource *object, const struct nvtx_text *name)
{
	char text[SYNC_NAME_MAX + SYNC_SUFFIX_MAX];
	struct nvtx_text all = { .type = NVTX_MESSAGE_ASCII, .value.ascii = text };
	uint32_t size = 0;

	if (name->size <= SYNC_NAME_MAX) {
		nvtx_text_put(text, name);
		size = name->size;
	}
	for (int i = 0; i < SYNC_EVENT_COUNT; i++) {
		uint32_t suffix = (uint32_t)arch_text_length(suffixes[i], SYNC_SUFFIX_MAX);

		arch_copy(text + size, suffixes[i], suffix);
		all.size = size + suffix;
		object->events[i] = nvtx_string_register(object->domain, &all);
	}
}

struct nvtx_resource *nvtx_sync_create(struct nvtx_domain *domain, const struct nvtx_sync_attributes *attributes)
{
	struct nvtx_sync_attributes all = { 0 };
	struct nvtx_resource *object;
	struct nvtx_text name;

	if (!attributes || !nvtx_defining())
		return NULL;
	arch_copy(&all, attributes, attributes->size < sizeof(all) ? attributes->size : sizeof(all));
	name = nvtx_text_name(all.message_type, all.message);
	object = nvtx_resource_new(nvtx_domain_id(domain));
	if (!object)
		return NULL;
	nvtx_resource_define(object->domain, object->id, NVTX_WIRE_RESOURCE_SYNC, object->id, &name);
	register_events(object, &name);
	return object;
}

void nvtx_sync_destroy(struct nvtx_resource *object)
{
	nvtx_resource_destroy(object);
}

static void mark_sync_event(const struct nvtx_resource *object, enum sync_event what)
{
	struct nvtx_event event = { .flags = NVTX_PAYLOAD_UINT64 << NVTX_FLAG_PAYLOAD_SHIFT };

	if (!agent_on(RING_GATE_NVTX) || !object)
		return;
	event.payload = object->id;
	event.text = nvtx_text_message(NVTX_MESSAGE_REGISTERED, (union nvtx_message){ .string = object->events[what] });
	nvtx_mark_event(object->domain, &event);
}

void nvtx_sync_acquire_start(struct nvtx_resource *object)
{
	mark_sync_event(object, SYNC_ACQUIRE);
}

void nvtx_sync_acquire_failed(struct nvtx_resource *object)
{
	mark_sync_event(object, SYNC_FAILED);
}

void nvtx_sync_acquire_success(struct nvtx_resource *object)
{
	mark_sync_event(object, SYNC_ACQUIRED);
}

void nvtx_sync_releasing(struct nvtx_resource *object)
{
	mark_sync_event(object, SYNC_RELEASING);
}
