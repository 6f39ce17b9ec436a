/* The few questions asked of the CUDA driver itself, which is in the process already. */
#ifndef SONDE_AGENT_CUDA_RECORDS_DRIVER_H
#define SONDE_AGENT_CUDA_RECORDS_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "fmt/cuda_wire.h"

/* Finds its functions: at the beginning, since the dynamic linker may not be waited for in callbacks of the driver. */
void cuda_driver_prepare(void) __attribute__((visibility("hidden")));
/* As cuDriverGetVersion() says it, 13000; 0 = not known. */
uint32_t cuda_driver_version(void) __attribute__((visibility("hidden")));

struct cuda_driver_device {
	uint32_t pci_domain; /* all ones = not known */
	uint32_t pci_bus;
	uint32_t pci_device;
	uint32_t shared_optin;
	uint32_t integrated;
};

/* 0, or -1 while the driver does not answer (it is not initialised). */
int cuda_driver_device(uint32_t ordinal, struct cuda_driver_device *ret) __attribute__((visibility("hidden")));

/* What CUPTI tells when the driver is initialised, for those who come later. `ret` but for where the device is. 0, or -1. */
int cuda_driver_describe(uint32_t ordinal, struct cuda_wire_device *ret, char *name, size_t name_size)
	__attribute__((visibility("hidden")));

#endif
