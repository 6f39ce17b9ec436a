/* Single events: where they are, and finding them. */
#ifndef SONDE_VIEW_EVENTS_EVENT_H
#define SONDE_VIEW_EVENTS_EVENT_H

#include "view/request/answer.h"
#include "view/request/json_out.h"
#include "view/report/view_report.h"

/* An event by its track (number in the recording) and index. */
struct event_ref {
	uint32_t track;
	uint64_t index;
	int64_t start;
	int64_t end;
	uint32_t name;
};

/* In the order of their starts. */
static inline bool is_event_before(const struct event_ref *x, const struct event_ref *y)
{
	if (x->start != y->start)
		return x->start < y->start;
	return x->track != y->track ? x->track < y->track : x->index < y->index;
}

/* The group that has the row of that index; NULL: none. */
const struct row_group *track_group(const struct view_report *r, const struct view_track *track, uint64_t index);
/* Fills in times and name. -ENOENT. */
int event_load(struct view_report *r, struct event_ref *p);
/* The event of the track that is going on at a time; false: none. */
bool event_at(struct view_report *r, uint32_t track, int64_t time, struct event_ref *ret);

/* One value of one row; false where it is null. */
bool event_value(struct view_report *r, const struct event_ref *p, unsigned column, int64_t *ret);
int64_t track_process(const struct view_report *r, uint32_t track);

/* The event that a made one was made from (derived/derived.h); false: none. */
bool event_origin(struct view_report *r, const struct event_ref *p, struct event_ref *ret);

/* correlate.c: the event of a table in a process that has the correlation. */
bool event_correlated(struct view_report *r, enum table_id table, int64_t process, int64_t correlation, struct event_ref *ret);
/* Correlations of a group's rows, to be freed; NULL where they cannot be read. */
int64_t *group_correlations(struct view_report *r, const struct row_group *p);
/* False where no row of the group (by number) has one from least to largest. */
bool group_may_have(struct view_report *r, size_t group, int64_t least, int64_t largest);
/* The column that has it; -1: none. */
int correlation_column(enum table_id table);

/* {"row":, "track":, "index":, "start":, "end":, "name":, "name_id":}; or these keys alone. */
void event_put_keys(struct json_out *j, struct view_report *r, const struct event_ref *p);
void event_put(struct json_out *j, struct view_report *r, const struct event_ref *p);
void event_put_name(struct json_out *j, struct view_report *r, uint32_t name);

/* Parameter row. -EINVAL. */
int param_row(struct params *p, const struct view_report *r, const struct row **ret, struct error *err);
/* A request for one event: parameters report, row, track and index, and no others. -ENOENT where there is no such event. */
struct view;
int params_event(struct view *v, struct params *p, struct view_report **ret, struct event_ref *ret_event, struct error *err);
/* from and to; all of the recording where they are not given. */
int param_times(struct params *p, const struct view_report *r, int64_t *from, int64_t *to, struct error *err);

#endif
