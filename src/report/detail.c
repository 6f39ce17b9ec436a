#include "report/detail.h"

#include <stdlib.h>
#include <string.h>

#include "report/writer_internal.h"

/* One more than would cover the rows, as they may begin in the middle of one. */
#define MAX_BUCKETS (SET_MAX_ROWS / DETAIL_ROWS + 2)

struct bucket {
	uint64_t busy;
	uint64_t longest; /* of those that begin here */
	int64_t at;       /* its start, name and index */
	int64_t name;
	uint32_t row;
	uint32_t rows;
};

struct buckets {
	unsigned level;
	size_t count;
	int64_t base; /* start of the first, in buckets */
	struct bucket items[MAX_BUCKETS];
};

enum { DETAIL_COLUMNS = COLUMN_LOD_ROW + 1 };

/* The set to encode. */
struct detail_set {
	struct set_rows rows;
	uint32_t masks[MAX_BUCKETS];
	int64_t values[DETAIL_COLUMNS][MAX_BUCKETS];
};

static int has_detail(const struct set_rows *rows)
{
	return rows->kind != TABLE_KIND_PLAIN && rows->head.table != TABLE_COUNTER && rows->head.rows >= DETAIL_MIN_ROWS;
}

static int name_column(unsigned table)
{
	switch (table) {
	case TABLE_SLICE: return COLUMN_SLICE_NAME;
	case TABLE_INSTANT: return COLUMN_INSTANT_NAME;
	case TABLE_OSRT: return COLUMN_OSRT_NAME;
	case TABLE_CUDA_API: return COLUMN_CUDA_API_NAME;
	case TABLE_GPU_KERNEL: return COLUMN_GPU_KERNEL_LAUNCH;
	default: return -1;
	}
}

static void add_row(struct buckets *b, int64_t start, int64_t end, int64_t name, uint32_t row)
{
	uint64_t length = (uint64_t)end - (uint64_t)start;
	size_t at = (size_t)((start >> b->level) - b->base);
	struct bucket *first = &b->items[at];
	int64_t edge;

	if (at >= b->count || end < start)
		return;
	if (!first->rows || length > first->longest) {
		first->longest = length;
		first->at = start;
		first->name = name;
		first->row = row;
	}
	first->rows++;
	for (; start < end && at < b->count; start = edge, at++) {
		/* Behind the last bucket of all times is no edge. */
		edge = (start >> b->level) == INT64_MAX >> b->level ? end : ((start >> b->level) + 1) << b->level;
		edge = edge < end ? edge : end;
		b->items[at].busy += (uint64_t)edge - (uint64_t)start;
	}
}

static void sum_up(struct buckets *b, const struct set_rows *rows)
{
	const int64_t *start = rows->columns[0], *end = rows->kind == TABLE_KIND_SPAN ? rows->columns[1] : start;
	int column = name_column(rows->head.table);
	uint32_t at = 0; /* names are dense */

	b->count = rows->head.rows / DETAIL_ROWS + 2;
	memset(b->items, 0, b->count * sizeof(b->items[0]));
	b->level = detail_level(rows->head.rows, rows->head.time_min, rows->head.time_max);
	b->base = rows->head.time_min >> b->level;
	for (uint32_t i = 0; i < rows->head.rows; i++) {
		int named = column >= 0 && (rows->masks ? rows->masks[i] >> column & 1 : rows->counts[column] > 0);

		add_row(b, start[i], end[i], named ? rows->columns[column][at] : 0, i);
		at += (uint32_t)named;
	}
}

static void put(struct detail_set *set, unsigned column, uint32_t row, int64_t value)
{
	set->values[column][set->rows.counts[column]++] = value;
	set->masks[row] |= 1u << column;
	set->rows.head.present |= 1u << column;
}

