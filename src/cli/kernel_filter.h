/* Which launches `sonde kernel` reads: options, checked before anything runs, and the lines of the request that agents get. */
#ifndef SONDE_CLI_KERNEL_FILTER_H
#define SONDE_CLI_KERNEL_FILTER_H

#include "cli/kernel_options.h"
#include "kernel/results.h"

/* The caller frees it; NULL after an error was printed. */
char *kernel_filter_lines(struct cli *cli, const struct kernel_fields *fields);
/* Whether results have their NVTX ranges; and whether agents need to know ranges and names. */
bool kernel_filter_keeps_nvtx(const struct kernel_fields *fields);
bool kernel_filter_needs_nvtx(const struct kernel_fields *fields);

/* By --native-include and -exclude: only the report knows. */
bool kernel_filter_is_native(const struct kernel_fields *fields);
/* Results of a report that the options choose are left; all are checked already. -ENOMEM. */
int kernel_filter_results(const struct kernel_fields *fields, struct kernel_results *results);

#endif
