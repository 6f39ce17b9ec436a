/* Naming calls: domains, registered strings, categories, threads and resources.
 * They are kept whether a capture window is open or not. */
#include "agent/nvtx/nvtx.h"

/* Domain ids have 16 bits in a record. */
#define DOMAIN_ID_MAX 65535u

void nvtx_initialize(const void *reserved)
{
	(void)reserved;
}

/* A run of bytes that can be compared and kept. */
struct flat_name {
	uint32_t size;
	const char *bytes;
};

static void define_domain(struct nvtx_domain *domain, int cut)
{
	struct nvtx_definition what = { .kind = DEFINE_DOMAIN, .id = domain->id };
	struct nvtx_text text = { .type = NVTX_MESSAGE_ASCII, .size = domain->node.size, .value.ascii = domain->name, .cut = cut };

	/* Two threads that create the same domain at once may both come here. */
	if (atomic_load_explicit(&domain->node.defined, memory_order_relaxed))
		return;
	if (nvtx_define(&what, NULL, 0, &text) == 0)
		atomic_store_explicit(&domain->node.defined, 1, memory_order_relaxed);
}

/* 65535 stands for all domains that came too late to have a number of their own. */
static uint32_t next_domain_id(void)
{
	uint64_t id = agent_next_domain_id();

	if (id < DOMAIN_ID_MAX)
		return (uint32_t)id;
	if (!atomic_exchange_explicit(&nvtx_state.domains_reported, 1, memory_order_relaxed))
		agent_diagnose(DIAGNOSTIC_WARNING, "NVTX: more than 65534 domains; the others share one");
	return DOMAIN_ID_MAX;
}

static struct nvtx_domain *create_flat(struct flat_name name, int cut)
{
	uint64_t key = (uint64_t)NVTX_NODE_DOMAIN << 32;
	struct nvtx_domain *domain, *fresh;
	_Atomic(struct nvtx_node *) *bucket;
	uint32_t hash = nvtx_hash(key, name.bytes, name.size);

	bucket = &nvtx_state.others[hash % NVTX_OTHER_BUCKETS];
	domain = (struct nvtx_domain *)nvtx_find(bucket, key, hash, name.bytes, name.size, offsetof(struct nvtx_domain, name));
	if (!domain) {
		fresh = agent_permanent(sizeof(*fresh) + name.size + 1);
		if (!fresh)
			return NULL;
		fresh->node.key = key;
		fresh->node.hash = hash;
		fresh->node.size = name.size;
		fresh->id = next_domain_id();
		arch_copy(fresh->name, name.bytes, name.size);
		domain = (struct nvtx_domain *)nvtx_insert(bucket, &fresh->node, offsetof(struct nvtx_domain, name));
	}
	define_domain(domain, cut);
	return domain;
}

/* Apart, as threads may have small stacks. */
static __attribute__((noinline)) struct nvtx_domain *create_wide(const struct nvtx_text *text)
{
	char bytes[NVTX_WIRE_TEXT_MAX];

	nvtx_text_put(bytes, text);
	return create_flat((struct flat_name){ text->size, bytes }, text->cut);
}

static struct nvtx_domain *create_domain(const struct nvtx_text *text)
{
	return text->type == NVTX_MESSAGE_ASCII ? create_flat((struct flat_name){ text->size, text->value.ascii }, text->cut) :
						  create_wide(text);
}

struct nvtx_domain *nvtx_domain_create_a(const char *name)
{
	struct nvtx_text text = nvtx_text_ascii(name);

	return nvtx_defining() && name ? create_domain(&text) : NULL;
}

struct nvtx_domain *nvtx_domain_create_w(const wchar_t *name)
{
	struct nvtx_text text = nvtx_text_wide(name);

	return nvtx_defining() && name ? create_domain(&text) : NULL;
}

/* The handle stays valid: creating the domain again gives the same one. */
void nvtx_domain_destroy(struct nvtx_domain *domain)
{
	struct nvtx_definition what = { .kind = DEFINE_DOMAIN_END };
	struct nvtx_text none = { .type = NVTX_MESSAGE_NONE };

	if (!domain || domain->id == DOMAIN_ID_MAX)
		return;
	if (!atomic_exchange_explicit(&domain->node.defined, 0, memory_order_relaxed))
		return;
	what.domain = domain->id;
	what.id = domain->id;
	nvtx_define(&what, NULL, 0, &none);
}

