#include "agent/cuda/records/driver.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "vendor/dl.h"

#define NOT_KNOWN 0xffffffffu

/* CUdevice_attribute */
enum {
	ATTRIBUTE_THREADS_PER_BLOCK = 1,
	ATTRIBUTE_BLOCK_X = 2,
	ATTRIBUTE_BLOCK_Y = 3,
	ATTRIBUTE_BLOCK_Z = 4,
	ATTRIBUTE_GRID_X = 5,
	ATTRIBUTE_GRID_Y = 6,
	ATTRIBUTE_GRID_Z = 7,
	ATTRIBUTE_SHARED_PER_BLOCK = 8,
	ATTRIBUTE_CONSTANT_MEMORY = 9,
	ATTRIBUTE_WARP = 10,
	ATTRIBUTE_REGISTERS_PER_BLOCK = 12,
	ATTRIBUTE_CLOCK = 13, /* kHz */
	ATTRIBUTE_SMS = 16,
	ATTRIBUTE_INTEGRATED = 18,
	ATTRIBUTE_ECC = 32,
	ATTRIBUTE_PCI_BUS = 33,
	ATTRIBUTE_PCI_DEVICE = 34,
	ATTRIBUTE_MEMORY_CLOCK = 36, /* kHz */
	ATTRIBUTE_BUS_WIDTH = 37,    /* bits */
	ATTRIBUTE_L2 = 38,
	ATTRIBUTE_THREADS_PER_SM = 39,
	ATTRIBUTE_COPY_ENGINES = 40,
	ATTRIBUTE_PCI_DOMAIN = 50,
	ATTRIBUTE_MAJOR = 75,
	ATTRIBUTE_MINOR = 76,
	ATTRIBUTE_SHARED_PER_SM = 81,
	ATTRIBUTE_REGISTERS_PER_SM = 82,
	ATTRIBUTE_SHARED_OPTIN = 97,
	ATTRIBUTE_BLOCKS_PER_SM = 106
};

static struct {
	int (*get_version)(int *version);
	int (*get_device)(int *device, int ordinal);
	int (*get_attribute)(int *value, int attribute, int device);
	int (*get_name)(char *name, int size, int device);
	int (*get_memory)(size_t *bytes, int device);
	int (*get_uuid)(void *uuid, int device);
} driver;

/* The library stays: whoever asks is called by it. */
void cuda_driver_prepare(void)
{
	void *library;

	if (!dlopen || !dlsym)
		return;
	library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return;
	driver.get_version = (int (*)(int *))dlsym(library, "cuDriverGetVersion");
	driver.get_device = (int (*)(int *, int))dlsym(library, "cuDeviceGet");
	driver.get_attribute = (int (*)(int *, int, int))dlsym(library, "cuDeviceGetAttribute");
	driver.get_name = (int (*)(char *, int, int))dlsym(library, "cuDeviceGetName");
	driver.get_memory = (int (*)(size_t *, int))dlsym(library, "cuDeviceTotalMem_v2");
	driver.get_uuid = (int (*)(void *, int))dlsym(library, "cuDeviceGetUuid_v2");
	if (!driver.get_uuid)
		driver.get_uuid = (int (*)(void *, int))dlsym(library, "cuDeviceGetUuid");
}

uint32_t cuda_driver_version(void)
{
	int version = 0;

	return driver.get_version && driver.get_version(&version) == 0 && version > 0 ? (uint32_t)version : 0;
}

static uint32_t attribute(int which, int device)
{
	int value = 0;

	return driver.get_attribute(&value, which, device) == 0 ? (uint32_t)value : NOT_KNOWN;
}

int cuda_driver_device(uint32_t ordinal, struct cuda_driver_device *ret)
{
	int device;

	if (!driver.get_device || !driver.get_attribute || driver.get_device(&device, (int)ordinal) != 0)
		return -1;
	ret->pci_domain = attribute(ATTRIBUTE_PCI_DOMAIN, device);
	ret->pci_bus = attribute(ATTRIBUTE_PCI_BUS, device);
	ret->pci_device = attribute(ATTRIBUTE_PCI_DEVICE, device);
	ret->shared_optin = attribute(ATTRIBUTE_SHARED_OPTIN, device);
	ret->integrated = attribute(ATTRIBUTE_INTEGRATED, device);
	return 0;
}

