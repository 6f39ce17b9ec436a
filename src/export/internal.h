/* Shared by the files of this folder only. */
#ifndef SONDE_EXPORT_INTERNAL_H
#define SONDE_EXPORT_INTERNAL_H

#include <sqlite3.h>

#include "base/buf.h"
#include "base/system/output_path.h"
#include "export/export.h"
#include "query/query.h"

#define EXPORT_MAX_COLUMNS 64

struct export_column {
	char name[48];
	char type[16];
	bool not_null;
	bool is_key; /* primary */
};

struct export_table {
	char name[64];
	struct export_column columns[EXPORT_MAX_COLUMNS];
	unsigned column_count;
};

struct export
{
	const struct export_request *request;
	struct query *q;
	sqlite3 *db;              /* the query's */
	int64_t shift;            /* of all times */
	const char *ending;       /* of the output's name, where none is given */
	struct output_path place; /* of standard output the path only, for messages */
	FILE *stream;             /* of formats that are one stream */
	int folder;               /* of those that are a folder */
	sqlite3_vfs *vfs;         /* by which SQLite opens its file */
	const char *now;          /* table being written */
	size_t done, count;       /* tables */
	uint64_t left_out;        /* events */
	bool has_nsys_tables;     /* those of query/nsys/unrecorded.h have rows, maybe */
	uint64_t imported;        /* events that are rows of NVTX_EVENTS though NVTX did not make them */
};

/* A format: begin, every table (or all at once), end. Each returns a negative errno with *err set. */
struct export_format {
	const char *name; /* as META_DATA_EXPORT has it */
	bool is_folder;
	bool streams;                                      /* may go to standard output */
	int (*whole)(struct export *e, struct error *err); /* instead of tables */
	int (*begin)(struct export *e, struct error *err);
	int (*table)(struct export *e, const struct export_table *t, struct error *err);
	int (*end)(struct export *e, struct error *err);
	void (*give_up)(struct export *e); /* instead of end */
};

#define FORMAT(NAME, word, symbol, ...) extern const struct export_format export_##symbol;
EXPORT_FORMATS(FORMAT, FORMAT)
#undef FORMAT
extern const struct export_format export_redacted;

/* output_stream.c: an output that is written from begin to end; packed where its name ends in .gz. */
bool export_is_packed(const char *path);
int export_stream_begin(struct export *e, struct error *err);
int export_stream_end(struct export *e, struct error *err);
void export_stream_give_up(struct export *e);
int export_write_failed(struct export *e, struct error *err);

/* export.c: whether the request's times keep what happened from start to end. */
bool export_keeps(const struct export *e, int64_t start, int64_t end);
/* -EINTR when it is to end, or an error of writing. Called every few thousand rows. */
int export_poll(struct export *e, const char *doing, struct error *err);

/* tables.c: what there is to export. */
struct export_names {
	char (*items)[64];
	size_t count;
};

int export_names_load(struct export *e, struct export_names *ret, struct error *err);
int export_table_describe(struct export *e, const char *name, struct export_table *ret, struct error *err);
/* SELECT of all columns, with the request's times and shift. `filled` puts zeros and empty texts where a column
 * that has no nulls has one. */
int export_select_text(const struct export *e, const struct export_table *t, bool filled, struct buf *sql);

/* imported.c: events of other tools in NVTX_EVENTS. */
int export_imported_load(struct export *e, struct error *err);
/* Whether the table also has the rows of sonde_imported_ranges. */
bool export_is_imported(const struct export *e, const char *table);
int export_imported_note(struct export *e, struct buf *ret);

/* output_name.c: the output appears under its name when it is complete. */
/* The input's name without a report's ending, then the format's; snprintf()'s result. */
int export_name_beside(const char *input, const char *ending, char *ret, size_t size);
int export_place_choose(struct export *e, const struct export_format *format, struct error *err);
/* False of standard output. */
bool export_has_place(const struct export *e);
/* A descriptor of the folder that will have the name, or a negative errno. */
int export_place_make_folder(struct export *e);
int export_place_finish(struct export *e, const struct export_format *format, struct error *err);
/* Of what is not complete. */
void export_place_remove(struct export *e);
void export_place_release(struct export *e);

/* What SQLite said when it failed at writing the output, or reading the report. */
int export_sqlite_error(struct export *e, int code, struct error *err);
/* One statement, put together as sqlite3_mprintf() does. */
int export_execute(struct export *e, struct error *err, const char *format, ...);

#endif
