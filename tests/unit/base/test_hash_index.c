#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/hash_index.h"

#define MANY 5000u

/* The published values of FNV-1a with 64 bits. */
static void test_fnv(void **state)
{
	(void)state;
	assert_true(hash_text(HASH_START, "") == 0xcbf29ce484222325u);
	assert_true(hash_text(HASH_START, "a") == 0xaf63dc4c8601ec8cu);
	assert_true(hash_text(HASH_START, "foobar") == 0x85944171f73967e8u);
	assert_true(hash_bytes(HASH_START, "foobar", 6) == 0x85944171f73967e8u);
	assert_true(hash_bytes(hash_text(HASH_START, "foo"), "bar", 3) == 0x85944171f73967e8u);
	assert_true(hash_text(HASH_START, "\xff") == hash_bytes(HASH_START, "\xff", 1));
}

static uint32_t find(const struct hash_index *index, const uint64_t *keys, uint64_t hash, uint64_t key)
{
	struct hash_probe at = hash_probe(hash);

	while (hash_next(index, &at))
		if (keys[at.item] == key)
			return at.item;
	return UINT32_MAX;
}

/* Every key is found by its hash, whatever else has that hash, and none that is not there. */
static void check_hashes(uint64_t (*hash)(uint64_t))
{
	static uint64_t keys[MANY];
	struct hash_index index = { 0 };

	assert_int_equal(find(&index, keys, hash(0), 0), UINT32_MAX);
	for (uint32_t i = 0; i < MANY; i++) {
		keys[i] = (uint64_t)i << 12 | i % 3;
		assert_true(hash_index_add(&index, hash(keys[i]), i));
		assert_true(index.count * 2 <= index.size);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(find(&index, keys, hash(keys[i]), keys[i]), i);
		assert_int_equal(find(&index, keys, hash(keys[i] + 4), keys[i] + 4), UINT32_MAX);
	}
	hash_index_release(&index);
	assert_int_equal(find(&index, keys, hash(keys[1]), keys[1]), UINT32_MAX);
}

static uint64_t mixed(uint64_t key)
{
	return hash_mix(key);
}

static uint64_t high_bits(uint64_t key)
{
	return key << 40;
}

/* Many that share one. */
static uint64_t poor(uint64_t key)
{
	return key >> 12 & 63;
}

static void test_index(void **state)
{
	(void)state;
	check_hashes(mixed);
	check_hashes(high_bits);
	check_hashes(poor);
}

static void test_same_hash(void **state)
{
	struct hash_index index = { 0 };
	struct hash_probe at = hash_probe(77);
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		assert_true(hash_index_add(&index, i < 10 ? 77 : 78, i));
	while (hash_next(&index, &at))
		seen |= 1u << at.item;
	assert_int_equal(seen, 0x3ff);
	assert_false(hash_index_add(&index, 1, UINT32_MAX));
	hash_index_release(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fnv),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_same_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
