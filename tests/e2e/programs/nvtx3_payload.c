/* NVTX's extensions through NVIDIA's own headers: a schema with an enumeration, binary payloads
 * of events, and a counter. */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <stddef.h>

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

static uint64_t register_transfer(nvtxDomainHandle_t domain)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", "how much", 0, offsetof(struct transfer, bytes), NULL, NULL },
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "share", NULL, 0, offsetof(struct transfer, share), NULL, NULL },
		{ 0, register_direction(domain), "direction", NULL, 0, offsetof(struct transfer, direction), NULL, NULL },
	};
	nvtxPayloadSchemaAttr_t attributes = { 0 };

	attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
	attributes.name = "transfer";
	attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
	attributes.entries = entries;
	attributes.numEntries = 3;
	attributes.payloadStaticSize = sizeof(struct transfer);
	return nvtxPayloadSchemaRegister(domain, &attributes);
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

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
	nvtxCounterAttr_t attributes = { 0 };
	uint64_t counter;

	transfers(domain, register_transfer(domain));
	attributes.structSize = sizeof(attributes);
	attributes.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
	attributes.name = "queue length";
	attributes.description = "waiting";
	counter = nvtxCounterRegister(domain, &attributes);
	for (int64_t i = -2; i <= 2; i++)
		nvtxCounterSampleInt64(domain, counter, i * 10);
	return 0;
}
