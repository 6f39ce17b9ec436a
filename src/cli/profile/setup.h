/* From parsed options to what the recorder is given: checks that concern several
 * options, the environment, the kill signal, and notes on what is not built. */
#ifndef SONDE_CLI_PROFILE_SETUP_H
#define SONDE_CLI_PROFILE_SETUP_H

#include <limits.h>

#include "cli/arguments/output_name.h"
#include "cli/profile/table.h"
#include "cli/arguments/string_list.h"

struct profile_setup {
	enum output_style style; /* of the report's name; set before profile_setup_fill() */
	struct profile_options options;
	struct string_list env;
	struct string_list notes;
	char program[PATH_MAX];
	char agent[PATH_MAX];
	char cuda_agent[PATH_MAX];
};

/* `argv` is the program and its arguments, NULL for one that runs already. Release in any case. */
int profile_setup_fill(struct profile_setup *setup, const struct profile_fields *fields, const struct options_parsed *parsed,
		       char *const *argv, struct error *err);
void profile_setup_release(struct profile_setup *setup);

/* One note for each option used that asks for something which does not exist here. */
int profile_add_notes(const struct profile_fields *fields, const struct options_parsed *parsed, struct string_list *notes);
struct cli;
void profile_print_notes(struct cli *cli, const struct string_list *notes);
/* What is read of the GPUs themselves. */
int profile_gpu_options(struct gpu_options *ret, const struct profile_fields *fields, struct string_list *notes, struct error *err);
/* "A=B,C=D": a piece without '=' belongs to the value before it. */
int profile_split_env(const char *text, struct string_list *env, struct error *err);
/* "sigterm", "none", "9" ... as a signal number, 0 for none. */
int profile_kill_signal(const char *text, struct error *err);

#endif
