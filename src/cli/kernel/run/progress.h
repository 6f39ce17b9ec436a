/* sonde kernel: how far it is, and what goes wrong, told as it happens. */
#ifndef SONDE_CLI_KERNEL_RUN_PROGRESS_H
#define SONDE_CLI_KERNEL_RUN_PROGRESS_H

#include "cli/command.h"
#include "record/kernel_choice.h"

/* Read together, and of several processes. */
#define MOST_UNDER_WAY 128

struct progress {
	struct cli *cli;
	bool quiet;
	int fd;
	bool at_once;     /* people watch: a line begins when its kernel does, not when that was read */
	uint32_t timeout; /* seconds that a pass may take; 0: for ever */
	uint32_t begun;
	struct kernel_progress under_way[MOST_UNDER_WAY]; /* by number */
	uint32_t read;
	uint32_t failed;
	uint32_t passes;       /* of the kernel that is read now */
	bool is_open;          /* the line of a kernel is not ended */
	uint32_t open;         /* whose */
	bool is_half;          /* and says 50% */
	bool warned;           /* of collectives */
	bool timed;            /* it was said that kernels are timed only */
	bool warned_copies;    /* of memory that takes long to copy */
	uint32_t warned_stuck; /* number of the kernel, from 1; 0: of none */
	uint32_t ended;        /* process that was asked to end; 0: none was */
};

/* For record_run(): reads what there is. */
int kernel_on_progress(void *listener);

#endif
