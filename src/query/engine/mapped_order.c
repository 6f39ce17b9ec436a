#include "query/engine/mapped_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "query/engine/merge_heap.h"

/* A decoded group is held for each track that is merged. */
#define MOST_TRACKS 64

struct group_ref {
	unsigned source;
	uint32_t track;
	size_t group;
};

/* The groups of one track. */
struct merged_track {
	/* rank: among the values of the order's columns; key: least that the next row can have, its own when `ready` */
	struct merge_place place;
	const struct group_ref *groups; /* those left: read from the front, or from the back when descending */
	size_t count;
	int ready;
	unsigned source;
	uint32_t id;
	struct scan *scan; /* NULL until it is this track's turn */
	int time_column;   /* of the report's table */
	uint32_t row;
	struct row_check checks[SCAN_MAX_CONDITIONS];
	unsigned check_count;
};

struct ordered_rows {
	struct scan *probe;
	struct row_order order;
	struct group_ref *groups;
	struct merged_track *tracks;
	size_t track_count;
	struct merge_heap heap;
	int begun;
};

static int64_t get_order_key(const struct row_order *order, int64_t time)
{
	return order->descending ? ~time : time;
}

static struct merged_track *top_track(const struct ordered_rows *rows)
{
	return (struct merged_track *)rows->heap.items[0];
}

/* Columns of which a track has one value, then a time or nothing. */
static int take_terms(const struct mapped_table *table, const struct mapped_source *source, const sqlite3_index_info *info,
		      struct row_order *ret)
{
	const struct mapped_cell *cell;

	ret->column_count = 0;
	ret->time_column = -1;
	ret->descending = 0;
	for (int i = 0; i < info->nOrderBy; i++) {
		int column = info->aOrderBy[i].iColumn;

		if (column < 0 || ret->time_column >= 0)
			return 0;
		cell = mapped_cell(table, (unsigned)(source - table->sources), (unsigned)column);
		if (cell_is_constant(cell) && !info->aOrderBy[i].desc && i < ORDER_MAX_COLUMNS &&
		    strncmp(table->columns[column].declaration, "INTEGER", 7) == 0) {
			ret->columns[ret->column_count++] = (uint8_t)column;
			continue;
		}
		/* An end may be null in some rows. */
		if (cell_time_edge(source, cell) < 0 || cell->convert != CONVERT_NUMBER)
			return 0;
		ret->time_column = column;
		ret->descending = info->aOrderBy[i].desc;
	}
	return 1;
}

