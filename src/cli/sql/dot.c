/* Lines of sonde sql that begin with a dot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text/nearest.h"
#include "base/system/output_path.h"
#include "cli/sql/shell.h"

/* A word and what follows it. */
struct dot_line {
	char word[24];
	char argument[4096];
};

static void split_dot_line(struct dot_line *ret, const char *line)
{
	size_t len = strcspn(line, " \t\r\n"), end;

	snprintf(ret->word, sizeof(ret->word), "%.*s", (int)len, line);
	line += len;
	line += strspn(line, " \t");
	end = strlen(line);
	while (end > 0 && strchr(" \t\r\n;", line[end - 1]))
		end--;
	snprintf(ret->argument, sizeof(ret->argument), "%.*s", (int)end, line);
}

static enum sql_answer fail_dot_command(struct sql_shell *shell, const char *text)
{
	sql_shell_fail(shell, text);
	return SQL_FAILED;
}

typedef void (*name_fn)(struct sql_shell *shell, const char *name, int has_rows);

static int take_if_like(struct sql_shell *shell, const char *pattern, const char *name, int has_rows, name_fn take)
{
	if (!name || (*pattern && sqlite3_strlike(pattern, name, 0) != 0))
		return 0;
	take(shell, name, has_rows);
	return 1;
}

static int each_in_schema(struct sql_shell *shell, const char *sql, const char *pattern, int has_rows, name_fn take)
{
	sqlite3_stmt *statement;
	int count = 0;

	if (query_prepare(shell->query, sql, &statement, NULL) != SQLITE_OK)
		return 0;
	while (sqlite3_step(statement) == SQLITE_ROW)
		count += take_if_like(shell, pattern, (const char *)sqlite3_column_text(statement, 0), has_rows, take);
	sqlite3_finalize(statement);
	return count;
}

/* Calls `take` for what can be queried under a name that is like the pattern (as SQL's LIKE; empty: all). */
static int each_table(struct sql_shell *shell, const char *pattern, name_fn take)
{
	const char *name;
	int count = each_in_schema(shell, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name", pattern, 1, take);

	for (unsigned i = 0; (name = query_native_name(shell->query, i)) != NULL; i++)
		count += take_if_like(shell, pattern, name, 1, take);
	return count +
	       each_in_schema(shell, "SELECT name FROM sqlite_temp_master WHERE name NOT LIKE 'sonde%' ORDER BY name", pattern, 0, take);
}

static void print_name(struct sql_shell *shell, const char *name, int has_rows)
{
	fprintf(sql_shell_out(shell), "%s%s\n", name, has_rows ? "" : " (no rows)");
}

static enum sql_answer list_tables(struct sql_shell *shell, const char *pattern)
{
	each_table(shell, pattern, print_name);
	return SQL_GO_ON;
}

/* Hidden columns are the arguments of a function, or what SELECT * leaves out. */
static void print_columns(struct sql_shell *shell, const char *name, int has_rows)
{
	FILE *out = sql_shell_out(shell);
	sqlite3_stmt *statement;
	int count = 0;

	if (query_prepare(shell->query, "SELECT name, type, hidden FROM pragma_table_xinfo(?)", &statement, NULL) != SQLITE_OK)
		return;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	fprintf(out, "%s(", name);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const char *type = (const char *)sqlite3_column_text(statement, 1);

		fprintf(out, "%s\n  %s%s%s%s", count++ ? "," : "", (const char *)sqlite3_column_text(statement, 0),
			type && *type ? " " : "", type ? type : "", sqlite3_column_int(statement, 2) ? " -- hidden" : "");
	}
	sqlite3_finalize(statement);
	fputs("\n)\n", out);
}

static enum sql_answer show_schema(struct sql_shell *shell, const char *pattern)
{
	char text[256];

	if (each_table(shell, pattern, print_columns))
		return SQL_GO_ON;
	snprintf(text, sizeof(text), "Unknown table '%.100s'; .tables lists the tables", pattern);
	return fail_dot_command(shell, text);
}

static enum sql_answer set_mode(struct sql_shell *shell, const char *argument)
{
	struct format_spec format;
	struct error err;

	if (format_parse(&format, *argument ? argument : "column:nofmt", &err) < 0)
		return fail_dot_command(shell, err.text);
	shell->format = format;
	return SQL_GO_ON;
}

