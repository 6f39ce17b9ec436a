/* sonde launch: run a program that other commands record. docs/sessions.md */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/profile/hooks.h"
#include "cli/profile/setup.h"
#include "cli/profile/session_commands.h"

extern const struct command launch_command;

int session_name_expand(const char *given, char *ret, size_t size, struct error *err)
{
	ret[0] = '\0';
	if (!given)
		return 0;
	TRY(output_name_expand(given, getpid(), ret, size, err));
	if (strlen(ret) >= STEER_NAME_SIZE)
		return error_set(err, EINVAL, "The session's name is longer than %d characters.", STEER_NAME_SIZE - 1);
	for (given = ret; isprint((unsigned char)*given); given++)
		;
	if (*given || !isalpha((unsigned char)ret[0]))
		return error_set(err, EINVAL, "A session's name begins with a letter and has no control characters: not '%s'.", ret);
	return 0;
}

/* A session that 'start' began and that waits for a program. */
struct waiting {
	const char *name; /* NULL: any */
	struct steer_reply found;
	unsigned count;
};

static int look_for_waiting(const struct steer_reply *session, void *context)
{
	struct waiting *waiting = context;

	if (session->state == STEER_WAITING && waiting->count++ == 0)
		waiting->found = *session;
	return 0;
}

static int find_waiting(struct waiting *waiting, struct error *err)
{
	if (!waiting->name)
		return steer_each(look_for_waiting, waiting, err);
	TRY(steer_find(waiting->name, &waiting->found, err));
	if (waiting->found.state != STEER_WAITING)
		return error_set(err, EBUSY, "Session '%s' already has a program; use --session-new to launch another.",
				 waiting->found.name);
	waiting->count = 1;
	return 0;
}

/* 1 when there is one: then it is this command's now. */
static int take_waiting(const struct profile_fields *fields, struct steer_reply *ret, struct error *err)
{
	struct steer_request request = { .magic = STEER_MAGIC, .command = STEER_TAKE };
	struct waiting *waiting = calloc(1, sizeof(*waiting));
	uint32_t id;
	int r;

	if (!waiting)
		return error_set(err, ENOMEM, "Out of memory.");
	waiting->name = fields->session;
	r = fields->session_name ? 0 : find_waiting(waiting, err);
	id = waiting->found.id;
	/* With several of them none is meant. */
	if (r == 0 && waiting->count == 1) {
		r = steer_ask(id, &request, 2000, ret, err);
		if (r == 0)
			r = ret->status ? error_set(err, ret->status, "Session '%s': %s.", ret->name, ret->text) : 1;
	}
	free(waiting);
	return r;
}

static void report_ready(void *listener, const struct record_result *result, bool reported, const struct error *why)
{
	struct profile_hooks *hooks = listener;

	if (!reported)
		fputs(result->notes, hooks->cli->err);
	if (!reported && result->finished)
		session_report_after(hooks->cli, result);
	else if (!reported)
		command_fail(hooks->cli, &launch_command, "%s", why->text);
	if (result->finished)
		profile_hooks_report(hooks, result->path);
}

static int record_session(struct cli *cli, const struct command *command, struct profile_setup *setup, const struct profile_fields *fields)
{
	struct profile_hooks hooks = { .cli = cli, .fields = fields };
	struct record_result *result = calloc(1, sizeof(*result));
	struct error err = { "" };
	int r, status;

	if (!result)
		return command_fail(cli, command, "Out of memory.");
	if (fields->after_start) {
		setup->options.window_opened = profile_hooks_started;
		setup->options.window_listener = &hooks;
	}
	setup->options.report_ready = report_ready;
	setup->options.report_listener = &hooks;
	r = record_run(&setup->options, result, &err);
	status = result->started ? result->exit_status : 1;
	fputs(result->notes, cli->err);
	if (result->finished)
		session_report_after(cli, result);
	profile_hooks_finish(&hooks, result->finished ? result->path : NULL);
	if (r < 0)
		command_fail(cli, command, "%s", err.text);
	free(result);
	return status;
}

int session_launch(struct cli *cli, const struct command *command, const struct profile_fields *fields, const struct options_parsed *parsed)
{
	struct profile_setup setup = { .style = cli_is_link(cli) ? OUTPUT_NSYS : OUTPUT_SONDE };
	struct steer_reply *taken = calloc(1, sizeof(*taken));
	struct profile_options *o = &setup.options;
	struct error err = { "" };
	char name[PATH_MAX];
	int status, r;

	o->command_line = cli->command_line;
	r = taken ? session_name_expand(fields->session_name, name, sizeof(name), &err) : error_set(&err, ENOMEM, "Out of memory.");
	if (r == 0)
		r = profile_setup_fill(&setup, fields, parsed, parsed->words, &err);
	if (r == 0 && o->capture_range == CAPTURE_RANGE_HOTKEY)
		r = error_set(&err, EINVAL, "--capture-range=hotkey is only supported with 'profile'; here use 'start' and 'stop'.");
	r = r < 0 || fields->start_later ? r : take_waiting(fields, taken, &err);
	if (r < 0) {
		status = command_fail(cli, command, "%s", err.text);
	} else {
		profile_print_notes(cli, &setup.notes);
		o->interactive = true;
		if (fields->start_later)
			o->delay_ns = 0; /* 'start' says when */
		o->session_name = r == 1 ? taken->name : name[0] ? name : NULL;
		o->first_start = r == 1 ? &taken->start : NULL;
		status = record_session(cli, command, &setup, fields);
	}
	free(taken);
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
		status = command_fail(cli, &launch_command, "--command-file is only supported with 'profile'.");
	else if (fields.flight)
		status = command_fail(cli, &launch_command, "--flight-recorder is only supported with 'profile' and 'attach'.");
	else if (!parsed.word_count)
		status = command_fail(cli, &launch_command, "No program given: %s launch [options] program [arguments].", cli_name(cli));
	else
		status = session_launch(cli, &launch_command, &fields, &parsed);
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const char *const launch_examples[] = {
	"sonde launch --session-new=training python train.py", "run the program, ready to be recorded",
	"sonde start --session=training -o slow", "record from now on (from another terminal)",
	"sonde stop", "complete slow.sonde; the program continues",
	NULL,
};
/* clang-format on */

const struct command launch_command = {
	.name = "launch",
	.summary = "Run a program, to be recorded by start and stop",
	.synopsis = "[options] program [arguments]",
	.description = "Runs the program with its own input, output and arguments, without recording it. 'start' and 'stop' in another "
		       "terminal record it, any number of times, each time into its own report. If 'start' ran first, the "
		       "program is recorded from its beginning. The exit status is the program's, or 128+N if signal N "
		       "killed it. If the program ends while it is recorded, the report is completed.",
	.examples = launch_examples,
	.options = &profile_option_table,
	.words = COMMAND_PROGRAM,
	.run = run_launch,
};
