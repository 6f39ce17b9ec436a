#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/names.h"
#include "view/tile.h"

enum { FLAG_OPEN = 1 << 8, FLAG_ERROR = 1 << 9 };

/* Arrays of the answer, written in place. */
struct writer {
	struct buf *out;
	int r;
};

static void *room(struct writer *w, size_t count, size_t width)
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

static void put_f32(void *to, size_t i, double value)
{
	float real = (float)value;

	memcpy((char *)to + i * 4, &real, 4);
}

int tile_write_head(struct buf *out, uint32_t row, uint32_t lanes, int64_t index)
{
	double where = (double)index;
	int r = buf_append(out, &row, 4);

	r = r < 0 ? r : buf_append(out, &lanes, 4);
	return r < 0 ? r : buf_append(out, &where, 8);
}

static uint32_t flags_of(const struct tile *t, struct recording *r, const struct listed *e)
{
	return (uint32_t)name_class(r, t->table, e->name) | (e->flags & CHUNK_OPEN ? FLAG_OPEN : 0u) |
	       (e->flags & CHUNK_ERROR ? FLAG_ERROR : 0u);
}

static void write_listed(struct writer *w, const struct tile *t, struct recording *r)
{
	uint32_t n = t->listed_count;
	void *at;

	if ((at = room(w, n, 8)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			put_f64(at, i, t->listed[i].start);
	if ((at = room(w, n, 8)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			put_f64(at, i, t->listed[i].end);
	if ((at = room(w, n, 4)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			put_u32(at, i, t->listed[i].name);
	if ((at = room(w, n, 4)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			put_u32(at, i, (uint32_t)t->listed[i].index);
	if ((at = room(w, n, 4)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			put_u32(at, i, flags_of(t, r, &t->listed[i]));
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

static void write_shares(struct writer *w, const struct tile *t, struct recording *r, const uint16_t *which, uint32_t n)
{
	uint8_t *at = room(w, n, 2);

	if (at)
		memcpy(at, which, n * 2u);
	if ((at = room(w, n, 1)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			at[i] = tile_share(t, which[i]);
	if ((at = room(w, n, 1)) != NULL)
		for (uint32_t i = 0; i < n; i++)
			at[i] = (uint8_t)name_class(r, t->table, t->buckets[which[i]].name);
}

static void write_buckets(struct writer *w, const struct tile *t, const uint16_t *which, uint32_t n)
{
	void *at = room(w, n, 4);

	for (uint32_t i = 0; at && i < n; i++)
		put_u32(at, i, t->buckets[which[i]].begins);
	at = room(w, n, 4);
	for (uint32_t i = 0; at && i < n; i++)
		put_u32(at, i, t->buckets[which[i]].name);
	at = room(w, n, 4);
	for (uint32_t i = 0; at && i < n; i++)
		put_u32(at, i, (uint32_t)t->buckets[which[i]].first);
}

int tile_write(const struct tile *t, struct recording *r, struct buf *out)
{
	struct writer w = { .out = out };
	uint16_t which[TILE_BUCKETS];
	uint32_t n = touched_buckets(t, which);
	void *at = room(&w, 2, 4);

	if (at) {
		put_u32(at, 0, t->listed_count);
		put_u32(at, 1, n);
	}
	write_listed(&w, t, r);
	write_shares(&w, t, r, which, n);
	write_buckets(&w, t, which, n);
	return w.r;
}

struct plot {
	struct { double least, most, sum; uint32_t count; } buckets[TILE_BUCKETS];
};

static void plot_chunk(struct plot *plot, struct tile *t, const struct chunk *c)
{
	for (uint32_t i = 0; i < c->rows; i++) {
		unsigned b;

		if (c->start[i] < t->from || c->start[i] >= t->to || !isfinite(c->values[i]))
			continue;
		b = (unsigned)((uint64_t)(c->start[i] - t->from) >> t->level);
		if (!plot->buckets[b].count || c->values[i] < plot->buckets[b].least)
			plot->buckets[b].least = c->values[i];
		if (!plot->buckets[b].count || c->values[i] > plot->buckets[b].most)
			plot->buckets[b].most = c->values[i];
		plot->buckets[b].sum += c->values[i];
		plot->buckets[b].count++;
		t->buckets[b].touched = true;
	}
}

static void write_plot(struct writer *w, const struct plot *plot, const uint16_t *which, uint32_t n)
{
	void *at = room(w, n, 4);

	for (uint32_t i = 0; at && i < n; i++)
		put_f32(at, i, plot->buckets[which[i]].least);
	at = room(w, n, 4);
	for (uint32_t i = 0; at && i < n; i++)
		put_f32(at, i, plot->buckets[which[i]].most);
	at = room(w, n, 4);
	for (uint32_t i = 0; at && i < n; i++)
		put_f32(at, i, plot->buckets[which[i]].sum / plot->buckets[which[i]].count);
}

int plot_write(struct tile *t, struct recording *r, const struct lane *lane, struct buf *out)
{
	struct plot *plot = calloc(1, sizeof(*plot));
	struct writer w = { .out = out, .r = plot ? 0 : -ENOMEM };
	uint16_t which[TILE_BUCKETS];
	const struct chunk *c;
	uint32_t n;
	void *at;

	t->table = lane->table;
	for (size_t i = 0; i < lane->piece_count && w.r == 0; i++) {
		const struct piece *p = &r->pieces[lane->piece + i];

		if (p->time_min >= t->to || p->time_max < t->from)
			continue;
		w.r = store_chunk(r, p, &c);
		if (w.r == 0) {
			plot_chunk(plot, t, c);
			store_give(r->store, c);
		}
	}
	n = touched_buckets(t, which);
	at = room(&w, 2, 4);
	if (at)
		put_u32(at, 1, n);
	write_shares(&w, t, r, which, n);
	if (w.r == 0)
		write_plot(&w, plot, which, n);
	free(plot);
	return w.r;
}
