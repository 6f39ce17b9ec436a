/* Named reports over a report file: the work of `sonde stats`. */
#ifndef SONDE_STATS_STATS_H
#define SONDE_STATS_STATS_H

#include <stdio.h>

#include "base/error.h"
#include "query/engine/scope.h"
#include "stats/format.h"
#include "stats/output.h"
#include "stats/report_file.h"

struct stats_options {
	/* Comma lists as given; report i goes with format i and output i, the shorter lists
	 * repeat their last. "summary" stands for the default set, "memop" for both reports of memory operations.
	 * Empty: the default set, on the console. */
	const char *const *reports;
	size_t report_count;
	const char *const *formats;
	size_t format_count;
	const char *const *outputs;
	size_t output_count;
	const char *time_unit; /* NULL: ns */
	int quiet;
	int overwrite;
	const char *const *folders; /* of .sql files, first wins */
	size_t folder_count;
	struct scope_request scope;          /* what counts; zeroes: everything */
	const struct stats_starter *starter; /* output.h; NULL: commands are started here */
	const char *opened;                  /* the report to read where `path` is what it was made of; NULL: `path` */
};

/* Runs the reports. Tables for the console go to `out`, remarks to `remarks`. The caller ignores
 * SIGPIPE: a console that went away is -EPIPE. */
int stats_run(const struct stats_options *options, const char *path, FILE *out, FILE *remarks, struct error *err);

/* Where reports are found: `given`, the environment's SONDE_STATS_REPORT_PATH, and the folders
 * beside the program. Fills `ret` (which owns its texts). */
struct stats_folders {
	char *names[32];
	size_t count;
};
int stats_folders_find(struct stats_folders *ret, const char *const *given, size_t given_count, struct error *err);
void stats_folders_release(struct stats_folders *folders);

/* All rows of a prepared statement through a formatter; *ret_rows may be NULL. Columns may be NULL: the
 * statement's own names and plain values. Those without a title are left out. */
int stats_write_rows(sqlite3_stmt *statement, int stepped, const struct format_spec *spec, const struct format_target *target,
		     const struct table_column *columns, size_t column_count, uint64_t *ret_rows, struct error *err);

#endif
