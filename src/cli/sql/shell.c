#include "cli/sql/confined_sql.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/system/monotonic.h"

/* Steps of SQLite's machine between two looks at whether Ctrl-C was typed. */
#define STEPS_PER_LOOK 20000

extern const struct command sql_command;

void sql_shell_release(struct sql_shell *shell)
{
	buf_release(&shell->text);
	if (shell->output)
		fclose(shell->output);
	shell->output = NULL;
}

FILE *sql_shell_out(const struct sql_shell *shell)
{
	return shell->output ? shell->output : shell->cli->out;
}

int sql_shell_fail(struct sql_shell *shell, const char *text)
{
	return command_fail(shell->cli, &sql_command, "%s", text);
}

/* The signal is blocked: it waits to be taken. */
static int was_interrupted(void *context)
{
	struct timespec now = { 0 };
	sigset_t interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	return sigtimedwait(&interrupt, NULL, &now) == SIGINT;
}

static int write_rows(struct sql_shell *shell, sqlite3_stmt *statement, const char *text)
{
	struct format_target target = { sql_shell_out(shell), TIME_NSEC, "sonde sql" };
	int step = sqlite3_step(statement), r;
	struct error err;

	if (step != SQLITE_ROW && step != SQLITE_DONE)
		return sql_shell_show_error(shell, text);
	if (sqlite3_column_count(statement) == 0)
		return 0;
	r = stats_write_rows(statement, step, &shell->format, &target, NULL, 0, NULL, &err);
	return r < 0 && r != -EPIPE ? sql_shell_fail(shell, err.text) : 0;
}

static int run_statement(struct sql_shell *shell, sqlite3_stmt *statement, const char *text)
{
	int64_t begun = monotonic_ns();
	int status = write_rows(shell, statement, text);

	if (shell->timer)
		fprintf(sql_shell_out(shell), "Time: %.3f s\n", (double)(monotonic_ns() - begun) * 1e-9);
	fflush(sql_shell_out(shell));
	return status;
}

static int run_statements(struct sql_shell *shell, const char *text)
{
	sqlite3_stmt *statement;
	const char *rest;
	int status = 0;

	while (status == 0 && *text) {
		if (query_prepare(shell->query, text, &statement, &rest) != SQLITE_OK)
			return sql_shell_show_error(shell, text);
		if (statement)
			status = run_statement(shell, statement, text);
		sqlite3_finalize(statement);
		for (; shell->text_line && text < rest; text++)
			shell->text_line += *text == '\n';
		text = rest;
	}
	return status;
}

int sql_shell_run(struct sql_shell *shell, const char *text)
{
	sigset_t interrupt, before;
	int status;

	if (!shell->takes_interrupts)
		return run_statements(shell, text);
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	sqlite3_progress_handler(query_db(shell->query), STEPS_PER_LOOK, was_interrupted, NULL);
	status = run_statements(shell, text);
	sqlite3_progress_handler(query_db(shell->query), 0, NULL, NULL);
	was_interrupted(NULL); /* typed too late */
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

static int is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

enum sql_answer sql_shell_line(struct sql_shell *shell, const char *line)
{
	int status;

	if (shell->is_apart)
		return sql_apart_line(shell, line);
	shell->line++;
	if (shell->text.len == 0 && line[0] == '.')
		return sql_shell_command(shell, line);
	if (shell->text.len == 0) {
		if (is_blank(line))
			return SQL_GO_ON;
		shell->text_line = shell->line;
	}
	if (buf_puts(&shell->text, line) < 0) {
		sql_shell_fail(shell, "Not enough memory");
		return SQL_LEAVE;
	}
	if (!sqlite3_complete(buf_cstr(&shell->text)))
		return SQL_GO_ON;
	status = sql_shell_run(shell, buf_cstr(&shell->text));
	buf_clear(&shell->text);
	return status ? SQL_FAILED : SQL_GO_ON;
}

bool sql_shell_is_within(const struct sql_shell *shell)
{
	return shell->is_apart ? shell->apart_pending : shell->text.len > 0;
}

void sql_shell_forget(struct sql_shell *shell)
{
	if (shell->is_apart)
		sql_apart_forget(shell);
	else
		buf_clear(&shell->text);
}

int sql_shell_end(struct sql_shell *shell)
{
	int status = shell->text.len && !is_blank(buf_cstr(&shell->text)) ? sql_shell_run(shell, buf_cstr(&shell->text)) : 0;

	buf_clear(&shell->text);
	return status;
}
