/* From the bytes of a row set back to values. Nothing read is trusted. */
#include "report/format/rowset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define DICT_MAX 256

void scratch_release(struct scratch *s)
{
	ZSTD_freeDCtx(s->dctx);
	free(s->planes);
	free(s->values);
	free(s->bitmap);
	memset(s, 0, sizeof(*s));
}

static int check_head(const struct cursor *c, const struct set_head *h, uint64_t track)
{
	if (c->failed || h->rows == 0 || h->rows > SET_MAX_ROWS || track > UINT32_MAX)
		return -EBADMSG;
	return 0;
}

static int parse_head(struct cursor *c, struct set_head *h)
{
	uint64_t track, rows, present;

	memset(h, 0, sizeof(*h));
	h->table = get_byte(c);
	h->flags = get_byte(c);
	track = get_varint(c);
	h->first = get_varint(c);
	rows = get_varint(c);
	h->time_min = get_zigzag(c);
	h->time_max = (int64_t)((uint64_t)h->time_min + get_varint(c));
	present = get_varint(c);
	h->track = (uint32_t)track;
	h->rows = rows > SET_MAX_ROWS ? 0 : (uint32_t)rows;
	h->present = (uint32_t)present;
	if (present > UINT32_MAX || h->first > UINT64_MAX / 2)
		return -EBADMSG;
	return check_head(c, h, track);
}

int set_parse(struct cursor *c, struct set_view *ret)
{
	const uint8_t *start = c->at, *body;
	uint64_t size = get_varint(c);
	int r;

	body = get_bytes(c, size);
	if (!body || c->failed)
		return -EBADMSG;
	ret->columns = (struct cursor){ body, body + size, 0 };
	r = parse_head(&ret->columns, &ret->head);
	ret->bytes = (size_t)(c->at - start);
	return r;
}

/* Where a plane's bytes lie is known only after all heads were read: the
 * data of all columns follows them, in the same order. */
struct plane_head {
	uint8_t method;
	uint64_t size;
	uint64_t offset; /* from the start of the data */
};

struct column_head {
	uint8_t transform;
	uint8_t planes;
	uint8_t has_nulls;
	uint32_t count; /* non-null values */
	int64_t base;
	int64_t first; /* DELTA, GAP */
	uint32_t dict_count;
	const uint8_t *dict_at;
	struct plane_head bitmap;
	struct plane_head plane[8];
};

static void parse_plane(struct cursor *c, struct plane_head *p, uint64_t *offset)
{
	p->method = get_byte(c);
	p->size = get_varint(c);
	p->offset = *offset;
	if (p->size > cursor_left(c))
		c->failed = 1;
	else
		*offset += p->size;
}

static void parse_dict(struct cursor *c, struct column_head *h)
{
	uint64_t count = get_varint(c);

	if (count == 0 || count > DICT_MAX) {
		c->failed = 1;
		return;
	}
	h->dict_count = (uint32_t)count;
	h->dict_at = c->at;
	for (uint64_t i = 0; i < count; i++)
		get_varint(c);
}

static void parse_nulls(struct cursor *c, struct column_head *h, uint32_t rows, uint64_t *offset)
{
	uint64_t count = get_varint(c);

	h->has_nulls = 1;
	h->count = (uint32_t)count;
	if (count == 0 || count > rows)
		c->failed = 1;
	parse_plane(c, &h->bitmap, offset);
	h->transform = get_byte(c);
}

static int parse_column(struct cursor *c, struct column_head *h, uint32_t rows, uint64_t *offset)
{
	memset(h, 0, sizeof(*h));
	h->count = rows;
	h->transform = get_byte(c);
	if (h->transform == TRANSFORM_HAS_NULLS)
		parse_nulls(c, h, rows, offset);
	if (h->transform > TRANSFORM_DURATION)
		return -EBADMSG;
	if (h->transform == TRANSFORM_DICT)
		parse_dict(c, h);
	if (h->transform == TRANSFORM_DELTA || h->transform == TRANSFORM_GAP)
		h->first = get_zigzag(c);
	h->base = get_zigzag(c);
	if (h->transform != TRANSFORM_CONST)
		h->planes = get_byte(c);
	if (h->planes > 8)
		return -EBADMSG;
	for (unsigned p = 0; p < h->planes && !c->failed; p++)
		parse_plane(c, &h->plane[p], offset);
	return c->failed ? -EBADMSG : 0;
}

