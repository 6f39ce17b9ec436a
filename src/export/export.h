/* A report as files that other tools read: the tables with nsys's names, whole or a
 * selection of them, in one of several formats. docs/export.md says what is in each. */
#ifndef SONDE_EXPORT_EXPORT_H
#define SONDE_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "export/formats.h"

struct buf;
struct query;

/* In the order of their names in EXPORT_TYPE_NAMES. */
enum export_type {
#define FORMAT(NAME, ...) EXPORT_##NAME,
	EXPORT_FORMATS(FORMAT, FORMAT)
#undef FORMAT
		EXPORT_TYPE_COUNT
};

/* Names of nsys's types that are not written; the first is another name of jsonlines. */
#define EXPORT_OTHER_NAMES "json|text|info|hdf|arrow|arrowdir|parquetdir"

/* A report of up to this size is in a page (html) with all its events, unless something else is asked for. */
#define EXPORT_PAGE_BYTES 32000000u

/* What folded and speedscope show of a report. */
enum export_stacks {
	EXPORT_STACKS_ANY, /* CPU samples where there are some, else GPU time; speedscope: both */
	EXPORT_STACKS_CPU,
	EXPORT_STACKS_GPU, /* GPU time by the ranges and operators it was launched in */
	EXPORT_STACKS_OFFCPU,
	EXPORT_STACKS_OSRT
};

#define EXPORT_STACKS_NAMES "any|cpu|gpu|offcpu|osrt"

/* Events from start to end, in nanoseconds of the recording. An edge that overlaps keeps the events across it. */
struct export_times {
	bool given;
	int64_t start, end;
	bool start_overlaps, end_overlaps;
};

/* Reads [:]START/END[:]. Numbers have units (1s20ms, 2 minutes ...), ns without one; a missing edge is no limit. */
int export_times_parse(const char *text, struct export_times *ret, struct error *err);

/* html: a file of the user's that the page reads. */
struct export_text {
	char name[300]; /* FOLDER/NAME */
	char *data;
	size_t size;
};

struct export_request {
	enum export_type type;
	enum export_stacks stacks;
	bool ids;           /* folded: numbers of processes and threads behind their names */
	const char *input;  /* the report's path */
	const char *opened; /* what is read, where the input was imported; NULL: the input */
	const char *output; /* NULL: the input's name with the type's ending; "-": `stream` */
	FILE *stream;
	bool overwrite;
	bool redact;               /* sonde: without what the report tells of people and places (docs/export.md) */
	bool only_with_rows;       /* tables without rows are left out */
	const char *const *tables; /* comma lists of POSIX basic regular expressions; none: all */
	size_t table_count;
	struct export_times times;
	const char *times_text; /* as given, for META_DATA_EXPORT */
	bool normalize;         /* times since 1970 */
	int64_t shift;          /* added to times */
	uint64_t most_bytes;    /* html: of a report that is in the page with all its events; 0: any */
	/* html, where the events are not in the page: writes what requests for them are answered, as JSON without '<'. `path` is the
	 * report with its events. May be NULL. */
	int (*answers)(void *context, const char *path, FILE *out, struct error *err);
	/* html: what the viewer makes of a report when it opens it, which the page cannot; a report, and what its tracks are. */
	int (*made)(void *context, const char *path, struct buf *ret_report, struct buf *ret_tracks, struct error *err);
	void *answers_context;
	const struct export_text *texts; /* html: sections and rules of the user's own */
	size_t text_count;
	/* Called now and then; the export ends with -EINTR if it does not return 0. May be NULL. */
	int (*progress)(void *arg, const char *table, size_t done, size_t count);
	void *progress_arg;
	/* Set to how many events are missing in the output: more at one time, or nested deeper, than it has room for. */
	uint64_t *left_out;
	/* What the output holds in another way than the report, or not at all: a line without an end, empty where there is nothing to
	 * say. May be NULL. */
	struct buf *note;
};

/* Where export_run() writes without an `output`. */
int export_default_name(enum export_type type, const char *input, char *ret_path, size_t path_size);

/* The path is written to ret_path. Nothing is left behind, and nothing replaced, when it fails. */
int export_run(struct query *q, const struct export_request *request, char *ret_path, size_t path_size, struct error *err);

#endif
