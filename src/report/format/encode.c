/* From dense columns of 64-bit values to bytes: a transform that makes the values
 * small, the smallest subtracted, then one run of bytes per byte of the value ("plane"), each
 * compressed by itself: bytes of one rank look alike. */
#include "report/format/rowset.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/cleanup.h"

#define PLANE_LEVEL 1
#define PLANE_MIN_MATCH 7 /* shorter ones are chance, and dearer than their Huffman codes */
#define PLANE_MIN_COMPRESS 32
#define DICT_MAX 256
#define DICT_MIN_ROWS 16

int encoder_init(struct encoder *e)
{
	memset(e, 0, sizeof(*e));
	e->cctx = ZSTD_createCCtx();
	if (!e->cctx)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(e->cctx, ZSTD_c_compressionLevel, PLANE_LEVEL);
	ZSTD_CCtx_setParameter(e->cctx, ZSTD_c_minMatch, PLANE_MIN_MATCH);
	ZSTD_CCtx_setParameter(e->cctx, ZSTD_c_contentSizeFlag, 0);
	return 0;
}

void encoder_release(struct encoder *e)
{
	ZSTD_freeCCtx(e->cctx);
	free(e->work);
	free(e->narrow);
	free(e->plane);
	buf_release(&e->head);
	buf_release(&e->data);
	memset(e, 0, sizeof(*e));
}

static int encoder_room(struct encoder *e, uint32_t rows)
{
	if (rows <= e->capacity)
		return 0;
	e->capacity = 0;
	free(e->work);
	free(e->narrow);
	free(e->plane);
	e->work = malloc(rows * sizeof(*e->work));
	e->narrow = malloc(rows * sizeof(*e->narrow));
	e->plane = malloc(rows);
	if (!e->work || !e->narrow || !e->plane)
		return -ENOMEM;
	e->capacity = rows;
	return 0;
}

struct range {
	int64_t min;
	int64_t max;
};

static struct range find_value_range(const int64_t *values, uint32_t n)
{
	struct range r = { n ? values[0] : 0, n ? values[0] : 0 };

	for (uint32_t i = 1; i < n; i++) {
		r.min = values[i] < r.min ? values[i] : r.min;
		r.max = values[i] > r.max ? values[i] : r.max;
	}
	return r;
}

static unsigned planes_for(struct range r)
{
	uint64_t width = (uint64_t)r.max - (uint64_t)r.min;
	unsigned planes = 0;

	while (width) {
		planes++;
		width >>= 8;
	}
	return planes;
}

/* Whether the bytes are so evenly spread that Huffman coding cannot win much, judged
 * from a part of them by the chance that two are equal (1/256 for random ones). */
static int looks_random(const uint8_t *bytes, uint32_t n)
{
	uint32_t counts[256] = { 0 }, step = n / 4096 + 1, total = 0;
	uint64_t pairs = 0;

	if (n < 4096)
		return 0;
	for (uint32_t i = 0; i < n; i += step, total++)
		counts[bytes[i]]++;
	for (unsigned i = 0; i < 256; i++)
		pairs += (uint64_t)counts[i] * counts[i];
	return (pairs - total) * 256 * 10 < (uint64_t)total * total * 11;
}

static void put_plane_bytes(struct encoder *e, unsigned method, const void *bytes, size_t size)
{
	put_byte(&e->head, method);
	put_varint(&e->head, size);
	buf_append(&e->data, bytes, size);
}

/* False where it would not be worth its while. */
static bool put_packed_plane(struct encoder *e, const uint8_t *bytes, uint32_t n)
{
	size_t bound = ZSTD_compressBound(n), packed;

	if (buf_reserve(&e->data, bound) < 0)
		return false;
	packed = ZSTD_compress2(e->cctx, e->data.data + e->data.len, bound, bytes, n);
	if (ZSTD_isError(packed) || packed + packed / 64 >= n)
		return false;
	CHECK(packed <= bound);
	put_byte(&e->head, PLANE_ZSTD);
	put_varint(&e->head, packed);
	e->data.len += packed;
	return true;
}

static void put_plane(struct encoder *e, const uint8_t *bytes, uint32_t n, int compress)
{
	if (n && memcmp(bytes, bytes + 1, n - 1) == 0)
		put_plane_bytes(e, PLANE_CONST, bytes, 1);
	else if (!compress || n < PLANE_MIN_COMPRESS || looks_random(bytes, n) || !put_packed_plane(e, bytes, n))
		put_plane_bytes(e, PLANE_RAW, bytes, n);
}

