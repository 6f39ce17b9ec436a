/* sonde launch, start, stop, cancel, shutdown, sessions: a program recorded when somebody says so. docs/sessions.md */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/profile_after.h"
#include "cli/profile_setup.h"
#include "cli/session_commands.h"
#include "record/steer.h"

/* A report may take long to complete; one that begins may wait for the program's last events. */
#define STOP_TIMEOUT_MS (10 * 60 * 1000)
#define ANSWER_TIMEOUT_MS 10000

extern const struct command launch_command, start_command, stop_command, cancel_command, shutdown_command,
	sessions_command;

static enum output_style name_style(const struct cli *cli)
{
	return cli_is_link(cli) ? OUTPUT_NSYS : OUTPUT_SONDE;
}

/* launch */

static int session_name(const struct profile_fields *fields, char *ret, size_t size, struct error *err)
{
	const char *name = fields->session_name ? fields->session_name : fields->session;
	int r;

	ret[0] = '\0';
	if (!name)
		return 0;
	r = output_name_expand(name, getpid(), ret, size, err);
	if (r < 0)
		return r;
	if (strlen(ret) >= STEER_NAME_SIZE)
		return error_set(err, EINVAL, "The session's name is longer than %d characters.", STEER_NAME_SIZE - 1);
	for (name = ret; isprint((unsigned char)*name); name++)
		;
	if (*name || !isalpha((unsigned char)ret[0]))
		return error_set(err, EINVAL, "A session's name begins with a letter and has no control characters; '%s' has.", ret);
	return 0;
}

static int record_session(struct cli *cli, const struct profile_setup *setup, const struct profile_fields *fields)
{
	struct record_result *result = calloc(1, sizeof(*result));
	struct error err = { "" };
	int r, status;

	if (!result)
		return command_fail(cli, &launch_command, "Out of memory.");
	r = record_run(&setup->options, result, &err);
	status = result->started ? result->exit_status : 1;
	fputs(result->notes, cli->err);
	if (result->finished && profile_after(cli, fields, result) < 0)
		status = status ? status : 1;
	if (r < 0) {
		command_fail(cli, &launch_command, "%s", err.text);
		status = status ? status : 1;
	}
	free(result);
	return status;
}

/* When it is recorded, and where to, 'start' says. */
static void leave_to_start(struct profile_options *options, const char *name)
{
	options->interactive = true;
	options->session_name = name[0] ? name : NULL;
	options->delay_ns = options->duration_ns = 0;
	options->stop_on_exit = true;
	options->capture_range = CAPTURE_RANGE_NONE;
}

static int launch(struct cli *cli, struct profile_fields *fields, const struct options_parsed *parsed)
{
	struct profile_setup setup = { .style = name_style(cli) };
	struct error err = { "" };
	char name[PATH_MAX];
	size_t i;
	int status;

	setup.options.command_line = cli->command_line;
	if (!parsed->word_count)
		status = command_fail(cli, &launch_command, "No program was given: %s launch [options] program [arguments].",
				      cli_name(cli));
	else if (session_name(fields, name, sizeof(name), &err) < 0 ||
		 profile_setup_fill(&setup, fields, parsed, parsed->words, &err) < 0) {
		status = command_fail(cli, &launch_command, "%s", err.text);
	} else {
		for (i = 0; i < setup.notes.count; i++)
			fprintf(cli->err, "%s: %s\n", cli_name(cli), setup.notes.items[i]);
		fflush(cli->err);
		leave_to_start(&setup.options, name);
		status = record_session(cli, &setup, fields);
	}
	profile_setup_release(&setup);
	return status;
}

