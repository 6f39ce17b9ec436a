/* A group's rows, decoded: times, names, flags. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "view/report/event_names.h"
#include "view/report/view_report.h"
#include "view/report/store_items.h"

/* What decoded rows have room for, each behind the other. */
struct parts {
	int64_t *start;
	int64_t *end;
	double *values;
	uint32_t *names;
	uint8_t *flags;
};

static bool has_names(enum table_id table)
{
	return table_column(table, ROLE_NAME) >= 0 || table_tracks(table);
}

static struct store_item *new_item(const struct row_group *p, bool is_span, struct parts *parts)
{
	bool is_counter = p->table == TABLE_COUNTER, named = has_names(p->table), flagged = table_open_column(p->table) >= 0;
	size_t rows = p->rows;
	size_t size = sizeof(struct store_item) +
		      rows * (8 + (is_span ? 8u : 0) + (is_counter ? 8u : 0) + (named ? 4u : 0) + (flagged ? 1u : 0));
	struct store_item *item = calloc(1, size);
	char *at = (char *)(item + 1);

	if (!item)
		return NULL;
	item->size = size;
	parts->start = (int64_t *)(void *)at;
	at += rows * 8;
	parts->end = is_span ? (int64_t *)(void *)at : parts->start;
	at += is_span ? rows * 8 : 0;
	parts->values = is_counter ? (double *)(void *)at : NULL;
	at += is_counter ? rows * 8 : 0;
	parts->names = named ? (uint32_t *)(void *)at : NULL;
	at += named ? rows * 4 : 0;
	parts->flags = flagged ? (uint8_t *)at : NULL;
	return item;
}

static int read_names(struct view_report *r, const struct row_group *p, uint32_t *names, int64_t *room)
{
	int column = table_column(p->table, ROLE_NAME), rc = 0;

	if (column >= 0)
		rc = report_column(group_report(r, p), p->table, p->number, (unsigned)column, room, NULL);
	for (uint32_t i = 0; rc >= 0 && i < p->rows; i++) {
		if (i && column >= 0 && room[i] == room[i - 1])
			names[i] = names[i - 1];
		else
			names[i] = name_in(r, p, column >= 0 ? room[i] : 0);
	}
	return rc;
}

static int read_flags(struct view_report *r, const struct row_group *p, uint8_t *flags, int64_t *room)
{
	int rc = report_column(group_report(r, p), p->table, p->number, (unsigned)table_open_column(p->table), room, NULL);
	int error = table_column(p->table, ROLE_ERROR);

	for (uint32_t i = 0; rc >= 0 && i < p->rows; i++)
		flags[i] = room[i] & SLICE_OPEN ? CHUNK_OPEN : 0;
	if (rc >= 0 && error >= 0)
		rc = report_column(group_report(r, p), p->table, p->number, (unsigned)error, room, NULL);
	for (uint32_t i = 0; rc >= 0 && error >= 0 && i < p->rows; i++)
		flags[i] |= room[i] ? CHUNK_ERROR : 0;
	return rc;
}

/* Whole numbers or real ones, row by row. */
static int read_values(struct view_report *r, const struct row_group *p, double *values, int64_t *room)
{
	uint8_t *nulls = malloc(p->rows + 1u);
	int rc = nulls ? report_column(group_report(r, p), p->table, p->number, COLUMN_COUNTER_REAL, room, nulls) : -ENOMEM;

	for (uint32_t i = 0; rc >= 0 && i < p->rows; i++) {
		memcpy(&values[i], &room[i], sizeof(values[i]));
		values[i] = nulls[i] ? (double)NAN : values[i];
	}
	if (rc >= 0)
		rc = report_column(group_report(r, p), p->table, p->number, COLUMN_COUNTER_INTEGER, room, nulls);
	for (uint32_t i = 0; rc >= 0 && i < p->rows; i++)
		if (!nulls[i])
			values[i] = (double)room[i];
	free(nulls);
	return rc;
}

static int read_parts(struct view_report *r, const struct row_group *p, const struct parts *parts, bool is_span)
{
	int64_t *room = malloc(p->rows * sizeof(*room) + 1);
	int rc = room ? report_column(group_report(r, p), p->table, p->number, 0, parts->start, NULL) : -ENOMEM;

	if (rc >= 0 && is_span)
		rc = report_column(group_report(r, p), p->table, p->number, 1, parts->end, NULL);
	for (uint32_t i = 0; rc >= 0 && is_span && i < p->rows; i++)
		if (parts->end[i] < parts->start[i])
			parts->end[i] = parts->start[i];
	if (rc >= 0 && parts->names)
		rc = read_names(r, p, parts->names, room);
	if (rc >= 0 && parts->flags)
		rc = read_flags(r, p, parts->flags, room);
	if (rc >= 0 && parts->values)
		rc = read_values(r, p, parts->values, room);
	free(room);
	return rc;
}

int decoded_rows_make(struct view_report *r, const struct row_group *p, struct store_item **ret)
{
	bool is_span = table_schema(p->table)->kind == TABLE_KIND_SPAN;
	struct parts parts;
	struct store_item *item = new_item(p, is_span, &parts);
	int rc = item ? read_parts(r, p, &parts, is_span) : -ENOMEM;

	if (rc == -ENOMEM) {
		free(item);
		return rc;
	}
	/* clang-format off */
	item->content.decoded = (struct decoded_rows){ .rows = rc < 0 ? 0 : p->rows, .start = parts.start, .end = parts.end,
					      .names = parts.names, .flags = parts.flags, .values = parts.values };
	/* clang-format on */
	*ret = item;
	return 0;
}
