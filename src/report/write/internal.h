/* The writer's parts and what they share. Private to src/report and its tests. */
#ifndef SONDE_REPORT_WRITE_INTERNAL_H
#define SONDE_REPORT_WRITE_INTERNAL_H

#include "base/idmap.h"
#include "report/format/block.h"
#include "report/format/rowset.h"
#include "report/writer.h"

#define GROUP_ROWS 16384u       /* rows per group of a busy track */
#define TINY_ROWS 512u          /* sets below this share a block */
#define PACK_BYTES (256u << 10) /* payload of such a block */
#define PACK_ROWS 16384u        /* closed tracks are kept until they have this many rows together */
#define SEGMENT_BYTES (64ull << 20)
#define JOURNAL_LIMIT (32ull << 20)
#define BUILDER_SOFT_LIMIT (48ull << 20) /* above it idle tracks give their buffers back */
#define BUILDER_HARD_LIMIT (96ull << 20) /* above it all do */
#define IDLE_TICKS 20
#define STRINGS_FLUSH (256u << 10)
#define BLOBS_FLUSH (1u << 20)
#define FINISH_RESERVE (16ull << 20) /* allocated ahead of the end of the file, at most */

/* 96 bits of a hash stand for the text: at a billion names the chance that
 * any two share one is below 1e-11. */
struct intern_slot {
	uint64_t hash_low;
	uint32_t hash_high;
	uint32_t id; /* 0: free */
};

struct intern_table {
	struct intern_slot *slots;
	uint32_t capacity; /* power of two */
	uint32_t used;
	uint64_t seed;
};

/* Texts or blobs not yet in the file. */
struct pending {
	struct buf items; /* struct pending_item */
	struct buf bytes; /* each followed by a NUL */
	size_t journaled_items;
	size_t journaled_bytes;
	uint8_t kind;
	uint16_t flags;
};

struct pending_item {
	uint64_t id;
	uint64_t size;
};

struct track_column {
	int64_t *values;
	uint32_t count; /* these two only where the track has masks */
	uint32_t journaled;
};

/* What every append touches comes first, in one cache line. */
struct report_track {
	struct report_writer *writer;
	struct track_column *columns;
	uint32_t *masks; /* NULL while all rows have the same columns */
	int64_t last;    /* end or time of the last row */
	uint32_t mask;
	uint32_t rows;
	uint32_t capacity;
	uint32_t with_room; /* columns that have an array */
	uint32_t last_tick; /* when a row was last seen */
	uint8_t table;
	uint8_t kind;
	uint8_t column_count;
	uint8_t dirty;  /* on the list of those with rows for the journal */
	uint8_t closed; /* no more rows: its set may wait to share a block */
	uint32_t track;
	uint32_t journaled; /* rows that are in the journal */
	uint64_t flushed;   /* rows in the file */
	struct report_track *next_dirty;
	struct report_track *peer; /* builder of provisional rows during a tick; and back */
};

/* Ids of texts that are dropped with their events, to be given again: dropped_names.c. Others go on behind them. */
#define PASSING_FIRST (1u << 19)
#define PASSING_END (PASSING_FIRST + (1u << 23))

struct id_run {
	uint32_t first;
	uint32_t end;
};

struct passing {
	struct pending texts;
	struct id_run *free; /* sorted, no two adjacent */
	size_t free_count;
	size_t free_capacity;
	struct id_run run; /* being given out */
};

/* A file that keeps the last part of a recording: last_part.c */
struct ring {
	int on;
	int cannot_punch;    /* the filesystem does not take bytes back */
	int64_t keep_ns;     /* 0: by size alone */
	uint64_t keep_bytes; /* 0: by time alone */
	int64_t now;
	int64_t last_pass;
	int64_t last_flush;
	int64_t journal_began;
	int64_t dropped_until; /* nothing later has been dropped */
	uint64_t skipped;      /* bytes of the file that are given up */
	size_t tracks;         /* that were left when they were last looked through */
};

