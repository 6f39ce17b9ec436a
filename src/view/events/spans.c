#include "view/events/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"

int spans_add(struct spans *s, uint32_t row, int64_t start, int64_t end)
{
	if (!ARRAY_ROOM(s->items, s->count, s->room, 1))
		return -ENOMEM;
	s->items[s->count++] = (struct span){ row, start, end };
	return 0;
}

int spans_append(struct spans *s, const struct spans *more)
{
	if (!more->count)
		return 0;
	if (!ARRAY_ROOM(s->items, s->count, s->room, more->count))
		return -ENOMEM;
	memcpy(s->items + s->count, more->items, more->count * sizeof(*more->items));
	s->count += more->count;
	return 0;
}

static int compare_row_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

void spans_unite(struct spans *s)
{
	size_t kept = 0;

	if (!s->count)
		return;
	sort_items(s->items, s->count, sizeof(*s->items), compare_row_spans);
	for (size_t i = 1; i < s->count; i++) {
		struct span *last = &s->items[kept];

		if (s->items[i].row == last->row && s->items[i].start <= last->end)
			last->end = s->items[i].end > last->end ? s->items[i].end : last->end;
		else
			s->items[++kept] = s->items[i];
	}
	s->count = kept + 1;
}

/* The first of the row that ends after `time`. */
static size_t first_after(const struct spans *s, uint32_t row, int64_t time)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct span *span = &s->items[middle];

		if (span->row < row || (span->row == row && span->end <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t spans_cover(const struct spans *s, uint32_t row, int64_t start, int64_t end)
{
	uint64_t covered = 0;

	for (size_t i = first_after(s, row, start); i < s->count && s->items[i].row == row && s->items[i].start < end; i++) {
		int64_t from = s->items[i].start > start ? s->items[i].start : start;
		int64_t to = s->items[i].end < end ? s->items[i].end : end;

		covered += to > from ? (uint64_t)to - (uint64_t)from : 0;
	}
	return covered;
}

uint64_t spans_time(const struct spans *s, uint32_t row)
{
	return spans_cover(s, row, INT64_MIN, INT64_MAX);
}

void spans_release(struct spans *s)
{
	free(s->items);
	*s = (struct spans){ 0 };
}
