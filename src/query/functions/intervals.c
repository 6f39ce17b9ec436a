/* interval_union(source, keys [, filter]): time covered by the rows of each key, overlaps
 * counted once. interval_overlap(source, keys, filter_a, filter_b): time during which
 * rows of both kinds ran. Tables must have columns start and end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "query/engine/function.h"
#include "query/functions/group.h"
#include "query/engine/result.h"
#include "query/index/times.h"

/* The starts and ends of one key, both sides as groupings: the same rows in the same
 * order would be needed to pair them, but union and overlap need only the counts that run
 * at a time, so sorted starts and sorted ends suffice. */
struct span_set {
	struct grouping starts;
	struct grouping ends;
};

enum { UNION_KEY, UNION_COUNT = 4, UNION_TOTAL, UNION_BUSY, UNION_START, UNION_END, UNION_SOURCE, UNION_KEYS, UNION_FILTER };
#define UNION_DECLARATION \
	"CREATE TABLE x(key, key2, key3, key4, count INTEGER, total INTEGER, busy INTEGER, " \
	"start INTEGER, end INTEGER, source HIDDEN, keys HIDDEN, filter HIDDEN)"

enum { OVERLAP_KEY, OVERLAP_BUSY_A = 4, OVERLAP_BUSY_B, OVERLAP_BOTH, OVERLAP_SOURCE, OVERLAP_KEYS, OVERLAP_FILTER_A, OVERLAP_FILTER_B };
#define OVERLAP_DECLARATION \
	"CREATE TABLE x(key, key2, key3, key4, busy_a INTEGER, busy_b INTEGER, " \
	"overlap INTEGER, source HIDDEN, keys HIDDEN, filter_a HIDDEN, filter_b HIDDEN)"

struct interval_cursor {
	struct list_cursor list;
	struct span_set a, b;
};

/* Byte by byte from the lowest; bytes that are the same everywhere cost nothing. */
static int radix_sort(int64_t *values, size_t count)
{
	int64_t *from = values, *to = malloc(count * sizeof(*to)), *spare = to, *t;
	size_t ends[256], place;

	if (!to)
		return -ENOMEM;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		memset(ends, 0, sizeof(ends));
		for (size_t i = 0; i < count; i++)
			ends[((uint64_t)from[i] ^ 1ull << 63) >> shift & 255]++;
		if (ends[((uint64_t)from[0] ^ 1ull << 63) >> shift & 255] == count)
			continue;
		place = 0;
		for (unsigned b = 0; b < 256; b++) {
			size_t here = ends[b];

			ends[b] = place;
			place += here;
		}
		for (size_t i = 0; i < count; i++)
			to[ends[((uint64_t)from[i] ^ 1ull << 63) >> shift & 255]++] = from[i];
		t = from;
		from = to;
		to = t;
	}
	if (from != values)
		memcpy(values, from, count * sizeof(*values));
	free(spare);
	return 0;
}

static int sort_values(struct group *group)
{
	size_t i = 1;

	while (i < group->count && group->values[i - 1] <= group->values[i])
		i++;
	if (i >= group->count)
		return 0;
	if (group->count > 256)
		return radix_sort(group->values, group->count);
	sort_items(group->values, group->count, sizeof(*group->values), compare_int64);
	return 0;
}

