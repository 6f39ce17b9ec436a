/* Where a table goes: "-" the console, "@command words" a program's input (split at
 * blanks, no shell), "." or a base name a file BASE_REPORT.EXT. */
#ifndef SONDE_STATS_OUTPUT_H
#define SONDE_STATS_OUTPUT_H

#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/system/output_path.h"
#include "stats/format.h"

/* Starts the commands that outputs name, in a process that may do so; without one they are started here. */
struct stats_starter {
	/* Returns a descriptor that the command reads from, or -errno. */
	int (*start)(void *context, const char *target, pid_t *ret_child, struct error *err);
	/* Waits for it: its wait status, or -errno. */
	int (*wait)(void *context, pid_t child);
	void *context;
};

extern const struct stats_starter stats_starter_here;

struct stats_output {
	const struct stats_starter *starter;
	FILE *stream;
	struct output_path place; /* of a file that is moved there when it is complete */
	int has_place;
	char path[PATH_MAX]; /* of a file; empty otherwise */
	int overwrite;
	pid_t child; /* of a pipe */
	int is_console;
};

struct stats_output_path {
	const char *target;
	const char *input;  /* the report file, for "." */
	const char *report; /* its name with arguments */
	enum format_kind format;
	int overwrite;
	FILE *console;
	const struct stats_starter *starter; /* NULL: stats_starter_here */
};

int stats_output_is_console(const char *target);
int stats_output_open(struct stats_output *ret, const struct stats_output_path *place, struct error *err);
/* Waits for a command; its failure is an error. A file that was not written whole is not kept, and replaces nothing. */
int stats_output_close(struct stats_output *output, int is_whole, struct error *err);

#endif
