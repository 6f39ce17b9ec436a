/* sonde stop, cancel, shutdown: what is said to a session that runs. docs/sessions.md */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/profile/after_recording.h"
#include "cli/profile/setup.h"
#include "cli/profile/session_commands.h"

/* A report may take long to complete; one that begins may wait for the program's last events. */
#define STOP_TIMEOUT_MS (10 * 60 * 1000)
#define ANSWER_TIMEOUT_MS 10000

extern const struct command stop_command, cancel_command, shutdown_command;

int session_ask(struct cli *cli, const struct command *command, const char *session, struct steer_request *request,
		struct steer_reply *reply)
{
	struct error err = { "" };
	int timeout = request->command == STEER_STOP ? STOP_TIMEOUT_MS : ANSWER_TIMEOUT_MS;

	request->magic = STEER_MAGIC;
	if (steer_find(session, reply, &err) < 0 || steer_ask(reply->id, request, timeout, reply, &err) < 0)
		return command_fail(cli, command, "%s", err.text);
	fputs(reply->result.notes, cli->err);
	if (reply->status)
		return command_fail(cli, command, "Session '%s': %s.", reply->name, reply->text);
	return 0;
}

int session_no_words(struct cli *cli, const struct command *command, const struct options_parsed *parsed)
{
	if (!parsed->word_count)
		return 0;
	return command_fail(cli, command, "'%s': unexpected argument; only options are accepted.", parsed->words[0]);
}

int session_report_after(struct cli *cli, const struct record_result *result)
{
	const struct profile_fields said = { .exports = result->after.exports,
					     .stats = result->after.stats != 0,
					     .force_overwrite = result->after.overwrite != 0 };

	return profile_after(cli, &said, result);
}

struct session_fields {
	const char *session;
	const char *kill;
	int64_t keep_ns;
};

static int stop_session(struct cli *cli, const struct session_fields *fields)
{
	struct steer_request request = { .command = STEER_STOP, .keep_ns = fields->keep_ns };
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	int status;

	if (!reply)
		return command_fail(cli, &stop_command, "Out of memory.");
	status = session_ask(cli, &stop_command, fields->session, &request, reply);
	if (!status && reply->result.finished && session_report_after(cli, &reply->result) < 0)
		status = 1;
	free(reply);
	return status;
}

static int cancel(struct cli *cli, const struct session_fields *fields)
{
	struct steer_request request = { .command = STEER_CANCEL };
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	int status = reply ? session_ask(cli, &cancel_command, fields->session, &request, reply) : 1;

	free(reply);
	return status;
}

static int shut_down(struct cli *cli, const struct session_fields *fields)
{
	struct steer_request request = { .command = STEER_SHUTDOWN };
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	struct error err = { "" };
	int status = 1;

	request.signal = profile_kill_signal(fields->kill, &err);
	if (request.signal < 0)
		status = command_fail(cli, &shutdown_command, "%s", err.text);
	else if (reply)
		status = session_ask(cli, &shutdown_command, fields->session, &request, reply);
	free(reply);
	return status;
}

static int run_for_session(struct cli *cli, const struct command *command, int argc, char **argv,
			   int (*act)(struct cli *cli, const struct session_fields *fields))
{
	struct session_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, command, argc, argv, &fields, &parsed, &status))
		return status;
	status = session_no_words(cli, command, &parsed);
	if (!status)
		status = act(cli, &fields);
	options_release(&parsed);
	return status;
}

static int run_stop(struct cli *cli, int argc, char **argv)
{
	return run_for_session(cli, &stop_command, argc, argv, stop_session);
}

static int run_cancel(struct cli *cli, int argc, char **argv)
{
	return run_for_session(cli, &cancel_command, argc, argv, cancel);
}

static int run_shutdown(struct cli *cli, int argc, char **argv)
{
	return run_for_session(cli, &shutdown_command, argc, argv, shut_down);
}

/* clang-format off */
#define SESSION_OPTION \
	{ .name = "session", .type = OPTION_TEXT, .offset = offsetof(struct session_fields, session), .arg = "name", \
	  .tag = "session", .help = "Name or number of the session; not needed if there is only one." }

static const struct option_spec stop_specs[] = {
	SESSION_OPTION,
	{ .name = "keep", .type = OPTION_SECONDS, .offset = offsetof(struct session_fields, keep_ns), .initial = "0", .tag = "session",
	  .help = "Keep only the last seconds before the end; 0 keeps all." },
};
/* clang-format on */
static const struct option_spec cancel_specs[] = { SESSION_OPTION };
/* clang-format off */
static const struct option_spec shutdown_specs[] = {
	SESSION_OPTION,
	{ .name = "kill", .type = OPTION_TEXT, .offset = offsetof(struct session_fields, kill),
	  .values = "none|sigterm|sigkill|N", .initial = "sigterm", .tag = "session",
	  .help = "Send this signal to the program." },
};
/* clang-format on */
static const struct option_table stop_options = OPTION_TABLE(stop_specs);
static const struct option_table cancel_options = OPTION_TABLE(cancel_specs);
static const struct option_table shutdown_options = OPTION_TABLE(shutdown_specs);

const struct command stop_command = {
	.name = "stop",
	.summary = "Stop recording a launched program, write the report",
	.synopsis = "[options]",
	.description = "Completes the report that 'start' began and prints its name. The program continues and can be recorded again.",
	.options = &stop_options,
	.words = COMMAND_NO_WORDS,
	.run = run_stop,
};

const struct command cancel_command = {
	.name = "cancel",
	.summary = "Stop recording a launched program, write no report",
	.synopsis = "[options]",
	.description = "Drops everything recorded since 'start'. The program continues and can be recorded again.",
	.options = &cancel_options,
	.words = COMMAND_NO_WORDS,
	.run = run_cancel,
};

const struct command shutdown_command = {
	.name = "shutdown",
	.summary = "End a session and its program",
	.synopsis = "[options]",
	.description = "Ends the session and drops the current recording. The program gets a signal; with --kill=none it continues.",
	.options = &shutdown_options,
	.words = COMMAND_NO_WORDS,
	.run = run_shutdown,
};
