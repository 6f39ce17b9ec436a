/* One visit to another process: from choosing a thread to the answer. Made in a process of its own
 * (call.c). */
#ifndef SONDE_INJECT_VISIT_H
#define SONDE_INJECT_VISIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct visit_request {
	pid_t pid;
	const char *library;
	const char *function;
	const void *argument;
	size_t size;
	int64_t deadline;  /* ns of CLOCK_MONOTONIC */
	uint8_t no_thread; /* the borrowed thread itself makes the call: none can be started */
};

/* As inject_call(). */
int visit(const struct visit_request *request, int64_t *ret_value, struct error *err);

/* call.c: inject_call() with a choice. */
int inject_call_as(struct visit_request *request, int timeout_ms, int64_t *ret_value, struct error *err);

#endif
