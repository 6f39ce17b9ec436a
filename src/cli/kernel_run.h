/* sonde kernel: a program is run, and the counters of its kernels are read. */
#ifndef SONDE_CLI_KERNEL_RUN_H
#define SONDE_CLI_KERNEL_RUN_H

#include "cli/command.h"
#include "record/record.h"

struct kernel_run {
	const char *const *metrics;
	const char *const *units;     /* of each; NULL: of none */
	uint32_t metric_count;
	const char *filters;          /* lines of the request: which launches (cli/kernel_filter.h) */
	bool nvtx;                    /* ranges are kept for the agents */
	bool nvtx_process;
	bool flush_caches;
	bool kill;
	const char *output;           /* NULL: a file that nobody sees, which the caller removes */
	bool overwrite;
	char *const *argv;            /* the program */
	size_t argc;
};

/* The status is the program's own, or 1. */
int kernel_run(struct cli *cli, const struct kernel_run *run, struct record_result *result);

#endif