/* Both groupings of a set have the same keys; they are put into the same order. */
static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->key_null != y->key_null)
		return x->key_null < y->key_null ? -1 : 1;
	for (unsigned i = 0; i < REQUEST_MAX_KEYS; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

static int sort_interval_groups(struct grouping *g)
{
	int r = 0;

	if (g->count)
		qsort(g->groups, g->count, sizeof(*g->groups), compare_groups);
	for (size_t i = 0; r >= 0 && i < g->count; i++)
		r = sort_values(&g->groups[i]);
	return r;
}

static void release_set(struct span_set *set)
{
	grouping_release(&set->starts);
	grouping_release(&set->ends);
}

static int load_side(struct grouping *g, struct query *q, const struct request *request, const char *column, struct error *err)
{
	int found = request_column(request->table, column, strlen(column), err);

	if (found < 0)
		return found;
	memset(g, 0, sizeof(*g));
	g->q = q;
	g->request = *request;
	g->value_column = (uint8_t)found;
	TRY(grouping_run(g, err));
	if (sort_interval_groups(g) < 0)
		return error_set(err, ENOMEM, "Not enough memory");
	return 0;
}

static int load_set(struct span_set *set, struct query *q, const char *source, const char *keys, const char *filter, struct error *err)
{
	struct request request;
	int r = request_parse(&request, q, source, keys, filter, err);
	int open;

	if (r < 0)
		return r;
	/* Rows without an end must be left out on both sides. */
	open = mapped_column_find(request.table, "open");
	if (open >= 0 && request.condition_count < SCAN_MAX_CONDITIONS)
		request.conditions[request.condition_count++] = (struct condition){ (uint8_t)open, COMPARE_EQ, 0 };
	TRY(load_side(&set->starts, q, &request, "start", err));
	return load_side(&set->ends, q, &request, "end", err);
}

static const struct group *find_keys(const struct grouping *g, const struct group *like)
{
	if (!like || !g->count)
		return NULL;
	return find_item(like, g->groups, g->count, sizeof(*g->groups), compare_groups);
}

/* Steps through the moments at which a row of either set starts or ends. */
struct sweep {
	const struct group *starts, *ends;
	size_t start, end;
};

static size_t sweep_running(const struct sweep *s)
{
	return s->start - s->end;
}

/* An end counts while something runs: in a damaged report there may be ends before all starts, or more of them. */
static int sweep_next_time(const struct sweep *s, int64_t *ret)
{
	int has_start = s->ends && s->start < s->starts->count;
	int has_end = s->ends && s->end < s->ends->count && sweep_running(s);

	if (has_start)
		*ret = s->starts->values[s->start];
	if (has_end && (!has_start || s->ends->values[s->end] < *ret))
		*ret = s->ends->values[s->end];
	return has_start || has_end;
}

static void sweep_to(struct sweep *s, int64_t time)
{
	if (!s->ends)
		return;
	while (s->start < s->starts->count && s->starts->values[s->start] <= time)
		s->start++;
	while (s->end < s->ends->count && s->end < s->start && s->ends->values[s->end] <= time)
		s->end++;
}

static void measure(struct sweep a, struct sweep b, int64_t *busy_a, int64_t *busy_b, int64_t *both)
{
	int64_t time = 0, next_a, next_b, next;
	int has_a, has_b, begun = 0;

	*busy_a = *busy_b = *both = 0;
	for (;;) {
		has_a = sweep_next_time(&a, &next_a);
		has_b = sweep_next_time(&b, &next_b);
		if (!has_a && !has_b)
			return;
		next = has_a && (!has_b || next_a < next_b) ? next_a : next_b;
		if (begun) {
			if (sweep_running(&a))
				*busy_a = time_sum(*busy_a, time_between(time, next));
			if (sweep_running(&b))
				*busy_b = time_sum(*busy_b, time_between(time, next));
			if (sweep_running(&a) && sweep_running(&b))
				*both = time_sum(*both, time_between(time, next));
		}
		begun = 1;
		time = next;
		sweep_to(&a, time);
		sweep_to(&b, time);
	}
}

static int union_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, UNION_DECLARATION, ret);
}

static int overlap_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, OVERLAP_DECLARATION, ret);
}

static int union_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return function_best_index(info, UNION_SOURCE, 3, 2);
}

static int overlap_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return function_best_index(info, OVERLAP_SOURCE, 4, 4);
}

static int interval_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct interval_cursor));
}

static void clear_interval_cursor(struct interval_cursor *c)
{
	release_set(&c->a);
	release_set(&c->b);
	memset(&c->a, 0, sizeof(c->a));
	memset(&c->b, 0, sizeof(c->b));
	c->list.at = 0;
}

static int interval_close(sqlite3_vtab_cursor *base)
{
	clear_interval_cursor((struct interval_cursor *)base);
	free(base);
	return SQLITE_OK;
}