static int compare_ordered_groups(const void *a, const void *b)
{
	const struct group_ref *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

static int is_same_track(const struct group_ref *a, const struct group_ref *b)
{
	return a->source == b->source && a->track == b->track;
}

/* The groups of all sources that the probe lets through, track by track. */
static int list_ordered_groups(struct scan *probe, struct group_ref **ret, size_t *ret_count)
{
	size_t count = 0, all = 0;

	for (unsigned i = 0; i < probe->table->source_count; i++)
		all += report_group_count(probe->q->report, probe->table->sources[i].table);
	*ret = calloc(all + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (unsigned i = 0; i < probe->table->source_count; i++) {
		enum table_id table = probe->table->sources[i].table;

		for (size_t g = 0; g < report_group_count(probe->q->report, table); g++)
			if (scan_may_enter(probe, i, g) > 0)
				(*ret)[count++] = (struct group_ref){ i, report_group(probe->q->report, table, g)->track, g };
	}
	sort_items(*ret, count, sizeof(**ret), compare_ordered_groups);
	*ret_count = count;
	return 0;
}

/* Few tracks, and the groups of each one behind the other: a file may say otherwise. */
static int can_merge(struct scan *probe)
{
	const struct report_group *last = NULL, *group;
	struct group_ref *groups;
	size_t count, tracks = 0;
	int can = list_ordered_groups(probe, &groups, &count) >= 0;

	for (size_t i = 0; can && i < count; i++) {
		group = report_group(probe->q->report, probe->table->sources[groups[i].source].table, groups[i].group);
		if (i && is_same_track(&groups[i - 1], &groups[i]))
			can = group->time_min >= last->time_min && group->time_max >= last->time_max;
		else
			tracks++;
		last = group;
	}
	free(groups);
	return can && tracks <= MOST_TRACKS;
}

int row_order_of(struct query *q, const struct mapped_table *table, const sqlite3_index_info *info, struct row_order *ret)
{
	struct row_order other;
	struct scan probe;
	int found = 0, can;

	for (unsigned i = 0; i < table->source_count; i++) {
		const struct mapped_source *source = &table->sources[i];

		if (report_row_count(q->report, source->table) == 0)
			continue;
		if (table_schema(source->table)->kind == TABLE_KIND_PLAIN || !take_terms(table, source, info, &other))
			return 0;
		if (found && (other.column_count != ret->column_count || other.time_column != ret->time_column))
			return 0;
		*ret = other;
		found = 1;
	}
	if (!found)
		return 0;
	scan_init(&probe, q, table);
	can = can_merge(&probe);
	scan_release(&probe);
	return can;
}

void row_order_write(const struct row_order *order, char *ret, size_t size)
{
	size_t len = 0;

	for (unsigned i = 0; i < order->column_count && len + 3 < size; i++)
		ret[len++] = (char)('A' + order->columns[i]);
	if (order->time_column >= 0) {
		ret[len++] = order->descending ? '-' : '+';
		ret[len++] = (char)('A' + order->time_column);
	}
	ret[len] = '\0';
}

void row_order_read(struct row_order *ret, const char *text)
{
	*ret = (struct row_order){ .time_column = -1 };
	for (; *text && *text != '+' && *text != '-'; text++)
		ret->columns[ret->column_count++] = (uint8_t)(*text - 'A');
	if (*text) {
		ret->descending = *text == '-';
		ret->time_column = text[1] - 'A';
	}
}

/* The next group to read, and what its rows cannot be before. */
static const struct group_ref *get_front_group(const struct ordered_rows *rows, const struct merged_track *track)
{
	return rows->order.descending ? &track->groups[track->count - 1] : track->groups;
}

static void drop_front(const struct ordered_rows *rows, struct merged_track *track)
{
	if (!rows->order.descending)
		track->groups++;
	track->count--;
}

static void bound_key(const struct ordered_rows *rows, struct merged_track *track)
{
	const struct group_ref *p = get_front_group(rows, track);
	const struct report_group *group = report_group(rows->probe->q->report, rows->probe->table->sources[p->source].table, p->group);

	track->ready = 0;
	track->place.key = rows->order.time_column < 0 ?
				   0 :
				   get_order_key(&rows->order, rows->order.descending ? group->time_max : group->time_min);
}

/* The values of the order's columns in a track: null is the least. */
static int compare_values(const struct ordered_rows *rows, const struct merged_track *a, const struct merged_track *b)
{
	for (unsigned i = 0; i < rows->order.column_count; i++) {
		int64_t x = 0, y = 0;
		int has_x, has_y;

		scan_may_enter(rows->probe, a->groups->source, a->groups->group);
		has_x = scan_constant(rows->probe, rows->order.columns[i], &x);
		scan_may_enter(rows->probe, b->groups->source, b->groups->group);
		has_y = scan_constant(rows->probe, rows->order.columns[i], &y);
		if (has_x != has_y)
			return has_x - has_y;
		if (has_x && x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

/* There are few: each is compared with each. */
static void rank_tracks(struct ordered_rows *rows)
{
	if (rows->order.column_count == 0)
		return;
	for (size_t i = 0; i < rows->track_count; i++)
		for (size_t k = 0; k < rows->track_count; k++)
			rows->tracks[i].place.rank += compare_values(rows, &rows->tracks[k], &rows->tracks[i]) < 0;
}

static void make_tracks(struct ordered_rows *rows, size_t count)
{
	struct merged_track *track = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!track || !is_same_track(&rows->groups[i - 1], &rows->groups[i])) {
			track = &rows->tracks[rows->track_count++];
			track->groups = &rows->groups[i];
			track->source = track->groups->source;
			track->id = track->groups->track;
			if (rows->order.time_column >= 0)
				track->time_column = mapped_cell(rows->probe->table, track->source, (unsigned)rows->order.time_column)
							     ->column;
		}
		track->count++;
	}
	rank_tracks(rows);
	for (size_t i = 0; i < rows->track_count; i++) {
		bound_key(rows, &rows->tracks[i]);
		rows->heap.items[rows->heap.count++] = &rows->tracks[i].place;
	}
	merge_heap_build(&rows->heap);
}

/* A subquery asks again for each row of what is around it, mostly for what is near. */
static void take_decoded(struct ordered_rows *rows, struct ordered_rows *earlier)
{
	for (size_t i = 0; i < rows->track_count; i++)
		for (size_t k = 0; k < earlier->track_count && !rows->tracks[i].scan; k++)
			if (rows->tracks[i].source == earlier->tracks[k].source && rows->tracks[i].id == earlier->tracks[k].id) {
				rows->tracks[i].scan = earlier->tracks[k].scan;
				earlier->tracks[k].scan = NULL;
			}
}

static int open_rows(struct ordered_rows **ret, struct scan *probe, const struct row_order *order)
{
	struct ordered_rows *rows = calloc(1, sizeof(*rows));
	size_t count;

	if (!rows)
		return -ENOMEM;
	rows->probe = probe;
	rows->order = *order;
	if (list_ordered_groups(probe, &rows->groups, &count) < 0) {
		free(rows);
		return -ENOMEM;
	}
	rows->tracks = calloc(count + 1, sizeof(*rows->tracks));
	rows->heap.items = calloc(count + 1, sizeof(struct merge_place *));
	if (!rows->tracks || !rows->heap.items) {
		ordered_rows_free(rows);
		return -ENOMEM;
	}
	make_tracks(rows, count);
	*ret = rows;
	return 0;
}

int ordered_rows_open(struct ordered_rows **rows, struct scan *probe, const struct row_order *order)
{
	struct ordered_rows *opened;

	TRY(open_rows(&opened, probe, order));
	if (*rows)
		take_decoded(opened, *rows);
	ordered_rows_free(*rows);
	*rows = opened;
	return 0;
}

void ordered_rows_free(struct ordered_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->track_count; i++)
		if (rows->tracks[i].scan) {
			scan_release(rows->tracks[i].scan);
			free(rows->tracks[i].scan);
		}
	free(rows->tracks);
	free(rows->heap.items);
	free(rows->groups);
	free(rows);
}

/* Reads the track's next group. 1, or 0 where it shows no row. */
static int enter_next_group(struct ordered_rows *rows, struct merged_track *track)
{
	const struct group_ref *p = get_front_group(rows, track);
	struct scan_column *ignored;
	int r;

	drop_front(rows, track);
	if (!track->scan) {
		track->scan = malloc(sizeof(*track->scan));
		if (!track->scan)
			return -ENOMEM;
		scan_init(track->scan, rows->probe->q, rows->probe->table);
	}
	track->scan->condition_count = rows->probe->condition_count;
	memcpy(track->scan->conditions, rows->probe->conditions, sizeof(track->scan->conditions));
	r = scan_enter(track->scan, p->source, p->group);
	if (r > 0 && rows->order.time_column >= 0 && scan_raw(track->scan, (unsigned)track->time_column, &ignored) < 0)
		r = -EBADMSG;
	if (r > 0 && scan_checks(track->scan, track->checks, &track->check_count) < 0)
		r = -EBADMSG;
	if (r == -EBADMSG) {
		atomic_fetch_add(&rows->probe->q->damaged, 1);
		return 0;
	}
	if (r > 0)
		track->row = rows->order.descending ? track->scan->limit : track->scan->first - 1u;
	return r;
}

/* Goes to the next row that counts in the track's group; 0 when there is none. */
static int step_ordered_row(const struct ordered_rows *rows, struct merged_track *track)
{
	struct scan *s = track->scan;

	for (;;) {
		if (rows->order.descending ? track->row == s->first : track->row + 1u == s->limit)
			return 0;
		track->row = rows->order.descending ? track->row - 1 : track->row + 1u;
		if (row_checks_hold(track->checks, track->check_count, track->row) && scan_row_visible(s, track->row))
			break;
	}
	if (rows->order.time_column >= 0)
		track->place.key = get_order_key(&rows->order, s->raw[track->time_column].values[track->row]);
	track->ready = 1;
	return 1;
}

/* Brings the track to its next row, or takes it out at its end. */
static int advance(struct ordered_rows *rows, struct merged_track *track)
{
	int r;

	if (track->ready && step_ordered_row(rows, track))
		return 0;
	if (track->ready) {
		track->ready = 0;
		if (track->count) {
			bound_key(rows, track);
			return 0;
		}
	} else {
		while (track->count) {
			r = enter_next_group(rows, track);
			if (r < 0)
				return r;
			if (r > 0 && step_ordered_row(rows, track))
				return 0;
		}
	}
	merge_heap_drop_top(&rows->heap);
	return 0;
}

int ordered_rows_next(struct ordered_rows *rows, struct scan **ret_scan, uint32_t *ret_row)
{
	int r = 0;

	/* The track on top gave the row before. */
	if (rows->begun && rows->heap.count) {
		r = advance(rows, top_track(rows));
		if (r >= 0 && rows->heap.count)
			merge_heap_sink(&rows->heap, 0);
	}
	rows->begun = 1;
	while (r >= 0 && rows->heap.count && !top_track(rows)->ready) {
		r = advance(rows, top_track(rows));
		if (r >= 0 && rows->heap.count)
			merge_heap_sink(&rows->heap, 0);
	}
	if (r < 0 || rows->heap.count == 0)
		return r;
	*ret_scan = top_track(rows)->scan;
	*ret_row = top_track(rows)->row;
	return 1;
}
