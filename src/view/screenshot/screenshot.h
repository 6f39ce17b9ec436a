/* A picture of the page, as a browser without a window draws it. */
#ifndef SONDE_VIEW_SCREENSHOT_SCREENSHOT_H
#define SONDE_VIEW_SCREENSHOT_SCREENSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct screenshot {
	const char *browser; /* a program of Chromium's family */
	const char *url;
	const char *path; /* of the PNG; replaced where it exists */
	int width, height;
	bool has_times; /* else all of the recording is shown */
	int64_t from, to;
	int stop_fd; /* readable: the end, -EINTR; -1: none */
	int seconds; /* it may take */
};

/* "1920x1080"; false where it is no such thing, or no size for a picture. */
bool screenshot_size(const char *text, int *ret_width, int *ret_height);
int screenshot_take(const struct screenshot *s, struct error *err);

#endif
