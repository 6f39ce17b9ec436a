/* libcheckpoint.so, which lies beside CUPTI: keeps what the memory of a context holds, and puts it back. */
#ifndef SONDE_VENDOR_CUPTI_CHECKPOINT_H
#define SONDE_VENDOR_CUPTI_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

struct cupti_checkpoint {
	size_t size;
	void *context;
	size_t reserve_device_mb;
	size_t reserve_host_mb;
	uint8_t overwrite;
	uint8_t optimizations;
	void *priv;
};

struct cupti_checkpoint_library {
	int (*save)(struct cupti_checkpoint *handle);
	int (*restore)(struct cupti_checkpoint *handle);
	int (*forget)(struct cupti_checkpoint *handle);
};

/* `why`: one sentence without a full stop. */
int cupti_checkpoint_load(struct cupti_checkpoint_library *ret, const char *path, char *why, size_t why_size);

#endif
