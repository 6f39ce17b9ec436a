/* The report that a command is to read. A file of another tool is imported first, into a file that has no name. */
#ifndef SONDE_CLI_REPORTS_OPEN_REPORT_H
#define SONDE_CLI_REPORTS_OPEN_REPORT_H

#include <limits.h>
#include <stdbool.h>

#include "cli/command.h"

struct opened_report {
	char path[PATH_MAX]; /* to read */
	int file;            /* keeps what was imported; -1: nothing was */
	bool is_partial;     /* not all of the other tool's file could be read; it was told */
};

/* False where the command is to end with *ret_status: what is wrong was told. A report that is not there is left to
 * its reader to tell. */
bool open_report(struct cli *cli, const struct command *command, const char *name, struct opened_report *ret, int *ret_status);

struct report;
/* Its reader; -errno with a sentence, also where it is cut off. */
int open_whole(struct report **ret, const char *path, struct error *err);

/* The status to end with, given the one that reading gave. */
int close_report(struct opened_report *report, int status);

/* Is it a report of ours, by its content? Nothing but a report replaces one. */
bool is_report_file(const char *path);

#endif
