/* sonde profile: run a program, record it, leave a report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/arguments/command_file.h"
#include "cli/help/help.h"
#include "cli/profile/hotkey.h"
#include "cli/profile/after_recording.h"
#include "cli/profile/flight.h"
#include "cli/profile/hooks.h"
#include "cli/profile/setup.h"
#include "cli/profile/session_commands.h"
#include "cli/arguments/trace_list.h"
#include "record/gpu/monitor.h"
#include "record/record.h"

extern const struct command profile_command;

/* The window opens and closes by a key, where the terminal's keys are not the program's own, and by a signal. */
static void use_hotkey(struct cli *cli, struct profile_options *options, struct hotkey *hotkey, int key)
{
	hotkey_open(hotkey, (unsigned)key + 1);
	options->key_fd = hotkey->fd;
	options->key_pressed = hotkey_pressed;
	options->key_listener = hotkey;
	if (hotkey->fd >= 0)
		fprintf(cli->err, "%s: %s in this terminal, or 'kill -USR1 %d', opens and closes the window\n", cli_name(cli),
			options->hotkey, (int)getpid());
	else
		fprintf(cli->err, "%s: 'kill -USR1 %d' opens and closes the window: keys are %s\n", cli_name(cli), (int)getpid(),
			isatty(STDIN_FILENO) ? "the program's own input" : "not available without a terminal");
	fflush(cli->err);
}

static void report_of_flight(void *listener, const struct record_result *result)
{
	struct profile_hooks *hooks = listener;

	profile_flight_print(hooks->cli, result);
	if (result->finished)
		profile_hooks_report(hooks, result->path);
}

/* Records; the status is the program's own. */
static int record_profile(struct cli *cli, struct profile_setup *setup, const struct profile_fields *fields, struct record_result *result)
{
	struct profile_hooks hooks = { .cli = cli, .fields = fields };
	struct hotkey hotkey = { .fd = -1 };
	struct error err = { "" };
	int r;

	if (cli_is_link(cli)) {
		fputs("Collecting data...\n", cli->out);
		fflush(cli->out);
	}
	if (fields->after_start) {
		setup->options.window_opened = profile_hooks_started;
		setup->options.window_listener = &hooks;
	}
	if (setup->options.capture_range == CAPTURE_RANGE_HOTKEY)
		use_hotkey(cli, &setup->options, &hotkey, fields->hotkey);
	if (setup->options.flight.on) {
		setup->options.flight_report = report_of_flight;
		setup->options.flight_listener = &hooks;
	}
	r = record_run(&setup->options, result, &err);
	hotkey_close(&hotkey);
	fputs(result->notes, cli->err);
	if (result->finished)
		profile_after(cli, fields, result);
	profile_hooks_finish(&hooks, result->finished ? result->path : NULL);
	/* Whatever became of the report and its exports: a script sees what it would have seen without us. */
	if (r < 0)
		command_fail(cli, &profile_command, "%s", err.text);
	return result->started ? result->exit_status : 1;
}

static bool answer_gpu_help(struct cli *cli, const struct gpu_options *gpu)
{
	char *text = NULL;

	if (gpu->metrics_devices && strcmp(gpu->metrics_devices, "help") == 0)
		text = gpu_monitor_devices_help(gpu->metrics_set);
	else if (gpu->metrics_set && strcmp(gpu->metrics_set, "help") == 0)
		text = gpu_monitor_sets_help();
	if (!text)
		return false;
	fputs(text, cli->out);
	free(text);
	return true;
}

/* "--option=help" asks what there is to choose from; nothing is run. */
static bool answer_value_help(struct cli *cli, const struct profile_fields *fields, const struct options_parsed *parsed)
{
	const struct option_spec *spec;
	size_t i;

	if (fields->trace & TRACE_HELP_BIT) {
		trace_list_print(cli->out);
		return true;
	}
	if (answer_gpu_help(cli, &fields->gpu))
		return true;
	for (i = 0; i < parsed->use_count; i++) {
		spec = parsed->uses[i].spec;
		if (spec->state == OPTION_BUILT || strcmp(parsed->uses[i].value, "help") != 0)
			continue;
		fprintf(cli->out, "--%s: %s %s\n", spec->name, spec->help, help_state_sentence(spec));
		return true;
	}
	return false;
}

static enum output_style name_style(const struct cli *cli)
{
	if (cli->role == CLI_NVPROF)
		return OUTPUT_NVPROF;
	return cli_is_link(cli) ? OUTPUT_NSYS : OUTPUT_SONDE;
}

