/* nvtx_pushpop_tree(): every push/pop range in order of start, with its place in the
 * tree of its thread and domain. Ranges are stored by depth, each depth in order, so one
 * walk over all depths at once suffices: nothing is sorted, and only one group per
 * depth is in memory. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sort.h"
#include "query/engine/function.h"
#include "query/engine/scope.h"
#include "query/index/times.h"
#include "query/index/track_reader.h"

/* clang-format off */
enum {
	TREE_START, TREE_END, TREE_DURATION, TREE_DUR_CHILD, TREE_NAME, TREE_DOMAIN, TREE_PID, TREE_TID,
	TREE_LEVEL, TREE_NUM_CHILD, TREE_ID, TREE_PARENT, TREE_STACK, TREE_THREAD_UID
};
/* clang-format on */
#define TREE_DECLARATION \
	"CREATE TABLE x(start INTEGER, end INTEGER, duration INTEGER, durChild INTEGER, " \
	"name TEXT, domainName TEXT, pid INTEGER, tid INTEGER, level INTEGER, " \
	"numChild INTEGER, rangeId INTEGER, parentId INTEGER, rangeStack TEXT, " \
	"threadUid INTEGER)"

/* One depth of one thread's stack in one domain. */
struct level {
	struct track_reader rows;     /* what comes next */
	struct track_reader children; /* runs ahead: the range's children in this level */
	const int64_t *track;         /* row of the index */
	int deeper;                   /* the next element of the array is the next depth of the same stack */
	int first;                    /* of its stack */
	int has_current;
	struct track_row current; /* the range emitted last */
	int64_t current_id;
};

struct tree_cursor {
	sqlite3_vtab_cursor base;
	struct query *q;
	struct track_groups groups;
	struct level *levels;
	size_t level_count;
	size_t *heap; /* levels by next start */
	size_t heap_count;
	/* The row that is shown. */
	size_t shown;
	struct track_row row;
	int64_t id;
	int64_t child_count;
	int64_t child_time;
	struct buf stack;
	int at_end;
};

static int tree_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, TREE_DECLARATION, ret);
}

static int tree_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	info->estimatedCost = 1e7;
	info->orderByConsumed = info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
				(info->aOrderBy[0].iColumn == TREE_START || info->aOrderBy[0].iColumn == TREE_ID);
	return SQLITE_OK;
}

static int tree_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct tree_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->q = ((struct function_vtab *)base)->q;
	*ret = &c->base;
	return SQLITE_OK;
}

static void clear_tree_cursor(struct tree_cursor *c)
{
	for (size_t i = 0; i < c->level_count; i++) {
		track_reader_release(&c->levels[i].rows);
		track_reader_release(&c->levels[i].children);
	}
	free(c->levels);
	free(c->heap);
	track_groups_release(&c->groups);
	c->levels = NULL;
	c->heap = NULL;
	c->level_count = c->heap_count = 0;
	c->id = 0;
	c->at_end = 0;
}

static int tree_close(sqlite3_vtab_cursor *base)
{
	struct tree_cursor *c = (struct tree_cursor *)base;

	clear_tree_cursor(c);
	buf_release(&c->stack);
	free(c);
	return SQLITE_OK;
}

/* Stacks together, each from its outermost level inwards. */
static int compare_levels(const void *a, const void *b)
{
	static const uint8_t order[] = { TRACK_PROCESS, TRACK_THREAD, TRACK_DOMAIN, TRACK_DEPTH, TRACK_ID };
	const int64_t *x = ((const struct level *)a)->track, *y = ((const struct level *)b)->track;

	for (size_t i = 0; i < sizeof(order); i++)
		if (x[order[i]] != y[order[i]])
			return x[order[i]] < y[order[i]] ? -1 : 1;
	return 0;
}

static int same_stack(const struct level *a, const struct level *b)
{
	return a->track[TRACK_PROCESS] == b->track[TRACK_PROCESS] && a->track[TRACK_THREAD] == b->track[TRACK_THREAD] &&
	       a->track[TRACK_DOMAIN] == b->track[TRACK_DOMAIN];
}

