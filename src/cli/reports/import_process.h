/* Importing in a process of its own: Ctrl-C ends it at once, and what it had written is removed. */
#ifndef SONDE_CLI_REPORTS_IMPORT_APART_H
#define SONDE_CLI_REPORTS_IMPORT_APART_H

#include <signal.h>

#include "cli/command.h"
#include "ingest/foreign.h"

/* Signals that end a process, and SIGCHLD; they are blocked as long as there is something to remove. */
struct import_signals {
	sigset_t signals, before;
	int ended; /* by this one */
};

void import_block(struct import_signals *s);
/* Ends this process where a signal was to. */
void import_unblock(const struct import_signals *s);

/* Between the two. Of a report that does not come about nothing is left. */
int import_apart(struct cli *cli, const char *name, enum foreign_kind kind, const char *path, bool overwrite, struct import_signals *s,
		 struct foreign_result *reported, struct error *err);

/* Says what could not be read, and what a file lacks. True where a part could not be read. */
bool import_report(struct cli *cli, const struct command *command, const char *file, const struct foreign_result *reported);

#endif
