/* Tables for commands (sonde stats -o @command): the report is read in a process that is confined, which can have this one
 * start the commands that the command line names, and nothing else. */
#ifndef SONDE_CLI_REPORTS_STATS_APART_H
#define SONDE_CLI_REPORTS_STATS_APART_H

#include <stdbool.h>

#include "base/options/options.h"
#include "stats/output.h"

bool stats_starts_commands(const struct option_texts *outputs);

/* Runs `read` in a process of its own, with a starter for it to use; its exit status. -errno: there is no such process. */
int stats_apart(const struct option_texts *outputs, int (*read)(void *context, const struct stats_starter *starter), void *context);

#endif