static void link_levels(struct tree_cursor *c)
{
	for (size_t i = 0; i < c->level_count; i++) {
		c->levels[i].first = i == 0 || !same_stack(&c->levels[i - 1], &c->levels[i]);
		c->levels[i].deeper = i + 1 < c->level_count && same_stack(&c->levels[i], &c->levels[i + 1]) &&
				      time_between(c->levels[i].track[TRACK_DEPTH], c->levels[i + 1].track[TRACK_DEPTH]) == 1;
	}
}

static int load_levels(struct tree_cursor *c)
{
	const struct index_table *tracks = &c->q->index.tracks;
	const int64_t *track;

	c->levels = calloc(tracks->count + 1, sizeof(*c->levels));
	c->heap = calloc(tracks->count + 1, sizeof(*c->heap));
	if (!c->levels || !c->heap)
		return -ENOMEM;
	for (size_t i = 0; i < tracks->count; i++) {
		track = tracks->rows + i * tracks->width;
		if (track[TRACK_KIND] == TRACK_NVTX_PUSHPOP && track_groups_has(&c->groups, (uint32_t)track[TRACK_ID]))
			c->levels[c->level_count++].track = track;
	}
	sort_items(c->levels, c->level_count, sizeof(*c->levels), compare_levels);
	for (size_t i = 0; i < c->level_count; i++) {
		track_reader_init(&c->levels[i].rows, c->q, &c->groups, (uint32_t)c->levels[i].track[TRACK_ID]);
		track_reader_init(&c->levels[i].children, c->q, &c->groups, (uint32_t)c->levels[i].track[TRACK_ID]);
	}
	link_levels(c);
	return 0;
}

/* Earlier start first; at the same moment the outer level, which is the smaller index. */
static int comes_before(struct tree_cursor *c, size_t a, size_t b)
{
	int64_t x = INT64_MAX, y = INT64_MAX;

	track_reader_next_start(&c->levels[a].rows, &x);
	track_reader_next_start(&c->levels[b].rows, &y);
	return x != y ? x < y : a < b;
}

static void sift_level_heap(struct tree_cursor *c, size_t at)
{
	size_t child, t;

	while ((child = 2 * at + 1) < c->heap_count) {
		if (child + 1 < c->heap_count && comes_before(c, c->heap[child + 1], c->heap[child]))
			child++;
		if (!comes_before(c, c->heap[child], c->heap[at]))
			return;
		t = c->heap[at];
		c->heap[at] = c->heap[child];
		c->heap[child] = t;
		at = child;
	}
}

static void build_heap(struct tree_cursor *c)
{
	for (size_t i = 0; i < c->level_count; i++)
		c->heap[c->heap_count++] = i;
	for (size_t i = c->heap_count / 2; i-- > 0;)
		sift_level_heap(c, i);
}

/* A child belongs to the last range of its parent's level that started no later:
 * counts those before the next range of the shown level starts. */
static int count_children(struct tree_cursor *c)
{
	struct level *level = &c->levels[c->shown], *inner = level + 1;
	struct track_row child, next;
	int has_next = track_reader_peek(&level->rows, &next), r;

	c->child_count = c->child_time = 0;
	if (has_next < 0)
		return has_next;
	if (!level->deeper)
		return 0;
	while ((r = track_reader_peek(&inner->children, &child)) > 0) {
		if (child.start > c->row.end || (has_next && child.start >= next.start))
			return 0;
		if (child.start >= c->row.start) {
			c->child_count++;
			if (!(child.flags & SLICE_OPEN))
				c->child_time = time_sum(c->child_time, time_between(child.start, child.end));
		}
		track_reader_advance(&inner->children);
	}
	return r;
}

static int is_inside(const struct level *outer, const struct track_row *row)
{
	return outer->has_current && outer->current.start <= row->start && row->start <= outer->current.end;
}

/* Ids from the outermost range that is running to the shown one. */
static int describe_stack(struct tree_cursor *c)
{
	size_t first = c->shown;

	while (!c->levels[first].first)
		first--;
	buf_clear(&c->stack);
	for (size_t i = first; i < c->shown && i - first < RANGE_STACK_MOST; i++)
		if (is_inside(&c->levels[i], &c->row))
			TRY(buf_printf(&c->stack, ":%" PRId64, c->levels[i].current_id));
	if (c->shown - first > RANGE_STACK_MOST)
		TRY(buf_puts(&c->stack, RANGE_STACK_CUT));
	return buf_printf(&c->stack, ":%" PRId64, c->id);
}

/* Takes the next row off the heap, shown or not. The directory's time of a group may be too early for
 * its first row, so the level is put in its place again once the group is read. */