/* One byte of each value. Most values fit into 32 bits, where twice as many are
 * done at a time. */
static void extract_plane(const struct encoder *e, uint32_t n, unsigned plane, int is_narrow)
{
	const uint32_t *restrict narrow = e->narrow;
	const uint64_t *restrict wide = e->work;
	uint8_t *restrict out = e->plane;
	unsigned shift = 8 * plane;

	if (is_narrow)
		for (uint32_t i = 0; i < n; i++)
			out[i] = (uint8_t)(narrow[i] >> shift);
	else
		for (uint32_t i = 0; i < n; i++)
			out[i] = (uint8_t)(wide[i] >> shift);
}

static void subtract_base(struct encoder *e, const uint64_t *values, uint32_t n, uint64_t base, int is_narrow)
{
	uint32_t *restrict narrow = e->narrow;

	if (is_narrow)
		for (uint32_t i = 0; i < n; i++)
			narrow[i] = (uint32_t)(values[i] - base);
	else
		for (uint32_t i = 0; i < n; i++)
			e->work[i] = values[i] - base;
}

/* The n values (e->work, or a column as it is), `r` being their range, as planes. */
static void put_planes(struct encoder *e, const uint64_t *values, uint32_t n, struct range r, int compress)
{
	unsigned planes = planes_for(r);

	put_zigzag(&e->head, r.min);
	put_byte(&e->head, planes);
	if (planes)
		subtract_base(e, values, n, (uint64_t)r.min, planes <= 4);
	for (unsigned p = 0; p < planes; p++) {
		extract_plane(e, n, p, planes <= 4);
		put_plane(e, e->plane, n, compress);
	}
}

/* work = a - b, and its range in the same pass. */
static struct range load_difference(struct encoder *e, const int64_t *restrict a, const int64_t *restrict b, uint32_t n)
{
	struct range r = { n ? INT64_MAX : 0, n ? INT64_MIN : 0 };
	uint64_t *restrict work = e->work;

	for (uint32_t i = 0; i < n; i++) {
		int64_t d = (int64_t)((uint64_t)a[i] - (uint64_t)b[i]);

		work[i] = (uint64_t)d;
		r.min = d < r.min ? d : r.min;
		r.max = d > r.max ? d : r.max;
	}
	return r;
}

static struct range load_delta(struct encoder *e, const int64_t *v, uint32_t n)
{
	return load_difference(e, v + 1, v, n - 1);
}

struct dict {
	uint32_t count;
	int64_t values[DICT_MAX];
	uint16_t slots[DICT_MAX * 4]; /* index + 1 */
};

/* The index of the value, added if new; -1 when the dictionary is full. */
static int dict_index(struct dict *d, int64_t value)
{
	uint32_t slot = (uint32_t)((uint64_t)value * 0x9e3779b97f4a7c15u >> 54);

	for (; d->slots[slot]; slot = (slot + 1) % (DICT_MAX * 4))
		if (d->values[d->slots[slot] - 1] == value)
			return d->slots[slot] - 1;
	if (d->count == DICT_MAX)
		return -1;
	d->values[d->count] = value;
	d->slots[slot] = (uint16_t)++d->count;
	return (int)d->count - 1;
}

static int dict_load(struct encoder *e, struct dict *d, const int64_t *v, uint32_t n)
{
	int index;

	memset(d, 0, sizeof(*d));
	for (uint32_t i = 0; i < n; i++) {
		index = dict_index(d, v[i]);
		if (index < 0 || d->count > n / 2)
			return 0;
		e->work[i] = (uint64_t)index;
	}
	return 1;
}

static void put_dict(struct encoder *e, const struct dict *d)
{
	int64_t previous = 0;

	put_varint(&e->head, d->count);
	for (uint32_t i = 0; i < d->count; i++) {
		put_zigzag(&e->head, (int64_t)((uint64_t)d->values[i] - (uint64_t)previous));
		previous = d->values[i];
	}
}

static void put_deltas(struct encoder *e, const int64_t *v, uint32_t n, int compress)
{
	put_byte(&e->head, TRANSFORM_DELTA);
	put_zigzag(&e->head, v[0]);
	put_planes(e, e->work, n - 1, load_delta(e, v, n), compress);
}

