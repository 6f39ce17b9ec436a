/* A report as the viewer has it: which tracks have rows, where those lie, and how they are put together. What stands here
 * is made when the report is opened and does not change; several threads read it. */
#ifndef SONDE_VIEW_RECORDING_RECORDING_H
#define SONDE_VIEW_RECORDING_RECORDING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"
#include "query/index/cuda_index.h"
#include "query/index/index.h"
#include "report/reader.h"
#include "view/report/store.h"

struct query;
struct coarse;
struct kernel_results;

/* A group of rows of a track. */
struct row_group {
	uint8_t table;
	bool derived; /* in the report of what was made */
	uint32_t track;
	uint32_t rows;
	size_t number;  /* of the group in its table */
	bool absent;    /* its rows are not in the file: the summary is all there is */
	size_t summary; /* group of the lod table that has its buckets; NO_SUMMARY: none */
	unsigned summary_level;
	uint64_t first; /* index of its first row in the track */
	uint8_t line;   /* of most of its rows (lines.h), */
	uint8_t *lines; /* of each; NULL: of all */
	int64_t time_min;
	int64_t time_max;
};
#define NO_SUMMARY SIZE_MAX
/* 2^50 ns are 13 days. */
#define SUMMARY_MAX_LEVEL 50u

/* All rows of a track. */
struct view_track {
	uint8_t table;
	bool derived;
	uint32_t id;  /* of the track; of a derived one: number in derived_tracks, from 1, in a space of its own (MADE_TRACKS) */
	size_t group; /* the first */
	size_t group_count;
	uint64_t rows;
	int64_t busy;                  /* sum of durations; -1: not known */
	uint32_t row;                  /* that shows it; TRACK_NO_ROW */
	uint32_t place;                /* among the tracks of that row */
	uint64_t before;               /* rows of the tracks before it, where the row is joined; else 0 */
	uint8_t line;                  /* of most of its rows (lines.h) */
	uint8_t first_line;            /* that tracks of its table have in the row */
	struct coarse *_Atomic coarse; /* all of it in buckets; NULL: not yet, or none */
};

/* A report may have tracks that no row shows: their events are not there for anybody who asks. */
#define TRACK_NO_ROW UINT32_MAX

/* Where the numbers of tracks that were made begin: no report has as many. */
#define MADE_TRACKS 0x80000000u

/* Rows of the table of tracks; the first are as those of the index. */
enum { TRACK_LABEL = TRACK_WIDTH, VIEW_TRACK_WIDTH };

/* In the order of rows below one heading. */
/* clang-format off */
enum row_kind {
	ROW_GPU, ROW_COMPUTE, ROW_COPIES, ROW_STREAM, ROW_GPU_NVTX, ROW_GPU_SYNC, ROW_GPU_MEMORY, ROW_GPU_ALLOCATOR, ROW_GPU_SWITCH, ROW_GPU_METRICS,
	ROW_CPUS, ROW_CPU, ROW_PROCESS, ROW_THREAD, ROW_STATE, ROW_NVTX, ROW_MARKS, ROW_GENERIC, ROW_CUDA_API, ROW_OSRT, ROW_OVERHEAD,
	ROW_SAMPLES, ROW_COUNTER, ROW_KIND_COUNT
};
/* clang-format on */
enum row_draw { DRAW_GROUP, DRAW_SLICES, DRAW_POINTS, DRAW_PLOT };

extern const char *const row_kind_names[ROW_KIND_COUNT];
extern const char *const row_draw_names[];

#define ROW_NO_PARENT UINT32_MAX

/* Ids are places in the list: a parent is before its children. */
struct row {
	uint32_t parent;
	enum row_kind kind;
	enum row_draw draw;
	char *label;
	char *detail;
	uint32_t *tracks; /* numbers of tracks; of a group: those its heat line is made of */
	uint32_t track_count;
	uint64_t count;
	double share; /* of the recording's length; below 0: not known */
	bool quiet;
	bool overlaid;         /* its tracks are drawn in one line, the first on top */
	bool joined;           /* its tracks are one: its events are numbered through, and lie in lines by their times (lines.h) */
	uint32_t line_count;   /* 0: not found yet, each track is a line */
	bool held;             /* plots: a value is good until the next one */
	int64_t unit;          /* string id; 0: none */
	const char *unit_text; /* in its place */
	int64_t uid;           /* of the process, thread, stream ... it is */
	double least, most;    /* plots */
};