/* Level 0 of the levels of detail, on its way into a block. */
struct detail {
	struct buf payload;
	struct buf entries; /* struct entry, one per set */
	uint64_t rows;
	uint64_t seed; /* of the file it belongs to */
	struct detail_room *room;
};

struct report_writer {
	uint64_t rows;
	uint32_t tick;
	int stopped; /* 0, or why rows are refused: a negative errno */
	struct report_track *dirty;

	char *path;
	char *part_path;
	char *journal_path;
	int folder; /* that these are in: their names in it are used, whatever the paths lead to by then */
	int overwrite;
	int extends; /* rows are added to those of another report */
	int parked;  /* between reports: the file has no name, nothing of it need survive */
	int fd;
	int journal_fd;
	int fill_journal; /* inside the provisional callback */
	uint8_t id[16];
	uint64_t seed;
	uint64_t size;     /* of the file: where the next block goes */
	uint64_t reserved; /* allocated up to here */
	uint64_t synced;   /* writing to disk was started up to here */
	uint32_t segment;
	uint64_t segment_start;
	uint64_t segment_bytes;
	struct encoder encoder;
	struct buf block;
	struct buf payload;

	struct intern_table interned;
	uint64_t next_string;
	uint64_t next_blob;
	struct pending strings;
	struct pending late;
	struct pending blobs;
	struct passing passing;

	struct report_track **tracks; /* all, in order of creation */
	size_t track_count;
	size_t track_capacity;
	struct idmap track_numbers;   /* by table and track: index */
	struct report_track **closed; /* waiting to share a block */
	size_t closed_count;
	size_t closed_capacity;
	uint64_t closed_rows;
	uint64_t builder_bytes;

	struct detail detail;
	struct entry *entries; /* the directory to be */
	size_t entry_count;
	size_t entry_capacity;

	uint64_t journal_size;
	uint64_t journal_limit; /* beyond it everything goes to the file and the journal starts over */
	uint64_t generation;
	struct report_track **provisional; /* builders of provisional rows */
	size_t provisional_count;
	size_t provisional_capacity;
	uint64_t provisional_hash; /* of the set in the journal; 0: none there */
	uint32_t provisional_age;

	struct ring ring;
	char *left_part;       /* what a report of the last part was made from: it goes when that is complete */
	uint32_t string_limit; /* texts that are remembered */

	uint64_t floor_bytes; /* free space below which recording stops */
	int floor_given;
	uint64_t size_limit;     /* of a file (RLIMIT_FSIZE) */
	uint64_t finish_reserve; /* for what is written at the end */
};

/* disk_room.c: what room there is for the file */
/* Tests lower or raise the limit of free disk space. */
void report_writer_set_disk_floor(struct report_writer *w, uint64_t bytes);
/* The file is there: how much of its disk may be used? */
void room_measure(struct report_writer *w);
/* -ENOSPC or -EFBIG when what there is has to be kept for the end. May write what is held in memory. */
int room_check(struct report_writer *w, struct error *err);
/* Before anything is recorded. */
int room_check_first(struct report_writer *w, struct error *err);
/* Whether so many bytes of texts can still be held, where nothing is written any more. */
int room_for_texts(const struct report_writer *w, uint64_t bytes);

/* output_file.c: the file itself */
int output_open(struct report_writer *w, char *ret_note, size_t note_size, struct error *err);
/* The header of a file that is open already. */
int output_begin(struct report_writer *w, struct error *err);
/* A file under a name of its own that becomes `path` when finished. */
int output_open_temporary(struct report_writer *w, struct error *err);
/* Appends the blocks in w->block; on failure the file is as before. */
int output_append(struct report_writer *w);
/* A file beside `path` (one of the writer's), locked; returns its descriptor. The name is to be freed. */
int output_create_beside(const struct report_writer *w, const char *path, char **ret_name);
/* The same for files of the writer's: as open(), rename() and unlink(), in its folder. */
int output_open_name(const struct report_writer *w, const char *path, int flags);
int output_rename(const struct report_writer *w, const char *from, const char *to);
int output_unlink(const struct report_writer *w, const char *path);
int output_read(int fd, void *data, size_t size, uint64_t offset);
int output_overwrite(struct report_writer *w, const void *data, size_t size, uint64_t offset);
int output_publish(struct report_writer *w, struct error *err);
char *path_with(const char *path, const char *suffix);
int fill_random(void *bytes, size_t size);

