/* sonde attach: record a process that runs already. docs/attach.md */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/text/path.h"
#include "cli/command.h"
#include "cli/profile/after_recording.h"
#include "cli/profile/flight.h"
#include "cli/profile/hooks.h"
#include "cli/profile/setup.h"
#include "cli/arguments/trace_list.h"
#include "record/record.h"

extern const struct command attach_command;

/* What happens in this process while the recorder works. */
struct watcher {
	struct cli *cli;
	struct profile_hooks hooks;
	const struct profile_options *options;
	bool reported;
};

static void on_window(void *listener, const char *path)
{
	struct watcher *w = listener;

	if (!w->reported && !w->options->duration_ns && isatty(STDERR_FILENO))
		fprintf(w->cli->err, "Recording process %d (%s). Ctrl-C ends the recording, not the process.\n",
			(int)w->options->attach_pid, path_name(w->options->program));
	w->reported = true;
	fflush(w->cli->err);
	if (w->hooks.fields->after_start)
		profile_hooks_started(&w->hooks, path);
}

static void report_of_flight(void *listener, const struct record_result *result)
{
	struct watcher *w = listener;

	profile_flight_print(w->cli, result);
	if (result->finished)
		profile_hooks_report(&w->hooks, result->path);
}

static int record_attached(struct cli *cli, struct profile_setup *setup, const struct profile_fields *fields)
{
	struct record_result *result = calloc(1, sizeof(*result));
	struct watcher watcher = { .cli = cli, .hooks = { .cli = cli, .fields = fields }, .options = &setup->options };
	struct error err = { "" };
	int status = 0;

	if (!result)
		return command_fail(cli, &attach_command, "Out of memory.");
	setup->options.window_opened = on_window;
	setup->options.window_listener = &watcher;
	setup->options.flight_report = report_of_flight;
	setup->options.flight_listener = &watcher;
	if (setup->options.capture_range == CAPTURE_RANGE_HOTKEY)
		fprintf(cli->err, "%s: 'kill -USR1 %d' opens and closes the window\n", cli_name(cli), (int)getpid());
	if (record_attach(&setup->options, result, &err) < 0)
		status = 1;
	if (result->target_harmed)
		status = 1;
	fputs(result->notes, cli->err);
	if (result->finished && profile_after(cli, fields, result) < 0)
		status = 1;
	profile_hooks_finish(&watcher.hooks, result->finished ? result->path : NULL);
	if (err.text[0])
		command_fail(cli, &attach_command, "%s", err.text);
	free(result);
	return status;
}

static int parse_pid(const char *text, pid_t *ret, struct error *err)
{
	char *end;
	long number;

	errno = 0;
	number = isdigit((unsigned char)text[0]) ? strtol(text, &end, 10) : -1;
	if (number < 1 || *end || errno || number > INT32_MAX)
		return error_set(err, EINVAL, "'%s' is not a process id.", text);
	*ret = (pid_t)number;
	return 0;
}

/* Options of a program that is started: one line each. */
static int note_senseless(const struct options_parsed *parsed, struct string_list *notes)
{
	int r = 0;

	for (const struct option_spec *spec = profile_option_table.specs;
	     spec < profile_option_table.specs + profile_option_table.count && r >= 0; spec++)
		if (spec->flags & PROFILE_STARTED && options_find_use(parsed, spec->name))
			r = string_list_addf(notes, "--%s applies only to programs that Sonde starts; ignored", spec->name);
	return r;
}

/* The words of its command line, as the process has them now. */
static int read_words(pid_t pid, struct string_list *words)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *f;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	while (f && r >= 0 && getdelim(&line, &room, '\0', f) > 0)
		r = string_list_add(words, line, strlen(line));
	free(line);
	if (f)
		fclose(f);
	if (r >= 0 && !words->count)
		r = string_list_addf(words, "process %d", (int)pid);
	return r;
}

