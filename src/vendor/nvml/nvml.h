/* NVML (libnvidia-ml.so.1, part of the driver), loaded at run time: no policy here. */
#ifndef SONDE_VENDOR_NVML_NVML_H
#define SONDE_VENDOR_NVML_NVML_H

#include <stddef.h>
#include <stdint.h>

enum { NVML_OK = 0, NVML_NOT_SUPPORTED = 3, NVML_NO_PERMISSION = 4, NVML_INSUFFICIENT_SIZE = 7 };

enum { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
#define NVML_BASE_CLOCK 0xffffff01u /* in place of MHz: what the GPU can hold at all times */
enum { NVML_PCIE_TX = 0, NVML_PCIE_RX = 1 };
enum { NVML_SENSOR_GPU = 0 };

/* Fields of nvmlDeviceGetFieldValues(). */
enum {
	NVML_FIELD_NVLINK_SPEED = 90, /* MB a second, of one link */
	NVML_FIELD_NVLINK_TX = 138,   /* KiB since the driver was loaded; scope: a link, or all */
	NVML_FIELD_NVLINK_RX = 139,
	NVML_FIELD_POWER_INSTANT = 186 /* mW */
};
#define NVML_ALL_LINKS UINT32_MAX
#define NVML_LINKS 18
enum { NVML_LINK_PEER = 0, NVML_LINK_HOST = 1, NVML_LINK_PEER_ATOMICS = 2, NVML_LINK_HOST_ATOMICS = 3 }; /* what a link can do */
enum { NVML_REMOTE_GPU = 0, NVML_REMOTE_CPU = 1, NVML_REMOTE_SWITCH = 2 };

/* Kinds of values in a field. */
/* clang-format off */
enum { NVML_DOUBLE = 0, NVML_UNSIGNED = 1, NVML_UNSIGNED_LONG = 2, NVML_UNSIGNED_LONG_LONG = 3, NVML_SIGNED_LONG_LONG = 4,
       NVML_SIGNED = 5 };
/* clang-format on */

struct nvml_utilization {
	unsigned gpu; /* percent */
	unsigned memory;
};

struct nvml_memory {
	unsigned long long total; /* bytes */
	unsigned long long free;
	unsigned long long used;
};

struct nvml_pci {
	char legacy[16];
	unsigned domain;
	unsigned bus;
	unsigned device;
	unsigned id;
	unsigned subsystem;
	char bus_id[32]; /* 00000000:06:00.0 */
};

struct nvml_process {
	unsigned pid;
	unsigned long long memory; /* bytes; UINT64_MAX: not known */
	unsigned gpu_instance;
	unsigned compute_instance;
};

struct nvml_field {
	unsigned id;
	unsigned scope;
	long long time;
	long long latency;
	int type;
	int result;
	union {
		double real;
		unsigned number;
		unsigned long long wide;
		long long signed_wide;
	} value;
};

struct nvml {
	void *library;
	const char *(*nvmlErrorString)(int result);
#define NVML_FUNCTION(needed, name, parameters) int(*name) parameters;
#include "vendor/nvml/nvml_functions.def"
#undef NVML_FUNCTION
};

/* Loads the file that SONDE_NVML names, or the driver's, and starts NVML. `why` says what was wrong, in one sentence without a full stop. */
int nvml_load(struct nvml *ret, char *why, size_t why_size);
/* What a result means, never NULL. */
const char *nvml_text(const struct nvml *n, int result);

#endif
