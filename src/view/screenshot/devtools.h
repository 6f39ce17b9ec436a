/* A browser of Chromium's family without a window, led by messages over two pipes (its --remote-debugging-pipe). */
#ifndef SONDE_VIEW_SCREENSHOT_DEVTOOLS_H
#define SONDE_VIEW_SCREENSHOT_DEVTOOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

struct devtools {
	pid_t browser;
	int to_fd, from_fd;
	char profile[4096]; /* a folder of its own, removed at the end */
	int stop_fd;
	int next_id;
	int64_t deadline; /* ns of CLOCK_MONOTONIC */
	struct buf received;
};

/* Starts the browser. `seconds` is how long all of it may take; when stop_fd (-1: none) is readable, it is to end. */
int devtools_open(struct devtools *d, const char *program, int stop_fd, int seconds, struct error *err);
/* Ends it and removes what it left. */
void devtools_close(struct devtools *d);

/* Sends a command and waits for its result, JSON. `session` may be NULL, `parameters` is a JSON object. The browser's refusal is
 * -EREMOTEIO, that it has ended -EPIPE, that time is up -ETIMEDOUT, that
 * it is to end -EINTR. */
int devtools_call(struct devtools *d, const char *session, const char *method, const char *parameters, struct buf *ret, struct error *err);
/* A text of the result by its key; it has no escapes. NULL: there is none. */
const char *devtools_text(const struct buf *result, const char *key, size_t *ret_len);

#endif