static void define_string(uint32_t domain, struct nvtx_string *string, int cut)
{
	struct nvtx_definition what = { .kind = DEFINE_STRING, .domain = domain, .id = string->id, .extra = (uint64_t)(uintptr_t)string };
	struct nvtx_text text = { .type = NVTX_MESSAGE_ASCII, .size = string->node.size, .value.ascii = string->text, .cut = cut };

	if (atomic_load_explicit(&string->node.defined, memory_order_relaxed))
		return;
	if (nvtx_define(&what, NULL, 0, &text) == 0)
		atomic_store_explicit(&string->node.defined, 1, memory_order_relaxed);
}

static struct nvtx_string *register_flat(uint32_t domain, const struct flat_name *name)
{
	uint32_t hash = nvtx_hash(domain, name->bytes, name->size);
	_Atomic(struct nvtx_node *) *bucket = &nvtx_state.strings[hash % NVTX_STRING_BUCKETS];
	struct nvtx_string *fresh;
	struct nvtx_node *node;

	node = nvtx_find(bucket, domain, hash, name->bytes, name->size, offsetof(struct nvtx_string, text));
	if (node)
		return (struct nvtx_string *)node;
	fresh = agent_permanent(sizeof(*fresh) + name->size + 1);
	if (!fresh)
		return NULL;
	fresh->node.key = domain;
	fresh->node.hash = hash;
	fresh->node.size = name->size;
	fresh->id = agent_next_string_id();
	arch_copy(fresh->text, name->bytes, name->size);
	node = nvtx_insert(bucket, &fresh->node, offsetof(struct nvtx_string, text));
	return (struct nvtx_string *)node;
}

static __attribute__((noinline)) struct nvtx_string *register_long_way(uint32_t domain, const struct nvtx_text *name)
{
	char bytes[NVTX_WIRE_TEXT_MAX];

	nvtx_text_put(bytes, name);
	return register_flat(domain, &(struct flat_name){ name->size, bytes });
}

struct nvtx_string *nvtx_string_register(uint32_t domain, const struct nvtx_text *name)
{
	struct nvtx_string *string;

	if (name->type == NVTX_MESSAGE_NONE || !nvtx_defining())
		return NULL;
	string = name->type == NVTX_MESSAGE_ASCII ? register_flat(domain, &(struct flat_name){ name->size, name->value.ascii }) :
						    register_long_way(domain, name);
	if (string)
		define_string(domain, string, name->cut);
	return string;
}

struct nvtx_string *nvtx_register_string_a(struct nvtx_domain *domain, const char *text)
{
	struct nvtx_text name = nvtx_text_ascii(text);

	return nvtx_string_register(nvtx_domain_id(domain), &name);
}

struct nvtx_string *nvtx_register_string_w(struct nvtx_domain *domain, const wchar_t *text)
{
	struct nvtx_text name = nvtx_text_wide(text);

	return nvtx_string_register(nvtx_domain_id(domain), &name);
}

static void name_category(uint32_t domain, uint32_t category, struct nvtx_text name)
{
	struct nvtx_definition what = { .kind = DEFINE_CATEGORY, .domain = domain, .id = category };

	if (name.type != NVTX_MESSAGE_NONE)
		nvtx_define(&what, NULL, 0, &name);
}

void nvtx_name_category_a(uint32_t category, const char *name)
{
	name_category(0, category, nvtx_text_ascii(name));
}

void nvtx_name_category_w(uint32_t category, const wchar_t *name)
{
	name_category(0, category, nvtx_text_wide(name));
}

void nvtx_domain_name_category_a(struct nvtx_domain *domain, uint32_t category, const char *name)
{
	name_category(nvtx_domain_id(domain), category, nvtx_text_ascii(name));
}

void nvtx_domain_name_category_w(struct nvtx_domain *domain, uint32_t category, const wchar_t *name)
{
	name_category(nvtx_domain_id(domain), category, nvtx_text_wide(name));
}

static void name_nvtx_thread(uint32_t tid, struct nvtx_text name)
{
	struct nvtx_definition what = { .kind = DEFINE_THREAD_NAME, .id = tid };

	if (name.type != NVTX_MESSAGE_NONE)
		nvtx_define(&what, NULL, 0, &name);
}

void nvtx_name_thread_a(uint32_t tid, const char *name)
{
	name_nvtx_thread(tid, nvtx_text_ascii(name));
}