static int step_any(struct tree_cursor *c)
{
	struct level *level;
	int64_t before = 0, after = 0;
	int r;

	for (;;) {
		if (c->heap_count == 0) {
			c->at_end = 1;
			return 0;
		}
		c->shown = c->heap[0];
		level = &c->levels[c->shown];
		track_reader_next_start(&level->rows, &before);
		r = track_reader_peek(&level->rows, &c->row);
		if (r < 0)
			return r;
		if (r == 0) {
			c->heap[0] = c->heap[--c->heap_count];
			sift_level_heap(c, 0);
			continue;
		}
		after = c->row.start;
		if (after == before)
			break;
		sift_level_heap(c, 0);
	}
	track_reader_advance(&level->rows);
	c->id++;
	r = count_children(c);
	if (r >= 0)
		r = describe_stack(c);
	level->has_current = 1;
	level->current = c->row;
	level->current_id = c->id;
	sift_level_heap(c, 0);
	return r;
}

/* Ids and levels are those of the whole recording. */
static int step_tree(struct tree_cursor *c)
{
	int r;

	do
		r = step_any(c);
	while (r >= 0 && !c->at_end && !scope_has(c->q, c->levels[c->shown].track, c->row.start, c->row.end));
	return r;
}

static int tree_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct tree_cursor *c = (struct tree_cursor *)base;
	int r;

	clear_tree_cursor(c);
	r = track_groups_load(&c->groups, c->q, TABLE_SLICE);
	if (r >= 0)
		r = load_levels(c);
	if (r >= 0) {
		build_heap(c);
		r = step_tree(c);
	}
	return function_code(r);
}

static int tree_next(sqlite3_vtab_cursor *base)
{
	return function_code(step_tree((struct tree_cursor *)base));
}

static int tree_eof(sqlite3_vtab_cursor *base)
{
	return ((struct tree_cursor *)base)->at_end;
}

static int64_t parent_of(const struct tree_cursor *c)
{
	for (size_t i = c->shown; !c->levels[i].first;)
		if (is_inside(&c->levels[--i], &c->row))
			return c->levels[i].current_id;
	return 0;
}

static int64_t get_tree_number(const struct tree_cursor *c, int column)
{
	const int64_t *track = c->levels[c->shown].track;
	const int64_t *process = index_find(&c->q->index.processes, track[TRACK_PROCESS]);
	const int64_t *thread = index_find(&c->q->index.threads, track[TRACK_THREAD]);

	switch (column) {
	case TREE_START: return c->row.start;
	case TREE_END: return c->row.end;
	case TREE_DURATION: return time_between(c->row.start, c->row.end);
	case TREE_DUR_CHILD: return c->child_time;
	case TREE_PID: return process ? process[PROCESS_PID] : 0;
	case TREE_TID: return thread ? thread[THREAD_TID] : 0;
	case TREE_LEVEL: return track[TRACK_DEPTH];
	case TREE_NUM_CHILD: return c->child_count;
	case TREE_ID: return c->id;
	case TREE_THREAD_UID: return track[TRACK_THREAD];
	default: return parent_of(c);
	}
}

static int tree_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct tree_cursor *c = (struct tree_cursor *)base;
	int64_t domain_uid = c->levels[c->shown].track[TRACK_DOMAIN], number;
	const int64_t *domain;

	if ((column == TREE_END || column == TREE_DURATION) && c->row.flags & SLICE_OPEN)
		return SQLITE_OK; /* null */
	switch (column) {
	case TREE_NAME: result_text(context, c->q, c->row.name); break;
	case TREE_DOMAIN:
		domain = index_find_last(&c->q->index.domains, &domain_uid, 1);
		result_text(context, c->q, domain ? domain[DOMAIN_NAME] : 0);
		break;
	case TREE_STACK: sqlite3_result_text(context, c->stack.data, (int)c->stack.len, SQLITE_TRANSIENT); break;
	default:
		number = get_tree_number(c, column);
		if (column != TREE_PARENT || number)
			sqlite3_result_int64(context, number);
	}
	return SQLITE_OK;
}

static int tree_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((struct tree_cursor *)base)->id;
	return SQLITE_OK;
}

const sqlite3_module pushpop_tree_module = FUNCTION_MODULE(tree, tree_best_index);
