/* NVTX's extensions through NVIDIA's own headers: schemas with enumerations, arrays, nesting and unions,
 * one and several binary payloads of events, and a counter. */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

struct transfer {
	uint64_t bytes;
	double share;
	int32_t direction;
	uint32_t pad;
};

static uint64_t register_direction(nvtxDomainHandle_t domain)
{
	static const nvtxPayloadEnum_t entries[] = { { "to device", 1, 0 }, { "from device", 2, 0 } };
	nvtxPayloadEnumAttr_t attributes = { 0 };

	attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			       NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
	attributes.name = "direction";
	attributes.entries = entries;
	attributes.numEntries = 2;
	attributes.sizeOfEnum = sizeof(int32_t);
	return nvtxPayloadEnumRegister(domain, &attributes);
}

static uint64_t register_schema(nvtxDomainHandle_t domain, const char *name, uint64_t type, size_t size,
				const nvtxPayloadSchemaEntry_t *entries, size_t count)
{
	nvtxPayloadSchemaAttr_t attributes = { 0 };

	attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			       (size ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE : 0);
	attributes.name = name;
	attributes.type = type;
	attributes.entries = entries;
	attributes.numEntries = count;
	attributes.payloadStaticSize = size;
	return nvtxPayloadSchemaRegister(domain, &attributes);
}

static uint64_t register_transfer(nvtxDomainHandle_t domain)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", "how much", 0, offsetof(struct transfer, bytes), NULL, NULL },
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "share", NULL, 0, offsetof(struct transfer, share), NULL, NULL },
		{ 0, register_direction(domain), "direction", NULL, 0, offsetof(struct transfer, direction), NULL, NULL },
	};

	return register_schema(domain, "transfer", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(struct transfer), entries, 3);
}

static void transfers(nvtxDomainHandle_t domain, uint64_t schema)
{
	struct transfer data = { 0, 0.25, 1, 0 };
	nvtxPayloadData_t payload = { schema, sizeof(data), &data };
	nvtxEventAttributes_t event = { 0 };

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = "transfer";
	event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	event.reserved0 = 1;
	event.payload.ullValue = (uint64_t)(uintptr_t)&payload;
	for (uint64_t i = 1; i <= 3; i++) {
		data.bytes = i << 40;
		data.direction = i == 2 ? 2 : 1;
		nvtxDomainRangePushEx(domain, &event);
		nvtxDomainRangePop(domain);
	}
}

static nvtxEventAttributes_t event_named(const char *name)
{
	nvtxEventAttributes_t event = { 0 };

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = name;
	return event;
}

struct tensor {
	char name[12];
	int32_t shape[3];
	const char *layout;
	nvtxStringHandle_t kind;
};

struct step {
	uint8_t phase;
	struct tensor tensors[2];
	uint32_t which;
	union {
		uint32_t number;
		float real;
	} value;
};

static uint64_t register_tensor(nvtxDomainHandle_t domain)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name", NULL, 12, 0, NULL, NULL },
		{ NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "shape", NULL, 3, 0, NULL, NULL },
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "layout", NULL, 0, 0, NULL, NULL },
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "kind", NULL, 0, 0, NULL, NULL },
	};

	return register_schema(domain, "tensor", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(struct tensor), entries, 4);
}

/* Offsets are left to the tool. */
static uint64_t register_step(nvtxDomainHandle_t domain, uint64_t tensor)
{
	const nvtxPayloadSchemaEntry_t members[] = {
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "number", NULL, 0, 0, NULL, NULL },
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "real", NULL, 0, 0, NULL, NULL },
	};
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "phase", NULL, 0, 0, NULL, NULL },
		{ NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, tensor, "tensors", NULL, 2, 0, NULL, NULL },
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "which", NULL, 0, 0, NULL, NULL },
		{ 0, register_schema(domain, "value", NVTX_PAYLOAD_SCHEMA_TYPE_UNION, sizeof(float), members, 2), "value", NULL, 2, 0, NULL,
		  NULL },
	};

	return register_schema(domain, "step", NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0, entries, 4);
}

static uint64_t register_list(nvtxDomainHandle_t domain)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "n", NULL, 0, 0, NULL, NULL },
		{ NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "values", NULL, 0, 0, NULL, NULL },
		{ NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "note", NULL, 0, 0, NULL, NULL },
	};

	return register_schema(domain, "list", NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, 0, entries, 3);
}

