/* The options that say when is recorded: --capture-range, --capture-range-end, --nvtx-capture, --schedule, --step-range. */
#ifndef SONDE_CLI_PROFILE_WINDOW_H
#define SONDE_CLI_PROFILE_WINDOW_H

#include "cli/profile/table.h"
#include "cli/arguments/string_list.h"

/* 0 or -EINVAL. */
int profile_window_fill(struct profile_options *o, const struct profile_fields *fields, struct error *err);
int profile_window_notes(const struct profile_fields *fields, const struct options_parsed *parsed, struct string_list *notes);
/* "range", "range@domain", "range@*": the last @ divides, unless a backslash stands before it. */
int profile_nvtx_name(struct nvtx_capture *capture, const char *option, const char *text, struct error *err);
/* "wait=1,active=3": 0 or -EINVAL. */
int profile_schedule(struct schedule *ret, const char *text, struct error *err);

/* The same for a name that another option gives. */
int profile_nvtx_name(struct nvtx_capture *capture, const char *option, const char *text, struct error *err);

#endif
