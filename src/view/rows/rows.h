/* How tracks become rows: every track gets a key, and those with equal keys but for the depth and the track are one row. */
#ifndef SONDE_VIEW_ROWS_ROWS_H
#define SONDE_VIEW_ROWS_ROWS_H

#include "view/report/view_report.h"

enum row_section { SECTION_GPU, SECTION_PROCESS };

struct track_key {
	enum row_section section;
	int64_t place; /* order and uid of the GPU; uid of the process */
	int64_t order; /* GPU: enum row_kind of the heading; process: the thread's order */
	int64_t owner; /* uid of the stream, of the thread; 0: none */
	enum row_kind kind;
	int64_t domain;
	int64_t label;      /* string id */
	enum row_draw draw; /* one track may have rows of several tables: they are drawn apart */
	int64_t depth;
	uint32_t track;
};

struct row_maker {
	struct view_report *r;
	size_t capacity;
	/* The headings below which rows are put now; ROW_NO_PARENT: none. */
	uint32_t place_row;
	uint32_t owner_row;
	bool owner_has_heat;
};

/* A new row at the end of the list; NULL: no memory. */
struct row *row_add(struct row_maker *m, uint32_t parent, enum row_kind kind, enum row_draw draw);
__attribute__((format(printf, 2, 3))) int row_print(char **to, const char *format, ...);
/* The text of a string id, "" for none; valid as long as the recording. */
const char *row_text(struct view_report *r, int64_t id);

/* How the events of a track are drawn. */
enum row_draw row_draw_of(const struct view_report *r, uint32_t track);

/* Lanes of a row, behind those it has; and those that a heading's heat line is made of. */
int row_add_tracks(struct view_report *r, uint32_t row, const uint32_t *tracks, uint32_t count);
int row_add_heat(struct row *group, const uint32_t *tracks, uint32_t count);
/* Shares, ranges of plots of the rows from there on, and the order they are shown in. */
int rows_finish(struct view_report *r, size_t from);
/* Takes rows back from there on, where they cannot be completed. */
void rows_drop(struct view_report *r, size_t from);

int64_t gpu_of_context(const struct view_report *r, int64_t uid);
/* Of a track of GPU work; 0: not known. */
int64_t gpu_of_track(const struct view_report *r, uint32_t track);

/* gpu.c, process.c: false where the track is none of theirs. */
bool gpu_track_key(const struct view_report *r, const int64_t *track, struct track_key *ret);
bool process_track_key(const struct view_report *r, const int64_t *track, struct track_key *ret);
/* The headings of a key; `before` is the key of the row before, NULL for the first. */
int gpu_headings(struct row_maker *m, const struct track_key *before, const struct track_key *key);
int process_headings(struct row_maker *m, const struct track_key *before, const struct track_key *key);
/* What a row is called. */
int gpu_label(struct view_report *r, const struct track_key *key, struct row *row);
int process_label(struct view_report *r, const struct track_key *key, struct row *row);

#endif