void nvtx_name_thread_w(uint32_t tid, const wchar_t *name)
{
	name_nvtx_thread(tid, nvtx_text_wide(name));
}

struct nvtx_resource *nvtx_resource_new(uint32_t domain)
{
	struct nvtx_resource *resource = agent_permanent(sizeof(*resource));

	if (!resource)
		return NULL;
	resource->domain = domain;
	resource->id = atomic_fetch_add_explicit(&nvtx_state.resources, 1, memory_order_relaxed) + 1;
	return resource;
}

void nvtx_resource_define(uint32_t domain, uint64_t id, uint32_t type, uint64_t identifier, const struct nvtx_text *name)
{
	struct nvtx_definition what = { .kind = DEFINE_RESOURCE, .domain = domain, .id = id, .extra = (uint64_t)type << 32 };
	struct nvtx_wire_resource body = { .identifier = identifier };

	nvtx_define(&what, &body, sizeof(body), name);
}

struct nvtx_resource *nvtx_resource_create(struct nvtx_domain *domain, const struct nvtx_resource_attributes *attributes)
{
	struct nvtx_resource_attributes all = { 0 };
	struct nvtx_resource *resource;
	struct nvtx_text name;

	if (!attributes || !nvtx_defining())
		return NULL;
	arch_copy(&all, attributes, attributes->size < sizeof(all) ? attributes->size : sizeof(all));
	resource = nvtx_resource_new(nvtx_domain_id(domain));
	if (!resource)
		return NULL;
	name = nvtx_text_name(all.message_type, all.message);
	nvtx_resource_define(resource->domain, resource->id, (uint32_t)all.identifier_type, all.identifier, &name);
	return resource;
}

void nvtx_resource_destroy(struct nvtx_resource *resource)
{
	struct nvtx_definition what = { .kind = DEFINE_RESOURCE_END };
	struct nvtx_text none = { .type = NVTX_MESSAGE_NONE };

	if (!resource)
		return;
	what.domain = resource->domain;
	what.id = resource->id;
	nvtx_define(&what, NULL, 0, &none);
}

/* Objects of CUDA and OpenCL get a name without becoming a resource of their own. */
static void name_object(uint32_t type, uint64_t object, struct nvtx_text name)
{
	if (name.type != NVTX_MESSAGE_NONE)
		nvtx_resource_define(0, 0, type, object, &name);
}

#define NAME_OBJECT(function, handle_type, class, index) \
	void function##_a(handle_type object, const char *name) \
	{ \
		name_object(NVTX_RESOURCE(class, index), (uintptr_t)object, nvtx_text_ascii(name)); \
	} \
	void function##_w(handle_type object, const wchar_t *name) \
	{ \
		name_object(NVTX_RESOURCE(class, index), (uintptr_t)object, nvtx_text_wide(name)); \
	}

NAME_OBJECT(nvtx_name_cu_device, int, NVTX_CLASS_CUDA, 1)
NAME_OBJECT(nvtx_name_cu_context, void *, NVTX_CLASS_CUDA, 2)
NAME_OBJECT(nvtx_name_cu_stream, void *, NVTX_CLASS_CUDA, 3)
NAME_OBJECT(nvtx_name_cu_event, void *, NVTX_CLASS_CUDA, 4)
NAME_OBJECT(nvtx_name_cuda_device, int, NVTX_CLASS_CUDART, 0)
NAME_OBJECT(nvtx_name_cuda_stream, void *, NVTX_CLASS_CUDART, 1)
NAME_OBJECT(nvtx_name_cuda_event, void *, NVTX_CLASS_CUDART, 2)
NAME_OBJECT(nvtx_name_cl_device, void *, NVTX_CLASS_OPENCL, 1)
NAME_OBJECT(nvtx_name_cl_context, void *, NVTX_CLASS_OPENCL, 2)
NAME_OBJECT(nvtx_name_cl_queue, void *, NVTX_CLASS_OPENCL, 3)
NAME_OBJECT(nvtx_name_cl_memory, void *, NVTX_CLASS_OPENCL, 4)
NAME_OBJECT(nvtx_name_cl_sampler, void *, NVTX_CLASS_OPENCL, 5)
NAME_OBJECT(nvtx_name_cl_program, void *, NVTX_CLASS_OPENCL, 6)
NAME_OBJECT(nvtx_name_cl_event, void *, NVTX_CLASS_OPENCL, 7)
