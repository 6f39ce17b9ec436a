/* The options of CUDA, from text to what the recorder is given. */
#ifndef SONDE_CLI_PROFILE_CUDA_H
#define SONDE_CLI_PROFILE_CUDA_H

#include "cli/profile/table.h"
#include "cli/arguments/string_list.h"

void profile_cuda_fill(struct profile_options *o, const struct profile_fields *fields, bool trace_given);
/* What to say about values that are understood and not served. */
int profile_cuda_notes(const struct profile_fields *fields, struct string_list *notes);

#endif
