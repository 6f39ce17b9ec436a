/* What is shown but stands in no table as it is shown: which thread had a core, what a thread waited for, ranges on the
 * GPU, memory in use. It is made once, behind the first picture, into a report in a file without a name, and then read like
 * the rows of the report itself, levels of detail included: docs/view.md, "Made rows". */
#ifndef SONDE_VIEW_DERIVED_DERIVED_H
#define SONDE_VIEW_DERIVED_DERIVED_H

#include <stdatomic.h>

#include "query/engine/merge_heap.h"
#include "query/index/track_reader.h"
#include "report/writer.h"
#include "view/report/view_report.h"

/* What is held at a time while ranges are put on the GPU: 36 and 40 bytes each. */
struct derived_limits {
	uint32_t ranges;
	uint32_t calls;
};
#define MADE_LIMITS ((struct derived_limits){ 1500000, 750000 })

struct making {
	struct derived_limits limits;
	struct view_report *r;   /* does not change meanwhile */
	struct query *q;         /* of its own */
	struct report_writer *w; /* NULL until there is something */
	char folder[256];
	struct derived_track *tracks;
	size_t count;
	uint32_t since_relief;
	const _Atomic bool *stop;
};

/* -ECANCELED from any of these: nobody waits for it any more. */
int making_track(struct making *m, enum table_id table, const struct derived_track *track, struct report_track **ret);

struct derived_event {
	int64_t start, end; /* points: the same */
	uint32_t name;
	uint32_t track; /* what it was made from; MADE_FROM_NONE */
	uint64_t index;
};
#define MADE_FROM_NONE UINT32_MAX
/* Events that are out of order are cut or left out. */
int making_event(struct making *m, struct report_track *to, enum table_id table, const struct derived_event *e);
int making_value(struct making *m, struct report_track *to, int64_t time, int64_t value);

/* Rows of several tracks in order of time. */
struct merged {
	struct merge_place place; /* key: when its current row starts, or before */
	struct track_reader reader;
	const int64_t *track_row;
	uint32_t track; /* MADE_FROM_NONE: the report has none */
	uint64_t index; /* of the current row in it */
	uint8_t *nulls; /* of a column of the group, where that was asked for */
	size_t nulls_group;
};
struct merge {
	struct track_groups groups;
	struct merged *sources;
	size_t source_count;
	struct merge_heap heap;
};
int merge_open(struct merge *g, struct making *m, enum table_id table, enum track_kind kind, const uint8_t *columns, unsigned count);
/* The source whose current row is the next: it is loaded; NULL behind the last, or with *r below 0. */
struct merged *merge_next(struct merge *g, int *r);
/* Whether the current row has no value in a column; always the same column. True where it cannot be read. */
bool merge_is_null(struct merged *s, unsigned column);
/* Goes on behind that row. */
void merge_advance(struct merge *g, struct merged *s);
void merge_close(struct merge *g);

/* runs.c, memory.c, nvtx.c */
int make_cores(struct making *m);
int make_waits(struct making *m);
int make_memory(struct making *m);
int make_projections(struct making *m);

/* Makes and takes it in. Where that cannot be done the rows are missing: not an error of the recording. */
int view_report_make(struct view_report *r, struct derived_limits limits, const _Atomic bool *stop);

/* The same by a thread of its own, which is ended before the recording is closed. */
int maker_start(struct view_report *r);
/* For at most that long. */
void maker_wait(struct view_report *r, unsigned milliseconds);
/* Ends it, finished or not; where there is one. */
void maker_stop(struct view_report *r);

#endif
