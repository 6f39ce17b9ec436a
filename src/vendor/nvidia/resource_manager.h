/* Calls into the driver's resource manager through /dev/nvidiactl, as the published sources of the kernel module describe them
 * (open-gpu-kernel-modules). Each returns 0, a negative errno where the kernel refused, or the driver's own status (above 0). */
#ifndef SONDE_VENDOR_NVIDIA_RESOURCE_MANAGER_H
#define SONDE_VENDOR_NVIDIA_RESOURCE_MANAGER_H

#include <stdint.h>

/* *object is the handle wished for, 0 to be given one. */
int nvidia_rm_allocate(int fd, uint32_t client, uint32_t parent, uint32_t class, void *parameters, uint32_t *object);
int nvidia_rm_control(int fd, uint32_t client, uint32_t object, uint32_t command, void *parameters, uint32_t size);

#endif
