#include "agent/cuda/driver.h"

#include <stdatomic.h>
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

/* The library stays: whoever asks is called by it. */
static void *driver_function(const char *name)
{
	static _Atomic(void *) library;
	void *found = atomic_load_explicit(&library, memory_order_acquire);

	if (!dlopen || !dlsym)
		return NULL;
	if (!found) {
		found = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
		if (!found)
			return NULL;
		atomic_store_explicit(&library, found, memory_order_release);
	}
	return dlsym(found, name);
}

uint32_t cuda_driver_version(void)
{
	int (*get)(int *version) = (int (*)(int *))driver_function("cuDriverGetVersion");
	int version = 0;

	return get && get(&version) == 0 && version > 0 ? (uint32_t)version : 0;
}

static uint32_t attribute(int (*get)(int *, int, int), int which, int handle)
{
	int value = 0;

	return get(&value, which, handle) == 0 ? (uint32_t)value : NOT_KNOWN;
}

int cuda_driver_device(uint32_t device, struct cuda_driver_device *ret)
{
	int (*get_device)(int *, int) = (int (*)(int *, int))driver_function("cuDeviceGet");
	int (*get)(int *, int, int) = (int (*)(int *, int, int))driver_function("cuDeviceGetAttribute");
	int handle;

	if (!get_device || !get || get_device(&handle, (int)device) != 0)
		return -1;
	ret->pci_domain = attribute(get, ATTRIBUTE_PCI_DOMAIN, handle);
	ret->pci_bus = attribute(get, ATTRIBUTE_PCI_BUS, handle);
	ret->pci_device = attribute(get, ATTRIBUTE_PCI_DEVICE, handle);
	ret->shared_optin = attribute(get, ATTRIBUTE_SHARED_OPTIN, handle);
	ret->integrated = attribute(get, ATTRIBUTE_INTEGRATED, handle);
	return 0;
}
