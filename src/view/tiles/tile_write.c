#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "view/report/event_names.h"
#include "view/tiles/tile.h"

enum { FLAG_OPEN = 1 << 8, FLAG_ERROR = 1 << 9 };

/* Arrays of the answer, written in place. */
struct writer {
	struct buf *out;
	int r;
};

static void *make_tile_room(struct writer *w, size_t count, size_t width)
{
	size_t size = (count * width + 3) & ~(size_t)3;
	char *at;

	w->r = w->r < 0 ? w->r : buf_reserve(w->out, size);
	if (w->r < 0)
		return NULL;
	at = w->out->data + w->out->len;
	memset(at, 0, size);
	w->out->len += size;
	return at;
}

static void put_u32(void *to, size_t i, uint32_t value)
{
	memcpy((char *)to + i * 4, &value, 4);
}

static void put_f64(void *to, size_t i, int64_t value)
{
	double real = (double)value;

	memcpy((char *)to + i * 8, &real, 8);
}

int tile_write_head(struct buf *out, uint32_t row, uint32_t tracks, int64_t index)
{
	double where = (double)index;

	TRY(buf_append(out, &row, 4));
	TRY(buf_append(out, &tracks, 4));
	return buf_append(out, &where, 8);
}

static uint32_t make_event_flags(const struct tile *t, struct view_report *r, const struct listed *e)
{
	return (uint32_t)name_class(r, t->table, e->name) | (e->flags & CHUNK_OPEN ? FLAG_OPEN : 0u) |
	       (e->flags & CHUNK_ERROR ? FLAG_ERROR : 0u);
}

static void write_listed(struct writer *w, const struct tile *t, struct view_report *r)
{
	uint32_t n = t->listed_count;
	void *at;

	if ((at = make_tile_room(w, n, 8)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			put_f64(at, i, t->listed[i].start);
	if ((at = make_tile_room(w, n, 8)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			put_f64(at, i, t->listed[i].end);
	if ((at = make_tile_room(w, n, 4)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			put_u32(at, i, t->listed[i].name);
	if ((at = make_tile_room(w, n, 4)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			put_u32(at, i, (uint32_t)t->listed[i].index);
	if ((at = make_tile_room(w, n, 4)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			put_u32(at, i, make_event_flags(t, r, &t->listed[i]));
}

/* Numbers of the buckets that have anything. */
static uint32_t touched_buckets(const struct tile *t, uint16_t *ret)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < TILE_BUCKETS; i++)
		if (tile_has(t, i))
			ret[count++] = (uint16_t)i;
	return count;
}

static void write_shares(struct writer *w, const struct tile *t, struct view_report *r, const uint16_t *which, uint32_t n)
{
	uint8_t *at = make_tile_room(w, n, 2);

	if (at)
		memcpy(at, which, n * 2u);
	if ((at = make_tile_room(w, n, 1)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			at[i] = tile_share(t, which[i]);
	if ((at = make_tile_room(w, n, 1)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			at[i] = (uint8_t)name_class(r, t->table, t->buckets[which[i]].name);
}

/* Three numbers for each bucket, one array after the other. */
typedef uint32_t (*bucket_value_fn)(const void *of, unsigned bucket, unsigned part);
enum { BUCKET_PARTS = 3 };

static void write_values(struct writer *w, const uint16_t *which, uint32_t n, bucket_value_fn value, const void *of)
{
	for (unsigned part = 0; part < BUCKET_PARTS; part++) {
		void *at = make_tile_room(w, n, 4);

		for (uint32_t i = 0; at && i < n; i++)
			put_u32(at, i, value(of, which[i], part));
	}
}

static uint32_t bucket_value(const void *of, unsigned bucket, unsigned part)
{
	const struct bucket *b = &((const struct tile *)of)->buckets[bucket];
	const uint32_t parts[BUCKET_PARTS] = { b->begins, b->name, (uint32_t)b->first };

	return parts[part];
}

/* The bits of a float. */
static uint32_t plot_value(const void *of, unsigned bucket, unsigned part)
{
	const struct plot_bucket *b = &((const struct plot *)of)->buckets[bucket];
	const float parts[BUCKET_PARTS] = { (float)b->least, (float)b->most, (float)(b->sum / b->count) };
	uint32_t bits;

	memcpy(&bits, &parts[part], sizeof(bits));
	return bits;
}

static int write_tile(const struct tile *t, struct view_report *r, bucket_value_fn value, const void *of, struct buf *out)
{
	struct writer w = { .out = out };
	uint16_t which[TILE_BUCKETS];
	uint32_t n = touched_buckets(t, which);
	void *at = make_tile_room(&w, 2, 4);

	if (at) {
		put_u32(at, 0, t->listed_count);
		put_u32(at, 1, n);
	}
	write_listed(&w, t, r);
	write_shares(&w, t, r, which, n);
	write_values(&w, which, n, value, of);
	return w.r;
}

int tile_write(const struct tile *t, struct view_report *r, struct buf *out)
{
	return write_tile(t, r, bucket_value, t, out);
}

int plot_write(struct tile *t, struct view_report *r, const struct view_track *track, bool held, struct buf *out)
{
	CLEANUP_FREE struct plot *plot = malloc(sizeof(*plot));

	TRY(plot ? plot_fill(plot, t, r, track, held) : -ENOMEM);
	return write_tile(t, r, plot_value, plot, out);
}
