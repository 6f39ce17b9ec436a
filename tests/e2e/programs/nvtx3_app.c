/* The program of the parts: every core call of NVTX 3 once. */
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>
#include <sys/syscall.h>

void part_a(int count);
void part_b(int count);

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateW(L"app domain");
	nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "registered in app");
	nvtxEventAttributes_t event = { 0 };
	nvtxRangeId_t id;

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = name;
	event.category = 2;
	event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	event.payload.ullValue = 77;
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "app thread");
	nvtxNameCategoryA(1, "app category");
	nvtxDomainNameCategoryA(domain, 2, "app domain category");
	nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &event));
	nvtxDomainMarkEx(domain, &event);
	id = nvtxRangeStartA("app start");
	nvtxRangePushW(L"app wide");
	nvtxRangePop();
	nvtxRangeEnd(id);
	part_a(3);
	part_b(4);
	return 0;
}
