/* `profile`, and what follows a recording: exports beside it, the lines that tell of the files, statistics. */
#ifndef SONDE_CLI_PROFILE_AFTER_H
#define SONDE_CLI_PROFILE_AFTER_H

#include "cli/command.h"
#include "cli/profile_table.h"
#include "record/record.h"

/* The whole command; *result tells of the report to those who go on with it. Returns the exit status. */
int profile_run(struct cli *cli, int argc, char **argv, struct record_result *result);

/* For a recording that is complete. Called as nsys, the lines are nsys's, on standard output. A
 * negative errno if an export failed; it has been told of. */
int profile_after(struct cli *cli, const struct profile_fields *fields, const struct record_result *result);

/* Is it the name of an export there is? */
bool profile_export_is_built(const char *name, size_t len);

#endif
