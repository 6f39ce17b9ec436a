/* nsys computes statistics from an SQLite file beside the report, which scripts open afterwards; the link
 * writes it, too. */
#ifndef SONDE_CLI_LINKS_NSYS_SQLITE_H
#define SONDE_CLI_LINKS_NSYS_SQLITE_H

#include "cli/command.h"

/* For `stats` of a report: the file, where there is none or --force-export asks for it. Its name, under which
 * nsys speaks of the report, is written to ret_shown. False where there is no such file: called by another
 * name, or for a file that is not a report. Errors are reported and change nothing: tables are read
 * from the report. */
bool nsys_stats_sqlite(struct cli *cli, const struct options_parsed *parsed, const char *report, char *ret_shown, size_t shown_size);

#endif
