/* Which call started which work. Correlations rise with time, so a group has few of them all: their bounds are read once,
 * and then only the groups that can have a number are looked through. */
#include <errno.h>
#include <stdlib.h>

#include "view/events/event.h"

int correlation_column(enum table_id table)
{
	return table_column(table, ROLE_CALL | ROLE_WORK);
}

int64_t *group_correlations(struct view_report *r, const struct row_group *p)
{
	int64_t *values = malloc(p->rows * sizeof(*values) + 1);

	if (values && report_column(group_report(r, p), p->table, p->number, (unsigned)correlation_column(p->table), values, NULL) < 0) {
		free(values);
		return NULL;
	}
	return values;
}

static void read_bounds(struct view_report *r, const struct row_group *p, struct bounds *ret)
{
	int64_t *values = group_correlations(r, p);

	*ret = (struct bounds){ .known = true, .least = INT64_MAX, .largest = INT64_MIN };
	for (uint32_t i = 0; values && i < p->rows; i++) {
		if (!values[i])
			continue;
		ret->least = values[i] < ret->least ? values[i] : ret->least;
		ret->largest = values[i] > ret->largest ? values[i] : ret->largest;
	}
	free(values);
}

/* With the lock. */
static const struct bounds *bounds_of(struct view_report *r, size_t group)
{
	if (!r->bounds)
		r->bounds = calloc(r->group_count + 1, sizeof(*r->bounds));
	if (r->bounds && !r->bounds[group].known)
		read_bounds(r, &r->groups[group], &r->bounds[group]);
	return r->bounds ? &r->bounds[group] : NULL;
}

bool group_may_have(struct view_report *r, size_t group, int64_t least, int64_t largest)
{
	const struct bounds *b;
	bool may;

	pthread_mutex_lock(&r->bounds_lock);
	b = bounds_of(r, group);
	may = !b || (b->least <= largest && b->largest >= least);
	pthread_mutex_unlock(&r->bounds_lock);
	return may;
}

static bool find_in_group(struct view_report *r, uint32_t track, size_t group, int64_t correlation, struct event_ref *ret)
{
	const struct row_group *p = &r->groups[group];
	const struct bounds *b = bounds_of(r, group);
	bool found = false;
	int64_t *values;

	if (!b || correlation < b->least || correlation > b->largest)
		return false;
	values = group_correlations(r, p);
	for (uint32_t i = 0; values && i < p->rows && !found; i++)
		if (values[i] == correlation) {
			*ret = (struct event_ref){ .track = track, .index = p->first + i };
			found = event_load(r, ret) == 0;
		}
	free(values);
	return found;
}

bool event_correlated(struct view_report *r, enum table_id table, int64_t process, int64_t correlation, struct event_ref *ret)
{
	bool found = false;

	pthread_mutex_lock(&r->bounds_lock);
	for (size_t i = 0; i < r->track_count && !found; i++) {
		const struct view_track *track = &r->tracks[i];

		if (track->table != table || track_process(r, (uint32_t)i) != process)
			continue;
		for (size_t k = 0; k < track->group_count && !found; k++)
			found = find_in_group(r, (uint32_t)i, track->group + k, correlation, ret);
	}
	pthread_mutex_unlock(&r->bounds_lock);
	return found;
}
