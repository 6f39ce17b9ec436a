#include "agent/cuda/driver.h"

#include <stddef.h>

#include "vendor/dl.h"

#define NOT_KNOWN 0xffffffffu

/* CUdevice_attribute */
enum {
	ATTRIBUTE_INTEGRATED = 18,
	ATTRIBUTE_PCI_BUS = 33,
	ATTRIBUTE_PCI_DEVICE = 34,
	ATTRIBUTE_PCI_DOMAIN = 50,
	ATTRIBUTE_SHARED_OPTIN = 97
};

static struct {
	int (*get_version)(int *version);
	int (*get_device)(int *device, int ordinal);
	int (*get_attribute)(int *value, int attribute, int device);
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
