/* Functions for statements over intervals, distributions and nsys's ids: docs/sql.md. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"
#include "base/sort.h"
#include "query/functions/group.h"
#include "query/internal.h"
#include "query/functions/select.h"

static int any_is_null(int argc, sqlite3_value **argv)
{
	for (int i = 0; i < argc; i++)
		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			return 1;
	return 0;
}

/* overlap_ns(a_start, a_end, b_start, b_end) */
void sql_overlap_ns(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	sqlite3_int64 start, end;

	if (any_is_null(argc, argv))
		return;
	start = sqlite3_value_int64(argv[0]);
	if (sqlite3_value_int64(argv[2]) > start)
		start = sqlite3_value_int64(argv[2]);
	end = sqlite3_value_int64(argv[1]);
	if (sqlite3_value_int64(argv[3]) < end)
		end = sqlite3_value_int64(argv[3]);
	sqlite3_result_int64(context, end > start ? (sqlite3_int64)((uint64_t)end - (uint64_t)start) : 0);
}

/* nsys's ids: 24 bits of tid, 24 of pid above them. */
void sql_global_pid(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	if (!any_is_null(argc, argv))
		sqlite3_result_int64(context, sqlite3_value_int64(argv[0]) >> 24 & 0xffffff);
}

void sql_global_tid(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	if (!any_is_null(argc, argv))
		sqlite3_result_int64(context, sqlite3_value_int64(argv[0]) & 0xffffff);
}

/* format_time(ns): "1.235 ms" */
void sql_format_time(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	static const struct {
		double least;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
	double ns = sqlite3_value_double(argv[0]);
	char text[64];

	if (any_is_null(argc, argv))
		return;
	snprintf(text, sizeof(text), "%.0f ns", ns);
	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (fabs(ns) >= units[i].least) {
			snprintf(text, sizeof(text), "%.3f %s", ns / units[i].least, units[i].unit);
			break;
		}
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* What an aggregate has seen so far. */
struct seen {
	void *items;
	size_t count;
	size_t cap;
	int failed;
	int unsorted;   /* intervals: not by start */
	double percent; /* percentile() */
};

static void *add_seen_item(sqlite3_context *context, struct seen *seen, size_t size)
{
	if (seen->count == seen->cap && !array_grow(&seen->items, &seen->cap, seen->count + 1, size, false)) {
		seen->failed = 1;
		sqlite3_result_error_nomem(context);
		return NULL;
	}
	return (char *)seen->items + seen->count++ * size;
}

static struct seen *seen_of(sqlite3_context *context)
{
	struct seen *seen = sqlite3_aggregate_context(context, sizeof(*seen));

	return seen && !seen->failed ? seen : NULL;
}

struct interval {
	int64_t start;
	int64_t end;
};

void sql_union_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct seen *seen = seen_of(context);
	struct interval *last, *added;

	if (!seen || any_is_null(argc, argv))
		return;
	added = add_seen_item(context, seen, sizeof(*added));
	if (!added)
		return;
	*added = (struct interval){ sqlite3_value_int64(argv[0]), sqlite3_value_int64(argv[1]) };
	last = seen->count > 1 ? added - 1 : added;
	seen->unsorted |= added->start < last->start;
}

static int compare_interval_starts(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void sql_union_final(sqlite3_context *context)
{
	struct seen *seen = sqlite3_aggregate_context(context, 0);
	const struct interval *items;
	uint64_t total = 0;
	int64_t reached = INT64_MIN;

	if (!seen)
		return; /* null: there was no row */
	items = seen->items;
	if (seen->unsorted)
		sort_items(seen->items, seen->count, sizeof(*items), compare_interval_starts);
	for (size_t i = 0; i < seen->count; i++) {
		int64_t start = items[i].start > reached ? items[i].start : reached;

		if (items[i].end <= start)
			continue;
		total += (uint64_t)items[i].end - (uint64_t)start;
		reached = items[i].end;
	}
	if (seen->count)
		sqlite3_result_int64(context, (sqlite3_int64)total);
	free(seen->items);
}

/* Values are kept as whole numbers of the same order. */
void sql_percentile_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct seen *seen = seen_of(context);
	double value = sqlite3_value_double(argv[0]);
	int64_t *added, bits;

	if (!seen)
		return;
	seen->percent = argc > 1 ? sqlite3_value_double(argv[1]) : 50;
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	if (!(seen->percent >= 0 && seen->percent <= 100)) {
		seen->failed = 1;
		sqlite3_result_error(context, "percentile(value, p): p goes from 0 to 100", -1);
		return;
	}
	added = add_seen_item(context, seen, sizeof(*added));
	if (!added)
		return;
	memcpy(&bits, &value, sizeof(bits));
	*added = group_sortable(bits);
}

void sql_percentile_final(sqlite3_context *context)
{
	struct seen *seen = sqlite3_aggregate_context(context, 0);
	struct quantile found;
	double fraction, low, high;

	if (seen && seen->count && !seen->failed) {
		fraction = seen->percent / 100;
		select_quantiles(seen->items, seen->count, &fraction, 1, &found);
		low = group_real(found.low);
		high = group_real(found.high);
		sqlite3_result_double(context, found.between > 0 ? low + (high - low) * found.between : low);
	}
	if (seen)
		free(seen->items);
}

/* Welford's: no difference of large sums. */
struct moments {
	uint64_t count;
	double mean;
	double squares;
};

void sql_stddev_step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct moments *m = sqlite3_aggregate_context(context, sizeof(*m));
	double value = sqlite3_value_double(argv[0]), difference;

	if (!m || sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	difference = value - m->mean;
	m->mean += difference / (double)++m->count;
	m->squares += difference * (value - m->mean);
}

void sql_stddev_final(sqlite3_context *context)
{
	struct moments *m = sqlite3_aggregate_context(context, 0);

	if (m && m->count)
		sqlite3_result_double(context, m->count > 1 ? sqrt(m->squares / (double)(m->count - 1)) : 0);
}
