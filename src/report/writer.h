/* Writing a report: rows go in, encoded column groups come out, appended to
 * NAME.sonde.part. What has been appended but not yet encoded is kept in the journal
 * NAME.sonde.journal by report_writer_tick(), so that a killed recorder loses
 * nothing older than the last tick. One thread at a time may use a writer. */
#ifndef SONDE_REPORT_WRITER_H
#define SONDE_REPORT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "fmt/tables.h"

struct report_writer;
struct report_track; /* builder of one (table, track) */

/* `path` is the final name, "X.sonde"; the writer creates "X.sonde.part" and its
 * journal (0600, O_EXCL|O_NOFOLLOW). An existing X.sonde is an error (-EEXIST) unless
 * `overwrite`; an existing .part of a live writer (flock) is -EBUSY. A plain left-over
 * .part is never destroyed: it is renamed aside (.part.N) and named in *err-free
 * `ret_note` (may be NULL). A disk that is too full is an error here (-ENOSPC). */
int report_writer_open(struct report_writer **ret, const char *path, int overwrite, char *ret_note, size_t note_size, struct error *err);

/* Interns a string: the same bytes give the same id (never 0). Bodies are not
 * kept in memory. Returns 0 on allocation failure (the event then has no name). */
uint64_t report_string(struct report_writer *w, const char *text, size_t len);

/* A string with an id of its own, whatever has the same bytes. */
uint64_t report_string_apart(struct report_writer *w, const char *text, size_t len);

/* Interned, but once `most` strings are known a new one is not remembered: memory stays bounded, and the same
 * bytes may get several ids. */
uint64_t report_string_of(struct report_writer *w, const char *text, size_t len, uint32_t most);

/* The same for the name of an event. Once many are known, those that are new pass with the events of a file that keeps the last
 * part (report/write/dropped_names.c): the id is good for rows that are appended within the next PASSING_SECONDS. */
#define PASSING_SECONDS 10
uint64_t report_string_passing(struct report_writer *w, const char *text, size_t len);
int report_string_passes(const struct report_writer *w, uint64_t id);
/* Another id of the same text, good for as long again. */
uint64_t report_string_again(struct report_writer *w, uint64_t id);

/* A string id whose text is not known yet; define it once, later. Ids never
 * defined read as NULL. */
uint64_t report_string_later(struct report_writer *w);
int report_string_define(struct report_writer *w, uint64_t id, const char *text, size_t len);

/* Stores bytes, not interned; returns the blob id. */
uint64_t report_blob(struct report_writer *w, const void *data, size_t len);

/* The builder of a table's track; created at first use, owned by the writer.
 * track 0 for PLAIN tables. The caller keeps the pointer: no look-up per row. */
struct report_track *report_track(struct report_writer *w, enum table_id table, uint32_t track);

/* Appends a row: values[c] is read where bit c of `present` is set, other columns
 * are null. SPAN and POINT rows of one track must come in order; the writer
 * refuses (-EINVAL) a row that starts before the last one (ended), and the caller counts it. */
int report_append(struct report_track *track, const int64_t *values, uint32_t present);

/* The track gets no more rows (its thread ended): what it holds may wait to share a block
 * with other small ones. The pointer must not be used any more. */
void report_track_close(struct report_track *track);

/* What must survive a crash but is not a row yet (open ranges): called from tick for
 * the caller to append such rows as if the recording ended now. They go to the
 * journal only, marked as provisional: a later tick replaces them. */
typedef void (*report_provisional_fn)(struct report_writer *w, void *context);
int report_append_provisional(struct report_track *track, const int64_t *values, uint32_t present);

/* Every 100 ms or so: brings everything appended so far to the file or the
 * journal. Reports -ENOSPC (and then accepts only finish) when less than 256 MB, or 3 % of
 * a smaller disk, are free, and -EFBIG when the file comes close to the limit on the size of
 * files; room for finishing was set aside at open. After it a few rows of tables that describe the recording (how it ended, what was lost) are still taken. */
int report_writer_tick(struct report_writer *w, report_provisional_fn provisional, void *context, struct error *err);

/* Without ticks: encodes what is held in memory where that is more than `bytes`. */
int report_writer_relieve(struct report_writer *w, uint64_t bytes);

/* Several reports from one writer, one after the other (report/write/captures.c). Parked, it takes rows as always; of what has
 * come so far a report that begins has all that describes the recording (PLAIN tables, texts), and no events. */
