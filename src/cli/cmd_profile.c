/* sonde profile: run a program, record it, leave a report. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/command_file.h"
#include "cli/help.h"
#include "cli/profile_setup.h"
#include "cli/trace_list.h"
#include "record/gpu/monitor.h"
#include "record/record.h"

extern const struct command profile_command;

static void print_notes(struct cli *cli, const struct string_list *notes)
{
	size_t i;

	for (i = 0; i < notes->count; i++)
		fprintf(cli->err, "sonde: %s\n", notes->items[i]);
	fflush(cli->err);
}

static void print_size(FILE *out, uint64_t bytes)
{
	if (bytes < 1000000)
		fprintf(out, "%.1f kB", (double)bytes / 1e3);
	else
		fprintf(out, "%.1f MB", (double)bytes / 1e6);
}

/* What recording cost the program: the agent times its own push and pop where it runs. */
static void print_cost(FILE *out, const struct record_result *result)
{
	double pair_ns = result->cost_pair_ps / 1e3;
	double all_ms = pair_ns * (double)result->events / 2 / 1e6;

	if (!result->events || pair_ns <= 0)
		return;
	fprintf(out, "; recording cost %.1f ns per range", pair_ns);
	if (all_ms >= 1)
		fprintf(out, ", about %.0f ms in all", all_ms);
}

static void print_result(struct cli *cli, const struct record_result *result)
{
	fputs(result->notes, cli->err);
	if (!result->finished)
		return;
	fprintf(cli->err, "Generated:\n    %s\n", result->path);
	fprintf(cli->err, "    %" PRIu64 " events, %" PRIu64 " dropped, ", result->events,
		result->dropped);
	print_size(cli->err, result->bytes);
	print_cost(cli->err, result);
	fputc('\n', cli->err);
}

static int print_stats(struct cli *cli, const char *path)
{
	const struct command *stats = command_find("stats");
	char *argv[] = { strdup(path), NULL };
	int status = 1;

	if (!stats)
		status = command_fail(cli, &profile_command, "This build has no statistics.");
	else if (argv[0])
		status = stats->run(cli, 1, argv);
	free(argv[0]);
	return status;
}

/* What cannot be written is said; the report is there all the same. */
static void write_exports(struct cli *cli, const char *path, const struct profile_fields *fields)
{
	const struct command *export = command_find("export");
	const char *list = EXPORT_VALUES, *piece;
	char type[32], dash_t[] = "-t", replace[] = "-ftrue", keep[] = "-ffalse", *file = strdup(path);
	size_t len;

	for (unsigned i = 0; file && export && (len = option_next_value(&list, &piece)) > 0; i++) {
		char *argv[] = { dash_t, type, fields->force_overwrite ? replace : keep, file, NULL };

		snprintf(type, sizeof(type), "%.*s", (int)len, piece);
		if ((fields->exports >> i & 1) && strcmp(type, "none") != 0)
			export->run(cli, 4, argv);
	}
	free(file);
}

/* Records; the status is the program's own. */
static int record(struct cli *cli, const struct profile_setup *setup, const struct profile_fields *fields)
{
	struct record_result *result = calloc(1, sizeof(*result));
	struct error err = { "" };
	int r, status;

	if (!result)
		return command_fail(cli, &profile_command, "Out of memory.");
	r = record_run(&setup->options, result, &err);
	status = result->started ? result->exit_status : 1;
	print_result(cli, result);
	if (r < 0) {
		command_fail(cli, &profile_command, "%s", err.text);
		status = status ? status : 1;
	} else {
		write_exports(cli, result->path, fields);
		if (fields->stats)
			print_stats(cli, result->path);
	}
	free(result);
	return status;
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
static bool answer_value_help(struct cli *cli, const struct profile_fields *fields,
			      const struct options_parsed *parsed)
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

static int run_parsed(struct cli *cli, const struct profile_fields *fields,
		      const struct options_parsed *parsed)
{
	struct profile_setup setup = { 0 };
	struct error err = { "" };
	int status;

	if (answer_value_help(cli, fields, parsed))
		return 0;
	setup.options.command_line = cli->command_line;
	if (profile_setup_fill(&setup, fields, parsed, parsed->words, &err) < 0) {
		status = command_fail(cli, &profile_command, "%s", err.text);
	} else {
		print_notes(cli, &setup.notes);
		status = record(cli, &setup, fields);
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
	r = options_parse(&profile_option_table, OPTIONS_THEN_WORDS, (int)(words->count - first),
			  words->items + first, &scratch, &parsed, err);
	if (r == 0 && parsed.word_count)
		r = error_set(err, EINVAL, "The command file '%s' holds '%s', which is no option.", path,
			      parsed.words[0]);
	options_release(&parsed);
	return r;
}

/* The words of all command files, then those of the command line: the last one wins. */
static int run_with_files(struct cli *cli, const struct option_texts *files, int argc, char **argv)
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
	else if (command_parse(cli, &profile_command, (int)words.count, words.items, &fields, &parsed,
			       &status))
		status = run_parsed(cli, &fields, &parsed);
	options_release(&parsed);
	string_list_release(&words);
	return status;
}

static int run_profile(struct cli *cli, int argc, char **argv)
{
	struct options_parsed parsed;
	struct profile_fields fields = { 0 };
	int status;

	if (!command_parse(cli, &profile_command, argc, argv, &fields, &parsed, &status))
		return status;
	if (fields.command_files.count)
		status = run_with_files(cli, &fields.command_files, argc, argv);
	else
		status = run_parsed(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

static const char *const profile_examples[] = {
	"sonde profile ./app", "record ./app into report1.sonde",
	"sonde profile -t nvtx -o run --stats python train.py", "record and print the statistics",
	"sonde profile -y 60 -d 120 --kill none -o window ./app",
	"record two minutes, one minute after the start, and leave the program running",
	"sonde profile --trace=help", "what can be traced",
	NULL,
};

const struct command profile_command = {
	.name = "profile",
	.summary = "Run a program, record it, write a report",
	.synopsis = "[options] program [arguments]",
	.description =
		"Runs the program with its own input, output and arguments, records what it and the "
		"processes it starts do, and writes a report. The program need not be changed or "
		"compiled anew. The exit status is the program's, or 128+N when it died of signal N. "
		"Ctrl-C once ends the program as usual and the report is written; twice, the report "
		"holds what there is.",
	.examples = profile_examples,
	.options = &profile_option_table,
	.words = COMMAND_PROGRAM,
	.run = run_profile,
};
