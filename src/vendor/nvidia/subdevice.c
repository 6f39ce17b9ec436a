#include "vendor/nvidia/subdevice.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "vendor/nvidia/resource_manager.h"

/* Objects of the driver's resource manager: a client, in it a device, in that a subdevice, which is one GPU. */
#define CLASS_CLIENT 0x41u
#define CLASS_DEVICE 0x80u
#define CLASS_SUBDEVICE 0x2080u
#define HANDLE_DEVICE 0x50de0001u
#define HANDLE_SUBDEVICE 0x50de0002u
#define COMMAND_ATTACHED_IDS 0x201u
#define COMMAND_ID_INFO 0x205u
#define COMMAND_PCI_INFO 0x21bu
#define MAX_ATTACHED 32

struct rm_device {
	uint32_t device;
	uint32_t unused[5];
	uint64_t address_space[3];
	uint32_t mode;
	uint32_t pad;
};

struct rm_id_info {
	uint32_t id;
	uint32_t flags;
	uint32_t device;
	uint32_t subdevice;
	uint32_t unused[4];
};

struct rm_pci_info {
	uint32_t id;
	uint32_t domain;
	uint16_t bus;
	uint16_t slot;
};

static int control(const struct nvidia_subdevice *s, uint32_t object, uint32_t command, void *parameters, uint32_t size)
{
	int result = nvidia_rm_control(s->fd, s->client, object, command, parameters, size);

	return result > 0 ? -EIO : result;
}

int nvidia_subdevice_control(const struct nvidia_subdevice *s, uint32_t command, void *parameters, uint32_t size)
{
	return control(s, s->object, command, parameters, size);
}

static int find_device(const struct nvidia_subdevice *s, uint32_t domain, uint32_t bus, uint32_t device, struct rm_id_info *ret)
{
	uint32_t ids[MAX_ATTACHED] = { 0 };
	struct rm_pci_info pci;
	int result = control(s, s->client, COMMAND_ATTACHED_IDS, ids, sizeof(ids));

	for (int i = 0; result == 0 && i < MAX_ATTACHED && ids[i] != UINT32_MAX; i++) {
		pci = (struct rm_pci_info){ .id = ids[i] };
		if (control(s, s->client, COMMAND_PCI_INFO, &pci, sizeof(pci)) < 0 || pci.domain != domain || pci.bus != bus ||
		    pci.slot != device)
			continue;
		*ret = (struct rm_id_info){ .id = ids[i] };
		return control(s, s->client, COMMAND_ID_INFO, ret, sizeof(*ret));
	}
	return result < 0 ? result : -ENODEV;
}

static int open_objects(struct nvidia_subdevice *s, uint32_t domain, uint32_t bus, uint32_t device)
{
	struct rm_device parameters = { 0 };
	struct rm_id_info info;
	uint32_t object = HANDLE_DEVICE, subdevice = HANDLE_SUBDEVICE;
	int result = nvidia_rm_allocate(s->fd, 0, 0, CLASS_CLIENT, NULL, &s->client);

	if (result == 0)
		result = find_device(s, domain, bus, device, &info);
	if (result == 0) {
		parameters.device = info.device;
		result = nvidia_rm_allocate(s->fd, s->client, s->client, CLASS_DEVICE, &parameters, &object);
	}
	if (result == 0)
		result = nvidia_rm_allocate(s->fd, s->client, object, CLASS_SUBDEVICE, &info.subdevice, &subdevice);
	s->object = subdevice;
	return result > 0 ? -EIO : result;
}

int nvidia_subdevice_open(struct nvidia_subdevice *ret, uint32_t domain, uint32_t bus, uint32_t device)
{
	int result;

	*ret = (struct nvidia_subdevice){ .fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC) };
	if (ret->fd < 0)
		return -errno;
	result = open_objects(ret, domain, bus, device);
	if (result < 0)
		nvidia_subdevice_close(ret);
	return result;
}

/* All objects of a client go with its descriptor. */
void nvidia_subdevice_close(struct nvidia_subdevice *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
