#include "cli/links/ncu_link.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/arguments/command_file.h"
#include "cli/help/help.h"
#include "cli/kernel/options.h"

/* The release of ncu whose options and pages are spoken here. */
#define SPOKEN_VERSION "2025.3.1.0"
#define MOST_RESPONSE_FILES 16

void ncu_print_version(struct cli *cli)
{
	fprintf(cli->out, "Sonde, called %s, in place of NVIDIA Nsight Compute\nVersion " SPOKEN_VERSION " (Sonde " SONDE_VERSION ")\n",
		cli_name(cli));
}

static int add_all(struct string_list *words, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		TRY(string_list_add(words, argv[i], strlen(argv[i])));
	return 0;
}

/* Where the first word stands that is no option, if that begins with '@'; -1: there is none. What is wrong with the options is
 * said later. */
static int response_file(int argc, char **argv)
{
	struct options_parsed parsed = OPTIONS_PARSED_INIT;
	struct kernel_fields fields = { 0 };
	struct error ignored;
	int at = -1;

	if (options_parse(&kernel_options_table, OPTIONS_THEN_WORDS, argc, argv, &fields, &parsed, &ignored) >= 0 && parsed.word_count &&
	    parsed.words[0][0] == '@')
		at = argc - parsed.word_count;
	options_release(&parsed);
	return at;
}

/* Each @FILE before the program is replaced by the words in the file. */
static int expand(struct string_list *words, struct error *err)
{
	int at, r = 0;

	for (int i = 0; i < MOST_RESPONSE_FILES && r >= 0; i++) {
		struct string_list longer = STRING_LIST_INIT;

		at = response_file((int)words->count, words->items);
		if (at < 0)
			return 0;
		r = add_all(&longer, at, words->items);
		if (r >= 0)
			r = command_file_read(words->items[at] + 1, &longer, err);
		if (r >= 0)
			r = add_all(&longer, (int)words->count - at - 1, words->items + at + 1);
		string_list_release(words);
		*words = longer;
	}
	return r;
}

/* The command line is recorded as it is understood. */
static int run_kernel_command(struct cli *cli, char *name, struct string_list *words)
{
	struct string_list line = STRING_LIST_INIT;
	struct cli now = *cli;
	int status;

	if (string_list_add(&line, name, strlen(name)) < 0 || add_all(&line, (int)words->count, words->items) < 0) {
		string_list_release(&line);
		return command_fail(cli, &kernel_command, "Not enough memory");
	}
	now.command_line = line.items;
	status = kernel_command.run(&now, (int)line.count - 1, line.items + 1);
	string_list_release(&line);
	return status;
}

int ncu_main(struct cli *cli, int argc, char **argv)
{
	struct string_list words = STRING_LIST_INIT;
	struct error err = { "" };
	int status = 1;

	if (argc < 2) {
		help_print_command(cli->out, cli, &kernel_command, NULL, &err);
		return 1;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0) {
		ncu_print_version(cli);
		return 0;
	}
	if (ncu_config_read(argc - 1, argv + 1, &words, &err) < 0 || add_all(&words, argc - 1, argv + 1) < 0 || expand(&words, &err) < 0)
		command_fail(cli, &kernel_command, "%s", err.text[0] ? err.text : strerror(ENOMEM));
	else
		status = run_kernel_command(cli, argv[0], &words);
	string_list_release(&words);
	return status;
}
