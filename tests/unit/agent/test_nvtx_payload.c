/* Schemas, enumerations, scopes and events with binary payloads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "nvtx_decode.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int reset(void **state)
{
	(void)state;
	fake_agent_reset();
	return 0;
}

static struct seen expect(const void **cursor, unsigned type)
{
	struct seen seen = { .type = 0 };

	assert_true(nvtx_next(cursor, &seen));
	assert_int_equal(seen.type, type);
	return seen;
}

static struct nvtx_schema_attributes schema_of(const struct nvtx_schema_entry *entries, size_t count)
{
	return (struct nvtx_schema_attributes){
		.fields = NVTX_SCHEMA_HAS_TYPE | NVTX_SCHEMA_HAS_ENTRIES | NVTX_SCHEMA_HAS_ENTRY_COUNT,
		.type = NVTX_SCHEMA_STATIC,
		.entries = entries,
		.entry_count = count,
	};
}

struct wire {
	struct nvtx_wire_schema head;
	struct nvtx_wire_entry entries[200];
	const char *texts;
};

static struct wire open_schema(const struct seen *seen)
{
	struct wire wire;

	assert_int_equal(seen->flags, DEFINE_SCHEMA);
	memcpy(&wire.head, seen->text, sizeof(wire.head));
	assert_true(wire.head.count <= COUNT(wire.entries));
	memcpy(wire.entries, seen->text + sizeof(wire.head), wire.head.count * sizeof(wire.entries[0]));
	wire.texts = seen->text + sizeof(wire.head) + wire.head.count * sizeof(wire.entries[0]);
	return wire;
}

static void schema_is_described(void **state)
{
	static const struct nvtx_schema_entry entries[] = {
		{ .type = NVTX_TYPE_UINT8, .name = "small" },
		{ .type = NVTX_TYPE_INT32, .name = "number", .description = "a number" },
		{ .type = NVTX_TYPE_DOUBLE, .name = NULL },
		{ .type = NVTX_TYPE_INT16, .name = "three", .flags = NVTX_ENTRY_ARRAY_FIXED, .detail = 3 },
		{ .type = NVTX_TYPE_UINT64, .name = "placed", .offset = 40 },
	};
	struct nvtx_schema_attributes a = schema_of(entries, COUNT(entries));
	struct nvtx_domain *domain = nvtx_domain_create_a("payload domain");
	const void *cursor = NULL;
	struct wire wire;
	struct seen seen;
	uint64_t id;

	(void)state;
	a.name = "my schema";
	a.fields |= NVTX_SCHEMA_HAS_NAME | NVTX_SCHEMA_HAS_ID;
	a.id = NVTX_ID_STATIC_START + 5;
	a.flags = 0xdead; /* not in the mask */
	id = nvtx_schema_register(domain, &a);
	assert_int_equal(id, a.id);
	assert_int_equal(nvtx_schema_register(domain, &a), a.id);
	expect(&cursor, RECORD_DEFINE);
	seen = expect(&cursor, RECORD_DEFINE);
	assert_int_equal(seen.id, a.id);
	assert_int_equal(seen.domain, nvtx_domain_id(domain));
	wire = open_schema(&seen);
	assert_int_equal(wire.head.type, NVTX_SCHEMA_STATIC);
	assert_int_equal(wire.head.flags, 0);
	assert_int_equal(wire.head.entries, 5);
	assert_int_equal(wire.head.count, 5);
	assert_int_equal(wire.entries[0].position, 0);
	assert_int_equal(wire.entries[1].position, 4);
	assert_int_equal(wire.entries[2].position, 8);
	assert_int_equal(wire.entries[3].position, 16);
	assert_int_equal(wire.entries[3].width, 6);
	assert_int_equal(wire.entries[4].position, 40);
	assert_string_equal(wire.texts, "my schemasmallnumbera numberthreeplaced");
	assert_int_equal(wire.head.name_size, 9);
	assert_int_equal(wire.entries[1].name_size, 6);
	assert_int_equal(wire.entries[1].description_size, 8);
	assert_int_equal(wire.entries[2].name_size, 0);
	assert_false(nvtx_next(&cursor, &seen));
}

