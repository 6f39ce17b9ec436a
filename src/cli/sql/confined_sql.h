/* Lines typed or read by this process, which opens the files they name for output; statements run in another, which is confined and
 * opens none. */
#ifndef SONDE_CLI_SQL_APART_H
#define SONDE_CLI_SQL_APART_H

#include "cli/sql/shell.h"

/* Starts the process: there `serve` is to confine itself, open the report (0, or an exit status to end with) and is followed by
 * `end`, which makes the exit status of the one so far. False where it ended at once, with *ret_status, or could not be started. */
struct sql_apart_calls {
	int (*open)(struct sql_shell *shell);
	int (*end)(struct sql_shell *shell, int status);
};
bool sql_apart_start(struct sql_shell *shell, const struct sql_apart_calls *calls, int *ret_status);

/* In place of sql_shell_line() and the like, where shell->apart says so. */
enum sql_answer sql_apart_line(struct sql_shell *shell, const char *line);
void sql_apart_forget(struct sql_shell *shell);
/* Ends it; `status` is what reading lines came to. With `complete` a statement begun is run. Returns the exit status. */
int sql_apart_end(struct sql_shell *shell, int status, bool complete);

#endif
