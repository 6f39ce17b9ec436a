/* Commands of the user's that run when recording has begun, and when the report is there. */
#ifndef SONDE_CLI_PROFILE_HOOKS_H
#define SONDE_CLI_PROFILE_HOOKS_H

#include <sys/types.h>

#include "cli/command.h"
#include "cli/profile/table.h"

#define HOOKS_AT_ONCE 16

struct profile_hooks {
	struct cli *cli;
	const struct profile_fields *fields;
	pid_t running[HOOKS_AT_ONCE];       /* nobody waits for them; 0 = none */
	const char *options[HOOKS_AT_ONCE]; /* which option each is of */
};

/* For profile_options.window_opened: `hooks` is a struct profile_hooks. */
void profile_hooks_started(void *hooks, const char *path);
/* A report is there and the recording goes on. */
void profile_hooks_report(struct profile_hooks *hooks, const char *path);
/* The recording is over. `path`: the report, NULL where there is none. What went wrong is told; it does not matter to anybody else. */
void profile_hooks_finish(struct profile_hooks *hooks, const char *path);

#endif
