/* sonde kernel: a program is run, and the counters of its kernels are read. */
#ifndef SONDE_CLI_KERNEL_RUN_H
#define SONDE_CLI_KERNEL_RUN_H

#include "base/secrets.h"
#include "cli/command.h"
#include "record/kernel_choice.h"
#include "record/record.h"

/* Metrics that are counted together. */
struct kernel_run_part {
	uint32_t metric_count;        /* of the run's, after those of the parts before */
	const char *const *schedule;  /* what the configuration is made of; none: those metrics */
	uint32_t schedule_count;
	const uint8_t *config;        /* made of it, for the chip; NULL: agents make it */
	size_t config_size;
	size_t passes;                /* 0: not known */
};

/* The program is run once for each pass; this is one of these runs. */
struct kernel_run_pass {
	const char *folder;           /* what was counted in earlier ones lies there; NULL: all passes are made in one run */
	uint32_t part;
	size_t pass;
	bool is_last;
};

struct kernel_source_run;

struct kernel_run {
	struct kernel_run_pass one;
	const char *chip;             /* NULL: none is known */
	const char *const *metrics;   /* by part */
	const char *const *units;     /* of each; NULL: of none */
	uint32_t metric_count;
	char *const *asked;           /* by --metrics, NULL behind them; NULL: nothing is, or it is not known */
	const struct kernel_run_part *parts;
	uint32_t part_count;
	const char *filters;          /* lines of the request: which launches (cli/kernel_filter.h) */
	bool nvtx;                    /* ranges are kept for the agents */
	bool nvtx_process;
	const char *ranges;           /* "runs" or "calls": ranges are read; NULL: kernels */
	const char *graphs;           /* "node", "graph" or "none": what is read of them */
	bool flush_caches;
	bool warm;                    /* the second half of the metrics is the first, with caches as they are */
	bool kill;
	uint32_t replay_timeout;      /* seconds that a pass may take; 0: for ever */
	const struct kernel_gpu_links *gpus; /* with links between them that are told of; NULL: none is */
	uint32_t gpu_count;
	bool quiet;                   /* nothing is said on how far it is */
	const char *preload;          /* a library for the program; NULL: none */
	const struct kernel_source_run *source; /* beyond counters; NULL: nothing */
	const char *output;           /* NULL: a file that nobody sees, which the caller removes */
	bool overwrite;
	enum store_environment store;
	const char *clocks;           /* at which it runs, for the report */
	char *const *argv;            /* the program */
	size_t argc;
};

/* What NVML knows of the links of all GPUs. */
struct kernel_links {
	struct kernel_gpu_links *gpus; /* none where there is no NVML */
	uint32_t count;
	bool nvlink, c2c;             /* some GPU has them, or that is not known */
	bool is_shared;               /* some GPU is cut into instances */
};
void kernel_links_read(struct kernel_links *ret);
void kernel_links_release(struct kernel_links *links);

/* The status is the program's own, or 1. */
int kernel_run(struct cli *cli, const struct kernel_run *run, struct record_result *result);
/* Once for each pass (kernel_application.c); only what the last run prints is seen. */
int kernel_run_passes(struct cli *cli, const struct kernel_run *run, struct record_result *result);

#endif
