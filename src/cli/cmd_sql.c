/* sonde sql: statements over a recording's tables. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/reports/confine_reader.h"
#include "cli/reports/open_report.h"
#include "cli/sql/confined_sql.h"

struct sql_fields {
	const char *format;
};

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct sql_fields, field)

/* clang-format off */
static const struct option_spec sql_specs[] = {
	{ .name = "format", .letter = 'f', FIELD(TEXT, format), .arg = "format[:arg]",
	  .shown = "column on a terminal, csv otherwise", .tag = "output",
	  .help = "column, table, csv, tsv, json, hdoc or htable, as for sonde stats." },
};
/* clang-format on */

static const struct option_table sql_options = OPTION_TABLE(sql_specs);

extern const struct command sql_command;

/* What this process has to do. */
struct asking {
	struct sql_shell shell; /* the first: calls of sql/confined_sql.h have it */
	const struct options_parsed *parsed;
	const char *path; /* of the report */
};

/* Files that words of the command line name for output. */
static void confine_sql(const struct cli *cli, const struct options_parsed *parsed)
{
	struct confinement c = { 0 };
	char name[4096];

	confine_reader(&c);
	for (int i = 1; i < parsed->word_count; i++)
		if (sql_shell_names_output(parsed->words[i], name, sizeof(name)))
			confine_allow_folder_of(&c, CONFINE_READ | CONFINE_WRITE, name);
	confine_command(cli, &c);
}

/* 0, or the exit status. */
static int open_confined(struct sql_shell *shell)
{
	struct asking *a = (struct asking *)shell;
	struct error err;

	confine_sql(shell->cli, a->parsed);
	if (query_open(&shell->query, a->path, &err) < 0)
		return command_fail(shell->cli, &sql_command, "%s", err.text);
	return 0;
}

static int end_confined(struct sql_shell *shell, int status)
{
	const struct asking *a = (struct asking *)shell;

	sql_shell_release(shell);
	if (status == 0 && query_damaged(shell->query))
		status = command_fail(shell->cli, &sql_command, "%s is damaged: parts that cannot be read are missing above",
				      a->parsed->words[0]);
	query_close(shell->query);
	return status;
}

static const struct sql_apart_calls sql_calls = { open_confined, end_confined };

/* Statements and commands, line by line; the first that fails is the last. */
static enum sql_answer read_stdin(struct sql_shell *shell)
{
	enum sql_answer said = SQL_GO_ON;
	char *line = NULL;
	size_t cap = 0;

	while (said == SQL_GO_ON && getline(&line, &cap, stdin) >= 0)
		said = sql_shell_line(shell, line);
	free(line);
	return said;
}

/* Lines name files to write to as they come: this process reads them, another runs statements. */
static int run_lines(struct sql_shell *shell)
{
	bool is_prompt = isatty(STDIN_FILENO), complete = false;
	enum sql_answer said;
	int status = 0;

	shell->is_apart = shell->cli->may_confine && sql_apart_start(shell, &sql_calls, &status);
	if (status)
		return status;
	if (!shell->is_apart && (status = open_confined(shell)) != 0)
		return status;
	if (is_prompt) {
		status = sql_prompt(shell);
	} else {
		said = read_stdin(shell);
		complete = said == SQL_GO_ON;
		status = said == SQL_FAILED;
	}
	if (shell->is_apart)
		return sql_apart_end(shell, status, complete);
	return end_confined(shell, complete ? sql_shell_end(shell) : status);
}

static int run_words(struct sql_shell *shell, const struct options_parsed *parsed)
{
	int status = open_confined(shell);

	if (status)
		return status;
	for (int i = 1; status == 0 && i < parsed->word_count; i++)
		status = parsed->words[i][0] == '.' ? sql_shell_command(shell, parsed->words[i]) == SQL_FAILED :
						      sql_shell_run(shell, parsed->words[i]);
	return end_confined(shell, status);
}

static int answer_sql_command(struct cli *cli, const struct sql_fields *fields, const struct options_parsed *parsed)
{
	const char *format = fields->format;
	struct asking a = { .shell = { .cli = cli, .text = BUF_INIT, .opened_output = -1 }, .parsed = parsed };
	struct opened_report opened;
	struct error err;
	int status;

	if (parsed->word_count == 0)
		return command_fail(cli, &sql_command, "No report given: sonde sql FILE.sonde [statement]");
	if (!format)
		format = isatty(fileno(cli->out)) ? "column:nofmt" : "csv";
	if (format_parse(&a.shell.format, format, &err) < 0)
		return command_fail(cli, &sql_command, "%s", err.text);
	if (!open_report(cli, &sql_command, parsed->words[0], &opened, &status))
		return status;
	a.path = opened.path;
	signal(SIGPIPE, SIG_IGN);
	status = parsed->word_count == 1 ? run_lines(&a.shell) : run_words(&a.shell, parsed);
	return close_report(&opened, status);
}

static int run_sql(struct cli *cli, int argc, char **argv)
{
	struct sql_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &sql_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = answer_sql_command(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

static const char *const sql_examples[] = {
	"sonde sql run.sonde \"SELECT name, count(*), sum(duration) FROM kernels GROUP BY name\"",
	"print kernels by name",
	"sonde sql run.sonde \"SELECT text, end - start FROM NVTX_EVENTS LIMIT 10\"",
	"print rows of a table of nsys",
	"sonde sql run.sonde \"SELECT key, count, med FROM group_stats('NVTX_EVENTS', 'name', 'duration')\"",
	"print medians of ten million ranges in half a second",
	"sonde sql run.sonde",
	"a prompt",
	NULL,
};

const struct command sql_command = {
	.name = "sql",
	.summary = "Query a report with SQL",
	.synopsis = "[options] FILE.sonde [statement]...",
	.description = "Runs SQL statements over a report. Tables have the names and columns of nsys's SQLite export. kernels, "
		       "memcpys, memsets, syncs, apis, ranges, samples, threads and gpus have names instead of numbers. Sonde's own "
		       "tables are named sonde_*. group_stats(), interval_union() and interval_overlap() compute over whole columns; "
		       "percentile(), median(), stddev(), union_ns() and overlap_ns() work in any statement. Without a statement, "
		       "Sonde reads statements from standard input, with a prompt on a terminal. '.help' lists what else the prompt "
		       "accepts; '.tables' and '.schema' can be given as a statement, too.",
	.examples = sql_examples,
	.options = &sql_options,
	.words = COMMAND_FILES,
	.run = run_sql,
};
