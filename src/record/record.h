/* Recording: launch a program, collect what its agents write, leave a report.
 *
 * record_run() forks the recorder, which becomes its own session leader and does
 * all the collecting and writing; the calling process launches the target
 * as its own child (same terminal, same process group, same descriptors), waits for it and hands
 * its wait status to the recorder. See "Processes" in docs/architecture.md. */
#ifndef SONDE_RECORD_RECORD_H
#define SONDE_RECORD_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct profile_options;

#define RECORD_PATH_SIZE 4096
#define RECORD_NOTES_SIZE 8192

/* What 'start' wants done with a report that is complete. The recorder only hands it on to who tells of the report. */
struct record_after {
	uint64_t exports; /* bits, as the command line counts types */
	uint32_t stats;
	uint32_t overwrite;
};

struct record_result {
	/* What to exit with: the target's own status, or 128 + N when signal N
	 * ended it. Valid when `started`. */
	int exit_status;
	int started;                 /* the target was launched */
	int finished;                /* the report is complete under `path` */
	int interrupted;             /* Ctrl-C or SIGTERM, how many */
	int target_harmed;           /* attach: a process died while its threads were used */
	char path[RECORD_PATH_SIZE]; /* the report, or what is left of it (.part) */
	/* Sentences for stderr, one per line, each ending in a newline: processes left
	 * over, losses, what could not be traced. Empty when there is nothing to say. */
	char notes[RECORD_NOTES_SIZE];
	uint64_t events;       /* recorded; a push and its pop are two */
	uint64_t dropped;      /* events lost: with those recorded they are all there were */
	uint64_t gpu_lost;     /* states and switches of GPUs lost, which are no events */
	uint64_t bytes;        /* size of the report */
	char reason[256];      /* flight recorder: why the report was written */
	int64_t covered_ns;    /* and how much of the run it has */
	uint32_t cost_pair_ps; /* what a push and pop cost the target, measured in it; 0: was not */
	struct record_after after;
};

/* Returns 0 when a report was written, whatever the target's status. A negative errno
 * with a sentence in *err otherwise: before the launch (ret->started is 0, exit
 * with 1) or because the report could not be finished (the target has run and
 * ret->exit_status holds). */
int record_run(const struct profile_options *options, struct record_result *ret, struct error *err);

/* The same for a process that runs already (options->attach_pid) and goes on when the recording ends: after duration_ns, by a
 * signal to the caller, or with the process. */
int record_attach(const struct profile_options *options, struct record_result *ret, struct error *err);

#endif
