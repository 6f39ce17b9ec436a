/* sonde kernel: a program is run, and the counters of its kernels are read. */
#ifndef SONDE_CLI_KERNEL_RUN_RUN_H
#define SONDE_CLI_KERNEL_RUN_RUN_H

#include "base/text/secrets.h"
#include "cli/command.h"
#include "fmt/kernel_request.h"
#include "record/kernel_choice.h"
#include "record/record.h"

struct kernel_source_run;

struct kernel_run {
	struct kernel_request request; /* without what `source` asks for */
	const char *const *metrics;    /* by part, and with --cache-control both all once more */
	const char *const *units;      /* of each; NULL: of none */
	uint32_t metric_count;
	char *const *asked; /* by --metrics, NULL behind them; NULL: nothing is, or it is not known */
	bool nvtx;          /* ranges are kept for the agents */
	bool nvtx_process;
	uint32_t replay_timeout;             /* seconds that a pass may take; 0: for ever */
	const struct kernel_gpu_links *gpus; /* with links between them to be reported; NULL: none is */
	uint32_t gpu_count;
	bool quiet;                             /* nothing is said on how far it is */
	const char *preload;                    /* a library for the program; NULL: none */
	const struct kernel_source_run *source; /* beyond counters; NULL: nothing */
	const char *output;                     /* NULL: a file that nobody sees, which the caller removes */
	bool overwrite;
	enum store_environment store;
	const char *clocks; /* at which it runs, for the report */
	char *const *argv;  /* the program */
	size_t argc;
};

/* What NVML knows of the links of all GPUs. */
struct kernel_links {
	struct kernel_gpu_links *gpus; /* none where there is no NVML */
	uint32_t count;
	bool nvlink, c2c; /* some GPU has them, or that is not known */
	bool is_shared;   /* some GPU is cut into instances */
};
void kernel_links_read(struct kernel_links *ret);
void kernel_links_release(struct kernel_links *links);

/* The status is the program's own, or 1. */
int kernel_run(struct cli *cli, const struct kernel_run *run, struct record_result *result);
/* Once for each pass (application.c); only what the last run prints is seen. */
int kernel_run_passes(struct cli *cli, const struct kernel_run *run, struct record_result *result);

#endif