static void read_program(pid_t pid, char *ret, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, ret, size - 1);
	if (n > 0)
		ret[n] = '\0';
	else
		snprintf(ret, size, "process %d", (int)pid);
}

/* It goes on when the recording ends, whoever ends it, and the recording ends with it. */
static void leave_it_alone(struct profile_options *options)
{
	options->kill_signal = 0;
	options->wait = PROFILE_WAIT_PRIMARY;
	options->stop_on_exit = true;
	options->show_output = true;
	options->inherit_environment = true;
	options->env_count = 0;
}

static int attach_to_pid(struct cli *cli, const struct profile_fields *fields, const struct options_parsed *parsed, pid_t pid)
{
	struct profile_setup setup = { .style = cli_is_link(cli) ? OUTPUT_NSYS : OUTPUT_SONDE };
	struct string_list words = STRING_LIST_INIT;
	struct error err = { "" };
	int status;

	setup.options.command_line = cli->command_line;
	if (note_senseless(parsed, &setup.notes) < 0 || read_words(pid, &words) < 0) {
		status = command_fail(cli, &attach_command, "Out of memory.");
	} else if (profile_setup_fill(&setup, fields, parsed, NULL, &err) < 0) {
		status = command_fail(cli, &attach_command, "%s", err.text);
	} else {
		read_program(pid, setup.program, sizeof(setup.program));
		setup.options.program = setup.program;
		setup.options.argv = words.items;
		setup.options.attach_pid = pid;
		setup.options.children = fields->children;
		setup.options.trace_given = options_find_use(parsed, "trace") != NULL;
		leave_it_alone(&setup.options);
		profile_print_notes(cli, &setup.notes);
		status = record_attached(cli, &setup, fields);
	}
	string_list_release(&words);
	profile_setup_release(&setup);
	return status;
}

static int run_parsed(struct cli *cli, struct profile_fields *fields, const struct options_parsed *parsed)
{
	struct error err = { "" };
	pid_t pid = 0;

	if (fields->trace & TRACE_HELP_BIT) {
		trace_list_print(cli->out);
		return 0;
	}
	if (fields->command_files.count)
		return command_fail(cli, &attach_command, "--command-file is only supported with 'profile'.");
	if (parsed->word_count != 1)
		return command_fail(cli, &attach_command, "%s: %s attach PID [options].",
				    parsed->word_count ? "Only one process can be recorded at a time" : "No process given", cli_name(cli));
	if (parse_pid(parsed->words[0], &pid, &err) < 0)
		return command_fail(cli, &attach_command, "%s", err.text);
	fields->exports = profile_exports(parsed);
	return attach_to_pid(cli, fields, parsed, pid);
}

static int run_attach(struct cli *cli, int argc, char **argv)
{
	struct profile_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &attach_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = run_parsed(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

static const char *const attach_examples[] = {
	"sonde attach 4711 -d 10 -o slow",
	"record process 4711 and its children for ten seconds",
	"sonde attach 4711 -t none",
	"record until Ctrl-C: CPU samples and switches only, nothing is loaded into the process",
	NULL,
};

const struct command attach_command = {
	.name = "attach",
	.summary = "Record a running process",
	.synopsis = "PID [options]",
	.description = "Records a process that was started without Sonde and writes a report. The recording ends after --duration, with "
		       "Ctrl-C, or when the process ends; the process itself continues. CPU samples and switches need "
		       "nothing in the process. For the sources of --trace, Sonde loads its agents into the process and puts "
		       "them to sleep at the end. If they cannot be loaded, the recording continues without them, unless "
		       "--trace was given. Child processes are recorded, too, unless --children=false is given. Attaching "
		       "requires the permission to ptrace the process. The exit status is 0 if the report was written.",
	.examples = attach_examples,
	.options = &profile_option_table,
	.words = COMMAND_NO_WORDS,
	.run = run_attach,
};
