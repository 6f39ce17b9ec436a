/* `profile`, and what follows a recording: exports beside it, the lines that tell of the files, statistics. */
#ifndef SONDE_CLI_PROFILE_AFTER_H
#define SONDE_CLI_PROFILE_AFTER_H

#include "cli/command.h"
#include "cli/arguments/output_name.h"
#include "cli/profile/table.h"
#include "record/record.h"

/* The whole command; *result tells of the report to those who go on with it. Returns the exit status. */
int profile_run(struct cli *cli, int argc, char **argv, struct record_result *result);

/* For a recording that is complete. Called as nsys, the lines are nsys's, on standard output. A
 * negative errno if an export failed; it has been told of. */
int profile_after(struct cli *cli, const struct profile_fields *fields, const struct record_result *result);

/* The bits of all uses of --export: it can be repeated. */
uint64_t profile_exports(const struct options_parsed *parsed);
/* Says, before anything runs, that an export of the report would meet a file of its name. */
int profile_check_exports(const struct profile_fields *fields, enum output_style style, struct error *err);
/* The type of export of this name, or -1 if there is none such. */
int profile_export_type(const char *name, size_t len);

#endif
