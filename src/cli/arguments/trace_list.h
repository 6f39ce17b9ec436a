/* The sources --trace can name, as a table. */
#ifndef SONDE_CLI_ARGUMENTS_TRACE_LIST_H
#define SONDE_CLI_ARGUMENTS_TRACE_LIST_H

#include <stdio.h>

#include "record/profile_options.h"

enum trace_state { TRACE_STATE_BUILT, TRACE_STATE_PLANNED, TRACE_STATE_ELSEWHERE };

struct trace_list_entry {
	const char *name;
	enum trace_state state;
	const char *implies;
	const char *description;
};

extern const struct trace_list_entry trace_list[TRACE_SOURCE_COUNT];

/* --trace=help. */
void trace_list_print(FILE *out);

#endif