/* The transform needing the fewest planes; a dictionary where it beats both. */
static void put_free_column(struct encoder *e, const int64_t *v, uint32_t n, struct range plain, int compress)
{
	struct range delta = plain;
	unsigned plain_planes = planes_for(plain), delta_planes = plain_planes;
	struct dict dict;

	if (plain_planes > 1) {
		delta = load_delta(e, v, n);
		delta_planes = planes_for(delta);
		if (n >= DICT_MIN_ROWS && delta_planes > 1 && dict_load(e, &dict, v, n)) {
			put_byte(&e->head, TRANSFORM_DICT);
			put_dict(e, &dict);
			put_planes(e, e->work, n, (struct range){ 0, dict.count - 1 }, compress);
			return;
		}
	}
	if (delta_planes < plain_planes) {
		put_deltas(e, v, n, compress);
		return;
	}
	put_byte(&e->head, TRANSFORM_PLAIN);
	put_planes(e, (const uint64_t *)v, n, plain, compress);
}

static void put_gaps(struct encoder *e, const int64_t *start, const int64_t *end, uint32_t n, int compress)
{
	put_byte(&e->head, TRANSFORM_GAP);
	put_zigzag(&e->head, start[0]);
	put_planes(e, e->work, n - 1, load_difference(e, start + 1, end, n - 1), compress);
}

static void put_durations(struct encoder *e, const int64_t *start, const int64_t *end, uint32_t n, int compress)
{
	put_byte(&e->head, TRANSFORM_DURATION);
	put_planes(e, e->work, n, load_difference(e, end, start, n), compress);
}

/* Which rows have the column, one bit each. The bitmap's own head precedes the values'. */
static void put_null_bitmap(struct encoder *e, const struct row_set *rows, unsigned column, int compress)
{
	uint32_t n = rows->head.rows, size = (n + 7) / 8;

	put_varint(&e->head, rows->counts[column]);
	memset(e->plane, 0, size);
	for (uint32_t i = 0; i < n; i++)
		e->plane[i / 8] |= (uint8_t)((rows->masks[i] >> column & 1) << i % 8);
	put_plane(e, e->plane, size, compress);
}

static void put_any_values(struct encoder *e, const int64_t *v, uint32_t n, int compress)
{
	struct range r = find_value_range(v, n);

	if (r.min != r.max) {
		put_free_column(e, v, n, r, compress);
		return;
	}
	put_byte(&e->head, TRANSFORM_CONST);
	put_zigzag(&e->head, v[0]);
}

static void encode_values(struct encoder *e, const struct row_set *rows, unsigned column, int compress)
{
	uint32_t n = rows->counts[column];

	if (rows->kind == TABLE_KIND_SPAN && column < 2)
		(column == 0 ? put_gaps : put_durations)(e, rows->columns[0], rows->columns[1], n, compress);
	else if (rows->kind == TABLE_KIND_POINT && column == 0)
		put_deltas(e, rows->columns[column], n, compress);
	else
		put_any_values(e, rows->columns[column], n, compress);
}

/* A column with some nulls begins with a byte that says so, how many values there are
 * and the bitmap; then it goes on like any other. */
static void encode_column(struct encoder *e, const struct row_set *rows, unsigned column, int compress)
{
	CHECK(rows->counts[column] <= rows->head.rows);
	if (rows->counts[column] != rows->head.rows) {
		put_byte(&e->head, TRANSFORM_HAS_NULLS);
		put_null_bitmap(e, rows, column, compress);
	}
	encode_values(e, rows, column, compress);
}

static void put_head(struct encoder *e, const struct set_head *h)
{
	put_byte(&e->head, h->table);
	put_byte(&e->head, h->flags);
	put_varint(&e->head, h->track);
	put_varint(&e->head, h->first);
	put_varint(&e->head, h->rows);
	put_zigzag(&e->head, h->time_min);
	put_varint(&e->head, (uint64_t)h->time_max - (uint64_t)h->time_min);
	put_varint(&e->head, h->present);
}

int encode_set(struct encoder *e, const struct row_set *rows, int compress, struct buf *out)
{
	TRY(encoder_room(e, rows->head.rows));
	buf_clear(&e->head);
	buf_clear(&e->data);
	put_head(e, &rows->head);
	for (unsigned c = 0; c < TABLE_MAX_COLUMNS; c++)
		if (rows->head.present >> c & 1)
			encode_column(e, rows, c, compress);
	if (buf_result(&e->head) < 0 || buf_result(&e->data) < 0)
		return -ENOMEM;
	put_varint(out, e->head.len + e->data.len);
	buf_append(out, e->head.data, e->head.len);
	buf_append(out, e->data.data, e->data.len);
	return buf_result(out);
}
