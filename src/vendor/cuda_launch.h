/* The CUDA driver (libcuda.so.1), as far as launches are made again: functions, and parameters of calls as callbacks give them. */
#ifndef SONDE_VENDOR_CUDA_LAUNCH_H
#define SONDE_VENDOR_CUDA_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

struct cuda_launch_kernel {
	void *function;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared;
	void *stream;
	void **parameters;
	void **extra;                 /* not of cuLaunchCooperativeKernel */
};

enum { CUDA_LAUNCH_CLUSTER = 4, CUDA_LAUNCH_SCHEDULING = 5 }; /* of CUlaunchAttributeID */

struct cuda_launch_attribute {
	uint32_t id;
	uint32_t pad;
	uint32_t value[16];
};

struct cuda_launch_config {
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared;
	void *stream;
	const struct cuda_launch_attribute *attributes;
	uint32_t attribute_count;
};

struct cuda_launch_kernel_ex {
	const struct cuda_launch_config *config;
	void *function;
	void **parameters;
	void **extra;
};

struct cuda_launch_graph {
	void *exec;
	void *stream;
};

enum {
	CUDA_DEVICE_L2 = 38,          /* of CUdevice_attribute */
	CUDA_DEVICE_MAJOR = 75,
	CUDA_FUNCTION_LOADED = 1,     /* of CUfunctionLoadingState */
	CUDA_CAPTURE_NONE = 0         /* of CUstreamCaptureStatus */
};

struct cuda_launcher {
#define LAUNCH_FUNCTION(needed, symbol, name, parameters) int (*name) parameters;
#include "vendor/cuda_launch_functions.def"
#undef LAUNCH_FUNCTION
};

/* The driver is in the process already. `why`: one sentence without a full stop. */
int cuda_launcher_fill(struct cuda_launcher *ret, char *why, size_t why_size);

#endif
