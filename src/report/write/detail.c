#include "report/write/detail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "report/write/internal.h"

/* One more than would cover the rows, as they may begin in the middle of one. */
#define MAX_BUCKETS (SET_MAX_ROWS / DETAIL_ROWS + 2)

struct bucket {
	uint64_t busy;
	uint64_t longest; /* of those that begin here */
	uint32_t row;     /* its number in the set */
	uint32_t rows;
	double least, most, sum, last; /* of counters */
};

struct buckets {
	unsigned level;
	size_t count;
	int64_t base; /* start of the first, in buckets */
	struct bucket items[MAX_BUCKETS];
};

enum { DETAIL_COLUMNS = COLUMN_LOD_LAST + 1 };

/* The set to encode. */
struct detail_set {
	struct row_set rows;
	uint32_t which[MAX_BUCKETS]; /* buckets that have something */
	uint32_t masks[MAX_BUCKETS];
	int64_t values[DETAIL_COLUMNS][MAX_BUCKETS];
};

/* What is worked in, kept from one set to the next. */
struct detail_room {
	struct buckets buckets;
	struct detail_set set;
};

static int has_detail(const struct row_set *rows)
{
	return rows->kind != TABLE_KIND_PLAIN && rows->head.rows >= DETAIL_MIN_ROWS;
}

/* Names that are numbers are not kept: with their bucket's they would say little. */
static int name_column(unsigned table)
{
	int column = table_column(table, ROLE_NAME);

	return column >= 0 && table_schema(table)->columns[column].type != COLUMN_TYPE_INT ? column : -1;
}

uint32_t detail_columns(unsigned table)
{
	const int columns[] = { name_column(table), table_open_column(table), table_column(table, ROLE_ERROR) };
	uint32_t bits = 1u | (table_schema(table)->kind == TABLE_KIND_SPAN ? 2u : 0);

	for (size_t i = 0; i < COUNT_OF(columns); i++)
		bits |= columns[i] >= 0 ? 1u << columns[i] : 0;
	return table == TABLE_COUNTER ? bits | 1u << COLUMN_COUNTER_INTEGER | 1u << COLUMN_COUNTER_REAL : bits;
}

/* What lies in several buckets. */
static void spread(struct buckets *b, int64_t start, int64_t end)
{
	int64_t edge;

	for (size_t at = (size_t)((start >> b->level) - b->base); start < end && at < b->count; start = edge, at++) {
		/* Behind the last bucket of all times is no edge. */
		edge = (start >> b->level) == INT64_MAX >> b->level ? end : ((start >> b->level) + 1) << b->level;
		edge = edge < end ? edge : end;
		b->items[at].busy += (uint64_t)edge - (uint64_t)start;
	}
}

static void begin_buckets(struct buckets *b, const struct row_set *rows)
{
	b->count = rows->head.rows / detail_rows(rows->head.table) + 2;
	memset(b->items, 0, b->count * sizeof(b->items[0]));
	b->level = detail_level(rows->head.table, rows->head.rows, rows->head.time_min, rows->head.time_max);
	b->base = rows->head.time_min >> b->level;
}

/* A row that ends before it begins, or that is out of bounds, is none. */
static void sum_up_buckets(struct buckets *b, const struct row_set *rows)
{
	const int64_t *start = rows->columns[0], *end = rows->kind == TABLE_KIND_SPAN ? rows->columns[1] : start;

	for (uint32_t i = 0; i < rows->head.rows; i++) {
		size_t at = (size_t)((start[i] >> b->level) - b->base);
		uint64_t length = (uint64_t)end[i] - (uint64_t)start[i];
		struct bucket *bucket = &b->items[at];

		if (at >= b->count || end[i] < start[i])
			continue;
		if (!bucket->rows++ || length > bucket->longest) {
			bucket->longest = length;
			bucket->row = i;
		}
		if (end[i] >> b->level == start[i] >> b->level)
			bucket->busy += length;
		else
			spread(b, start[i], end[i]);
	}
}

