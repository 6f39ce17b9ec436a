/* CUPTI, loaded at run time: no policy here. Structures of records and callbacks are in
 * activity.h and callbacks.h. */
#ifndef SONDE_VENDOR_CUPTI_CUPTI_H
#define SONDE_VENDOR_CUPTI_CUPTI_H

#include <stddef.h>
#include <stdint.h>

struct cupti_record;

typedef void cupti_callback(void *user, int domain, uint32_t id, const void *data);
typedef void cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

enum {
	CUPTI_OK = 0,
	CUPTI_MAX_LIMIT_REACHED = 12,
	CUPTI_NOT_INITIALIZED = 15,
	CUPTI_INVALID_KIND = 21,
	CUPTI_NOT_COMPATIBLE = 14,
	CUPTI_HARDWARE_BUSY = 26,
	CUPTI_VIRTUAL_NOT_SUPPORTED = 33,
	CUPTI_OUT_OF_MEMORY = 8,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_LEGACY = 38,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	CUPTI_VIRTUAL_INSUFFICIENT_PRIVILEGES = 40,
	CUPTI_CONFIDENTIAL = 41,
	CUPTI_MINING = 42,
	CUPTI_MIG = 43,
	CUPTI_SLI = 44,
	CUPTI_WSL = 45,
	CUPTI_UNKNOWN_CHIP = 46
};

struct cupti {
	void *library;
	uint32_t version; /* as cuptiGetVersion() gives it: compare, do not compute */
	char path[512];   /* of the library */
#define CUPTI_FUNCTION(needed, name, parameters) int(*name) parameters;
#include "vendor/cupti/functions.def"
#undef CUPTI_FUNCTION
};

/* Loads this file (a path, or a soname that the loader finds) and fills everything; a library that
 * is too old, or lacks a function that is needed, is refused. `why` says what was wrong, in one
 * sentence without a full stop. */
int cupti_load(struct cupti *ret, const char *path, char *why, size_t why_size);
void cupti_unload(struct cupti *c);

/* Lists the places where CUPTI may be, best first: full paths of files that exist, then names for
 * the loader. `root` is put before absolute folders ("" but in tests). Returns how many. */
#define CUPTI_PLACES 48
struct cupti_places {
	unsigned count;
	char paths[CUPTI_PLACES][512];
};
void cupti_find(struct cupti_places *ret, const char *root);

#endif
