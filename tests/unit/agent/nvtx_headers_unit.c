#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSync.h>

#include "nvtx_headers_unit.h"

static uint64_t schema(nvtxDomainHandle_t domain)
{
	static const nvtxPayloadSchemaEntry_t entries[] = {
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "number", NULL, 0, 0, NULL, NULL },
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 0, 0, NULL, NULL },
	};
	nvtxPayloadSchemaAttr_t attributes = { 0 };

	attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
	attributes.name = "unit schema";
	attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
	attributes.entries = entries;
	attributes.numEntries = 2;
	attributes.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 42;
	return nvtxPayloadSchemaRegister(domain, &attributes);
}

static uint64_t counter(nvtxDomainHandle_t domain)
{
	nvtxCounterAttr_t attributes = { 0 };

	attributes.structSize = sizeof(attributes);
	attributes.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
	attributes.name = "unit counter";
	return nvtxCounterRegister(domain, &attributes);
}

static void ranges(struct unit_results *ret)
{
	struct {
		int32_t number;
		const char *text;
	} data = { 7, "of the payload" };
	nvtxPayloadData_t payload[1] = { { ret->schema, sizeof(data), &data } };
	nvtxEventAttributes_t attributes = { 0 };

	attributes.version = NVTX_VERSION;
	attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	attributes.category = 11;
	attributes.colorType = NVTX_COLOR_ARGB;
	attributes.color = 0xff123456;
	attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	attributes.payload.dValue = 0.125;
	attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	attributes.message.registered = ret->string;
	ret->push = nvtxRangePushA("outer by header");
	ret->inner = nvtxDomainRangePushEx(ret->domain, &attributes);
	nvtxDomainRangePop(ret->domain);
	ret->pop = nvtxRangePop();
	/* The header's macro for this lacks a parenthesis in C. */
	attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	attributes.reserved0 = 1;
	attributes.payload.ullValue = (uint64_t)(uintptr_t)payload;
	nvtxDomainMarkEx(ret->domain, &attributes);
	ret->range = nvtxRangeStartA("range by header");
	nvtxRangeEnd(ret->range);
}

static void run(void *attach, void *attach_extension, struct unit_results *ret)
{
	nvtxSyncUserAttributes_t sync = { 0 };
	nvtxSyncUser_t lock;

	InitializeInjectionNvtx2_fnptr = (NvtxInitializeInjectionNvtxFunc_t)attach;
	InitializeInjectionNvtxExtension_fnptr = (NvtxExtInitializeInjectionFunc_t)attach_extension;
	ret->domain = nvtxDomainCreateA("header domain");
	ret->string = nvtxDomainRegisterStringW(ret->domain, L"registered by header");
	ret->schema = schema(ret->domain);
	ret->counter = counter(ret->domain);
	ret->enabled = nvtxDomainIsEnabled(ret->domain);
	ranges(ret);
	nvtxCounterSampleInt64(ret->domain, ret->counter, 99);
	nvtxNameCategoryA(11, "eleven");
	nvtxNameOsThreadA(4321, "named thread");
	sync.version = NVTX_VERSION;
	sync.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
	sync.messageType = NVTX_MESSAGE_TYPE_ASCII;
	sync.message.ascii = "header lock";
	lock = nvtxDomainSyncUserCreate(ret->domain, &sync);
	nvtxDomainSyncUserAcquireStart(lock);
	nvtxDomainSyncUserAcquireSuccess(lock);
	nvtxDomainSyncUserReleasing(lock);
	nvtxDomainSyncUserDestroy(lock);
}

void UNIT_FUNCTION(void *attach, void *attach_extension, struct unit_results *ret)
{
	run(attach, attach_extension, ret);
}