/* The value of a counter's row: whole or real, whichever it has. */
static int counter_value(const struct row_set *rows, uint32_t row, uint32_t *integer, uint32_t *real, double *ret)
{
	uint32_t mask = rows->masks ? rows->masks[row] : rows->head.present;
	int has_real = mask >> COLUMN_COUNTER_REAL & 1, has_integer = mask >> COLUMN_COUNTER_INTEGER & 1;

	if (has_real)
		memcpy(ret, &rows->columns[COLUMN_COUNTER_REAL][(*real)++], sizeof(*ret));
	if (has_integer)
		*ret = (double)rows->columns[COLUMN_COUNTER_INTEGER][(*integer)++];
	return (has_integer || has_real) && isfinite(*ret);
}

static void sum_up_counter(struct buckets *b, const struct row_set *rows)
{
	uint32_t integer = 0, real = 0;
	double value;

	for (uint32_t i = 0; i < rows->head.rows; i++) {
		size_t at = (size_t)((rows->columns[0][i] >> b->level) - b->base);
		struct bucket *to = &b->items[at];

		if (!counter_value(rows, i, &integer, &real, &value) || at >= b->count)
			continue;
		to->least = !to->rows || value < to->least ? value : to->least;
		to->most = !to->rows || value > to->most ? value : to->most;
		to->sum += value;
		to->last = value;
		to->rows++;
	}
}

/* Where the values of rows are among those that have one; NULL: they are at the rows' own numbers. */
static uint32_t *value_places(const struct row_set *rows, int column)
{
	uint32_t *places, at = 0;

	if (column < 0 || !rows->masks)
		return NULL;
	places = malloc(rows->head.rows * sizeof(*places));
	for (uint32_t i = 0; places && i < rows->head.rows; i++) {
		int has = rows->masks[i] >> column & 1;

		places[i] = has ? at : UINT32_MAX;
		at += (uint32_t)has;
	}
	return places;
}

static int64_t find_detail_value(const struct row_set *rows, int column, const uint32_t *places, uint32_t row)
{
	uint32_t at = places ? places[row] : row;

	if (column < 0 || at >= rows->counts[column] || (rows->masks && !places))
		return 0;
	return rows->columns[column][at];
}

/* Columns are filled one after the other. */
static int64_t *begin_column(struct detail_set *set, unsigned column, uint32_t count)
{
	set->rows.columns[column] = set->values[column];
	set->rows.counts[column] = count;
	if (count)
		set->rows.head.present |= 1u << column;
	return set->values[column];
}

static void fill_constant(struct detail_set *set, unsigned column, int64_t value)
{
	uint32_t count = set->rows.head.rows;
	int64_t *values = begin_column(set, column, count);

	for (uint32_t i = 0; i < count; i++)
		values[i] = value;
}

static void fill_sums(struct detail_set *set, const struct buckets *b)
{
	unsigned shift = b->level > DETAIL_BITS ? b->level - DETAIL_BITS : 0;
	uint64_t half = shift ? UINT64_C(1) << (shift - 1) : 0;
	uint32_t count = set->rows.head.rows;
	int64_t *rows = begin_column(set, COLUMN_LOD_ROWS, count), *start = begin_column(set, COLUMN_LOD_START, count);
	int64_t *busy = begin_column(set, COLUMN_LOD_BUSY, count);

	for (uint32_t i = 0; i < count; i++) {
		const struct bucket *from = &b->items[set->which[i]];

		rows[i] = from->rows;
		start[i] = (int64_t)((uint64_t)(b->base + set->which[i]) << b->level);
		busy[i] = (int64_t)((from->busy + half) >> shift << shift);
	}
}

static void fill_names(struct detail_set *set, const struct row_set *rows, const struct buckets *b)
{
	unsigned column = detail_name_column(rows->head.table);
	int from_column = name_column(rows->head.table);
	uint32_t *places = value_places(rows, from_column), count = 0;
	int64_t name;

	for (uint32_t i = 0; i < set->rows.head.rows; i++) {
		const struct bucket *from = &b->items[set->which[i]];

		name = from->rows ? find_detail_value(rows, from_column, places, from->row) : 0;
		if (!name)
			continue;
		set->values[column][count++] = name;
		set->masks[i] |= 1u << column;
	}
	begin_column(set, column, count);
	free(places);
}

static int is_long(const struct buckets *b, const struct bucket *from)
{
	return from->rows && from->longest >> b->level;
}

