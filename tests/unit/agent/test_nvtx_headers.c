/* The module against the vendor's headers: numbers and layouts that we declare ourselves, and two
 * linkage units of one program that attach through the official tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#include <nvtx3/nvToolsExtSync.h>

#include "nvtx_decode.h"
#include "nvtx_headers_unit.h"

/* Every function stands where the headers look for it. */
#define NVTX_CALL(module, index, name, result, function, arguments) \
	_Static_assert(NVTX_CBID_##module##_##name == index, #name); \
	_Static_assert(NVTX_CB_MODULE_##module == (int)NVTX_MODULE_##module, #module);
#define NVTX_EXTENSION_CALL(extension, index, name, result, function, arguments) _Static_assert(NVTX3EXT_CBID_nvtx##name == index, #name);
#include "agent/nvtx/calls.def"
#undef NVTX_CALL
#undef NVTX_EXTENSION_CALL

_Static_assert((int)NVTX_EXTENSION_PAYLOAD == NVTX_EXT_PAYLOAD_MODULEID, "payload");
_Static_assert((int)NVTX_EXTENSION_COUNTERS == NVTX_EXT_COUNTERS_MODULEID, "counters");
_Static_assert(NVTX_PAYLOAD_IS_EXTENDED == NVTX_PAYLOAD_TYPE_EXT, "extended payload");
_Static_assert(NVTX_UNTRACKED == NVTX_NO_PUSH_POP_TRACKING, "no tracking");
_Static_assert((int)NVTX_PAYLOAD_FLOAT == NVTX_PAYLOAD_TYPE_FLOAT, "scalar payloads");
_Static_assert((int)NVTX_PAYLOAD_UINT64 == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, "scalar payloads");
_Static_assert((int)NVTX_PAYLOAD_INT32 == NVTX_PAYLOAD_TYPE_INT32, "scalar payloads");
_Static_assert((int)NVTX_MESSAGE_WIDE == NVTX_MESSAGE_TYPE_UNICODE, "messages");
_Static_assert((int)NVTX_MESSAGE_REGISTERED == NVTX_MESSAGE_TYPE_REGISTERED, "messages");
_Static_assert((int)NVTX_TYPE_CATEGORY == NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "entry types");
_Static_assert((int)NVTX_TYPE_TEXT == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "entry types");
_Static_assert((int)NVTX_TYPE_BF16 == NVTX_PAYLOAD_ENTRY_TYPE_BF16, "entry types");
_Static_assert((int)NVTX_TYPE_SIZE == NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "entry types");
_Static_assert((int)NVTX_TYPE_REGISTERED == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "entry types");
_Static_assert(NVTX_ENTRY_POINTER == NVTX_PAYLOAD_ENTRY_FLAG_POINTER, "entry flags");
_Static_assert(NVTX_ENTRY_ARRAY_FIXED == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, "entry flags");
_Static_assert(NVTX_ENTRY_MESSAGE == NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, "entry flags");
_Static_assert(NVTX_ENTRY_TIMESTAMP == NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP, "entry flags");
_Static_assert((int)NVTX_SCHEMA_HAS_ID == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID, "schema mask");
_Static_assert((int)NVTX_SCHEMA_HAS_ENTRY_COUNT == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES, "schema mask");
_Static_assert((int)NVTX_ENUM_HAS_ID == NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID, "enum mask");
_Static_assert((int)NVTX_TIME_MONOTONIC_RAW == NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_RAW, "clocks");
_Static_assert((int)NVTX_TIME_TSC == NVTX_TIMESTAMP_TYPE_CPU_TSC, "clocks");
_Static_assert(NVTX_SEMANTICS_TIME == NVTX_SEMANTIC_ID_TIME_V1, "semantics");

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, member, theirs, their_member) \
	_Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member), #their_member)

