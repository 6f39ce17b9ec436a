/* Memory that CUPTI writes its records into. */
#ifndef SONDE_AGENT_CUDA_RECORDS_BUFFERS_H
#define SONDE_AGENT_CUDA_RECORDS_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

/* CUPTI gives each thread one of its own, and takes a new one when it is full: about 5,000 launches. What is
 * not written is not touched. */
#define CUDA_BUFFER_SIZE (2u << 20)
/* At most so many at once: half a gigabyte, when the recorder does not keep up. */
#define CUDA_BUFFERS 256u
/* CUPTI before 12.9 crashes when it gets none: so many more, small ones. */
#define CUDA_SPARE_BUFFERS 2048u
#define CUDA_SPARE_SIZE (64u << 10)
/* As many stay mapped when they are not in use. */
#define CUDA_BUFFERS_KEPT 16u

/* Callbacks for cuptiActivityRegisterCallbacks(). */
void cuda_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records) __attribute__((visibility("hidden")));
void cuda_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
	__attribute__((visibility("hidden")));
/* Records seen so far. */
uint64_t cuda_buffers_records(void) __attribute__((visibility("hidden")));
/* Whether CUPTI still has some, and whether a thread of its is in one of the callbacks. */
int cuda_buffers_out(void) __attribute__((visibility("hidden")));
int cuda_buffers_inside(void) __attribute__((visibility("hidden")));
/* Tells CUPTI that buffers are zeroed already, so that it does not do that on the way of a launch. */
void cuda_buffers_prepare(void) __attribute__((visibility("hidden")));

#endif
