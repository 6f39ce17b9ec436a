/* Rows in memory: kept in order of arrival, sorted by track and time when they are full or at the end. */
#include "ingest/rows/sink_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

#define LEAST_WORDS 2u /* of a row: which columns, and a time */
#define SMALL_SORT 12u

/* Pages that are not touched take no memory: nothing for a small trace. */
static void *map_pages(size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	/* They are filled from begin to end: fewer faults. Where the kernel does not know this there are more. */
	madvise(pages, size, MADV_HUGEPAGE);
	return pages;
}

static void unmap_pages(void *pages, size_t size)
{
	if (pages)
		munmap(pages, size);
}

static size_t order_bytes(const struct store *s)
{
	return s->capacity / LEAST_WORDS * sizeof(*s->order);
}

int store_begin(struct store *s, const char *beside, size_t bytes)
{
	*s = (struct store){ .fd = -1, .beside = beside, .capacity = bytes / sizeof(int64_t) };
	s->tail = &s->tracks;
	s->words = map_pages(bytes);
	s->order = map_pages(order_bytes(s));
	s->scratch = map_pages(order_bytes(s));
	return s->words && s->order && s->scratch ? 0 : -ENOMEM;
}

void store_release(struct store *s)
{
	for (struct store_track *t = s->tracks; t; t = t->next)
		free(t->runs);
	unmap_pages(s->words, s->capacity * sizeof(*s->words));
	unmap_pages(s->order, order_bytes(s));
	unmap_pages(s->scratch, order_bytes(s));
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct store){ .fd = -1 };
}

void store_add_track(struct store *s, struct store_track *t, int is_span)
{
	*t = (struct store_track){ .is_span = is_span, .number = s->track_count++ };
	*s->tail = t;
	s->tail = &t->next;
}

/* Rows of a track stand together in `order`, as they arrived. */
static int group_by_track(struct store *s)
{
	uint32_t *next = calloc(s->track_count ? s->track_count : 1, sizeof(*next)), first = 0;

	if (!next)
		return -ENOMEM;
	for (struct store_track *t = s->tracks; t; t = t->next) {
		t->first = next[t->number] = first;
		first += t->waiting;
	}
	for (size_t at = 0; at < s->used; at += store_row_words(s->words + at))
		s->order[next[(uint64_t)s->words[at] >> 32]++] = (uint32_t)at;
	free(next);
	return 0;
}

static void sort_few(const int64_t *words, uint32_t *rows, uint32_t count, int is_span)
{
	for (uint32_t i = 1, at, row; i < count; i++) {
		row = rows[i];
		for (at = i; at && store_out_of_order(words + rows[at - 1], words + row, is_span); at--)
			rows[at] = rows[at - 1];
		rows[at] = row;
	}
}

/* Traces are mostly in order: halves that already follow each other are left as they are. */
static void sort_rows(const int64_t *words, uint32_t *rows, uint32_t count, uint32_t *scratch, int is_span)
{
	uint32_t half = count / 2, left = 0, right = half, at = 0;

	if (count <= SMALL_SORT) {
		sort_few(words, rows, count, is_span);
		return;
	}
	sort_rows(words, rows, half, scratch, is_span);
	sort_rows(words, rows + half, count - half, scratch, is_span);
	if (!store_out_of_order(words + rows[half - 1], words + rows[half], is_span))
		return;
	memcpy(scratch, rows, half * sizeof(*rows));
	while (left < half && right < count) {
		if (store_out_of_order(words + scratch[left], words + rows[right], is_span))
			rows[at++] = rows[right++];
		else
			rows[at++] = scratch[left++];
	}
	memcpy(rows + at, scratch + left, (half - left) * sizeof(*rows));
}

static int sort_all(struct store *s)
{
	int r = group_by_track(s);

	for (struct store_track *t = s->tracks; t && r == 0; t = t->next)
		sort_rows(s->words, s->order + t->first, t->waiting, s->scratch, t->is_span);
	return r;
}

static int spill(struct store *s)
{
	struct store_output out;

	TRY(sort_all(s));
	TRY(store_output_begin(&out, s));
	for (struct store_track *t = s->tracks; t; t = t->next) {
		for (uint32_t i = 0; i < t->waiting; i++)
			store_output_row(&out, s->words + s->order[t->first + i], t->is_span);
		if (t->waiting)
			store_output_run(&out, &t->runs, &t->run_count, &t->run_capacity);
		t->waiting = 0;
	}
	s->used = 0;
	return store_output_end(&out);
}

int64_t *store_row(struct store *s, struct store_track *t, uint32_t present, int *ret_error)
{
	size_t width = 1 + (size_t)__builtin_popcount(present);
	int64_t *row;

	if (s->used + width > s->capacity) {
		*ret_error = spill(s);
		if (*ret_error < 0)
			return NULL;
	}
	row = s->words + s->used;
	s->used += width;
	t->waiting++;
	row[0] = (int64_t)((uint64_t)t->number << 32 | present);
	return row;
}

int store_end(struct store *s)
{
	return s->fd >= 0 ? spill(s) : sort_all(s);
}

int store_each(struct store *s, struct store_track *t, store_fn take, void *context)
{
	if (s->fd >= 0)
		return store_merge(s, t, take, context);
	for (uint32_t i = 0; i < t->waiting; i++)
		take(context, s->words + s->order[t->first + i]);
	return 0;
}
