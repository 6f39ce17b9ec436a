/* What `status` says about sessions. */
#ifndef SONDE_CLI_SESSION_COMMANDS_H
#define SONDE_CLI_SESSION_COMMANDS_H

#include "cli/command.h"

/* A line for each session, or for that of the name. Returns the exit status. */
int sessions_print_status(struct cli *cli, const struct command *command, const char *name);

#endif
