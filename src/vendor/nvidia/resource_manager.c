#include "vendor/nvidia/resource_manager.h"

#include <errno.h>
#include <limits.h>
#include <sys/ioctl.h>

struct rm_alloc {
	uint32_t root;
	uint32_t parent;
	uint32_t object;
	uint32_t class;
	uint64_t parameters;
	uint32_t size; /* in drivers before 530: the status */
	uint32_t status;
};

struct rm_control {
	uint32_t client;
	uint32_t object;
	uint32_t command;
	uint32_t flags;
	uint64_t parameters;
	uint32_t size;
	uint32_t status;
};

static int reported(uint32_t status)
{
	return status > INT_MAX ? INT_MAX : (int)status;
}

int nvidia_rm_allocate(int fd, uint32_t client, uint32_t parent, uint32_t class, void *parameters, uint32_t *object)
{
	struct rm_alloc a = { .root = client, .parent = parent, .object = *object, .class = class, .parameters = (uintptr_t)parameters };

	if (ioctl(fd, _IOWR('F', 0x2b, struct rm_alloc), &a) < 0)
		return -errno;
	*object = a.object;
	return reported(a.status ? a.status : a.size);
}

int nvidia_rm_control(int fd, uint32_t client, uint32_t object, uint32_t command, void *parameters, uint32_t size)
{
	struct rm_control c = { .client = client, .object = object, .command = command, .parameters = (uintptr_t)parameters, .size = size };

	if (ioctl(fd, _IOWR('F', 0x2a, struct rm_control), &c) < 0)
		return -errno;
	return reported(c.status);
}
