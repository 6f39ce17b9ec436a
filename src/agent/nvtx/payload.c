#include "agent/nvtx/nvtx.h"

uint32_t nvtx_payload_put(uint32_t domain, const struct nvtx_payload *payloads, size_t count,
			  uint64_t time)
{
	(void)domain; (void)payloads; (void)count; (void)time;
	return 0;
}