/* What a track is of; its id in the made report is its place in the list, from 1. */
struct derived_track {
	enum row_kind kind;
	int64_t place;  /* number of the core; uid of the GPU */
	int64_t thread; /* uid */
	int64_t domain; /* of ranges; of memory: its kind */
	int64_t depth;
	uint32_t of_track; /* ROW_STATE: where the thread's runs are */
};

/* Least and largest correlation of a group. */
struct bounds {
	bool known;
	int64_t least, largest;
};

struct view_report {
	unsigned users;     /* requests that read it (live.c) */
	bool retired;       /* another one stands in its place: the last user closes it */
	int64_t file_state; /* what its files were like when it was opened again (live.c) */
	int64_t renew_next; /* not before this time */
	char *path;
	char *name;
	struct report *report;
	pthread_mutex_t text_lock;
	struct query_index index;
	struct index_table track_rows; /* by id */
	struct index_table metrics;    /* of GPUs: track, gpu, name, unit, process */
	struct index_table counters;   /* of NVTX: track, name */
	struct row_group *groups;
	size_t group_count;
	struct view_track *tracks; /* by table and track */
	size_t track_count;
	struct row *rows;
	size_t row_count;
	uint32_t *order;        /* of rows, as they are shown */
	struct report *derived; /* what was made (derived/derived.h); NULL until it is there */
	struct derived_track *derived_tracks;
	size_t derived_track_count;
	_Atomic bool pending; /* more rows are being made */
	struct maker *maker;  /* that does; NULL: none */
	/* maker_start() and maker_stop(), where they were used: readers that only read have none of it. */
	int (*make)(struct view_report *r);
	void (*end_making)(struct view_report *r);
	pthread_mutex_t use_lock; /* of what follows; held while what was made is taken in */
	pthread_cond_t unused;
	unsigned readers;   /* requests that are being answered */
	int64_t begin, end; /* of all that was recorded; begin is 0 where nothing is before */
	uint64_t events;
	uint32_t *launch_names;  /* by number of launch in the index: name id */
	uint32_t *communication; /* name ids of kernels that communicate, in order */
	size_t communication_count;
	struct store *store;
	pthread_mutex_t bounds_lock;
	struct bounds *bounds; /* by group; NULL until asked for */
	pthread_mutex_t kernels_lock;
	struct kernel_results *kernels; /* kernels.h; NULL until asked for */
	pthread_mutex_t query_lock;     /* one thread at a time */
	struct query *query;            /* NULL until asked for */
};

int view_report_open(struct view_report **ret, const char *path, const char *name, struct error *err);
void view_report_close(struct view_report *r);

/* Between these it does not change. */
void view_report_hold(struct view_report *r);
void view_report_let_go(struct view_report *r);

/* NULL and 0 for ids without a text. */
const char *view_report_text(struct view_report *r, uint64_t id, size_t *ret_len);

static inline const int64_t *view_report_track_row(const struct view_report *r, uint32_t id)
{
	return index_find(&r->track_rows, id);
}

enum { VIEW_METRIC_TRACK, VIEW_METRIC_GPU, VIEW_METRIC_NAME, VIEW_METRIC_UNIT, VIEW_METRIC_PROCESS, VIEW_METRIC_WIDTH };
enum { VIEW_COUNTER_TRACK, VIEW_COUNTER_NAME, VIEW_COUNTER_WIDTH };

/* Nested tracks: the outermost is the time that something went on. Others lie beside each other. */
static inline bool row_is_nested(const struct row *row)
{
	return row->kind >= ROW_PROCESS || row->kind == ROW_GPU_NVTX;
}

static inline struct report *group_report(const struct view_report *r, const struct row_group *p)
{
	return p->derived ? r->derived : r->report;
}

/* rows.c */
int view_report_make_rows(struct view_report *r);
/* Rows of tracks that were made, behind the others: these keep their numbers. */
int view_report_add_derived_rows(struct view_report *r);
void view_report_free_rows(struct view_report *r);

/* tracks.c */
int view_report_find_tracks(struct view_report *r);
/* The same for what was made: behind the others. */
int view_report_find_derived_tracks(struct view_report *r);
/* NULL where there is none. */
struct view_track *view_report_track(struct view_report *r, int64_t table, int64_t id);

#endif
