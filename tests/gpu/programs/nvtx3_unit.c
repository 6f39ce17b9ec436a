/* Header-only NVTX 3, compiled into several shared objects of one program. */
#include <nvtx3/nvToolsExt.h>

#ifndef UNIT
#error "compile with -DUNIT=name"
#endif
#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

void JOIN(ranges_of_, UNIT)(int count);

void JOIN(ranges_of_, UNIT)(int count)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("shared domain");
	nvtxEventAttributes_t event = { 0 };

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = nvtxDomainRegisterStringA(domain, "registered in " TEXT(UNIT));
	for (int i = 0; i < count; i++) {
		nvtxRangePushA("unit " TEXT(UNIT));
		nvtxDomainRangePushEx(domain, &event);
		nvtxDomainRangePop(domain);
		nvtxRangePop();
	}
}
