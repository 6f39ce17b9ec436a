/* sonde sql: statements over a recording's tables. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/open_report.h"
#include "stats/stats.h"

struct sql_fields {
	const char *format;
};

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct sql_fields, field)

static const struct option_spec sql_specs[] = {
	{ .name = "format", .letter = 'f', FIELD(TEXT, format), .arg = "format[:arg]",
	  .shown = "column on a terminal, csv otherwise", .tag = "output",
	  .help = "column, table, csv, tsv, json, hdoc or htable, as for sonde stats." },
};

static const struct option_table sql_options = OPTION_TABLE(sql_specs);

extern const struct command sql_command;

struct shell {
	struct cli *cli;
	struct query *query;
	struct format_spec format;
};

static int fail(struct shell *shell, const char *text)
{
	return command_fail(shell->cli, &sql_command, "%s", text);
}

static int run_statement(struct shell *shell, sqlite3_stmt *statement)
{
	struct format_target target = { shell->cli->out, TIME_NSEC, "sonde sql" };
	int step = sqlite3_step(statement), r;
	struct error err;

	if (step != SQLITE_ROW && step != SQLITE_DONE)
		return fail(shell, sqlite3_errmsg(query_db(shell->query)));
	if (sqlite3_column_count(statement) == 0)
		return 0;
	r = stats_write_rows(statement, step, &shell->format, &target, NULL, 0, NULL, &err);
	return r < 0 && r != -EPIPE ? fail(shell, err.text) : 0;
}

/* All statements of a text; the first that fails ends it. */
static int run_text(struct shell *shell, const char *text)
{
	sqlite3_stmt *statement;
	int status = 0;

	while (status == 0 && *text) {
		if (sqlite3_prepare_v2(query_db(shell->query), text, -1, &statement, &text) != SQLITE_OK)
			return fail(shell, sqlite3_errmsg(query_db(shell->query)));
		if (statement)
			status = run_statement(shell, statement);
		sqlite3_finalize(statement);
	}
	return status;
}

static void list_tables(struct shell *shell)
{
	sqlite3_stmt *statement;
	const char *name;

	if (sqlite3_prepare_v2(query_db(shell->query), "SELECT name FROM sqlite_master ORDER BY name", -1, &statement,
			       NULL) != SQLITE_OK)
		return;
	while (sqlite3_step(statement) == SQLITE_ROW)
		fprintf(shell->cli->out, "%s\n", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	for (unsigned i = 0; (name = query_native_name(shell->query, i)) != NULL; i++)
		fprintf(shell->cli->out, "%s\n", name);
}

/* Lines that are commands to the prompt: 1 to go on, 0 to leave, -1 when it is not one. */
static int prompt_command(struct shell *shell, const char *line)
{
	if (strcmp(line, ".quit\n") == 0 || strcmp(line, ".exit\n") == 0)
		return 0;
	if (strcmp(line, ".tables\n") == 0) {
		list_tables(shell);
		return 1;
	}
	if (line[0] == '.') {
		fputs(".tables lists what can be queried, .quit leaves; statements end with a semicolon.\n",
		      shell->cli->out);
		return 1;
	}
	return -1;
}

static int prompt(struct shell *shell)
{
	struct buf text = BUF_INIT;
	char *line = NULL;
	size_t cap = 0;
	int go_on = 1, handled;

	fputs("Statements end with a semicolon; .tables lists what can be queried, .quit leaves.\n", shell->cli->out);
	while (go_on) {
		fputs(text.len ? "  ...> " : "sonde> ", shell->cli->out);
		fflush(shell->cli->out);
		if (getline(&line, &cap, stdin) < 0)
			break;
		handled = text.len ? -1 : prompt_command(shell, line);
		if (handled >= 0) {
			go_on = handled;
			continue;
		}
		if (buf_puts(&text, line) < 0)
			break;
		if (!sqlite3_complete(buf_cstr(&text)))
			continue;
		run_text(shell, buf_cstr(&text)); /* an error was told; the next statement may do */
		buf_clear(&text);
	}
	free(line);
	buf_release(&text);
	return 0;
}

static int run_stdin(struct shell *shell)
{
	struct buf text = BUF_INIT;
	char piece[4096];
	size_t n;
	int r = 0, status;

	while (r >= 0 && (n = fread(piece, 1, sizeof(piece), stdin)) > 0)
		r = buf_append(&text, piece, n);
	status = r < 0 ? fail(shell, "Not enough memory") : run_text(shell, buf_cstr(&text));
	buf_release(&text);
	return status;
}

static int run_words(struct shell *shell, const struct options_parsed *parsed)
{
	int status = 0;

	if (parsed->word_count == 1)
		return isatty(STDIN_FILENO) ? prompt(shell) : run_stdin(shell);
	for (int i = 1; status == 0 && i < parsed->word_count; i++)
		status = run_text(shell, parsed->words[i]);
	return status;
}

static int answer(struct cli *cli, const struct sql_fields *fields, const struct options_parsed *parsed)
{
	const char *format = fields->format;
	struct shell shell = { .cli = cli };
	struct opened_report opened;
	struct error err;
	int status;

	if (parsed->word_count == 0)
		return command_fail(cli, &sql_command, "Which recording? sonde sql FILE.sonde [statement]");
	if (!format)
		format = isatty(fileno(cli->out)) ? "column:nofmt" : "csv";
	if (format_parse(&shell.format, format, &err) < 0)
		return command_fail(cli, &sql_command, "%s", err.text);
	if (!open_report(cli, &sql_command, parsed->words[0], &opened, &status))
		return status;
	if (query_open(&shell.query, opened.path, &err) < 0)
		return close_report(&opened, command_fail(cli, &sql_command, "%s", err.text));
	signal(SIGPIPE, SIG_IGN);
	status = run_words(&shell, parsed);
	if (status == 0 && query_damaged(shell.query))
		status = command_fail(cli, &sql_command, "%s is damaged: what could not be read is missing above",
				      parsed->words[0]);
	query_close(shell.query);
	return close_report(&opened, status);
}

static int run_sql(struct cli *cli, int argc, char **argv)
{
	struct sql_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &sql_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = answer(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

static const char *const sql_examples[] = {
	"sonde sql run.sonde \"SELECT text, end - start FROM NVTX_EVENTS LIMIT 10\"", "rows of a table",
	"sonde sql run.sonde \"SELECT key, count, med FROM group_stats('NVTX_EVENTS', 'name', 'duration')\"",
	"medians of ten million ranges in half a second",
	"sonde sql run.sonde", "a prompt",
	NULL,
};

const struct command sql_command = {
	.name = "sql",
	.summary = "Query a recording with SQL",
	.synopsis = "[options] FILE.sonde [statement]...",
	.description = "Runs SQL statements over a recording. Tables have the names and columns of nsys's SQLite "
		       "export; the recording's own tables are named sonde_*; group_stats(), "
		       "interval_union() and interval_overlap() compute over whole columns. Without a "
		       "statement they are read from standard input, at a terminal with a prompt.",
	.examples = sql_examples,
	.options = &sql_options,
	.words = COMMAND_FILES,
	.run = run_sql,
};
