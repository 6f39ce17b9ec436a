/* The options of windows that need more than a table. */
#ifndef SONDE_CLI_PROFILE_WINDOW_H
#define SONDE_CLI_PROFILE_WINDOW_H

#include "record/profile_options.h"

/* "range", "range@domain", "range@*": the last @ divides, unless a backslash stands before it. NULL: none was given. Returns 0 or
 * -EINVAL. NVTX is recorded then, asked for or not: the range is part of the report. */
int profile_nvtx_capture(struct profile_options *o, const char *text, struct error *err);

/* The same for a name that another option gives. */
int profile_nvtx_name(struct nvtx_capture *capture, const char *option, const char *text, struct error *err);

#endif