static void fill_attributes(uint32_t *a, int device)
{
	static const struct {
		uint8_t place;
		uint8_t which;
	} known[] = {
		{ CUDA_ATTRIBUTE_CONSTANT_MEMORY, ATTRIBUTE_CONSTANT_MEMORY },
		{ CUDA_ATTRIBUTE_REGISTERS_PER_BLOCK, ATTRIBUTE_REGISTERS_PER_BLOCK },
		{ CUDA_ATTRIBUTE_SHARED_PER_BLOCK, ATTRIBUTE_SHARED_PER_BLOCK },
		{ CUDA_ATTRIBUTE_SHARED_PER_SM, ATTRIBUTE_SHARED_PER_SM },
		{ CUDA_ATTRIBUTE_REGISTERS_PER_SM, ATTRIBUTE_REGISTERS_PER_SM },
		{ CUDA_ATTRIBUTE_THREADS_PER_WARP, ATTRIBUTE_WARP },
		{ CUDA_ATTRIBUTE_ASYNC_ENGINES, ATTRIBUTE_COPY_ENGINES },
		{ CUDA_ATTRIBUTE_BLOCKS_PER_SM, ATTRIBUTE_BLOCKS_PER_SM },
		{ CUDA_ATTRIBUTE_THREADS_PER_BLOCK, ATTRIBUTE_THREADS_PER_BLOCK },
		{ CUDA_ATTRIBUTE_BLOCK_X, ATTRIBUTE_BLOCK_X },
		{ CUDA_ATTRIBUTE_BLOCK_Y, ATTRIBUTE_BLOCK_Y },
		{ CUDA_ATTRIBUTE_BLOCK_Z, ATTRIBUTE_BLOCK_Z },
		{ CUDA_ATTRIBUTE_GRID_X, ATTRIBUTE_GRID_X },
		{ CUDA_ATTRIBUTE_GRID_Y, ATTRIBUTE_GRID_Y },
		{ CUDA_ATTRIBUTE_GRID_Z, ATTRIBUTE_GRID_Z },
		{ CUDA_ATTRIBUTE_ECC, ATTRIBUTE_ECC },
	};
	uint32_t threads = attribute(ATTRIBUTE_THREADS_PER_SM, device), warp = attribute(ATTRIBUTE_WARP, device);

	memset(a, 0xff, CUDA_WIRE_ATTRIBUTES * sizeof(*a));
	for (size_t i = 0; i < COUNT_OF(known); i++)
		a[known[i].place] = attribute(known[i].which, device);
	if (threads != NOT_KNOWN && warp != NOT_KNOWN && warp)
		a[CUDA_ATTRIBUTE_WARPS_PER_SM] = threads / warp;
}

/* 0 where the driver does not say. */
static uint64_t get_driver_amount(int which, int device)
{
	uint32_t value = attribute(which, device);

	return value == NOT_KNOWN ? 0 : value;
}

int cuda_driver_describe(uint32_t ordinal, struct cuda_wire_device *ret, char *name, size_t name_size)
{
	size_t memory = 0;
	int device;

	if (!driver.get_device || !driver.get_attribute || driver.get_device(&device, (int)ordinal) != 0)
		return -1;
	memset(ret, 0, sizeof(*ret));
	if (driver.get_uuid)
		driver.get_uuid(ret->uuid, device);
	if (driver.get_memory && driver.get_memory(&memory, device) == 0)
		ret->memory = memory;
	/* Two transfers a clock. */
	ret->bandwidth = 2 * get_driver_amount(ATTRIBUTE_MEMORY_CLOCK, device) * 1000 * get_driver_amount(ATTRIBUTE_BUS_WIDTH, device) / 8;
	ret->clock = get_driver_amount(ATTRIBUTE_CLOCK, device) * 1000;
	ret->sm_count = (uint32_t)get_driver_amount(ATTRIBUTE_SMS, device);
	ret->l2 = (uint32_t)get_driver_amount(ATTRIBUTE_L2, device);
	ret->major = (uint32_t)get_driver_amount(ATTRIBUTE_MAJOR, device);
	ret->minor = (uint32_t)get_driver_amount(ATTRIBUTE_MINOR, device);
	fill_attributes(ret->attributes, device);
	name[0] = '\0';
	if (!driver.get_name || driver.get_name(name, (int)name_size, device) != 0)
		name[0] = '\0';
	return 0;
}