static void dynamic_ids_differ(void **state)
{
	static const struct nvtx_schema_entry entry = { .type = NVTX_TYPE_INT64 };
	struct nvtx_schema_attributes a = schema_of(&entry, 1);
	uint64_t one = nvtx_schema_register(NULL, &a), two = nvtx_schema_register(NULL, &a);

	(void)state;
	assert_true(one >= NVTX_ID_DYNAMIC_START && two >= NVTX_ID_DYNAMIC_START && one != two);
	assert_int_equal(nvtx_schema_register(NULL, NULL), 0);
}

static void long_schema_comes_in_pieces(void **state)
{
	static struct nvtx_schema_entry entries[500];
	struct nvtx_schema_attributes a = schema_of(entries, COUNT(entries));
	const void *cursor = NULL;
	struct seen seen;
	uint32_t done = 0;

	(void)state;
	for (unsigned i = 0; i < COUNT(entries); i++)
		entries[i] = (struct nvtx_schema_entry){ .type = NVTX_TYPE_INT32, .name = "entry of many" };
	nvtx_schema_register(NULL, &a);
	while (nvtx_next(&cursor, &seen)) {
		struct wire wire = open_schema(&seen);

		assert_int_equal(wire.head.first, done);
		assert_int_equal(wire.head.entries, 500);
		assert_int_equal(wire.entries[wire.head.count - 1].position, (done + wire.head.count - 1) * 4);
		done += wire.head.count;
	}
	assert_int_equal(done, 500);
}

static void enumeration_is_described(void **state)
{
	static const struct nvtx_enum_entry entries[] = { { "zero", 0, 0 }, { "bit", 4, 1 } };
	struct nvtx_enum_attributes a = {
		.fields = ~0ull, .name = "my enum", .entries = entries, .entry_count = 2, .size = 4, .id = NVTX_ID_STATIC_START + 9
	};
	struct nvtx_wire_enum_entry wire[2];
	struct nvtx_wire_enum head;
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	assert_int_equal(nvtx_enum_register(NULL, &a), a.id);
	assert_int_equal(nvtx_enum_register(NULL, &a), a.id);
	assert_int_equal(nvtx_enum_register(NULL, NULL), 0);
	seen = expect(&cursor, RECORD_DEFINE);
	assert_int_equal(seen.flags, DEFINE_ENUM);
	assert_int_equal(seen.id, a.id);
	memcpy(&head, seen.text, sizeof(head));
	memcpy(wire, seen.text + sizeof(head), sizeof(wire));
	assert_int_equal(head.size, 4);
	assert_int_equal(head.entries, 2);
	assert_int_equal(head.count, 2);
	assert_int_equal(wire[1].value, 4);
	assert_int_equal(wire[1].is_flag, 1);
	assert_string_equal(seen.text + sizeof(head) + sizeof(wire), "my enumzerobit");
	assert_false(nvtx_next(&cursor, &seen));
}

static void scopes_have_a_parent(void **state)
{
	struct nvtx_scope_attributes a = { .struct_size = sizeof(a), .path = "rack/node[3]", .parent = 2 };
	const void *cursor = NULL;
	struct seen seen;
	uint64_t id = nvtx_scope_register(NULL, &a);

	(void)state;
	assert_true(id >= NVTX_ID_DYNAMIC_START);
	a.id = NVTX_ID_STATIC_START + 1;
	assert_int_equal(nvtx_scope_register(NULL, &a), a.id);
	a.struct_size = 0;
	assert_true(nvtx_scope_register(NULL, &a) >= NVTX_ID_DYNAMIC_START);
	seen = expect(&cursor, RECORD_DEFINE);
	assert_int_equal(seen.flags, DEFINE_SCOPE);
	assert_int_equal(seen.id, id);
	assert_int_equal(seen.extra, 2);
	assert_string_equal(seen.text, "rack/node[3]");
}

struct collective { /* as NCCL's events look */
	uint64_t communicator;
	size_t bytes;
	uint32_t root;
};

