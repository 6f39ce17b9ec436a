/* Which launches `sonde kernel` reads: options, checked before anything runs, and the lines of the request that agents get. */
#ifndef SONDE_CLI_KERNEL_FILTER_H
#define SONDE_CLI_KERNEL_FILTER_H

#include "cli/kernel_options.h"

/* The caller frees it; NULL after an error was printed. */
char *kernel_filter_lines(struct cli *cli, const struct kernel_fields *fields);
/* Whether NVTX ranges are kept: asked for, or needed. */
bool kernel_filter_needs_nvtx(const struct kernel_fields *fields);

#endif
