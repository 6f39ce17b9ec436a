/* The kernel's sched_wakeup tracepoints: their numbers, and where in their records the thread is. */
#ifndef SONDE_RECORD_PERF_SCHED_TRACE_H
#define SONDE_RECORD_PERF_SCHED_TRACE_H

#include <stddef.h>
#include <stdint.h>

struct trace_point {
	uint64_t id;
	uint32_t pid_offset; /* of the 32-bit number of the thread that is woken */
};

/* Reads a tracepoint's `format` text. -EINVAL when it has no id or no such field. */
int trace_point_parse(const char *format, struct trace_point *ret);
/* Finds sched_wakeup or sched_wakeup_new: in tracefs where it is mounted, else in a mount that only
 * this process has. Negative errno when the kernel does not let us. */
int trace_point_find(const char *name, struct trace_point *ret);
/* The woken thread, from the raw part of a sample (a size, then the record). -EINVAL. */
int trace_point_woken(const struct trace_point *point, const uint8_t *raw, size_t size, uint32_t *ret);

/* Tracepoints number threads as the machine does; whether that is how we do. */
int trace_numbers_are_ours(void);

#endif
