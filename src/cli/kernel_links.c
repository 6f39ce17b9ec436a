/* Links between GPUs, as NVML describes them, for the sections on NVLink. */
#include <stdlib.h>
#include <string.h>

#include "cli/kernel_run.h"
#include "vendor/nvml.h"

#define MOST_GPUS 64u

static bool can(const struct nvml *n, void *device, unsigned link, int capability)
{
	unsigned value = 0;

	return n->nvmlDeviceGetNvLinkCapability && n->nvmlDeviceGetNvLinkCapability(device, link, capability, &value) == NVML_OK && value;
}

/* False where the GPU has no link of this number. */
static bool read_link(const struct nvml *n, void *device, unsigned number, struct kernel_link *ret)
{
	struct nvml_pci pci;
	int active = 0, type = NVML_REMOTE_GPU;

	if (n->nvmlDeviceGetNvLinkState(device, number, &active) != NVML_OK)
		return false;
	ret->is_active = active != 0;
	if (!ret->is_active)
		return true;
	if (n->nvmlDeviceGetNvLinkRemoteDeviceType && n->nvmlDeviceGetNvLinkRemoteDeviceType(device, number, &type) == NVML_OK)
		ret->remote_type = (unsigned)type;
	if (n->nvmlDeviceGetNvLinkRemotePciInfo_v2 && n->nvmlDeviceGetNvLinkRemotePciInfo_v2(device, number, &pci) == NVML_OK)
		memcpy(ret->remote, (unsigned[]){ pci.domain, pci.bus, pci.device }, sizeof(ret->remote));
	ret->peer_access = can(n, device, number, NVML_LINK_PEER);
	ret->peer_atomics = can(n, device, number, NVML_LINK_PEER_ATOMICS);
	ret->system_access = can(n, device, number, NVML_LINK_HOST);
	ret->system_atomics = can(n, device, number, NVML_LINK_HOST_ATOMICS);
	return true;
}

static bool read_gpu(const struct nvml *n, unsigned index, struct kernel_gpu_links *ret)
{
	struct nvml_field speed = { .id = NVML_FIELD_NVLINK_SPEED };
	struct nvml_pci pci;
	void *device;

	if (n->nvmlDeviceGetHandleByIndex_v2(index, &device) != NVML_OK || n->nvmlDeviceGetPciInfo_v3(device, &pci) != NVML_OK)
		return false;
	memcpy(ret->place, (unsigned[]){ pci.domain, pci.bus, pci.device }, sizeof(ret->place));
	if (n->nvmlDeviceGetName(device, ret->name, sizeof(ret->name)) != NVML_OK)
		ret->name[0] = '\0';
	while (ret->link_count < KERNEL_LINKS && read_link(n, device, ret->link_count, &ret->links[ret->link_count]))
		ret->link_count++;
	if (ret->link_count && n->nvmlDeviceGetFieldValues && n->nvmlDeviceGetFieldValues(device, 1, &speed) == NVML_OK && speed.result == NVML_OK &&
	    speed.type == NVML_UNSIGNED)
		ret->bandwidth = 1e6 * speed.value.number;
	return true;
}

struct kernel_gpu_links *kernel_links_read(uint32_t *ret_count)
{
	struct kernel_gpu_links *all = calloc(MOST_GPUS, sizeof(*all));
	char why[256];
	struct nvml n;
	unsigned count = 0;

	*ret_count = 0;
	if (!all || nvml_load(&n, why, sizeof(why)) < 0 || !n.nvmlDeviceGetNvLinkState || n.nvmlDeviceGetCount_v2(&count) != NVML_OK)
		return all;
	for (unsigned i = 0; i < count && i < MOST_GPUS; i++)
		*ret_count += read_gpu(&n, i, &all[*ret_count]);
	return all;
}
