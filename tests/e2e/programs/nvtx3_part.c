/* One of several linkage units of a program that use the header-only NVTX 3, each with
 * its own tables to be filled. PART is a letter. */
#include <nvtx3/nvToolsExt.h>

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

void JOIN(part_, PART)(int count);

void JOIN(part_, PART)(int count)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("part " TEXT(PART));
	nvtxEventAttributes_t event = { 0 };

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = "in domain of " TEXT(PART);
	event.colorType = NVTX_COLOR_ARGB;
	event.color = 0xff00ff00u;
	event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	event.payload.dValue = 2.5;
	for (int i = 0; i < count; i++) {
		nvtxRangePushA("part " TEXT(PART));
		nvtxDomainRangePushEx(domain, &event);
		nvtxDomainRangePop(domain);
		nvtxRangePop();
	}
	nvtxMarkW(L"wide mark of " TEXT(PART) " \u20ac");
}
