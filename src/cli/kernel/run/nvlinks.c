/* Links of GPUs, as NVML describes them: for the sections on NVLink, and so that nobody asks for counters that are not there. */
#include <stdlib.h>
#include <string.h>

#include "cli/kernel/run/run.h"
#include "vendor/nvml/nvml.h"

#define MOST_GPUS 64u

static bool has_link_capability(const struct nvml *n, void *device, unsigned link, int capability)
{
	unsigned value = 0;

	return n->nvmlDeviceGetNvLinkCapability && n->nvmlDeviceGetNvLinkCapability(device, link, capability, &value) == NVML_OK && value;
}

/* False where the GPU has no link of this number. */
static bool read_kernel_link(const struct nvml *n, void *device, unsigned number, struct kernel_link *ret)
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
	ret->peer_access = has_link_capability(n, device, number, NVML_LINK_PEER);
	ret->peer_atomics = has_link_capability(n, device, number, NVML_LINK_PEER_ATOMICS);
	ret->system_access = has_link_capability(n, device, number, NVML_LINK_HOST);
	ret->system_atomics = has_link_capability(n, device, number, NVML_LINK_HOST_ATOMICS);
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
	while (ret->link_count < KERNEL_LINKS && read_kernel_link(n, device, ret->link_count, &ret->links[ret->link_count]))
		ret->link_count++;
	if (ret->link_count && n->nvmlDeviceGetFieldValues && n->nvmlDeviceGetFieldValues(device, 1, &speed) == NVML_OK &&
	    speed.result == NVML_OK && speed.type == NVML_UNSIGNED)
		ret->bandwidth = 1e6 * speed.value.number;
	return true;
}

static bool has_nvlink(const struct kernel_gpu_links *gpu)
{
	for (unsigned i = 0; i < gpu->link_count; i++)
		if (gpu->links[i].is_active)
			return true;
	return false;
}

static void read_rest(const struct nvml *n, unsigned index, struct kernel_links *ret)
{
	unsigned enabled = 0, current = 0, pending;
	void *device;

	if (n->nvmlDeviceGetHandleByIndex_v2(index, &device) != NVML_OK)
		return;
	if (n->nvmlDeviceGetC2cModeInfoV && n->nvmlDeviceGetC2cModeInfoV(device, &enabled) == NVML_OK && enabled)
		ret->c2c = true;
	if (n->nvmlDeviceGetMigMode && n->nvmlDeviceGetMigMode(device, &current, &pending) == NVML_OK && current)
		ret->is_shared = true;
}

void kernel_links_read(struct kernel_links *ret)
{
	unsigned count = 0;
	char why[256];
	struct nvml n;

	*ret = (struct kernel_links){ .gpus = calloc(MOST_GPUS, sizeof(*ret->gpus)), .nvlink = true, .c2c = true };
	if (!ret->gpus || nvml_load(&n, why, sizeof(why)) < 0 || n.nvmlDeviceGetCount_v2(&count) != NVML_OK || !count || count > MOST_GPUS)
		return;
	ret->c2c = false;
	for (unsigned i = 0; i < count; i++)
		read_rest(&n, i, ret);
	if (!n.nvmlDeviceGetNvLinkState)
		return;
	for (unsigned i = 0; i < count; i++)
		ret->count += read_gpu(&n, i, &ret->gpus[ret->count]);
	ret->nvlink = ret->count < count;
	for (uint32_t i = 0; i < ret->count; i++)
		ret->nvlink |= has_nvlink(&ret->gpus[i]);
}

void kernel_links_release(struct kernel_links *links)
{
	free(links->gpus);
	memset(links, 0, sizeof(*links));
}
