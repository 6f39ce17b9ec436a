/* The CUDA driver (libcuda.so.1), as far as the recorder's own processes use it: which devices there are. */
#ifndef SONDE_VENDOR_CUDA_DRIVER_H
#define SONDE_VENDOR_CUDA_DRIVER_H

#include <stddef.h>

struct cuda_driver {
	void *library;
	int (*cuInit)(unsigned flags);
	int (*cuDeviceGetCount)(int *count);
	int (*cuDeviceGetPCIBusId)(char *text, int size, int device);
	int (*cuGetErrorString)(int result, const char **text);
};

/* Loads the file that SONDE_LIBCUDA names, or the driver's, and starts it. `why`: one sentence without a full stop. */
int cuda_driver_load(struct cuda_driver *ret, char *why, size_t why_size);

#endif
