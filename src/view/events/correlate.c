/* Which call started which work. Correlations rise with time, so a group has few of them all: their bounds are read once,
 * and then only the groups that can have a number are looked through. */
#include <errno.h>
#include <stdlib.h>

#include "view/events/event.h"

int correlation_column(enum table_id table)
{
	return table_column(table, ROLE_CALL | ROLE_WORK);
}

int64_t *place_correlations(struct recording *r, const struct piece *p)
{
	int64_t *values = malloc(p->rows * sizeof(*values) + 1);

	if (values && report_column(piece_report(r, p), p->table, p->group, (unsigned)correlation_column(p->table), values, NULL) < 0) {
		free(values);
		return NULL;
	}
	return values;
}

static void read_bounds(struct recording *r, const struct piece *p, struct bounds *ret)
{
	int64_t *values = place_correlations(r, p);

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
static const struct bounds *bounds_of(struct recording *r, size_t piece)
{
	if (!r->bounds)
		r->bounds = calloc(r->piece_count + 1, sizeof(*r->bounds));
	if (r->bounds && !r->bounds[piece].known)
		read_bounds(r, &r->pieces[piece], &r->bounds[piece]);
	return r->bounds ? &r->bounds[piece] : NULL;
}

bool piece_may_have(struct recording *r, size_t piece, int64_t least, int64_t largest)
{
	const struct bounds *b;
	bool may;

	pthread_mutex_lock(&r->bounds_lock);
	b = bounds_of(r, piece);
	may = !b || (b->least <= largest && b->largest >= least);
	pthread_mutex_unlock(&r->bounds_lock);
	return may;
}

static bool find_in_piece(struct recording *r, uint32_t lane, size_t piece, int64_t correlation, struct place *ret)
{
	const struct piece *p = &r->pieces[piece];
	const struct bounds *b = bounds_of(r, piece);
	bool found = false;
	int64_t *values;

	if (!b || correlation < b->least || correlation > b->largest)
		return false;
	values = place_correlations(r, p);
	for (uint32_t i = 0; values && i < p->rows && !found; i++)
		if (values[i] == correlation) {
			*ret = (struct place){ .lane = lane, .index = p->first + i };
			found = place_load(r, ret) == 0;
		}
	free(values);
	return found;
}

bool place_correlated(struct recording *r, enum table_id table, int64_t process, int64_t correlation, struct place *ret)
{
	bool found = false;

	pthread_mutex_lock(&r->bounds_lock);
	for (size_t i = 0; i < r->lane_count && !found; i++) {
		const struct lane *lane = &r->lanes[i];

		if (lane->table != table || lane_process(r, (uint32_t)i) != process)
			continue;
		for (size_t k = 0; k < lane->piece_count && !found; k++)
			found = find_in_piece(r, (uint32_t)i, lane->piece + k, correlation, ret);
	}
	pthread_mutex_unlock(&r->bounds_lock);
	return found;
}
