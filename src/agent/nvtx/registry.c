#include "agent/nvtx/nvtx.h"

#include "base/hash.h"

struct nvtx_state nvtx_state;

/* Over the key and the bytes, folded to 32 bits. */
uint32_t nvtx_hash(uint64_t key, const void *bytes, size_t size)
{
	uint64_t hash = hash_bytes(HASH_START ^ hash_mix(key), bytes, size);

	return (uint32_t)(hash ^ hash >> 32);
}

static int same_bytes(const uint8_t *a, const uint8_t *b, size_t size)
{
	while (size > 0 && *a == *b) {
		a++;
		b++;
		size--;
	}
	return size == 0;
}

static struct nvtx_node *search_node_chain(struct nvtx_node *node, const struct nvtx_node *end, uint64_t key, uint32_t hash,
					   const void *bytes, size_t size, size_t offset)
{
	for (; node != end; node = atomic_load_explicit(&node->next, memory_order_relaxed))
		if (node->hash == hash && node->key == key && node->size == size && same_bytes((const uint8_t *)node + offset, bytes, size))
			return node;
	return NULL;
}

struct nvtx_node *nvtx_find(_Atomic(struct nvtx_node *) *bucket, uint64_t key, uint32_t hash, const void *bytes, size_t size, size_t offset)
{
	/* Pairs with the release in nvtx_insert(): nodes behind the head are complete. */
	return search_node_chain(atomic_load_explicit(bucket, memory_order_acquire), NULL, key, hash, bytes, size, offset);
}

struct nvtx_node *nvtx_insert(_Atomic(struct nvtx_node *) *bucket, struct nvtx_node *fresh, size_t offset)
{
	struct nvtx_node *head = atomic_load_explicit(bucket, memory_order_acquire);
	struct nvtx_node *searched = NULL;

	for (;;) {
		/* Only what others have put in since the last look. */
		struct nvtx_node *there = search_node_chain(head, searched, fresh->key, fresh->hash, (const uint8_t *)fresh + offset,
							    fresh->size, offset);

		if (there)
			return there;
		searched = head;
		atomic_store_explicit(&fresh->next, head, memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(bucket, &head, fresh, memory_order_acq_rel, memory_order_acquire))
			return fresh;
	}
}

static uint64_t number_key(enum nvtx_node_kind kind, uint32_t domain)
{
	return (uint64_t)kind << 32 | domain;
}

/* Nodes found by a number have it right behind the common part. */
struct numbered {
	struct nvtx_node node;
	uint64_t number;
};

struct nvtx_node *nvtx_find_number(enum nvtx_node_kind kind, uint32_t domain, uint64_t number)
{
	uint64_t key = number_key(kind, domain);
	uint32_t hash = nvtx_hash(key, &number, sizeof(number));

	return nvtx_find(&nvtx_state.others[hash % NVTX_OTHER_BUCKETS], key, hash, &number, sizeof(number),
			 offsetof(struct numbered, number));
}

struct nvtx_node *nvtx_insert_number(enum nvtx_node_kind kind, uint32_t domain, uint64_t number, struct nvtx_node *fresh)
{
	((struct numbered *)fresh)->number = number;
	fresh->key = number_key(kind, domain);
	fresh->size = sizeof(number);
	fresh->hash = nvtx_hash(fresh->key, &number, sizeof(number));
	return nvtx_insert(&nvtx_state.others[fresh->hash % NVTX_OTHER_BUCKETS], fresh, offsetof(struct numbered, number));
}

uint64_t nvtx_dynamic_id(void)
{
	return NVTX_ID_DYNAMIC_START + atomic_fetch_add_explicit(&nvtx_state.dynamic_ids, 1, memory_order_relaxed);
}

uint64_t nvtx_thread_life(void)
{
	return atomic_fetch_add_explicit(&nvtx_state.lives, 1, memory_order_relaxed) + 1;
}
