/* A GPU as the kernel module knows it, by the interface that its published sources describe (open-gpu-kernel-modules): no CUDA context
 * is needed, and a question takes microseconds. */
#ifndef SONDE_VENDOR_NVIDIA_SUBDEVICE_H
#define SONDE_VENDOR_NVIDIA_SUBDEVICE_H

#include <stdint.h>

struct nvidia_subdevice {
	int fd; /* -1: closed */
	uint32_t client;
	uint32_t object;
};

/* The GPU at this place on the PCI bus. Negative errno: the driver, or the container, does not let us. */
int nvidia_subdevice_open(struct nvidia_subdevice *ret, uint32_t domain, uint32_t bus, uint32_t device);
int nvidia_subdevice_control(const struct nvidia_subdevice *s, uint32_t command, void *parameters, uint32_t size);
void nvidia_subdevice_close(struct nvidia_subdevice *s);

#endif