/* Heads of up to two columns (start and end of spans) and the data behind all heads. */
struct columns_wanted {
	struct column_head head[2];
	struct cursor data;
};

static int find_columns(const struct set_view *set, unsigned first, unsigned count, struct columns_wanted *ret)
{
	struct cursor c = set->columns;
	struct column_head skipped;
	uint64_t offset = 0;
	int r = 0;

	for (unsigned i = 0; i < TABLE_MAX_COLUMNS && r == 0; i++) {
		if (!(set->head.present >> i & 1))
			continue;
		r = parse_column(&c, i >= first && i < first + count ? &ret->head[i - first] : &skipped, set->head.rows, &offset);
	}
	if (r == 0 && offset != cursor_left(&c))
		r = -EBADMSG;
	ret->data = c;
	return r;
}

static int scratch_room(struct scratch *s)
{
	if (!s->planes)
		s->planes = malloc((size_t)SET_MAX_ROWS * 8);
	if (!s->values)
		s->values = malloc((size_t)SET_MAX_ROWS * sizeof(*s->values));
	if (!s->bitmap)
		s->bitmap = malloc(SET_MAX_ROWS / 8);
	return s->planes && s->values && s->bitmap ? 0 : -ENOMEM;
}

static int unpack(struct scratch *s, const uint8_t *bytes, uint64_t size, uint8_t *room, uint32_t n)
{
	size_t got;

	if (!s->dctx)
		s->dctx = ZSTD_createDCtx();
	if (!s->dctx)
		return -ENOMEM;
	got = ZSTD_decompressDCtx(s->dctx, room, n, bytes, size);
	return ZSTD_isError(got) || got != n ? -EBADMSG : 0;
}

/* The n bytes of a plane, in the file or unpacked into `room`. */
static int load_plane(struct scratch *s, const struct cursor *data, const struct plane_head *p, uint8_t *room, uint32_t n,
		      const uint8_t **ret)
{
	const uint8_t *bytes = data->at + p->offset;

	*ret = room;
	switch (p->method) {
	case PLANE_RAW: *ret = bytes; return p->size == n ? 0 : -EBADMSG;
	case PLANE_CONST:
		if (p->size != 1)
			return -EBADMSG;
		memset(room, bytes[0], n);
		return 0;
	case PLANE_ZSTD: return unpack(s, bytes, p->size, room, n);
	default: return -EBADMSG;
	}
}

static void join_planes(const uint8_t **p, unsigned planes, uint64_t base, uint64_t *restrict out, uint32_t n)
{
	const uint8_t *restrict a = p[0], *restrict b = p[1], *restrict c = p[2], *restrict d;

	if (planes == 1)
		for (uint32_t i = 0; i < n; i++)
			out[i] = base + a[i];
	else if (planes == 2)
		for (uint32_t i = 0; i < n; i++)
			out[i] = base + (a[i] | (uint32_t)b[i] << 8);
	else
		for (uint32_t i = 0; i < n; i++)
			out[i] = base + (a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16);
	for (unsigned k = 3; k < planes; k++) {
		d = p[k];
		for (uint32_t i = 0; i < n; i++)
			out[i] += (uint64_t)d[i] << (8 * k);
	}
}

static int load_values(struct scratch *s, const struct cursor *data, const struct column_head *h, uint64_t *out, uint32_t n)
{
	const uint8_t *planes[8] = { NULL };
	int r = 0;

	for (unsigned p = 0; p < h->planes && r == 0; p++)
		r = load_plane(s, data, &h->plane[p], s->planes + (size_t)p * SET_MAX_ROWS, n, &planes[p]);
	if (r < 0)
		return r;
	if (h->planes)
		join_planes(planes, h->planes, (uint64_t)h->base, out, n);
	else
		for (uint32_t i = 0; i < n; i++)
			out[i] = (uint64_t)h->base;
	return 0;
}

