/* Which launches `sonde kernel` reads: options, checked before anything runs, and what agents are asked for. */
#ifndef SONDE_CLI_KERNEL_FILTER_H
#define SONDE_CLI_KERNEL_FILTER_H

#include "base/buf.h"
#include "cli/kernel/options.h"
#include "cli/arguments/string_list.h"
#include "fmt/kernel_request.h"
#include "kernel/results/results.h"

struct kernel_filter {
	struct kernel_request request; /* nothing but which launches, and what is reported of each */
	struct buf processes;
	struct string_list renames;
};

/* False after an error was printed. It is released in any case, and the options stay as long. */
bool kernel_filter_make(struct cli *cli, const struct kernel_fields *fields, struct kernel_filter *ret);
void kernel_filter_release(struct kernel_filter *filter);
/* Whether results have their NVTX ranges; and whether agents need to know ranges and names. */
bool kernel_filter_keeps_nvtx(const struct kernel_fields *fields);
bool kernel_filter_needs_nvtx(const struct kernel_fields *fields);

/* By --native-include and -exclude: only the report knows. */
bool kernel_filter_is_native(const struct kernel_fields *fields);
/* Results of a report that the options choose are left; all are checked already. -ENOMEM. */
int kernel_filter_results(const struct kernel_fields *fields, struct kernel_results *results);

#endif