static int union_filter(sqlite3_vtab_cursor *base, int given, const char *text, int argc, sqlite3_value **argv)
{
	struct interval_cursor *c = (struct interval_cursor *)base;
	struct query *q = ((struct function_vtab *)base->pVtab)->q;
	struct error err = { "" };
	int r;

	clear_interval_cursor(c);
	r = load_set(&c->a, q, function_argument(given, 0, argc, argv), function_argument(given, 1, argc, argv),
		     function_argument(given, 2, argc, argv), &err);
	c->list.count = c->a.ends.count;
	return r < 0 ? function_fail(base, r, &err) : SQLITE_OK;
}

static int overlap_filter(sqlite3_vtab_cursor *base, int given, const char *text, int argc, sqlite3_value **argv)
{
	struct interval_cursor *c = (struct interval_cursor *)base;
	struct query *q = ((struct function_vtab *)base->pVtab)->q;
	const char *source = function_argument(given, 0, argc, argv), *keys = function_argument(given, 1, argc, argv);
	struct error err = { "" };
	int r;

	clear_interval_cursor(c);
	r = load_set(&c->a, q, source, keys, function_argument(given, 2, argc, argv), &err);
	if (r >= 0)
		r = load_set(&c->b, q, source, keys, function_argument(given, 3, argc, argv), &err);
	c->list.count = c->a.ends.count;
	return r < 0 ? function_fail(base, r, &err) : SQLITE_OK;
}

static void result_key(sqlite3_context *context, const struct grouping *g, size_t at, unsigned key)
{
	if (key < g->request.key_count && !(g->groups[at].key_null >> key & 1))
		result_value(context, g->q, g->key_kind[key], g->groups[at].key[key]);
}

static struct sweep sweep_of(const struct span_set *set, const struct group *like)
{
	struct sweep s = { find_keys(&set->starts, like), find_keys(&set->ends, like), 0, 0 };

	if (!s.starts || !s.ends || s.starts->count != s.ends->count)
		s.starts = s.ends = NULL;
	return s;
}

static int union_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct interval_cursor *c = (struct interval_cursor *)base;
	struct sweep s = sweep_of(&c->a, &c->a.ends.groups[c->list.at]), none = { 0 };
	int64_t busy, ignored, both, total = 0;

	if (column < UNION_COUNT)
		result_key(context, &c->a.ends, c->list.at, (unsigned)column);
	else if (!s.ends)
		sqlite3_result_null(context);
	else if (column == UNION_COUNT)
		sqlite3_result_int64(context, (sqlite3_int64)s.ends->count);
	else if (column == UNION_TOTAL) {
		for (size_t i = 0; i < s.ends->count; i++)
			total = time_sum(total, time_between(s.starts->values[i], s.ends->values[i]));
		sqlite3_result_int64(context, total);
	} else if (column == UNION_BUSY) {
		measure(s, none, &busy, &ignored, &both);
		sqlite3_result_int64(context, busy);
	} else if (column == UNION_START) {
		sqlite3_result_int64(context, s.starts->values[0]);
	} else if (column == UNION_END) {
		sqlite3_result_int64(context, s.ends->values[s.ends->count - 1]);
	}
	return SQLITE_OK;
}

static int overlap_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct interval_cursor *c = (struct interval_cursor *)base;
	const struct group *like = &c->a.ends.groups[c->list.at];
	int64_t figures[3];

	if (column < OVERLAP_BUSY_A) {
		result_key(context, &c->a.ends, c->list.at, (unsigned)column);
	} else if (column <= OVERLAP_BOTH) {
		measure(sweep_of(&c->a, like), sweep_of(&c->b, like), &figures[0], &figures[1], &figures[2]);
		sqlite3_result_int64(context, figures[column - OVERLAP_BUSY_A]);
	}
	return SQLITE_OK;
}

/* Both open and close alike. */
#define INTERVAL_MODULE(prefix) \
	{ \
		.iVersion = 1, .xConnect = prefix##_connect, .xBestIndex = prefix##_best_index, .xDisconnect = vtab_disconnect, \
		.xOpen = interval_open, .xClose = interval_close, .xFilter = prefix##_filter, .xNext = list_next, .xEof = list_eof, \
		.xColumn = prefix##_column, .xRowid = list_rowid \
	}

const sqlite3_module interval_union_module = INTERVAL_MODULE(union);

const sqlite3_module interval_overlap_module = INTERVAL_MODULE(overlap);
