/* Where imported rows go: a report, written row by row for plain tables, and track by track for
 * what has times. Traces are in no particular order, so the rows of a track are kept until the
 * end (sink_store.h: in memory up to a limit, then in a file), sorted, and spread over tracks such
 * that none overlaps another of its track. */
#ifndef SONDE_INGEST_ROWS_SINK_H
#define SONDE_INGEST_ROWS_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "fmt/tables.h"
#include "ingest/rows/sink_store.h"
#include "report/writer.h"

#define SINK_BIT(column) (1u << (column))
#define SINK_MAX_DEPTH 512u

/* Rows of one kind of one thread or stream, before they are spread over tracks. */
struct sink_track {
	enum track_kind kind;
	enum table_id table;
	uint32_t columns;                 /* those that rows may have */
	uint64_t process, thread, domain; /* uids; 0: none */
	uint64_t name;                    /* string id; 0: none */
	struct store_track rows;
	struct sink_track *next;
};

struct sink {
	struct report_writer *writer;
	struct store store;                         /* rows of the tracks */
	struct report_track *plain[TABLE_ID_LIMIT]; /* of the tables without tracks, once used */
	struct sink_track *tracks, **tail;          /* in order of arrival */
	uint32_t next_track;
	uint64_t next_set; /* arg.set */
	int64_t first;     /* least time seen; INT64_MAX before */
	int64_t last;
	uint64_t placed;   /* rows given to the report's tracks */
	uint64_t unplaced; /* slices nested deeper than there are tracks */
	int result;        /* first error; later rows are refused */
};

void sink_begin(struct sink *s, struct report_writer *writer);
uint64_t sink_text(struct sink *s, const char *text);
void sink_row(struct sink *s, enum table_id table, const int64_t *values, uint32_t present);
/* A fact about the recording; text and number may be NULL. */
void sink_meta_text(struct sink *s, const char *key, const char *text, size_t len, const int64_t *number);
void sink_meta(struct sink *s, const char *key, const char *text);
void sink_meta_number(struct sink *s, const char *key, int64_t number);
void sink_diagnose(struct sink *s, int severity, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* NULL without memory. The caller may change process, thread, domain and name until the end. */
struct sink_track *sink_track(struct sink *s, enum track_kind kind, enum table_id table, uint32_t columns);
/* Times (of the first column, and the second of spans) are the trace's own. */
void sink_event(struct sink *s, struct sink_track *t, const int64_t *values, uint32_t present);

/* Writes all tracks, times counted from the first one. */
int sink_finish(struct sink *s);
void sink_release(struct sink *s);

#endif
