/* Single events: where they are, and finding them. */
#ifndef SONDE_VIEW_EVENTS_EVENT_H
#define SONDE_VIEW_EVENTS_EVENT_H

#include "view/request/answer.h"
#include "view/request/json_out.h"
#include "view/recording/recording.h"

/* An event by its lane (number in the recording) and index. */
struct place {
	uint32_t lane;
	uint64_t index;
	int64_t start;
	int64_t end;
	uint32_t name;
};

/* In the order of their starts. */
static inline bool place_is_before(const struct place *x, const struct place *y)
{
	if (x->start != y->start)
		return x->start < y->start;
	return x->lane != y->lane ? x->lane < y->lane : x->index < y->index;
}

/* The piece that has the row of that index; NULL: none. */
const struct piece *lane_piece(const struct recording *r, const struct lane *lane, uint64_t index);
/* Fills in times and name. -ENOENT. */
int place_load(struct recording *r, struct place *p);
/* The event of the lane that is going on at a time; false: none. */
bool place_at(struct recording *r, uint32_t lane, int64_t time, struct place *ret);

/* One value of one row; false where it is null. */
bool place_value(struct recording *r, const struct place *p, unsigned column, int64_t *ret);
int64_t lane_process(const struct recording *r, uint32_t lane);

/* The event that a made one was made from (derived/derived.h); false: none. */
bool place_source(struct recording *r, const struct place *p, struct place *ret);

/* correlate.c: the event of a table in a process that has the correlation. */
bool place_correlated(struct recording *r, enum table_id table, int64_t process, int64_t correlation, struct place *ret);
/* Correlations of a piece's rows, to be freed; NULL where they cannot be read. */
int64_t *place_correlations(struct recording *r, const struct piece *p);
/* False where no row of the piece (by number) has one from least to largest. */
bool piece_may_have(struct recording *r, size_t piece, int64_t least, int64_t largest);
/* The column that has it; -1: none. */
int correlation_column(enum table_id table);

/* {"row":, "lane":, "index":, "start":, "end":, "name":, "name_id":}; or these keys alone. */
void place_put_keys(struct json_out *j, struct recording *r, const struct place *p);
void place_put(struct json_out *j, struct recording *r, const struct place *p);
void place_put_name(struct json_out *j, struct recording *r, uint32_t name);

/* Parameter row. -EINVAL. */
int param_row(struct params *p, const struct recording *r, const struct row **ret, struct error *err);
/* A request for one event: parameters report, row, lane and index, and no others. -ENOENT where there is no such event. */
struct view;
int params_event(struct view *v, struct params *p, struct recording **ret, struct place *ret_place, struct error *err);
/* from and to; all of the recording where they are not given. */
int param_times(struct params *p, const struct recording *r, int64_t *from, int64_t *to, struct error *err);

#endif
