/* What a track looks like in 256 buckets of 2^level ns: docs/view.md, "Tiles". */
#ifndef SONDE_VIEW_TILES_TILE_H
#define SONDE_VIEW_TILES_TILE_H

#include <stdbool.h>

#include "base/buf.h"
#include "view/report/view_report.h"

#define TILE_BUCKETS 256u
#define TILE_SHIFT 8u
#define TILE_MAX_LEVEL SUMMARY_MAX_LEVEL
/* Tracks without overlaps have at most two more than buckets; others are broken. */
#define TILE_MAX_LISTED 1024u
/* Points are listed where a bucket is at most this: 1 us. */
#define TILE_POINT_LEVEL 10u

struct listed {
	int64_t start;
	int64_t end;
	uint64_t index; /* in its track */
	uint32_t name;
	uint8_t flags; /* CHUNK_* */
};

struct bucket {
	uint64_t busy;    /* ns */
	uint64_t longest; /* what the name was chosen by */
	uint64_t first;   /* index of the first event that begins here */
	uint32_t begins;
	uint32_t name;
	bool touched;
};

struct tile {
	int64_t index;
	int64_t from, to; /* [from, to) */
	unsigned level;
	uint8_t table;
	uint32_t among; /* heat lines: tracks that the busy time is of; 0: one */
	bool heat;      /* everything is summed up, nothing listed */
	uint64_t least; /* busy times up to this may be nothing */
	bool by_line;   /* of what is added, what is in this line (lines.h) */
	unsigned line;
	uint32_t listed_count;
	struct bucket buckets[TILE_BUCKETS];
	struct listed listed[TILE_MAX_LISTED];
};

/* False where the tile would lie outside of what times can be. */
bool tile_init(struct tile *t, unsigned level, int64_t index);
void tile_clear(struct tile *t);

/* Adds what the track has there. -ENOMEM. */
int tile_add_track(struct tile *t, struct view_report *r, const struct view_track *track);
/* What all tracks of a joined row have in a line: long events exactly, those shorter than a bucket where most about them are. */
int tile_add_line(struct tile *t, struct view_report *r, const struct row *row, unsigned line);
/* The same for heat lines: where that is many rows, from summaries that may be coarser than the buckets. */
int tile_add_heat(struct tile *t, struct view_report *r, const struct view_track *const *tracks, size_t count);

bool tile_has(const struct tile *t, unsigned bucket);
/* The busy share of a bucket: 1 to 255, 0 only where nothing is there. */
uint8_t tile_share(const struct tile *t, unsigned bucket);

/* One event or bucket. */
void tile_add_event(struct tile *t, const struct listed *event);

/* Appends the track as docs/view.md says. -ENOMEM. */
int tile_write(const struct tile *t, struct view_report *r, struct buf *out);
int tile_write_head(struct buf *out, uint32_t row, uint32_t tracks, int64_t index);

/* The same for a plot. `held`: a value is good until the next. */
int plot_write(struct tile *t, struct view_report *r, const struct view_track *track, bool held, struct buf *out);

/* plot.c */
struct plot {
	struct plot_bucket {
		double least, most, sum;
		double last;    /* of those in it */
		uint32_t count; /* 0: nothing is there */
	} buckets[TILE_BUCKETS];
};
int plot_fill(struct plot *plot, struct tile *t, struct view_report *r, const struct view_track *track, bool held);

#endif