int report_writer_open_parked(struct report_writer **ret, struct error *err);
/* Everything appended so far is in the file. */
int report_writer_flush(struct report_writer *w);
/* Begins a report, as report_writer_open() does. On failure the writer is parked as before. */
int report_writer_unpark(struct report_writer *w, const char *path, int overwrite, char *ret_note, size_t note_size, struct error *err);
/* Leaves the report's file, flushed before, to a forked copy of this process, which finishes it. */
int report_writer_park(struct report_writer *w, struct error *err);

/* The last part of a recording (report/write/last_part.c). From now on the file keeps events of the last `keep_ns`, or as many as
 * go into `keep_bytes` together with the journal; 0: no limit of that kind. What was appended before stays. */
int report_writer_keep_last(struct report_writer *w, int64_t keep_ns, uint64_t keep_bytes);
/* With every tick: `now` is the time that rows have come to. Gives up what is too old then, if it may. */
int report_writer_trim(struct report_writer *w, int64_t now, int may_drop);
/* Whether the disk cannot take back what was given up. */
int report_writer_cannot_trim(const struct report_writer *w);
/* Goes on in a file of its own, to which all is copied but events that ended before `from` (report/copy/cut.c). Under the
 * writer's own name (`path` NULL) the file before stays until the report is finished; under another it is left alone, so
 * that a forked copy of this process can do this. Rows that were not flushed before are all in it. `ret_from` is where the report
 * begins, which is later than asked for if that was dropped already. */
int report_writer_cut(struct report_writer *w, const char *path, int overwrite, int64_t from, int64_t *ret_from, struct error *err);
/* Rows of a table that are in the file. */
uint64_t report_writer_table_rows(const struct report_writer *w, enum table_id table);

/* The final name, as it was given. */
const char *report_writer_path(const struct report_writer *w);

/* Rows appended so far. */
uint64_t report_writer_rows(const struct report_writer *w);

/* Encodes the rest, writes directory and levels of detail, syncs, renames the .part to
 * its final name and removes the journal. Frees the writer in any case. */
int report_writer_finish(struct report_writer *w, struct error *err);

/* Removes the .part and the journal: nothing of them is to stay. */
void report_writer_remove(struct report_writer *w);

/* Gives up without renaming: the .part and journal stay for `recover`. */
void report_writer_abandon(struct report_writer *w);

/* Finishes what a killed recorder left: X.sonde.part (+ journal) becomes X.sonde.
 * The .part is replaced only after the result is complete. */
int report_recover(const char *part_path, int overwrite, char *ret_path, size_t path_size, struct error *err);
/* The same under another name, on any disk. */
int report_recover_to(const char *part_path, const char *path, int overwrite, struct error *err);

/* A report with the rows of another, under their old ids: all, or those that a part keeps. Functions that are NULL keep everything as it is. */
struct report;
struct report_part {
	int64_t from, to;                                         /* groups of rows with times that lie outside are not looked at */
	bool (*keeps)(void *context, int64_t start, int64_t end); /* of tables with times; instants: both the same */
	bool (*keeps_row)(void *context, enum table_id table, int64_t *values, uint32_t present); /* of the others; it may change the row */
	bool (*keeps_blob)(void *context, uint64_t id);
	/* What stands in place of a text, good until the next call; NULL: there is none any more. */
	const char *(*new_text)(void *context, uint64_t id, const char *text, size_t *size);
	const void *(*new_blob)(void *context, uint64_t id, const void *data, size_t size); /* of the same size */
	int (*adds)(void *context, struct report_writer *w);                                /* rows of its own, at the end */
	void *context;
};
int report_copy(struct report *r, const char *path, int overwrite, const struct report_part *part, struct error *err);

/* A finished report without the rows of large groups of events that the levels of detail tell of. `ret_left_out` is how many. */
int report_outline(struct report *r, const char *path, uint64_t *ret_left_out, struct error *err);

/* A finished report with rows added: everything of `r` is taken over as it is, under its old ids, into a file of
 * its own, which becomes `path` (perhaps the report itself) when it is finished. Rows may be added to PLAIN
 * tables. A report that is not finished is refused. */
int report_extend_begin(struct report_writer **ret, struct report *r, const char *path, int overwrite, struct error *err);
/* Frees the writer in any case; on failure nothing is left of the new file. */
int report_extend_finish(struct report_writer *w, struct error *err);
void report_extend_cancel(struct report_writer *w);

#endif