static int run_parsed(struct cli *cli, struct profile_fields *fields, const struct options_parsed *parsed, struct record_result *result)
{
	struct profile_setup setup = { .style = name_style(cli) };
	struct error err = { "" };
	int status;

	if (answer_value_help(cli, fields, parsed))
		return 0;
	if (fields->start_later)
		return session_launch(cli, &profile_command, fields, parsed);
	if (fields->session)
		fprintf(cli->err, "%s: --session applies only to 'launch' and 'start'; ignored\n", cli_name(cli));
	fields->exports = profile_exports(parsed);
	setup.options.command_line = cli->command_line;
	if (profile_setup_fill(&setup, fields, parsed, parsed->words, &err) < 0 || profile_check_exports(fields, setup.style, &err) < 0) {
		status = command_fail(cli, &profile_command, "%s", err.text);
	} else {
		profile_print_notes(cli, &setup.notes);
		status = record_profile(cli, &setup, fields, result);
	}
	profile_setup_release(&setup);
	return status;
}

/* A word that is no option may not stand in a command file: it would end the options. */
static int read_command_file(const char *path, struct string_list *words, struct error *err)
{
	struct options_parsed parsed = OPTIONS_PARSED_INIT;
	struct profile_fields scratch = { 0 };
	size_t first = words->count;
	int r = command_file_read(path, words, err);

	if (r < 0 || words->count == first)
		return r;
	r = options_parse(&profile_option_table, OPTIONS_THEN_WORDS, (int)(words->count - first), words->items + first, &scratch, &parsed,
			  err);
	if (r == 0 && parsed.word_count)
		r = error_set(err, EINVAL, "The command file '%s' has '%s', which is not an option.", path, parsed.words[0]);
	if (r == 0 && scratch.command_files.count)
		r = error_set(err, EINVAL, "The command file '%s' names another one; name both on the command line.", path);
	options_release(&parsed);
	return r;
}

/* The words of all command files, then those of the command line: the last one wins. */
static int run_with_files(struct cli *cli, const struct option_texts *files, int argc, char **argv, struct record_result *result)
{
	struct options_parsed parsed = OPTIONS_PARSED_INIT;
	struct string_list words = STRING_LIST_INIT;
	struct profile_fields fields = { 0 };
	struct error err = { "" };
	int i, status = 1, r = 0;
	size_t f;

	for (f = 0; f < files->count && r == 0; f++)
		r = read_command_file(files->items[f], &words, &err);
	for (i = 0; i < argc && r == 0; i++)
		r = string_list_add(&words, argv[i], strlen(argv[i]));
	if (r < 0)
		command_fail(cli, &profile_command, "%s", err.text);
	else if (command_parse(cli, &profile_command, (int)words.count, words.items, &fields, &parsed, &status))
		status = run_parsed(cli, &fields, &parsed, result);
	options_release(&parsed);
	string_list_release(&words);
	return status;
}

int profile_run(struct cli *cli, int argc, char **argv, struct record_result *result)
{
	struct options_parsed parsed;
	struct profile_fields fields = { 0 };
	int status;

	if (!command_parse(cli, &profile_command, argc, argv, &fields, &parsed, &status))
		return status;
	if (fields.command_files.count)
		status = run_with_files(cli, &fields.command_files, argc, argv, result);
	else
		status = run_parsed(cli, &fields, &parsed, result);
	options_release(&parsed);
	return status;
}

static int run_profile(struct cli *cli, int argc, char **argv)
{
	struct record_result *result = calloc(1, sizeof(*result));
	int status;

	if (!result)
		return command_fail(cli, &profile_command, "Out of memory.");
	status = profile_run(cli, argc, argv, result);
	free(result);
	return status;
}

/* clang-format off */
static const char *const profile_examples[] = {
	"sonde profile ./app", "record ./app into report1.sonde",
	"sonde profile -t nvtx -o run --stats python train.py", "record and print the statistics",
	"sonde profile -y 60 -d 120 --kill none -o window ./app",
	"wait one minute, record two minutes, leave the program running",
	"sonde profile --trace=help", "list what can be traced",
	NULL,
};
/* clang-format on */

const struct command profile_command = {
	.name = "profile",
	.summary = "Run a program and record it",
	.synopsis = "[options] program [arguments]",
	.description = "Runs the program with its own input, output and arguments, records it and the processes it starts, and writes "
		       "a report. The program need not be changed or recompiled. The exit status is the program's, or 128+N if "
		       "signal N killed it. Ctrl-C ends the program as usual and the report is written. A second Ctrl-C ends the "
		       "recording at once; the report has everything recorded so far.",
	.examples = profile_examples,
	.options = &profile_option_table,
	.words = COMMAND_PROGRAM,
	.run = run_profile,
};