static void payload_precedes_its_event(void **state)
{
	static const struct nvtx_schema_entry entries[] = {
		{ .type = NVTX_TYPE_UINT64, .name = "Communicator ID" },
		{ .type = NVTX_TYPE_SIZE, .name = "Message size [bytes]", .offset = 8 },
		{ .type = NVTX_TYPE_UINT32, .name = "Root", .offset = 16 },
	};
	struct nvtx_schema_attributes schema = schema_of(entries, COUNT(entries));
	struct collective data = { 0x1234567890, 4096, 7 };
	struct nvtx_payload payload = { NVTX_ID_STATIC_START + 77, sizeof(data), &data };
	struct nvtx_attributes a = { .version = 3,
				     .size = sizeof(a),
				     .payload_count = 1,
				     .payload_type = NVTX_PAYLOAD_IS_EXTENDED,
				     .payload = (uint64_t)(uintptr_t)&payload,
				     .message_type = NVTX_MESSAGE_ASCII,
				     .message.ascii = "ncclAllReduce" };
	const void *cursor = NULL;
	struct seen blob, event;

	(void)state;
	schema.id = payload.schema;
	schema.fields |= NVTX_SCHEMA_HAS_ID;
	nvtx_schema_register(NULL, &schema);
	assert_int_equal(nvtx_range_push_ex(&a), 0);
	data.root = 9; /* too late to be seen */
	nvtx_range_pop();
	nvtx_mark_ex(&a);
	assert_true(nvtx_range_start_ex(&a) != 0);
	expect(&cursor, RECORD_DEFINE);
	blob = expect(&cursor, RECORD_NVTX_BLOB);
	event = expect(&cursor, RECORD_NVTX_PUSH_EX);
	assert_int_equal(blob.schema, payload.schema);
	assert_int_equal(blob.level, 0);
	assert_int_equal(blob.total, sizeof(data));
	assert_int_equal(blob.text_size, sizeof(data));
	assert_int_equal(((struct collective *)blob.text)->root, 7);
	assert_int_equal(blob.time, event.time);
	assert_int_equal(event.flags, NVTX_FLAG_BLOB);
	assert_string_equal(event.text, "ncclAllReduce");
	assert_int_equal(expect(&cursor, RECORD_NVTX_POP).flags, 0);
	expect(&cursor, RECORD_NVTX_BLOB);
	assert_int_equal(expect(&cursor, RECORD_NVTX_MARK).flags, NVTX_FLAG_BLOB);
	expect(&cursor, RECORD_NVTX_BLOB);
	assert_int_equal(expect(&cursor, RECORD_NVTX_START).flags, NVTX_FLAG_BLOB);
}

