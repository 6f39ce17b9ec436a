#include "vendor/nvidia_timer.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "vendor/nvidia_rm.h"

/* Objects of the driver's resource manager: a client, in it a device, in that a subdevice, which is asked for its time. */
#define CLASS_CLIENT 0x41u
#define CLASS_DEVICE 0x80u
#define CLASS_SUBDEVICE 0x2080u
#define HANDLE_DEVICE 0x50de0001u
#define HANDLE_SUBDEVICE 0x50de0002u
#define COMMAND_ATTACHED_IDS 0x201u
#define COMMAND_ID_INFO 0x205u
#define COMMAND_PCI_INFO 0x21bu
#define COMMAND_TIME 0x20800403u
#define COMMAND_CORRELATION 0x20800406u
#define CLOCK_MONOTONIC_RAW_NS 3u /* its name for it: the platform's constant-rate clock */
#define MAX_ATTACHED 32
#define MAX_PAIRS 16

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

struct rm_correlation {
	uint8_t clock;
	uint8_t count;
	uint8_t pad[6];
	struct {
		uint64_t cpu;
		uint64_t gpu;
	} pairs[MAX_PAIRS];
};

static int control(const struct nvidia_timer *t, uint32_t object, uint32_t command, void *parameters, uint32_t size)
{
	int result = nvidia_rm_control(t->fd, t->client, object, command, parameters, size);

	return result > 0 ? -EIO : result;
}

static int find_device(const struct nvidia_timer *t, uint32_t domain, uint32_t bus, uint32_t device, struct rm_id_info *ret)
{
	uint32_t ids[MAX_ATTACHED] = { 0 };
	struct rm_pci_info pci;
	int result = control(t, t->client, COMMAND_ATTACHED_IDS, ids, sizeof(ids));

	for (int i = 0; result == 0 && i < MAX_ATTACHED && ids[i] != UINT32_MAX; i++) {
		pci = (struct rm_pci_info){ .id = ids[i] };
		if (control(t, t->client, COMMAND_PCI_INFO, &pci, sizeof(pci)) < 0 ||
		    pci.domain != domain || pci.bus != bus || pci.slot != device)
			continue;
		*ret = (struct rm_id_info){ .id = ids[i] };
		return control(t, t->client, COMMAND_ID_INFO, ret, sizeof(*ret));
	}
	return result < 0 ? result : -ENODEV;
}

static int open_objects(struct nvidia_timer *t, uint32_t domain, uint32_t bus, uint32_t device)
{
	struct rm_device parameters = { 0 };
	struct rm_id_info info;
	uint32_t object = HANDLE_DEVICE, subdevice = HANDLE_SUBDEVICE;
	int result = nvidia_rm_allocate(t->fd, 0, 0, CLASS_CLIENT, NULL, &t->client);

	if (result == 0)
		result = find_device(t, domain, bus, device, &info);
	if (result == 0) {
		parameters.device = info.device;
		result = nvidia_rm_allocate(t->fd, t->client, t->client, CLASS_DEVICE, &parameters, &object);
	}
	if (result == 0)
		result = nvidia_rm_allocate(t->fd, t->client, object, CLASS_SUBDEVICE, &info.subdevice, &subdevice);
	t->subdevice = subdevice;
	return result > 0 ? -EIO : result;
}

int nvidia_timer_open(struct nvidia_timer *ret, uint32_t domain, uint32_t bus, uint32_t device)
{
	uint64_t time;
	int64_t raw;
	int result;

	*ret = (struct nvidia_timer){ .fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC) };
	if (ret->fd < 0)
		return -errno;
	result = open_objects(ret, domain, bus, device);
	if (result == 0)
		result = nvidia_timer_read(ret, &time, &raw);
	if (result < 0)
		nvidia_timer_close(ret);
	return result;
}

/* Both clocks at once where the driver has that, and the timer alone where it has not. */
int nvidia_timer_read(const struct nvidia_timer *t, uint64_t *ret_ticks, int64_t *ret_raw)
{
	struct rm_correlation c = { .clock = CLOCK_MONOTONIC_RAW_NS, .count = 1 };

	*ret_ticks = 0;
	*ret_raw = 0;
	if (control(t, t->subdevice, COMMAND_CORRELATION, &c, sizeof(c)) == 0 && c.pairs[0].gpu) {
		*ret_ticks = c.pairs[0].gpu;
		*ret_raw = (int64_t)c.pairs[0].cpu;
		return 0;
	}
	return control(t, t->subdevice, COMMAND_TIME, ret_ticks, sizeof(*ret_ticks));
}

/* All objects of a client go with its descriptor. */
void nvidia_timer_close(struct nvidia_timer *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}
