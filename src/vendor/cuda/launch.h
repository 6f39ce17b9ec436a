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
	void **extra; /* not of cuLaunchCooperativeKernel */
};

enum { CUDA_LAUNCH_COOPERATIVE = 2, CUDA_LAUNCH_CLUSTER = 4, CUDA_LAUNCH_SCHEDULING = 5 }; /* of CUlaunchAttributeID */

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

/* Of cuMemsetD8, D16 and D32, and of cuMemcpy in its forms for memory that has no shape, as far as they are alike. */
struct cuda_call_set {
	uint64_t address;
	uint32_t value; /* only as many bits as an element has */
	size_t count;
};

struct cuda_call_copy {
	uint64_t to, from;
	size_t size;
};

/* Of CUgraphNodeType. */
enum cuda_node {
	CUDA_NODE_KERNEL = 0,
	CUDA_NODE_COPY = 1,
	CUDA_NODE_SET = 2,
	CUDA_NODE_HOST = 3,
	CUDA_NODE_GRAPH = 4,
	CUDA_NODE_EMPTY = 5,
	CUDA_NODE_WAIT = 6,
	CUDA_NODE_EVENT = 7,
	CUDA_NODE_SIGNAL = 8,
	CUDA_NODE_SEMAPHORE = 9,
	CUDA_NODE_ALLOC = 10,
	CUDA_NODE_FREE = 11,
	CUDA_NODE_BATCH = 12,
	CUDA_NODE_CONDITIONAL = 13
};

struct cuda_node_kernel {
	void *function;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared;
	void **parameters;
	void **extra;
	void *kernel; /* of a library, where there is no function */
	void *context;
};

struct cuda_node_set {
	uint64_t address;
	size_t pitch;
	uint32_t value;
	uint32_t element; /* bytes: 1, 2 or 4 */
	size_t width;     /* elements */
	size_t height;
};

/* One end of a copy. */
struct cuda_copy_end {
	size_t x, y, z, level;
	int type;
	void *host;
	uint64_t device;
	void *array;
	void *reserved;
	size_t pitch, height;
};

struct cuda_copy {
	struct cuda_copy_end from, to;
	size_t width, height, depth;
};

enum { CUDA_MEMORY_HOST = 1, CUDA_MEMORY_UNIFIED = 4 }; /* of CUmemorytype */
enum { CUDA_POINTER_MEMORY_TYPE = 2 };                  /* of CUpointer_attribute */

enum {
	CUDA_DEVICE_PCI_BUS = 33, /* of CUdevice_attribute */
	CUDA_DEVICE_PCI_SLOT = 34,
	CUDA_DEVICE_L2 = 38,
	CUDA_DEVICE_PCI_DOMAIN = 50,
	CUDA_DEVICE_MAJOR = 75,
	CUDA_FUNCTION_LOADED = 1, /* of CUfunctionLoadingState */
	CUDA_CAPTURE_NONE = 0,    /* of CUstreamCaptureStatus */
	CUDA_INVALID_VALUE = 1    /* of CUresult */
};

struct cuda_launcher {
#define LAUNCH_FUNCTION(needed, symbol, name, parameters) int(*name) parameters;
#include "vendor/cuda/launch_functions.def"
#undef LAUNCH_FUNCTION
};

/* The driver is in the process already. `why`: one sentence without a full stop. */
int cuda_launcher_fill(struct cuda_launcher *ret, char *why, size_t why_size);

#endif
