/* CUPTI's PM sampling: hardware counters of a whole GPU at a fixed rate, from any process (12.6 and later). Every
 * function takes one block of parameters, which begins with its own size up to the last field, and a pointer that
 * stays NULL. */
#ifndef SONDE_VENDOR_CUPTI_PM_H
#define SONDE_VENDOR_CUPTI_PM_H

#include <stddef.h>
#include <stdint.h>

/* A block of parameters, all zero but for its size. */
/* clang-format off */
#define PM_PARAMETERS(type, last) \
	{ .size = offsetof(struct type, last) + sizeof(((struct type *)0)->last) }
/* clang-format on */

enum { PM_PROFILER_TYPE = 1 }; /* of CUpti_ProfilerType */
enum { PM_PROFILER_API = 3 };  /* of CUpti_Profiler_API */
enum { PM_TRIGGER_CLOCKS = 0, PM_TRIGGER_TIME = 1 };
enum { PM_KEEP_OLDEST = 0, PM_KEEP_LATEST = 1 };
enum { PM_STOP_OTHER = 0, PM_STOP_IMAGE_FULL = 1, PM_STOP_END = 2 };
enum { PM_UNKNOWN = 0, PM_UNSUPPORTED = 1, PM_DISABLED = 2, PM_SUPPORTED = 3 };

struct pm_initialize {
	size_t size;
	void *priv;
};

struct pm_device_supported {
	size_t size;
	void *priv;
	int device;
	int supported; /* all of those below; PM_SUPPORTED ... */
	int architecture;
	int sli;
	int vgpu;
	int confidential;
	int mining;
	int wsl;
	int api; /* in: PM_PROFILER_API */
};

struct pm_chip_name {
	size_t size;
	void *priv;
	size_t device;
	const char *chip;
};

/* Counters that exist on this device; `image` NULL asks for the size. */
struct pm_availability {
	size_t size;
	void *priv;
	size_t device;
	size_t image_size;
	uint8_t *image;
};

/* The host side: from names of metrics to a configuration, from counters to values. */
struct pm_host_initialize {
	size_t size;
	void *priv;
	int type; /* PM_PROFILER_TYPE */
	const char *chip;
	const uint8_t *availability;
	void *host; /* out */
};

struct pm_host_deinitialize {
	size_t size;
	void *priv;
	void *host;
};

struct pm_base_metrics {
	size_t size;
	void *priv;
	void *host;
	int type;           /* 0 counter, 1 ratio, 2 throughput */
	const char **names; /* out */
	size_t count;
};

struct pm_add_metrics {
	size_t size;
	void *priv;
	void *host;
	const char *const *names;
	size_t count;
};

struct pm_image_size {
	size_t size;
	void *priv;
	void *host;
	size_t image_size; /* out */
};

struct pm_image {
	size_t size;
	void *priv;
	void *host;
	size_t image_size;
	uint8_t *image;
};

struct pm_passes {
	size_t size;
	void *priv;
	size_t image_size;
	uint8_t *image;
	size_t passes; /* out */
};

struct pm_evaluate {
	size_t size;
	void *priv;
	void *host;
	const uint8_t *counters;
	size_t counters_size;
	size_t index; /* of the sample */
	const char **names;
	size_t count;
	double *values; /* out */
};

/* The sampler of one device. */
struct pm_enable {
	size_t size;
	void *priv;
	size_t device;
	void *sampler; /* out */
};

/* cuptiPmSamplingStart, Stop and Disable. */
struct pm_command {
	size_t size;
	void *priv;
	void *sampler;
};

struct pm_set_config {
	size_t size;
	void *priv;
	void *sampler;
	size_t image_size;
	const uint8_t *image;
	size_t buffer_size; /* of the hardware's buffer, bytes */
	uint64_t interval;  /* ns, or clocks */
	int trigger;
	int append;
};

struct pm_counters_size {
	size_t size;
	void *priv;
	void *sampler;
	const char **names;
	size_t count;
	uint32_t max_samples;
	size_t counters_size; /* out */
};

struct pm_counters_initialize {
	size_t size;
	void *priv;
	void *sampler;
	size_t counters_size;
	uint8_t *counters;
};

struct pm_decode {
	size_t size;
	void *priv;
	void *sampler;
	uint8_t *counters;
	size_t counters_size;
	int stop_reason;  /* out */
	uint8_t overflow; /* out: the hardware's buffer was full */
};

struct pm_counters_info {
	size_t size;
	void *priv;
	const uint8_t *counters;
	size_t counters_size;
	size_t total; /* out, as what follows */
	size_t populated;
	size_t completed;
};

struct pm_sample_info {
	size_t size;
	void *priv;
	void *sampler;
	const uint8_t *counters;
	size_t counters_size;
	size_t index;
	uint64_t start; /* out: ns of the GPU's timer */
	uint64_t end;
};

struct cupti_pm {
	void *library;
	int (*cuptiGetVersion)(uint32_t *version);
	int (*cuptiGetResultString)(int result, const char **text);
#define PM_FUNCTION(needed, name, parameters) int (*name)(struct parameters *);
#include "vendor/cupti/pm_functions.def"
#undef PM_FUNCTION
};

/* The first library that has all of it, of those cupti_find() lists. `why` says what was wrong, in one sentence without a full stop. */
int cupti_pm_load(struct cupti_pm *ret, char *why, size_t why_size);
const char *cupti_pm_text(const struct cupti_pm *pm, int result);

#endif