static int run_launch(struct cli *cli, int argc, char **argv)
{
	struct profile_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &launch_command, argc, argv, &fields, &parsed, &status))
		return status;
	if (fields.command_files.count)
		status = command_fail(cli, &launch_command, "--command-file is for 'profile' alone.");
	else if (fields.flight)
		status = command_fail(cli, &launch_command, "--flight-recorder is for 'profile' alone.");
	else
		status = launch(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

/* What a running session is asked. */

static int ask(struct cli *cli, const struct command *command, const char *session, struct steer_request *request,
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

static int no_words(struct cli *cli, const struct command *command, const struct options_parsed *parsed)
{
	if (!parsed->word_count)
		return 0;
	return command_fail(cli, command, "'%s' is not understood; there are only options.", parsed->words[0]);
}

static bool has_extension(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (strcmp(dot, ".sonde") == 0 || strcmp(dot, ".nsys-rep") == 0);
}

/* The recorder replaces macros: it knows the pid, and takes a free number at once. The folder is where this command
 * runs, and no macro. */
static int output_template(struct cli *cli, const char *output, char *ret, size_t size, struct error *err)
{
	const char *name = output ? output : "report%n";
	char folder[PATH_MAX], *at;
	struct buf b = BUF_INIT;
	int r = output_name_check(output, name_style(cli), err);

	if (r < 0)
		return r;
	if (name[0] != '/') {
		if (!getcwd(folder, sizeof(folder)))
			return error_set_errno(err, errno, "The current folder cannot be told");
		for (at = folder; *at; at++)
			r = buf_append(&b, "%%", *at == '%' ? 2 : 0) < 0 || (*at != '%' && buf_append(&b, at, 1) < 0);
		buf_puts(&b, "/");
	}
	buf_puts(&b, name);
	if (!has_extension(name))
		buf_puts(&b, cli_is_link(cli) ? ".nsys-rep" : ".sonde");
	r = r || b.len >= size ? error_set(err, ENAMETOOLONG, "The name of the report is too long.") : 0;
	snprintf(ret, size, "%s", buf_cstr(&b));
	buf_release(&b);
	return r;
}

static int start(struct cli *cli, const struct profile_fields *fields)
{
	struct steer_request request = { .command = STEER_START };
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	struct error err = { "" };
	int status;

	if (!reply)
		return command_fail(cli, &start_command, "Out of memory.");
	if (fields->force_overwrite)
		request.flags |= STEER_OVERWRITE;
	if (output_template(cli, fields->output, request.output, sizeof(request.output), &err) < 0)
		status = command_fail(cli, &start_command, "%s", err.text);
	else
		status = ask(cli, &start_command, fields->session, &request, reply);
	free(reply);
	return status;
}

/* What is recorded was said to 'launch': the agents are in the program already. */
static void name_ignored(struct cli *cli, const struct options_parsed *parsed)
{
	static const char *const heard[] = { "output", "force-overwrite", "session" };
	const char *name;
	size_t i, k;

	for (i = 0; i < parsed->use_count; i++) {
		name = parsed->uses[i].spec->name;
		for (k = 0; k < 3 && strcmp(name, heard[k]) != 0; k++)
			;
		if (k == 3)
			fprintf(cli->err, "%s: --%s has no effect on 'start' yet; it goes on without it\n", cli_name(cli), name);
	}
}

static int run_start(struct cli *cli, int argc, char **argv)
{
	struct profile_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &start_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = no_words(cli, &start_command, &parsed);
	if (!status && options_find_use(&parsed, "session-new"))
		status = command_fail(cli, &start_command, "A session begins with '%s launch --session-new=NAME program'.",
				      cli_name(cli));
	if (!status) {
		name_ignored(cli, &parsed);
		status = start(cli, &fields);
	}
	options_release(&parsed);
	return status;
}

struct session_fields {
	const char *session;
	const char *kill;
	int64_t keep_ns;
};

static int stop(struct cli *cli, const struct session_fields *fields)
{
	const struct profile_fields nothing_more = { 0 };
	struct steer_request request = { .command = STEER_STOP, .keep_ns = fields->keep_ns };
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	int status;

	if (!reply)
		return command_fail(cli, &stop_command, "Out of memory.");
	status = ask(cli, &stop_command, fields->session, &request, reply);
	if (!status && reply->result.finished && profile_after(cli, &nothing_more, &reply->result) < 0)
		status = 1;
	free(reply);
	return status;
}

static int cancel(struct cli *cli, const struct session_fields *fields)
{
	struct steer_request request = { .command = STEER_CANCEL };
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	int status = reply ? ask(cli, &cancel_command, fields->session, &request, reply) : 1;

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
		status = ask(cli, &shutdown_command, fields->session, &request, reply);
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
	status = no_words(cli, command, &parsed);
	if (!status)
		status = act(cli, &fields);
	options_release(&parsed);
	return status;
}

static int run_stop(struct cli *cli, int argc, char **argv)
{
	return run_for_session(cli, &stop_command, argc, argv, stop);
}

static int run_cancel(struct cli *cli, int argc, char **argv)
{
	return run_for_session(cli, &cancel_command, argc, argv, cancel);
}

static int run_shutdown(struct cli *cli, int argc, char **argv)
{
	return run_for_session(cli, &shutdown_command, argc, argv, shut_down);
}

/* sessions list */

struct sessions_fields {
	bool header;
	int format;
};

struct listing {
	FILE *out;
	bool json;
	unsigned count;
};

static const char *state_word(uint32_t state)
{
	static const char *const words[] = { [STEER_IDLE] = "Launched", [STEER_CAPTURING] = "Collection",
					     [STEER_SETTLING] = "Finalization", [STEER_WRITING] = "Finalization" };

	return state < sizeof(words) / sizeof(words[0]) ? words[state] : "?";
}

static void json_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", (unsigned char)*text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static int list_one(const struct steer_reply *session, void *context)
{
	struct listing *list = context;
	long long age = (long long)time(NULL) - session->began;
	char clock[32];

	age = age < 0 ? 0 : age;
	snprintf(clock, sizeof(clock), "%02lld:%02lld:%02lld", age / 3600, age / 60 % 60, age % 60);
	if (list->json) {
		fprintf(list->out, "%s{\"id\": %u, \"name\": ", list->count ? ", " : "", session->id);
		json_text(list->out, session->name);
		fprintf(list->out, ", \"state\": \"%s\", \"time\": \"%s\", \"launch\": 1, \"pid\": %u, \"captures\": %u, \"program\": ",
			state_word(session->state), clock, session->target, session->captures);
		json_text(list->out, session->program);
		fputc('}', list->out);
	} else {
		fprintf(list->out, "%7u %11s %20s %6d %s\n", session->id, clock, state_word(session->state), 1, session->name);
	}
	list->count++;
	return 0;
}

static int list_sessions(struct cli *cli, const struct sessions_fields *fields, const struct options_parsed *parsed)
{
	struct listing list = { .out = cli->out, .json = fields->format != 0 };
	struct error err = { "" };

	if (parsed->word_count != 1 || strcmp(parsed->words[0], "list") != 0)
		return command_fail(cli, &sessions_command, "The one thing to do is 'list': %s sessions list.",
				    cli_name(cli));
	if (list.json)
		fputc('[', cli->out);
	else if (fields->header)
		fputs("     ID        TIME                STATE LAUNCH NAME\n", cli->out);
	if (steer_each(list_one, &list, &err) < 0)
		return command_fail(cli, &sessions_command, "%s", err.text);
	if (list.json)
		fputs("]\n", cli->out);
	return 0;
}

int sessions_print_status(struct cli *cli, const struct command *command, const char *name)
{
	struct steer_reply *reply = calloc(1, sizeof(*reply));
	struct listing list = { .out = cli->out };
	struct error err = { "" };
	int status = 0;

	if (!reply)
		return command_fail(cli, command, "Out of memory.");
	if (!name && steer_each(list_one, &list, &err) >= 0)
		fputs(list.count ? "" : "There is no session.\n", cli->out);
	else if (name && steer_find(name, reply, &err) == 0)
		list_one(reply, &list);
	else
		status = command_fail(cli, command, "%s", err.text);
	free(reply);
	return status;
}

static int run_sessions(struct cli *cli, int argc, char **argv)
{
	struct sessions_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &sessions_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = list_sessions(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

#define SESSION_OPTION \
	{ .name = "session", .type = OPTION_TEXT, .offset = offsetof(struct session_fields, session), .arg = "name", \
	  .tag = "session", .help = "Name or number of the session; not needed where there is one only." }

static const struct option_spec stop_specs[] = {
	SESSION_OPTION,
	{ .name = "keep", .type = OPTION_SECONDS, .offset = offsetof(struct session_fields, keep_ns), .initial = "0", .tag = "session",
	  .help = "Keep only what was recorded in so many seconds before the end; 0 keeps all." },
};
static const struct option_spec cancel_specs[] = { SESSION_OPTION };
static const struct option_spec shutdown_specs[] = {
	SESSION_OPTION,
	{ .name = "kill", .type = OPTION_TEXT, .offset = offsetof(struct session_fields, kill),
	  .values = "none|sigterm|sigkill|N", .initial = "sigterm", .tag = "session",
	  .help = "The signal sent to the program." },
};
static const struct option_spec sessions_specs[] = {
	{ .name = "show-header", .letter = 'p', .type = OPTION_BOOL,
	  .offset = offsetof(struct sessions_fields, header), .initial = "true", .tag = "output",
	  .help = "Print a line above the list." },
	{ .name = "output-format", .letter = 'f', .type = OPTION_CHOICE, .values = "plain|json",
	  .offset = offsetof(struct sessions_fields, format), .initial = "plain", .tag = "output",
	  .help = "A list for people or for programs." },
};
static const struct option_table stop_options = OPTION_TABLE(stop_specs);
static const struct option_table cancel_options = OPTION_TABLE(cancel_specs);
static const struct option_table shutdown_options = OPTION_TABLE(shutdown_specs);
static const struct option_table sessions_options = OPTION_TABLE(sessions_specs);

static const char *const launch_examples[] = {
	"sonde launch --session-new=training python train.py", "run it, ready to be recorded",
	"sonde start --session=training -o slow", "record from now on (from another terminal)",
	"sonde stop", "complete slow.sonde; the program goes on",
	NULL,
};

const struct command launch_command = {
	.name = "launch",
	.summary = "Run a program that start and stop record",
	.synopsis = "[options] program [arguments]",
	.description =
		"Runs the program with its own input, output and arguments, ready to be recorded but not recorded. "
		"'start' and 'stop' from another terminal record it, as often as wanted, each time into a report of its "
		"own. The exit status is the program's, or 128+N when it died of signal N. When it ends while it is "
		"recorded, that report is completed.",
	.examples = launch_examples,
	.options = &profile_option_table,
	.words = COMMAND_PROGRAM,
	.run = run_launch,
};

const struct command start_command = {
	.name = "start",
	.summary = "Begin to record a launched program",
	.synopsis = "[options]",
	.description = "Opens a new report (-o) and records until 'stop', or until the program ends. What is recorded was "
		       "said to 'launch'.",
	.options = &profile_option_table,
	.words = COMMAND_NO_WORDS,
	.run = run_start,
};

const struct command stop_command = {
	.name = "stop",
	.summary = "End recording a launched program, write the report",
	.synopsis = "[options]",
	.description = "Completes the report that 'start' began and names it. The program goes on and can be recorded again.",
	.options = &stop_options,
	.words = COMMAND_NO_WORDS,
	.run = run_stop,
};

const struct command cancel_command = {
	.name = "cancel",
	.summary = "End recording a launched program, write no report",
	.synopsis = "[options]",
	.description = "Drops what was recorded since 'start'. The program goes on and can be recorded again.",
	.options = &cancel_options,
	.words = COMMAND_NO_WORDS,
	.run = run_cancel,
};

const struct command shutdown_command = {
	.name = "shutdown",
	.summary = "End a session and its program",
	.synopsis = "[options]",
	.description = "Ends the session; what is being recorded is dropped. The program gets a signal, or goes on by itself "
		       "with --kill=none.",
	.options = &shutdown_options,
	.words = COMMAND_NO_WORDS,
	.run = run_shutdown,
};

const struct command sessions_command = {
	.name = "sessions",
	.summary = "List the sessions",
	.synopsis = "list [options]",
	.description = "Lists the programs that were launched and can be recorded: number, time since the launch, state and "
		       "name of the session.",
	.options = &sessions_options,
	.words = COMMAND_NO_WORDS,
	.run = run_sessions,
};