static void large_payload_comes_in_pieces(void **state)
{
	uint8_t *data = malloc(200000);
	struct nvtx_payload payload = { 1023, 20000, data };
	const void *cursor = NULL;
	uint32_t done = 0;
	struct seen seen;

	(void)state;
	for (int i = 0; i < 200000; i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	nvtx_mark_payload(NULL, &payload, 1);
	for (unsigned left = 3; left-- > 0;) {
		seen = expect(&cursor, RECORD_NVTX_BLOB);
		assert_int_equal(seen.level, left);
		assert_int_equal(seen.total, 20000);
		assert_memory_equal(seen.text, data + done, seen.text_size);
		done += seen.text_size;
	}
	assert_int_equal(done, 20000);
	expect(&cursor, RECORD_NVTX_MARK);
	payload.size = 200000;
	nvtx_mark_payload(NULL, &payload, 1);
	done = 0;
	do {
		seen = expect(&cursor, RECORD_NVTX_BLOB);
		assert_int_equal(seen.total, 200000);
		done += seen.text_size;
	} while (seen.level > 0);
	assert_int_equal(done, NVTX_WIRE_PAYLOAD_MAX);
	free(data);
}

struct with_pointers {
	const char *text;
	uint32_t number;
	struct nvtx_string *registered;
	const char *null;
	char fixed[8];
	uint32_t color, category;
	const char *message;
};

static uint64_t register_with_pointers(void)
{
	static const struct nvtx_schema_entry entries[] = {
		{ .type = NVTX_TYPE_TEXT, .name = "text" },
		{ .type = NVTX_TYPE_UINT32 },
		{ .type = NVTX_TYPE_REGISTERED },
		{ .type = NVTX_TYPE_TEXT_UTF8 },
		{ .type = NVTX_TYPE_TEXT, .detail = 8 },
		{ .type = NVTX_TYPE_COLOR },
		{ .type = NVTX_TYPE_CATEGORY },
		{ .type = NVTX_TYPE_TEXT, .flags = NVTX_ENTRY_MESSAGE },
	};
	struct nvtx_schema_attributes a = schema_of(entries, COUNT(entries));

	return nvtx_schema_register(NULL, &a);
}

static void check_pointers(const struct seen *blob, const struct with_pointers *truth)
{
	struct with_pointers copy;

	memcpy(&copy, blob->text, sizeof(copy));
	assert_string_equal(blob->text + (uintptr_t)copy.text, truth->text);
	assert_int_equal(copy.number, truth->number);
	assert_int_equal((uintptr_t)copy.registered, truth->registered->id);
	assert_null(copy.null);
	assert_memory_equal(copy.fixed, truth->fixed, 8);
	assert_string_equal(blob->text + (uintptr_t)copy.message, truth->message);
	assert_int_equal(blob->total, sizeof(copy) + strlen(truth->text) + strlen(truth->message) + 2);
}

static void pointers_are_followed(void **state)
{
	uint64_t schema = register_with_pointers();
	/* clang-format off */
	struct with_pointers data = { .text = "pointed to", .number = 99, .fixed = "inline",
				      .registered = nvtx_register_string_a(NULL, "a handle"),
				      .color = 0xff00ff00, .category = 12, .message = "the message" };
	/* clang-format on */
	struct nvtx_payload payload = { schema, SIZE_MAX, &data };
	const void *cursor = NULL;
	struct seen blob, event;

	(void)state;
	assert_int_equal(nvtx_range_push_payload(NULL, &payload, 1), 0);
	expect(&cursor, RECORD_DEFINE);
	expect(&cursor, RECORD_DEFINE);
	blob = expect(&cursor, RECORD_NVTX_BLOB);
	check_pointers(&blob, &data);
	event = expect(&cursor, RECORD_NVTX_PUSH_EX);
	assert_string_equal(event.text, "the message");
	assert_int_equal(event.color, 0xff00ff00);
	assert_int_equal(event.category, 12);
	assert_int_equal(event.flags, NVTX_FLAG_BLOB | NVTX_FLAG_COLOR);
}

static void nested_schema_is_followed(void **state)
{
	struct outer {
		uint32_t before;
		struct with_pointers inner;
	} data = {
		1, { .text = "inner text", .number = 5, .message = "inner message", .registered = nvtx_register_string_a(NULL, "nested") }
	};
	struct nvtx_schema_entry entries[2] = { { .type = NVTX_TYPE_UINT32 } };
	struct nvtx_schema_attributes a = schema_of(entries, 2);
	struct nvtx_payload payload = { .size = sizeof(data), .data = &data };
	const void *cursor = NULL;
	struct outer copy;
	struct seen seen;

	(void)state;
	entries[1].type = register_with_pointers();
	payload.schema = nvtx_schema_register(NULL, &a);
	nvtx_mark_payload(NULL, &payload, 1);
	for (int i = 0; i < 3; i++)
		expect(&cursor, RECORD_DEFINE);
	seen = expect(&cursor, RECORD_NVTX_BLOB);
	memcpy(&copy, seen.text, sizeof(copy));
	assert_int_equal(copy.before, 1);
	assert_string_equal(seen.text + (uintptr_t)copy.inner.text, "inner text");
	assert_int_equal((uintptr_t)copy.inner.registered, data.inner.registered->id);
	assert_string_equal(expect(&cursor, RECORD_NVTX_MARK).text, "inner message");
}

static void unions_are_stored_as_they_are(void **state)
{
	static const struct nvtx_schema_entry entries[] = { { .type = NVTX_TYPE_TEXT }, { .type = NVTX_TYPE_UINT64 } };
	struct nvtx_schema_attributes a = schema_of(entries, 2);
	uint64_t data = 0x1122334455667788;
	struct nvtx_payload payload = { .size = SIZE_MAX, .data = &data };
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	a.type = NVTX_SCHEMA_UNION;
	payload.schema = nvtx_schema_register(NULL, &a);
	nvtx_mark_payload(NULL, &payload, 1);
	seen = expect(&cursor, RECORD_DEFINE);
	assert_int_equal(open_schema(&seen).entries[1].position, 0);
	seen = expect(&cursor, RECORD_NVTX_BLOB);
	assert_int_equal(seen.text_size, 8);
	assert_memory_equal(seen.text, &data, 8);
}

static void several_payloads_and_ends(void **state)
{
	uint32_t one = 1, two = 2;
	struct nvtx_payload payloads[] = { { NVTX_TYPE_UINT32, 4, &one },
					   { NVTX_TYPE_TEXT, SIZE_MAX, "label" },
					   { NVTX_TYPE_UINT32, SIZE_MAX, &two },
					   { 1023, SIZE_MAX, &two },
					   { 1023, 8, NULL } };
	const void *cursor = NULL;
	struct seen seen;
	uint64_t range = nvtx_range_start_payload(NULL, payloads, COUNT(payloads));

	(void)state;
	assert_int_equal(nvtx_range_push_payload(NULL, NULL, 3), 0);
	assert_int_equal(nvtx_range_pop_payload(NULL, payloads, 1), 0);
	nvtx_range_end_payload(NULL, range, payloads, 2);
	for (unsigned i = 0; i < 3; i++) {
		seen = expect(&cursor, RECORD_NVTX_BLOB);
		assert_int_equal(seen.level, 0);
		assert_int_equal(seen.flags, i);
	}
	assert_string_equal(expect(&cursor, RECORD_NVTX_START).text, "label");
	seen = expect(&cursor, RECORD_NVTX_PUSH_EX);
	assert_int_equal(seen.flags, NVTX_FLAG_NO_MESSAGE);
	seen = expect(&cursor, RECORD_NVTX_BLOB);
	assert_int_equal(seen.time, expect(&cursor, RECORD_NVTX_POP).time);
	expect(&cursor, RECORD_NVTX_BLOB);
	expect(&cursor, RECORD_NVTX_BLOB);
	seen = expect(&cursor, RECORD_NVTX_END);
	assert_int_equal(seen.range, range);
	assert_int_equal(seen.flags, NVTX_FLAG_BLOB);
	assert_true(nvtx_range_pop_payload(NULL, payloads, 1) < 0);
	assert_int_equal(fake_agent.unmatched, 1);
}

/* One call that does not fit counts once, and keeps its level. */
static void lost_payload_is_one_lost_event(void **state)
{
	char data[9000] = { 0 };
	struct nvtx_payload payload = { 1023, sizeof(data), data };
	const void *cursor = NULL;
	struct seen seen;

	(void)state;
	nvtx_range_push_a("x");
	fake_agent.chunks_left = 0;
	assert_int_equal(nvtx_range_push_payload(NULL, &payload, 1), 1);
	assert_int_equal(fake_agent.dropped, 1);
	assert_int_equal(nvtx_range_pop_payload(NULL, &payload, 1), 1);
	assert_int_equal(fake_agent.dropped, 2);
	assert_true(nvtx_range_start_payload(NULL, &payload, 1) != 0);
	nvtx_mark_payload(NULL, &payload, 1);
	nvtx_range_end_payload(NULL, 5, &payload, 1);
	assert_int_equal(fake_agent.dropped, 5);
	expect(&cursor, RECORD_NVTX_PUSH);
	while (nvtx_next(&cursor, &seen))
		assert_int_equal(seen.type, RECORD_NVTX_BLOB);
	fake_agent.chunks_left = -1;
	assert_int_equal(nvtx_range_pop(), 0);
}

static void enabled_and_clock(void **state)
{
	uint64_t before = arch_cycles();

	(void)state;
	assert_int_equal(nvtx_domain_is_enabled(NULL), 1);
	agent_pages.session.gate = 0;
	assert_int_equal(nvtx_domain_is_enabled(NULL), 1);
	assert_int_equal(nvtx_range_push_payload(NULL, NULL, 0), NVTX_UNTRACKED);
	agent_pages.attached = AGENT_OFF;
	assert_int_equal(nvtx_domain_is_enabled(NULL), 0);
	assert_true((uint64_t)nvtx_timestamp_get() >= before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(schema_is_described, reset),
		cmocka_unit_test_setup(dynamic_ids_differ, reset),
		cmocka_unit_test_setup(long_schema_comes_in_pieces, reset),
		cmocka_unit_test_setup(enumeration_is_described, reset),
		cmocka_unit_test_setup(scopes_have_a_parent, reset),
		cmocka_unit_test_setup(payload_precedes_its_event, reset),
		cmocka_unit_test_setup(large_payload_comes_in_pieces, reset),
		cmocka_unit_test_setup(pointers_are_followed, reset),
		cmocka_unit_test_setup(nested_schema_is_followed, reset),
		cmocka_unit_test_setup(unions_are_stored_as_they_are, reset),
		cmocka_unit_test_setup(several_payloads_and_ends, reset),
		cmocka_unit_test_setup(lost_payload_is_one_lost_event, reset),
		cmocka_unit_test_setup(enabled_and_clock, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
