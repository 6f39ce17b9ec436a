/* Level 0 of the lod table, checked: it is what the rows of a group come to, or it is not used. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "report/write/detail.h"
#include "view/report/event_names.h"
#include "view/report/view_report.h"
#include "view/report/store_items.h"

enum { READ_TABLE, READ_ROWS, READ_START, READ_BUSY, READ_WIDTH, READ_NAME, READ_LONGEST, READ_AT, READ_ROW, READ_FLAGS, READ_COUNT };

struct summary_columns {
	int64_t *values[READ_COUNT];
	uint8_t *no_long; /* 1 where there is none */
	void *room;
};

static int read_summary_columns(struct view_report *r, const struct row_group *p, uint32_t rows, struct summary_columns *ret)
{
	/* clang-format off */
	const uint8_t columns[READ_COUNT] = {
		COLUMN_LOD_TABLE, COLUMN_LOD_ROWS, COLUMN_LOD_START, COLUMN_LOD_BUSY, COLUMN_LOD_WIDTH,
		(uint8_t)detail_name_column(p->table), COLUMN_LOD_LONGEST, COLUMN_LOD_AT, COLUMN_LOD_ROW,
		COLUMN_LOD_FLAGS,
	};
	/* clang-format on */
	char *at = ret->room = malloc(rows * (READ_COUNT * sizeof(int64_t) + 1) + 1);
	int rc = at ? 0 : -ENOMEM;

	ret->no_long = (uint8_t *)at + (size_t)rows * READ_COUNT * sizeof(int64_t);
	for (unsigned c = 0; c < READ_COUNT && rc >= 0; c++, at += rows * sizeof(int64_t)) {
		ret->values[c] = (int64_t *)(void *)at;
		rc = report_column(group_report(r, p), TABLE_LOD, p->summary, columns[c], ret->values[c],
				   c == READ_LONGEST ? ret->no_long : NULL);
	}
	return rc;
}

static bool long_is_right(const struct row_group *p, const struct summary_columns *c, uint32_t i, int64_t width)
{
	int64_t at = c->values[READ_AT][i], length = c->values[READ_LONGEST][i], row = c->values[READ_ROW][i], end;

	return length >= width && c->values[READ_ROWS][i] > 0 && at >= c->values[READ_START][i] && at - c->values[READ_START][i] < width &&
	       !__builtin_add_overflow(at, length, &end) && end <= p->time_max && row >= 0 && (uint64_t)row >= p->first &&
	       (uint64_t)row - p->first < p->rows;
}

/* Buckets in order, within the times of the group, no row more or less than it has. */
static bool is_right(const struct row_group *p, const struct summary_columns *c, uint32_t rows, uint32_t *ret_longs)
{
	int64_t width = INT64_C(1) << p->summary_level, last = INT64_MIN;
	uint64_t sum = 0;

	*ret_longs = 0;
	for (uint32_t i = 0; i < rows; i++) {
		int64_t start = c->values[READ_START][i];

		if (c->values[READ_TABLE][i] != p->table || c->values[READ_WIDTH][i] != width || start & (width - 1) ||
		    (i && start <= last) || start > p->time_max || start < p->time_min - (p->time_min & (width - 1)) ||
		    c->values[READ_BUSY][i] < 0 || c->values[READ_BUSY][i] > width || c->values[READ_ROWS][i] < 0 ||
		    c->values[READ_ROWS][i] > p->rows)
			return false;
		if (!c->no_long[i] && !long_is_right(p, c, i, width))
			return false;
		*ret_longs += !c->no_long[i];
		sum += (uint64_t)c->values[READ_ROWS][i];
		last = start;
	}
	return sum == p->rows;
}

static uint8_t read_summary_flags(int64_t flags)
{
	return (flags & DETAIL_OPEN ? CHUNK_OPEN : 0) | (flags & DETAIL_ERROR ? CHUNK_ERROR : 0);
}

static struct store_item *fill_item(struct view_report *r, const struct row_group *p, const struct summary_columns *c, uint32_t rows,
				    uint32_t longs)
{
	size_t size = sizeof(struct store_item) + rows * (8 + 8 + 4 + 4) + longs * sizeof(struct summary_long);
	struct store_item *item = calloc(1, size);
	struct summary_long *l = (struct summary_long *)(void *)(item + 1);
	int64_t *start = (int64_t *)(void *)(l + longs);
	uint64_t *busy = (uint64_t *)(start + rows);
	uint32_t *begins = (uint32_t *)(busy + rows), *names = begins + rows;
	bool same_name = table_column(p->table, ROLE_NAME) < 0;

	if (!item)
		return NULL;
	item->size = size;
	/* clang-format off */
	item->content.summary = (struct summary){ .count = rows, .level = p->summary_level, .start = start, .busy = busy,
						  .rows = begins, .names = names, .long_count = longs, .longs = l };
	/* clang-format on */
	for (uint32_t i = 0; i < rows; i++) {
		start[i] = c->values[READ_START][i];
		busy[i] = (uint64_t)c->values[READ_BUSY][i];
		begins[i] = (uint32_t)c->values[READ_ROWS][i];
		names[i] = begins[i] && (c->values[READ_NAME][i] || same_name) ? name_in(r, p, c->values[READ_NAME][i]) : 0;
		if (!c->no_long[i])
			*l++ = (struct summary_long){ .start = c->values[READ_AT][i],
						      .end = c->values[READ_AT][i] + c->values[READ_LONGEST][i],
						      .row = (uint64_t)c->values[READ_ROW][i],
						      .bucket = i,
						      .flags = read_summary_flags(c->values[READ_FLAGS][i]) };
	}
	return item;
}

int summary_make(struct view_report *r, const struct row_group *p, struct store_item **ret)
{
	uint32_t rows = report_group(group_report(r, p), TABLE_LOD, p->summary)->rows, longs;
	struct summary_columns c;
	int rc = read_summary_columns(r, p, rows, &c);

	if (rc >= 0 && !is_right(p, &c, rows, &longs))
		rc = -EBADMSG;
	if (rc >= 0) {
		*ret = fill_item(r, p, &c, rows, longs);
		rc = *ret ? 0 : -ENOMEM;
	}
	free(c.room);
	return rc;
}
