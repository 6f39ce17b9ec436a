/* CUPTI, loaded at run time: no policy here. Structures of records and callbacks are in cupti_activity.h and
 * cupti_callbacks.h. */
#ifndef SONDE_VENDOR_CUPTI_H
#define SONDE_VENDOR_CUPTI_H

#include <stddef.h>
#include <stdint.h>

struct cupti_record;

typedef void cupti_callback(void *user, int domain, uint32_t id, const void *data);
typedef void cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

enum {
	CUPTI_OK = 0,
	CUPTI_INVALID_KIND = 21,
	CUPTI_MAX_LIMIT_REACHED = 12,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39
};

struct cupti {
	void *library;
	uint32_t version;     /* as cuptiGetVersion() gives it: compare, do not compute */
	char path[512];       /* of the library */
#define CUPTI_FUNCTION(needed, name, parameters) int (*name) parameters;
#include "vendor/cupti_functions.def"
#undef CUPTI_FUNCTION
};

#endif