static bool goes_to_file(const char *argument)
{
	return *argument && strcmp(argument, "stdout") != 0;
}

static FILE *open_output(struct sql_shell *shell, const char *path, struct error *err)
{
	FILE *file;

	if (!shell->opens_none)
		return output_log_open(path, err);
	file = shell->opened_output >= 0 ? fdopen(shell->opened_output, "w") : NULL;
	if (file)
		shell->opened_output = -1;
	else
		error_set(err, EPERM, "%s", shell->opened_why[0] ? shell->opened_why : "The file cannot be opened");
	return file;
}

static enum sql_answer set_output(struct sql_shell *shell, const char *argument)
{
	struct error err;
	FILE *file = NULL;

	if (goes_to_file(argument)) {
		file = open_output(shell, argument, &err);
		if (!file)
			return fail_dot_command(shell, err.text);
	}
	if (shell->output && fclose(shell->output) != 0)
		sql_shell_fail(shell, "The output could not be written to its end");
	shell->output = file;
	return SQL_GO_ON;
}

static enum sql_answer set_timer(struct sql_shell *shell, const char *argument)
{
	if (strcmp(argument, "on") != 0 && strcmp(argument, "off") != 0)
		return fail_dot_command(shell, ".timer on, or .timer off");
	shell->timer = strcmp(argument, "on") == 0;
	return SQL_GO_ON;
}

static enum sql_answer leave_shell(struct sql_shell *shell, const char *argument)
{
	return SQL_LEAVE;
}

static enum sql_answer show_help(struct sql_shell *shell, const char *argument);

static const struct {
	const char *word;
	const char *argument;
	const char *help;
	enum sql_answer (*run)(struct sql_shell *shell, const char *argument);
} dot_commands[] = {
	{ ".help", "", "this list", show_help },
	{ ".tables", "[pattern]", "lists what can be queried; % stands for any characters", list_tables },
	{ ".schema", "[pattern]", "its columns", show_schema },
	{ ".mode", "[format]", "column, table, csv, tsv, json, hdoc or htable, with the arguments of sonde stats", set_mode },
	{ ".output", "[file]", "writes rows to a file from here on; without a file: back here", set_output },
	{ ".timer", "on|off", "prints how long each statement takes", set_timer },
	{ ".quit", "", "leaves; so does .exit, and the end of the input", leave_shell },
	{ ".exit", "", NULL, leave_shell },
};
#define DOT_COMMANDS COUNT_OF(dot_commands)

static enum sql_answer show_help(struct sql_shell *shell, const char *argument)
{
	FILE *out = sql_shell_out(shell);

	for (size_t i = 0; i < DOT_COMMANDS; i++)
		if (dot_commands[i].help)
			fprintf(out, "%-8s %-10s %s\n", dot_commands[i].word, dot_commands[i].argument, dot_commands[i].help);
	fputs("Everything else is SQL, up to a semicolon; Ctrl-C ends a statement.\n", out);
	return SQL_GO_ON;
}

static enum sql_answer refuse_dot_command(struct sql_shell *shell, const char *word)
{
	struct nearest nearest;
	char text[256], hint[160];

	nearest_begin(&nearest, word);
	for (size_t i = 0; i < DOT_COMMANDS; i++)
		nearest_offer(&nearest, dot_commands[i].word, strlen(dot_commands[i].word));
	snprintf(text, sizeof(text), "Unknown command '%s'.%s .help lists the commands.", word,
		 nearest_hint(&nearest, "", hint, sizeof(hint)));
	return fail_dot_command(shell, text);
}

enum sql_answer sql_shell_command(struct sql_shell *shell, const char *line)
{
	struct dot_line dot;

	split_dot_line(&dot, line);
	for (size_t i = 0; i < DOT_COMMANDS; i++)
		if (strcmp(dot.word, dot_commands[i].word) == 0)
			return dot_commands[i].run(shell, dot.argument);
	return refuse_dot_command(shell, dot.word);
}

bool sql_shell_names_output(const char *line, char *ret, size_t size)
{
	struct dot_line dot;

	split_dot_line(&dot, line);
	snprintf(ret, size, "%s", dot.argument);
	return strcmp(dot.word, ".output") == 0 && goes_to_file(dot.argument);
}
