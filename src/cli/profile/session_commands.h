/* What the commands about sessions share. */
#ifndef SONDE_CLI_PROFILE_SESSION_COMMANDS_H
#define SONDE_CLI_PROFILE_SESSION_COMMANDS_H

#include "cli/command.h"
#include "cli/profile/setup.h"
#include "record/requests/requests.h"

/* Asks the session of that name, or the only one. Returns an exit status; what went wrong has been told. */
int session_ask(struct cli *cli, const struct command *command, const char *session, struct steer_request *request,
		struct steer_reply *reply);
/* 0, or an exit status where there are words besides options. */
int session_no_words(struct cli *cli, const struct command *command, const struct options_parsed *parsed);
/* Tells of a report, with the exports and statistics that 'start' asked for. A negative errno if an export failed. */
int session_report_after(struct cli *cli, const struct record_result *result);
/* Runs the program as 'launch' does, for a command of its kind. Returns the exit status. */
int session_launch(struct cli *cli, const struct command *command, const struct profile_fields *fields,
		   const struct options_parsed *parsed);
/* The name for a new session; empty where none was given. */
int session_name_expand(const char *given, char *ret, size_t size, struct error *err);

/* A line for each session, or for that of the name. Returns the exit status. */
int sessions_print_status(struct cli *cli, const struct command *command, const char *name, bool json);

#endif
