/* CUPTI on single instructions: PC sampling (where warps were, and what they waited for) and SASS metrics (code is patched, and
 * counts). Parameters as in pm.h: one block, which begins with its size. */
#ifndef SONDE_VENDOR_CUPTI_SOURCE_H
#define SONDE_VENDOR_CUPTI_SOURCE_H

#include "vendor/cupti/pm.h"

#define PC_REASON_NAME 128

enum { PC_CONTINUOUS = 1 }; /* of CUpti_PCSamplingCollectionMode */
enum { PC_PARSED = 1 };     /* of CUpti_PCSamplingOutputDataFormat */
enum {                      /* of CUpti_PCSamplingConfigurationAttributeType */
       PC_PERIOD = 1,
       PC_REASONS = 2,
       PC_SCRATCH_SIZE = 3,
       PC_BUFFER_SIZE = 4,
       PC_MODE = 5,
       PC_CONTROL = 6,
       PC_FORMAT = 7,
       PC_DATA = 8,
       PC_SLEEP = 9
};

struct pc_reason {
	uint32_t index;
	uint32_t samples;
};

struct pc_record {
	size_t size;
	uint64_t crc; /* of the cubin */
	uint64_t pc;  /* offset in the function */
	uint32_t function_number;
	uint32_t pad;
	char *function; /* ours to free */
	size_t reason_count;
	struct pc_reason *reasons;
	uint32_t correlation;
};

struct pc_data {
	size_t size;
	size_t room;      /* records */
	uint64_t samples; /* out, as what follows */
	uint64_t dropped;
	size_t count;
	size_t remaining;
	uint64_t range;
	struct pc_record *records;
	uint64_t others; /* samples of kernels that are not the program's */
	uint8_t full;
};

struct pc_attribute {
	int type;
	int status; /* out */
	union {
		uint64_t all[3];
		uint32_t number; /* period, mode, control, format, sleep */
		size_t bytes;
		struct {
			size_t count;
			uint32_t *indexes;
		} reasons;
		void *data;
	};
};

struct pc_configuration {
	size_t size;
	void *priv;
	void *context;
	size_t count;
	struct pc_attribute *attributes;
};

/* Enable, Disable. */
struct pc_command {
	size_t size;
	void *priv;
	void *context;
};

struct pc_reason_count {
	size_t size;
	void *priv;
	void *context;
	size_t *count;
};

struct pc_reason_names {
	size_t size;
	void *priv;
	void *context;
	size_t count;
	uint32_t *indexes;
	char **names; /* of PC_REASON_NAME bytes each */
};

struct cubin_crc {
	size_t size;
	size_t image_size;
	const void *image;
	uint64_t crc; /* out */
};

struct sass_details {
	uint64_t id;
	const char *name;
	const char *description;
};

struct sass_properties {
	size_t size;
	void *priv;
	const char *chip;
	const char *name;
	struct sass_details metric; /* out */
};

struct sass_config {
	uint64_t metric;
	uint8_t granularity; /* 0: of the whole GPU */
};

struct sass_set_config {
	size_t size;
	void *priv;
	size_t count;
	struct sass_config *configs;
	uint32_t device;
};

struct sass_enable {
	size_t size;
	void *priv;
	void *context;
	uint8_t lazily;
};

struct sass_disable {
	size_t size;
	void *priv;
	void *context;
	size_t dropped; /* out */
};

struct sass_data_properties {
	size_t size;
	void *priv;
	void *context;
	size_t records; /* out, as what follows */
	size_t instances;
};

struct sass_value {
	uint64_t metric;
	uint64_t value;
};

struct sass_record {
	size_t size;
	void *priv;
	uint32_t crc;
	uint32_t function_number;
	const char *function;
	uint32_t pc;
	struct sass_value *values;
};

struct sass_flush {
	size_t size;
	void *priv;
	void *context;
	size_t records;
	size_t instances;
	struct sass_record *data;
};

/* Those that the library lacks are NULL. */
struct cupti_source {
#define SOURCE_FUNCTION(name, parameters) int (*name)(struct parameters *);
#include "vendor/cupti/source_functions.def"
#undef SOURCE_FUNCTION
};

void cupti_source_fill(struct cupti_source *ret, void *library);
/* As cupti_pm_load(), out of a CUPTI that is loaded. Returns whether all that is needed was there. */
int cupti_pm_fill(struct cupti_pm *ret, void *library);

#endif