/* Of a column of the rows that are as long as a bucket. */
static void add_flags(uint8_t *flags, const struct detail_set *set, const struct row_set *rows, const struct buckets *b, int column,
		      int64_t mask, uint8_t flag)
{
	uint32_t *places = column < 0 || !rows->counts[column] ? NULL : value_places(rows, column);

	for (uint32_t i = 0; column >= 0 && rows->counts[column] && i < set->rows.head.rows; i++) {
		const struct bucket *from = &b->items[set->which[i]];

		if (is_long(b, from) && find_detail_value(rows, column, places, from->row) & mask)
			flags[i] |= flag;
	}
	free(places);
}

static void fill_flags(struct detail_set *set, const struct row_set *rows, const struct buckets *b)
{
	uint8_t flags[MAX_BUCKETS] = { 0 };
	uint32_t count = 0;

	add_flags(flags, set, rows, b, table_open_column(rows->head.table), SLICE_OPEN, DETAIL_OPEN);
	add_flags(flags, set, rows, b, table_column(rows->head.table, ROLE_ERROR), -1, DETAIL_ERROR);
	for (uint32_t i = 0; i < set->rows.head.rows; i++) {
		if (!flags[i])
			continue;
		set->values[COLUMN_LOD_FLAGS][count++] = flags[i];
		set->masks[i] |= 1u << COLUMN_LOD_FLAGS;
	}
	begin_column(set, COLUMN_LOD_FLAGS, count);
}

