/* GPUs: one row each, whoever tells of it: CUDA processes, NVML. What one does not know the other may. */
#ifndef SONDE_RECORD_SESSION_GPUS_H
#define SONDE_RECORD_SESSION_GPUS_H

#include <stdint.h>

#include "fmt/cuda_wire.h"

struct session;

#define GPU_UUID_TEXT 48
#define GPU_NOT_KNOWN INT64_MIN

struct gpu_facts {
	const char *uuid; /* "GPU-...": what makes it the same; as NVML writes it */
	const char *name; /* NULL: not known, as the other texts */
	const char *bus;  /* 0000:06:00.0 */
	const char *chip;
	/* GPU_NOT_KNOWN where it is not. */
	int64_t index;
	int64_t memory;
	int64_t bandwidth;
	int64_t clock;
	int64_t sm_count;
	int64_t l2;
	int64_t major;
	int64_t minor;
	int64_t mig;
	int64_t mps;
	const uint32_t *attributes; /* CUDA_ATTRIBUTE_COUNT of them, CUDA_NO_ID = not known; NULL: none */
};

/* Nothing known yet. */
void gpu_facts_init(struct gpu_facts *facts, const char *uuid);
/* "GPU-" or "MIG-" and the 16 bytes as NVML writes them. */
void gpu_uuid_text(const char *prefix, const uint8_t *uuid, char *ret);

/* gpu.uid of the GPU with this uuid. Facts add to what is known of it already; the first to tell of one is believed.
 * 0 when there are too many GPUs, or no memory. */
uint64_t gpu_row(struct session *s, const struct gpu_facts *facts);

/* Rows are written at the end of the recording. */
void gpus_provisional(struct session *s);
void gpus_finish(struct session *s);
void gpus_release(struct session *s);

#endif