/* track.c: builders */
struct report_track *track_create(struct report_writer *w, enum table_id table, uint32_t track);
void track_destroy(struct report_track *t);
int track_put(struct report_track *t, const int64_t *values, uint32_t present);
/* All rows, or those not journaled yet, as input of the encoder. */
void track_view(const struct report_track *t, int all, struct row_set *ret);
void track_mark_journaled(struct report_track *t);
/* Values the track's builder has of a column. */
uint32_t track_column_values(const struct report_track *t, unsigned column);
void track_clear(struct report_track *t, int free_buffers);
int track_is_meta(const struct report_track *t);

/* flush.c: from builders to blocks */
int flush_track(struct report_writer *w, struct report_track *t);
int flush_pending(struct report_writer *w);
int flush_all(struct report_writer *w, int free_buffers);
int flush_idle(struct report_writer *w);
int flush_closed(struct report_writer *w);
/* The rows held by these. */
int flush_tracks(struct report_writer *w, struct report_track **tracks, size_t count);
int entry_add(struct report_writer *w, const struct entry *entry);

/* strings.c */
void pending_init(struct pending *p, unsigned kind, unsigned flags);
void pending_release(struct pending *p);
int pending_add(struct pending *p, uint64_t id, const void *data, size_t size);
/* Appends items [from ...) as one block to `out`. */
int pending_encode(const struct pending *p, size_t from_item, size_t from_byte, uint32_t segment, ZSTD_CCtx *cctx, uint64_t seed,
		   struct buf *out, struct block_header *ret_header);
int pending_flush(struct report_writer *w, struct pending *p);
/* The id of a text that is remembered; 0: it is not. */
uint64_t string_known(const struct report_writer *w, const char *text, size_t len);
int string_put(struct report_writer *w, uint64_t id, const char *text, size_t len);
int blob_put(struct report_writer *w, uint64_t id, const void *data, size_t len);

/* journal.c */
int journal_open(struct report_writer *w, struct error *err);
int journal_tick(struct report_writer *w, report_provisional_fn provisional, void *context);
int journal_restart(struct report_writer *w);

/* captures.c */
int take_paths(struct report_writer *w, const char *path);

/* last_part.c */
/* Whether rows of a PLAIN table are events of a time, which need not be kept for ever. */
int table_passes(unsigned table);
/* When the last event was that needs this. */
int64_t needed_until(const struct entry *e);

/* dropped_names.c */
int passing_begin(struct report_writer *w);
void passing_release(struct report_writer *w);
/* The block with these ids was dropped. */
int passing_return(struct report_writer *w, uint64_t first, uint64_t last);

/* cut.c: what is alive goes to a file of its own, which takes the place of the one before. */
int ring_rotate(struct report_writer *w);

/* levels.c */
void lod_summarise(const struct row_set *rows, struct entry *entry);
int lod_write(struct report_writer *w);

/* detail.c */
/* Sums up rows that are in the file now. What cannot be had is left out: a reader then reads the rows. */
void detail_add(struct report_writer *w, const struct row_set *rows);
/* The columns that it reads of a table, as bits. */
uint32_t detail_columns(unsigned table);
/* Writes what has come together in this segment. */
int detail_flush(struct report_writer *w);
void detail_release(struct detail *d);

/* finish.c */
int finish_file(struct report_writer *w, struct error *err);

/* writer.c */
/* Keeps the builders within their limits. */
int reclaim_memory(struct report_writer *w);
void writer_free(struct report_writer *w);
/* Frees tracks that are closed and of which nothing is left in the directory. */
int forget_tracks(struct report_writer *w);
struct report_writer *writer_new(const char *path, int overwrite);

#endif