static int load_delta(struct scratch *s, const struct cursor *data, const struct column_head *h, uint64_t *out, uint32_t n)
{
	uint64_t value = (uint64_t)h->first;

	TRY(load_values(s, data, h, out + 1, n - 1));
	out[0] = value;
	for (uint32_t i = 1; i < n; i++)
		out[i] = value += out[i];
	return 0;
}

static int load_dict(struct scratch *s, const struct cursor *data, const struct column_head *h, uint64_t *out, uint32_t n)
{
	struct cursor c = { h->dict_at, data->at, 0 };
	uint64_t values[DICT_MAX] = { 0 }, previous = 0, worst = 0;

	TRY(load_values(s, data, h, out, n));
	for (uint32_t i = 0; i < h->dict_count; i++)
		values[i] = previous += (uint64_t)get_zigzag(&c);
	for (uint32_t i = 0; i < n; i++) {
		worst = out[i] > worst ? out[i] : worst;
		out[i] = values[out[i] % DICT_MAX];
	}
	return worst < h->dict_count ? 0 : -EBADMSG;
}

/* Columns that stand by themselves. */
static int load_own_column(struct scratch *s, const struct cursor *data, const struct column_head *h, uint64_t *out)
{
	switch (h->transform) {
	case TRANSFORM_CONST:
	case TRANSFORM_PLAIN: return load_values(s, data, h, out, h->count);
	case TRANSFORM_DELTA: return load_delta(s, data, h, out, h->count);
	case TRANSFORM_DICT: return load_dict(s, data, h, out, h->count);
	default: return -EBADMSG;
	}
}

/* Starts and ends are told by each other: gap, duration, gap, duration ... */
static int load_span(struct scratch *s, const struct columns_wanted *w, uint32_t n, int want_end, uint64_t *out)
{
	const struct column_head *gap = &w->head[0], *duration = &w->head[1];
	uint64_t *other = s->values, at = (uint64_t)gap->first;

	if (gap->transform != TRANSFORM_GAP || duration->transform != TRANSFORM_DURATION || gap->has_nulls || duration->has_nulls)
		return -EBADMSG;
	TRY(load_values(s, &w->data, gap, out + 1, n - 1));
	TRY(load_values(s, &w->data, duration, other, n));
	out[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t start = at + out[i];

		at = start + other[i];
		out[i] = want_end ? at : start;
	}
	return 0;
}

/* Spreads the dense values over the rows that have one. */
static int spread(struct scratch *s, const struct columns_wanted *w, uint32_t rows, int64_t *values, uint8_t *nulls)
{
	const struct column_head *h = &w->head[0];
	const uint8_t *bitmap;
	uint32_t used = 0;

	TRY(load_plane(s, &w->data, &h->bitmap, s->bitmap, (rows + 7) / 8, &bitmap));
	TRY(load_own_column(s, &w->data, h, s->values));
	for (uint32_t i = 0; i < rows; i++) {
		unsigned has = bitmap[i / 8] >> i % 8 & 1;

		if (has && used == h->count)
			return -EBADMSG;
		values[i] = has ? (int64_t)s->values[used++] : 0;
		if (nulls)
			nulls[i] = (uint8_t)!has;
	}
	return 0;
}

int decode_column(struct scratch *s, const struct set_view *set, unsigned column, int64_t *values, uint8_t *nulls)
{
	const struct table_schema *schema = table_schema(set->head.table);
	uint32_t rows = set->head.rows;
	struct columns_wanted w;
	int is_span;

	if (column >= TABLE_MAX_COLUMNS || !(set->head.present >> column & 1)) {
		memset(values, 0, rows * sizeof(*values));
		if (nulls)
			memset(nulls, 1, rows);
		return 0;
	}
	is_span = schema && schema->kind == TABLE_KIND_SPAN && column < 2;
	if (is_span && (set->head.present & 3) != 3)
		return -EBADMSG;
	TRY(scratch_room(s));
	TRY(find_columns(set, is_span ? 0 : column, is_span ? 2 : 1, &w));
	if (w.head[0].has_nulls && !is_span)
		return spread(s, &w, rows, values, nulls);
	if (nulls)
		memset(nulls, 0, rows);
	return is_span ? load_span(s, &w, rows, (int)column, (uint64_t *)values) :
			 load_own_column(s, &w.data, &w.head[0], (uint64_t *)values);
}