SAME_SIZE(nvtx_attributes, nvtxEventAttributes_t);
SAME_PLACE(nvtx_attributes, payload_count, nvtxEventAttributes_t, reserved0);
SAME_PLACE(nvtx_attributes, payload, nvtxEventAttributes_t, payload);
SAME_PLACE(nvtx_attributes, message_type, nvtxEventAttributes_t, messageType);
SAME_PLACE(nvtx_attributes, message, nvtxEventAttributes_t, message);
SAME_SIZE(nvtx_resource_attributes, nvtxResourceAttributes_t);
SAME_PLACE(nvtx_resource_attributes, identifier, nvtxResourceAttributes_t, identifier);
SAME_PLACE(nvtx_resource_attributes, message, nvtxResourceAttributes_t, message);
SAME_SIZE(nvtx_sync_attributes, nvtxSyncUserAttributes_t);
SAME_PLACE(nvtx_sync_attributes, message, nvtxSyncUserAttributes_t, message);
SAME_SIZE(nvtx_callbacks, NvtxExportTableCallbacks);
SAME_SIZE(nvtx_version, NvtxExportTableVersionInfo);
SAME_PLACE(nvtx_version, set_injection_version, NvtxExportTableVersionInfo, SetInjectionNvtxVersion);
SAME_SIZE(nvtx_segment, nvtxExtModuleSegment_t);
SAME_SIZE(nvtx_module_info, nvtxExtModuleInfo_t);
SAME_PLACE(nvtx_module_info, segments, nvtxExtModuleInfo_t, segments);
SAME_SIZE(nvtx_payload, nvtxPayloadData_t);
SAME_SIZE(nvtx_schema_entry, nvtxPayloadSchemaEntry_t);
SAME_PLACE(nvtx_schema_entry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
SAME_PLACE(nvtx_schema_entry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME_SIZE(nvtx_schema_attributes, nvtxPayloadSchemaAttr_t);
SAME_PLACE(nvtx_schema_attributes, static_size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
SAME_PLACE(nvtx_schema_attributes, id, nvtxPayloadSchemaAttr_t, schemaId);
SAME_SIZE(nvtx_enum_entry, nvtxPayloadEnum_t);
SAME_SIZE(nvtx_enum_attributes, nvtxPayloadEnumAttr_t);
SAME_PLACE(nvtx_enum_attributes, size, nvtxPayloadEnumAttr_t, sizeOfEnum);
SAME_SIZE(nvtx_scope_attributes, nvtxScopeAttr_t);
SAME_SIZE(nvtx_counter_attributes, nvtxCounterAttr_t);
SAME_PLACE(nvtx_counter_attributes, semantics, nvtxCounterAttr_t, semantics);
SAME_PLACE(nvtx_counter_attributes, id, nvtxCounterAttr_t, counterId);
SAME_SIZE(nvtx_counter_batch, nvtxCounterBatch_t);
SAME_PLACE(nvtx_counter_batch, times, nvtxCounterBatch_t, timestamps);
SAME_SIZE(nvtx_semantics, nvtxSemanticsHeader_t);
SAME_SIZE(nvtx_semantics_time, nvtxSemanticsTime_t);

/* Nothing of the core modules is left out. */
static void all_functions_are_there(void **state)
{
	static const int sizes[NVTX_MODULE_COUNT] = {
		[NVTX_MODULE_CORE] = NVTX_CBID_CORE_SIZE,     [NVTX_MODULE_CORE2] = NVTX_CBID_CORE2_SIZE,
		[NVTX_MODULE_CUDA] = NVTX_CBID_CUDA_SIZE,     [NVTX_MODULE_CUDART] = NVTX_CBID_CUDART_SIZE,
		[NVTX_MODULE_OPENCL] = NVTX_CBID_OPENCL_SIZE, [NVTX_MODULE_SYNC] = NVTX_CBID_SYNC_SIZE,
	};
	int counts[NVTX_MODULE_COUNT] = { 0 };

	(void)state;
#define NVTX_CALL(module, index, name, result, function, arguments) counts[NVTX_MODULE_##module]++;
#define NVTX_EXTENSION_CALL(extension, index, name, result, function, arguments)
#include "agent/nvtx/calls.def"
#undef NVTX_CALL
#undef NVTX_EXTENSION_CALL
	for (int module = NVTX_MODULE_CORE; module < NVTX_MODULE_COUNT; module++)
		assert_int_equal(counts[module], sizes[module] - 1);
}

static void sizes_of_types_are_the_programs(void **state)
{
	const nvtxPayloadEntryTypeInfo_t *types = NVTX_EXT_PAYLOAD_VERSIONED_ID(nvtxExtPayloadTypeInfo);

	(void)state;
	for (unsigned i = 1; i < NVTX_PAYLOAD_ENTRY_TYPE_INFO_ARRAY_SIZE; i++)
		if (types[i].size)
			assert_int_equal(nvtx_type_size(i), types[i].size);
}

struct tally {
	unsigned pushes, pops, marks, blobs, starts, ends, counters;
	unsigned definitions[DEFINE_KIND_COUNT];
	int payload_right, mark_right;
};

static void look_at_blob(struct tally *tally, const struct seen *seen)
{
	int32_t number;
	uint64_t offset;

	memcpy(&number, seen->text, sizeof(number));
	memcpy(&offset, seen->text + 8, sizeof(offset));
	tally->payload_right += number == 7 && strcmp(seen->text + offset, "of the payload") == 0;
}

static struct tally tally_records(void)
{
	struct tally tally = { 0 };
	const void *cursor = NULL;
	struct seen seen;

	while (nvtx_next(&cursor, &seen)) {
		tally.pushes += seen.type == RECORD_NVTX_PUSH || seen.type == RECORD_NVTX_PUSH_EX;
		tally.pops += seen.type == RECORD_NVTX_POP;
		tally.marks += seen.type == RECORD_NVTX_MARK;
		tally.starts += seen.type == RECORD_NVTX_START;
		tally.ends += seen.type == RECORD_NVTX_END;
		tally.counters += seen.type == RECORD_NVTX_COUNTER && seen.value == 99;
		if (seen.type == RECORD_DEFINE)
			tally.definitions[seen.flags]++;
		if (seen.type == RECORD_NVTX_MARK && (seen.flags & NVTX_FLAG_BLOB))
			tally.mark_right += seen.category == 11 && seen.color == 0xff123456;
		if (seen.type == RECORD_NVTX_BLOB)
			look_at_blob(&tally, &seen);
	}
	return tally;
}

static void two_units_attach(void **state)
{
	struct unit_results one = { 0 }, two = { 0 };
	struct tally tally;

	(void)state;
	fake_agent_reset();
	unit_in_program((void *)InitializeInjectionNvtx2, (void *)InitializeInjectionNvtxExtension, &one);
	unit_in_library((void *)InitializeInjectionNvtx2, (void *)InitializeInjectionNvtxExtension, &two);
	assert_true(fake_agent.starts >= 6); /* core and two extensions, from each unit */
	assert_non_null(one.domain);
	assert_ptr_equal(one.domain, two.domain);
	assert_ptr_equal(one.string, two.string);
	assert_int_equal(one.schema, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 42);
	assert_int_equal(two.schema, one.schema);
	assert_true(one.counter != two.counter);
	assert_int_equal(one.enabled, 1);
	assert_int_equal(one.push, 0);
	assert_int_equal(one.inner, 0);
	assert_int_equal(one.pop, 0);
	assert_true(one.range != two.range);
	tally = tally_records();
	assert_int_equal(tally.pushes, 4);
	assert_int_equal(tally.pops, 4);
	assert_int_equal(tally.marks, 2 + 6);
	assert_int_equal(tally.payload_right, 2);
	assert_int_equal(tally.mark_right, 2);
	assert_int_equal(tally.starts, 2);
	assert_int_equal(tally.ends, 2);
	assert_int_equal(tally.counters, 2);
	assert_int_equal(tally.definitions[DEFINE_DOMAIN], 1);
	assert_int_equal(tally.definitions[DEFINE_SCHEMA], 1);
	assert_int_equal(tally.definitions[DEFINE_STRING], 1 + 3 + 1);
	assert_int_equal(tally.definitions[DEFINE_THREAD_NAME], 2);
	assert_int_equal(tally.definitions[DEFINE_RESOURCE], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_functions_are_there),
		cmocka_unit_test(sizes_of_types_are_the_programs),
		cmocka_unit_test(two_units_attach),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
