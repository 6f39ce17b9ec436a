/* The calls of scenario_annotate.c, made through NVIDIA's headers. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include <sonde/annotate.h>

#include "scenario.h"

/* The tool reads our events as NVTX's. */
_Static_assert(sizeof(struct sonde_event) == sizeof(nvtxEventAttributes_t), "size of an event");
_Static_assert(offsetof(struct sonde_event, category) == offsetof(nvtxEventAttributes_t, category), "category");
_Static_assert(offsetof(struct sonde_event, color_kind) == offsetof(nvtxEventAttributes_t, colorType), "color_kind");
_Static_assert(offsetof(struct sonde_event, color) == offsetof(nvtxEventAttributes_t, color), "color");
_Static_assert(offsetof(struct sonde_event, payload_kind) == offsetof(nvtxEventAttributes_t, payloadType), "kind");
_Static_assert(offsetof(struct sonde_event, payload) == offsetof(nvtxEventAttributes_t, payload), "payload");
_Static_assert(offsetof(struct sonde_event, name_kind) == offsetof(nvtxEventAttributes_t, messageType), "name_kind");
_Static_assert(offsetof(struct sonde_event, name) == offsetof(nvtxEventAttributes_t, message), "name");
_Static_assert(SONDE_NVTX_VERSION == NVTX_VERSION, "version");

static void default_domain(void)
{
	char name[16] = "first";
	nvtxRangeId_t id;
	int outer = nvtxRangePushA(name);
	int inner;

	strcpy(name, "second");
	inner = nvtxRangePushA(name);
	printf("levels %d %d %d", outer, inner, nvtxRangePop());
	printf(" %d\n", nvtxRangePop());
	nvtxMarkA("a mark");
	id = nvtxRangeStartA("long");
	nvtxRangeEnd(id);
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "main thread");
}

static nvtxEventAttributes_t named(const char *name)
{
	nvtxEventAttributes_t event;

	memset(&event, 0, sizeof(event));
	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = name;
	return event;
}

static void pop(nvtxDomainHandle_t domain)
{
	if (domain)
		nvtxDomainRangePop(domain);
	else
		nvtxRangePop();
}

static void events_of(nvtxDomainHandle_t domain)
{
	nvtxEventAttributes_t event = named("all");
	nvtxRangeId_t id;

	event.colorType = NVTX_COLOR_ARGB;
	event.color = 0xff112233;
	event.category = 7;
	event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	event.payload.ullValue = UINT64_MAX;
	nvtxDomainRangePushEx(domain, &event);
	event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	event.payload.llValue = -5;
	nvtxDomainMarkEx(domain, &event);
	event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	event.payload.dValue = 1.5;
	id = nvtxDomainRangeStartEx(domain, &event);
	nvtxDomainRangeEnd(domain, id);
	event = named(NULL);
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = nvtxDomainRegisterStringA(domain, "registered name");
	event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
	event.payload.uiValue = 4000000000u;
	nvtxDomainMarkEx(domain, &event);
	event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	event.payload.iValue = -6;
	nvtxDomainMarkEx(domain, &event);
	event.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
	event.payload.fValue = 0.25f;
	nvtxDomainMarkEx(domain, &event);
	pop(domain);
}

static void named_domain(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
	nvtxEventAttributes_t event = named("plain");

	nvtxDomainNameCategoryA(domain, 7, "io");
	events_of(domain);
	nvtxDomainRangePushEx(domain, &event);
	nvtxDomainRangePop(domain);
	event = named("plain mark");
	nvtxDomainMarkEx(domain, &event);
	event = named("plain start");
	nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &event));
	nvtxDomainDestroy(domain);
}

void scenario(void)
{
	default_domain();
	events_of(NULL);
	named_domain();
}
