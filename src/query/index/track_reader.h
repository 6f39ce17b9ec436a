/* Walking one track's rows in order of start, one group in memory at a time. */
#ifndef SONDE_QUERY_INDEX_TRACK_READER_H
#define SONDE_QUERY_INDEX_TRACK_READER_H

#include "query/internal.h"

#define TRACK_READER_COLUMNS 6

/* Groups of a table by track, in time order within each. */
struct track_groups {
	enum table_id table;
	struct track_group {
		uint32_t track;
		size_t group;
	} * groups;
	size_t count;
};

int track_groups_load(struct track_groups *ret, struct query *q, enum table_id table);
void track_groups_release(struct track_groups *groups);
/* The first entry of a track; count when it has none. */
size_t track_groups_find(const struct track_groups *groups, uint32_t track);
int track_groups_has(const struct track_groups *groups, uint32_t track);

/* A row of the slice table. */
struct track_row {
	int64_t start;
	int64_t end;
	int64_t name;
	int64_t flags;
};

struct track_reader {
	struct query *q;
	const struct track_groups *groups;
	uint32_t track;
	size_t at; /* entry of groups */
	int loaded;
	uint32_t row;
	uint32_t rows;
	unsigned column_count;
	uint8_t read[TRACK_READER_COLUMNS];     /* which columns; the first is the start */
	int64_t *columns[TRACK_READER_COLUMNS]; /* of the group; nulls are 0 */
};

/* For slices. */
void track_reader_init(struct track_reader *t, struct query *q, const struct track_groups *groups, uint32_t track);
/* For other tables: `columns` are those to read. */
void track_reader_init_columns(struct track_reader *t, struct query *q, const struct track_groups *groups, uint32_t track,
			       const uint8_t *columns, unsigned count);
void track_reader_release(struct track_reader *t);
/* Makes columns[...][row] the current row: 1, or 0 behind the last; negative errno on trouble. */
int track_reader_load(struct track_reader *t);
/* The current slice, in the same manner. */
int track_reader_peek(struct track_reader *t, struct track_row *ret);
void track_reader_advance(struct track_reader *t);
/* When the current row starts, without decoding where the directory suffices (then not
 * later than it does). 0 behind the last. */
int track_reader_next_start(struct track_reader *t, int64_t *ret);

#endif
