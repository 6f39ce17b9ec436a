/* What the prompt of sonde sql, a script on its standard input and words of its command line share: statements
 * are run, errors shown where they are, lines that begin with a dot obeyed. */
#ifndef SONDE_CLI_SQL_SHELL_H
#define SONDE_CLI_SQL_SHELL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "cli/command.h"
#include "stats/stats.h"

struct sql_shell {
	struct cli *cli;
	struct query *query;
	struct format_spec format;
	FILE *output; /* of .output; NULL: the command's own */
	int timer;
	int takes_interrupts; /* Ctrl-C ends a statement, not the program: SIGINT is blocked meanwhile */
	struct buf text;      /* a statement whose end was not seen yet */
	unsigned line;        /* lines read so far */
	unsigned text_line;   /* where that statement begins; 0: it has no lines that were counted */
	/* Where statements run in another process (confined_sql.h): */
	bool is_apart; /* this one has the lines */
	int apart;     /* a socket to the other */
	pid_t apart_child;
	bool apart_pending; /* a statement was begun there */
	/* And in that one: */
	bool opens_none; /* files come along with their line */
	int opened_output;
	char opened_why[256]; /* it could not be opened */
};

/* What the next line is answered with. */
enum sql_answer { SQL_LEAVE, SQL_GO_ON, SQL_FAILED };

void sql_shell_release(struct sql_shell *shell);

/* All statements of a text; the first that fails ends it. Returns the exit status. */
int sql_shell_run(struct sql_shell *shell, const char *text);
/* A line of a script or of the prompt: a command, or a part of a statement, which runs when it is complete. */
enum sql_answer sql_shell_line(struct sql_shell *shell, const char *line);
/* Whether a statement was begun and is not complete. */
bool sql_shell_is_within(const struct sql_shell *shell);
/* What was begun is not to be run. */
void sql_shell_forget(struct sql_shell *shell);
/* What was left when the lines ended. */
int sql_shell_end(struct sql_shell *shell);

/* In dot.c: a line that begins with a dot. */
enum sql_answer sql_shell_command(struct sql_shell *shell, const char *line);
/* Whether the line is .output with a file to be opened, whose name it gives. */
bool sql_shell_names_output(const char *line, char *ret, size_t size);
FILE *sql_shell_out(const struct sql_shell *shell);
int sql_shell_fail(struct sql_shell *shell, const char *text);

/* In error.c: the connection's last error, about a statement in `text`. Returns 1, the exit status. */
int sql_shell_show_error(struct sql_shell *shell, const char *text);

/* In prompt.c: lines edited at the terminal, until it ends. Returns the exit status. */
int sql_prompt(struct sql_shell *shell);

#endif
