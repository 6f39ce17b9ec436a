/* A named report: an SQL file whose first comment lines describe it.
 *
 *   -- title: NVTX Range Summary
 *   -- alias: nvtxsum
 *   -- default: 10            place in the set shown when no report is named
 *   -- requires: NVTX_EVENTS  table without which the report is skipped
 *   -- requires: class MPI_*  the same of slices of an imported trace
 *   -- requires: sonde_gpu_copy | sonde_gpu_set    one of them
 *   -- skipped: NV Tools Extension (NVTX) data
 *   -- column: Total Time = time
 *   -- column: TID = id if thread          shown only with that option (if !thread: without it)
 *   -- option: thread one row per thread   given as REPORT:thread; :thread in the statement is 1, else 0
 *   -- option: rows=50 at most so many     given as REPORT:rows=10; :rows in the statement
 *   -- note: SELECT ...       lines of text told beside the table
 *   -- help: what it shows
 *   SELECT ...
 */
#ifndef SONDE_STATS_REPORT_FILE_H
#define SONDE_STATS_REPORT_FILE_H

#include "stats/cell.h"

struct report_option {
	char *name;
	char *initial; /* NULL for a flag */
	char *help;
};

struct report_file {
	char *name;
	char *path;
	char *title;
	char *requires;
	char *skipped;
	char *note;
	char *help;
	char **aliases;
	size_t alias_count;
	int default_place; /* 0: not in the default set */
	struct table_column *columns;
	char **column_options; /* by column: the option that shows it, or with ! hides it; NULL: always shown */
	size_t column_count;
	struct report_option *options;
	size_t option_count;
	char *sql;
	unsigned sql_line; /* of the file, where the statement begins */
	unsigned note_line;
};

struct report_files {
	struct report_file *files; /* sorted by name */
	size_t count;
};

/* Reads all *.sql of the folders; of two with the same name the one in the earlier folder
 * counts. Folders that do not exist are passed over. A file that cannot be understood
 * is an error that names it and the line. */
int report_files_load(struct report_files *ret, const char *const *folders, size_t folder_count, struct error *err);
void report_files_release(struct report_files *files);
/* By name or alias, with or without :option[=value]...; NULL and a sentence naming the nearest when there is
 * none, or the report has no such option. */
const struct report_file *report_files_find(const struct report_files *files, const char *name, struct error *err);

/* What the option is with the report asked for as `asked`: its value, "1" or "0" for flags. NULL for a name
 * that is none of its options. Not terminated. */
const char *report_option_value(const struct report_file *file, const char *asked, const char *option, size_t *ret_len);
/* Whether a column is shown when the report is asked for so. */
int report_column_shown(const struct report_file *file, const char *asked, size_t column);

int report_file_parse(struct report_file *ret, const char *path, const char *text, struct error *err);
void report_file_release(struct report_file *file);

#endif