static void structures(nvtxDomainHandle_t domain, uint64_t tensor)
{
	nvtxStringHandle_t dense = nvtxDomainRegisterStringA(domain, "dense");
	struct step step = { 3, { { "weights", { 2, 3, 4 }, "rows", dense }, { "bias", { 5, 0, -1 }, NULL, NULL } }, 1, { .real = 0.75f } };
	struct {
		uint32_t n;
		float values[3];
		char note[8];
	} list = { 3, { 1, 2.5f, -3 }, "as is" };
	nvtxPayloadData_t payload = { register_step(domain, tensor), sizeof(step), &step };
	nvtxEventAttributes_t event = event_named("step");

	event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	event.payload.ullValue = (uint64_t)(uintptr_t)&payload;
	event.reserved0 = 1;
	nvtxDomainMarkEx(domain, &event);
	event.message.ascii = "list";
	payload = (nvtxPayloadData_t){ register_list(domain), sizeof(list), &list };
	nvtxDomainMarkEx(domain, &event);
}

/* Payloads where a range begins and where it ends. */
static void several(nvtxDomainHandle_t domain, uint64_t tensor, nvtxStringHandle_t kind)
{
	struct tensor data = { "input", { 1, 2, 3 }, "columns", kind };
	int64_t number = -5;
	nvtxPayloadData_t both[] = { { tensor, sizeof(data), &data }, { NVTX_PAYLOAD_ENTRY_TYPE_INT64, sizeof(number), &number } };
	nvtxPayloadData_t later[] = { { NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, "done" },
				      { NVTX_TYPE_PAYLOAD_SCHEMA_RAW, 3, "\x01\x02\xff" } };
	nvtxEventAttributes_t event = event_named("several");
	nvtxRangeId_t range;

	event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	event.reserved0 = 2;
	event.payload.ullValue = (uint64_t)(uintptr_t)both;
	nvtxDomainRangePushEx(domain, &event);
	nvtxRangePopPayload(domain, later, 2);
	event.message.ascii = "several, start and end";
	range = nvtxDomainRangeStartEx(domain, &event);
	nvtxRangeEndPayload(domain, range, later, 1);
}

/* The length lies in another payload of the pop, not of the push. */
static void counted(nvtxDomainHandle_t domain)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "data", NULL, 0, 0, NULL, NULL },
	};
	uint64_t schema = register_schema(domain, "counted", NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, 0, entries, 1);
	size_t first = 99, count = 2;
	float data[] = { 1.5f, -2.5f, 0 };
	nvtxPayloadData_t early = { NVTX_PAYLOAD_ENTRY_TYPE_SIZE, sizeof(first), &first };
	nvtxPayloadData_t late[] = { { NVTX_PAYLOAD_ENTRY_TYPE_SIZE, sizeof(count), &count }, { schema, sizeof(data), data } };
	nvtxEventAttributes_t event = event_named("counted");

	event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	event.reserved0 = 1;
	event.payload.ullValue = (uint64_t)(uintptr_t)&early;
	nvtxDomainRangePushEx(domain, &event);
	nvtxRangePopPayload(domain, late, 2);
}

/* The child registers nothing itself. */
static void in_a_child(nvtxDomainHandle_t domain, uint64_t tensor, nvtxStringHandle_t kind)
{
	struct tensor data = { "of child", { 7, 8, 9 }, NULL, kind };
	nvtxPayloadData_t payload = { tensor, sizeof(data), &data };
	nvtxEventAttributes_t event = event_named("forked");
	pid_t child = fork();

	if (child > 0) {
		waitpid(child, NULL, 0);
		return;
	}
	event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	event.reserved0 = 1;
	event.payload.ullValue = (uint64_t)(uintptr_t)&payload;
	nvtxDomainMarkEx(domain, &event);
	_exit(0);
}

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
	nvtxStringHandle_t sparse = nvtxDomainRegisterStringA(domain, "sparse");
	uint64_t tensor = register_tensor(domain);
	nvtxCounterAttr_t attributes = { 0 };
	uint64_t counter;

	transfers(domain, register_transfer(domain));
	structures(domain, tensor);
	several(domain, tensor, sparse);
	counted(domain);
	in_a_child(domain, tensor, sparse);
	attributes.structSize = sizeof(attributes);
	attributes.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
	attributes.name = "queue length";
	attributes.description = "waiting";
	counter = nvtxCounterRegister(domain, &attributes);
	for (int64_t i = -2; i <= 2; i++)
		nvtxCounterSampleInt64(domain, counter, i * 10);
	return 0;
}