static int64_t bits_of(double value)
{
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void fill_values(struct detail_set *set, const struct buckets *b)
{
	uint32_t count = set->rows.head.rows;
	int64_t *least = begin_column(set, COLUMN_LOD_LEAST, count), *most = begin_column(set, COLUMN_LOD_MOST, count);
	int64_t *mean = begin_column(set, COLUMN_LOD_MEAN, count), *last = begin_column(set, COLUMN_LOD_LAST, count);

	for (uint32_t i = 0; i < count; i++) {
		const struct bucket *from = &b->items[set->which[i]];

		least[i] = bits_of(from->least);
		most[i] = bits_of(from->most);
		mean[i] = bits_of((double)(float)(from->sum / from->rows));
		last[i] = bits_of(from->last);
	}
}

/* Rows that are as long as a bucket: at most one begins in each. */
static void fill_longs(struct detail_set *set, const struct row_set *rows, const struct buckets *b)
{
	uint32_t count = 0, columns = 1u << COLUMN_LOD_LONGEST | 1u << COLUMN_LOD_AT | 1u << COLUMN_LOD_ROW;

	for (uint32_t i = 0; i < set->rows.head.rows; i++) {
		const struct bucket *from = &b->items[set->which[i]];

		if (!is_long(b, from))
			continue;
		set->values[COLUMN_LOD_LONGEST][count] = (int64_t)from->longest;
		set->values[COLUMN_LOD_AT][count] = rows->columns[0][from->row];
		set->values[COLUMN_LOD_ROW][count++] = (int64_t)(rows->head.first + from->row);
		set->masks[i] |= columns;
	}
	begin_column(set, COLUMN_LOD_LONGEST, count);
	begin_column(set, COLUMN_LOD_AT, count);
	begin_column(set, COLUMN_LOD_ROW, count);
}

/* The masks are needed only where some rows lack what others have. */
static void fill_masks(struct detail_set *set)
{
	uint32_t always = 0;
	int mixed = 0;

	for (unsigned c = 0; c < DETAIL_COLUMNS; c++) {
		always |= set->rows.counts[c] == set->rows.head.rows ? 1u << c : 0;
		mixed |= set->rows.counts[c] && set->rows.counts[c] < set->rows.head.rows;
	}
	for (uint32_t i = 0; mixed && i < set->rows.head.rows; i++)
		set->masks[i] |= always;
	set->rows.masks = mixed ? set->masks : NULL;
}

static void fill_set(struct detail_set *set, const struct row_set *rows, const struct buckets *b)
{
	memset(&set->rows, 0, sizeof(set->rows));
	memset(set->masks, 0, b->count * sizeof(set->masks[0]));
	set->rows.kind = TABLE_KIND_PLAIN;
	set->rows.head = (struct set_head){ .table = TABLE_LOD,
					    .track = rows->head.track,
					    .first = rows->head.first,
					    .time_min = rows->head.time_min,
					    .time_max = rows->head.time_max };
	for (uint32_t i = 0; i < b->count; i++)
		if (b->items[i].rows || b->items[i].busy)
			set->which[set->rows.head.rows++] = i;
	fill_constant(set, COLUMN_LOD_TABLE, rows->head.table);
	fill_constant(set, COLUMN_LOD_TRACK, rows->head.track);
	fill_constant(set, COLUMN_LOD_LEVEL, 0);
	fill_constant(set, COLUMN_LOD_WIDTH, (int64_t)(UINT64_C(1) << b->level));
	fill_sums(set, b);
	if (rows->head.table == TABLE_COUNTER) {
		fill_values(set, b);
	} else {
		fill_names(set, rows, b);
		fill_longs(set, rows, b);
		fill_flags(set, rows, b);
	}
	fill_masks(set);
}

void detail_release(struct detail *d)
{
	buf_release(&d->payload);
	buf_release(&d->entries);
	free(d->room);
	d->room = NULL;
	d->rows = 0;
}

/* What was begun for another file goes with it. */
static void follow_file(struct report_writer *w)
{
	struct detail *d = &w->detail;

	if (d->seed == w->seed && !w->parked)
		return;
	buf_clear(&d->payload);
	buf_clear(&d->entries);
	d->rows = 0;
	d->seed = w->seed;
}

static int add_detail_set(struct report_writer *w, const struct row_set *rows)
{
	size_t before = w->detail.payload.len;
	/* clang-format off */
	struct entry entry = { .kind = BLOCK_GROUP, .table = TABLE_LOD, .items = rows->head.rows, .track = rows->head.track,
			       .first = rows->head.first, .time_min = rows->head.time_min, .time_max = rows->head.time_max,
			       .present = rows->head.present, .inside = (uint32_t)before };
	/* clang-format on */
	int r = encode_set(&w->encoder, rows, 0, &w->detail.payload);

	entry.bytes = (uint32_t)(w->detail.payload.len - before);
	if (r == 0)
		r = buf_append(&w->detail.entries, &entry, sizeof(entry));
	if (r < 0)
		w->detail.payload.len = before;
	else
		w->detail.rows += entry.items;
	return r;
}

void detail_add(struct report_writer *w, const struct row_set *rows)
{
	struct detail_room *room;

	follow_file(w);
	/* Rows of a file that keeps the last part get other numbers in a report. */
	if (w->parked || w->ring.on || !has_detail(rows))
		return;
	if (!w->detail.room)
		w->detail.room = malloc(sizeof(*w->detail.room));
	room = w->detail.room;
	if (!room)
		return;
	begin_buckets(&room->buckets, rows);
	if (rows->head.table == TABLE_COUNTER)
		sum_up_counter(&room->buckets, rows);
	else
		sum_up_buckets(&room->buckets, rows);
	fill_set(&room->set, rows, &room->buckets);
	if (room->set.rows.head.rows)
		add_detail_set(w, &room->set.rows);
	if (w->detail.payload.len >= PACK_BYTES)
		detail_flush(w);
}

int detail_flush(struct report_writer *w)
{
	struct entry *entries = (struct entry *)(void *)w->detail.entries.data;
	size_t count = w->detail.entries.len / sizeof(*entries);
	struct block_header h = {
		.kind = BLOCK_GROUP, .segment = w->segment, .items = (uint32_t)count, .table = TABLE_LOD, .first = w->detail.rows
	};
	uint64_t offset = w->size;
	int r;

	follow_file(w);
	if (w->detail.payload.len == 0)
		return 0;
	h.last = count == 1 ? entries[0].track : 0;
	h.time_min = entries[0].time_min;
	for (size_t i = 0; i < count; i++) {
		h.time_min = entries[i].time_min < h.time_min ? entries[i].time_min : h.time_min;
		h.time_max = i == 0 || entries[i].time_max > h.time_max ? entries[i].time_max : h.time_max;
	}
	buf_clear(&w->block);
	r = block_append(&w->block, &h, w->detail.payload.data, w->detail.payload.len, w->encoder.cctx, w->seed);
	if (r == 0)
		r = output_append(w);
	for (size_t i = 0; i < count && r == 0; i++) {
		entries[i].offset = offset;
		entries[i].segment = w->segment;
		r = entry_add(w, &entries[i]);
	}
	buf_clear(&w->detail.payload);
	buf_clear(&w->detail.entries);
	w->detail.rows = 0;
	return r;
}