static void put_bucket(struct detail_set *set, const struct set_rows *rows, const struct buckets *b, size_t i)
{
	const struct bucket *from = &b->items[i];
	uint64_t unit = b->level > DETAIL_BITS ? UINT64_C(1) << (b->level - DETAIL_BITS) : 1;
	uint32_t row = set->rows.head.rows++;

	put(set, COLUMN_LOD_TABLE, row, rows->head.table);
	put(set, COLUMN_LOD_TRACK, row, rows->head.track);
	put(set, COLUMN_LOD_LEVEL, row, 0);
	put(set, COLUMN_LOD_ROWS, row, from->rows);
	put(set, COLUMN_LOD_START, row, (int64_t)((uint64_t)(b->base + (int64_t)i) << b->level));
	put(set, COLUMN_LOD_BUSY, row, (int64_t)((from->busy + unit / 2) / unit * unit));
	put(set, COLUMN_LOD_WIDTH, row, (int64_t)(UINT64_C(1) << b->level));
	if (from->rows && from->name)
		put(set, rows->head.table == TABLE_GPU_KERNEL ? COLUMN_LOD_LAUNCH : COLUMN_LOD_NAME, row, from->name);
	if (from->rows && from->longest >> b->level) {
		put(set, COLUMN_LOD_LONGEST, row, (int64_t)from->longest);
		put(set, COLUMN_LOD_AT, row, from->at);
		put(set, COLUMN_LOD_ROW, row, (int64_t)(rows->head.first + from->row));
	}
}

/* The masks are needed only where some rows lack what others have. */
static void fill_set(struct detail_set *set, const struct set_rows *rows, const struct buckets *b)
{
	int mixed = 0;

	memset(&set->rows, 0, sizeof(set->rows));
	memset(set->masks, 0, b->count * sizeof(set->masks[0]));
	set->rows.kind = TABLE_KIND_PLAIN;
	set->rows.head = (struct set_head){ .table = TABLE_LOD, .track = rows->head.track, .first = rows->head.first,
					    .time_min = rows->head.time_min, .time_max = rows->head.time_max };
	for (size_t i = 0; i < b->count; i++)
		if (b->items[i].rows || b->items[i].busy)
			put_bucket(set, rows, b, i);
	for (unsigned c = 0; c < DETAIL_COLUMNS; c++) {
		set->rows.columns[c] = set->values[c];
		mixed |= set->rows.counts[c] && set->rows.counts[c] < set->rows.head.rows;
	}
	set->rows.masks = mixed ? set->masks : NULL;
}

void detail_release(struct detail *d)
{
	buf_release(&d->payload);
	buf_release(&d->entries);
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

static int add_set(struct report_writer *w, const struct set_rows *rows)
{
	size_t before = w->detail.payload.len;
	struct entry entry = { .kind = BLOCK_GROUP, .table = TABLE_LOD, .items = rows->head.rows, .track = rows->head.track,
			       .first = rows->head.first, .time_min = rows->head.time_min, .time_max = rows->head.time_max,
			       .present = rows->head.present, .inside = (uint32_t)before };
	int r = encode_set(&w->encoder, rows, 0, &w->detail.payload);

	entry.bytes = (uint32_t)(w->detail.payload.len - before);
	r = r < 0 ? r : buf_append(&w->detail.entries, &entry, sizeof(entry));
	if (r < 0)
		w->detail.payload.len = before;
	else
		w->detail.rows += entry.items;
	return r;
}

void detail_add(struct report_writer *w, const struct set_rows *rows)
{
	struct buckets *b;
	struct detail_set *set;

	follow_file(w);
	/* Rows of a file that keeps the last part get other numbers in a report. */
	if (w->parked || w->ring.on || !has_detail(rows))
		return;
	b = malloc(sizeof(*b));
	set = malloc(sizeof(*set));
	if (b && set) {
		sum_up(b, rows);
		fill_set(set, rows, b);
		add_set(w, &set->rows);
	}
	free(b);
	free(set);
	if (w->detail.payload.len >= PACK_BYTES)
		detail_flush(w);
}

int detail_flush(struct report_writer *w)
{
	struct entry *entries = (struct entry *)(void *)w->detail.entries.data;
	size_t count = w->detail.entries.len / sizeof(*entries);
	struct block_header h = { .kind = BLOCK_GROUP, .segment = w->segment, .items = (uint32_t)count,
				  .table = TABLE_LOD, .first = w->detail.rows };
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
	r = r < 0 ? r : output_append(w);
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
