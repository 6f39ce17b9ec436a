/* Rows and texts of a report, all of them or those of some time, written again under the same ids. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "report/read/internal.h"
#include "report/write/internal.h"

#define RECLAIM_GROUPS 64 /* how often builders are looked at */

/* One group's columns. */
struct group_copy {
	int64_t *values[TABLE_MAX_COLUMNS];
	uint8_t *nulls[TABLE_MAX_COLUMNS];
	void *room;
};

struct copy {
	struct report *r;
	struct report_writer *w;
	const struct report_part *part; /* NULL: everything */
	struct group_copy group;
};

static int group_alloc(struct group_copy *g)
{
	size_t column = SET_MAX_ROWS * (sizeof(int64_t) + 1);
	char *at;

	g->room = at = malloc(column * TABLE_MAX_COLUMNS);
	if (!at)
		return -ENOMEM;
	for (unsigned c = 0; c < TABLE_MAX_COLUMNS; c++, at += column) {
		g->values[c] = (int64_t *)(void *)at;
		g->nulls[c] = (uint8_t *)(at + SET_MAX_ROWS * sizeof(int64_t));
	}
	return 0;
}

static bool keeps_time(const struct report_part *part, int64_t start, int64_t end)
{
	return !part || !part->keeps || part->keeps(part->context, start, end);
}

static bool is_part_row(const struct report_part *part, enum table_id table, int64_t *values, uint32_t present)
{
	return !part || !part->keeps_row || part->keeps_row(part->context, table, values, present);
}

/* Appends the rows of a decoded group; those out of order cannot be kept. */
static int append_rows(const struct copy *c, struct report_track *t, const struct report_group *group, enum table_id table)
{
	enum table_kind kind = table_schema(table)->kind;
	const struct group_copy *g = &c->group;
	const int64_t *ends = g->values[kind == TABLE_KIND_SPAN];
	int64_t values[TABLE_MAX_COLUMNS] = { 0 };
	uint32_t present;
	int rc = 0;

	for (uint32_t i = 0; i < group->rows && (rc == 0 || rc == -EINVAL); i++) {
		if (kind != TABLE_KIND_PLAIN && !keeps_time(c->part, g->values[0][i], ends[i]))
			continue;
		present = 0;
		for (uint32_t left = group->present; left; left &= left - 1) {
			unsigned column = (unsigned)__builtin_ctz(left);

			values[column] = g->values[column][i];
			present |= (uint32_t)!g->nulls[column][i] << column;
		}
		if (kind != TABLE_KIND_PLAIN || is_part_row(c->part, table, values, present))
			rc = report_append(t, values, present);
	}
	return rc == -EINVAL ? 0 : rc;
}

static int copy_group(struct copy *c, enum table_id table, size_t i)
{
	const struct report_group *group = report_group(c->r, table, i);
	enum table_kind kind = table_schema(table)->kind;
	struct report_track *t;
	int rc;

	if (c->part && kind != TABLE_KIND_PLAIN && (group->time_min > c->part->to || group->time_max < c->part->from))
		return 0;
	t = report_track(c->w, table, group->track);
	rc = t ? 0 : -ENOMEM;
	for (unsigned column = 0; column < TABLE_MAX_COLUMNS && rc == 0; column++)
		if (group->present >> column & 1)
			rc = report_column(c->r, table, i, column, c->group.values[column], c->group.nulls[column]);
	if (rc == -EBADMSG)
		return 0; /* a damaged group: the others are still worth having */
	TRY(rc);
	TRY(append_rows(c, t, group, table));
	c->w->tick++; /* tracks that have not been seen for some groups count as idle */
	return c->w->tick % RECLAIM_GROUPS ? 0 : reclaim_memory(c->w);
}

static int copy_tables(struct copy *c)
{
	int rc = group_alloc(&c->group);

	for (unsigned table = 1; table < TABLE_ID_LIMIT && rc == 0; table++) {
		if (table == TABLE_LOD)
			continue; /* made anew */
		for (size_t i = 0; i < report_group_count(c->r, (enum table_id)table) && rc == 0; i++)
			rc = copy_group(c, (enum table_id)table, i);
	}
	free(c->group.room);
	return rc;
}

static int copy_texts(struct report *r, struct report_writer *w, const struct report_part *part)
{
	const void *data;
	size_t size;
	int rc = 0;

	for (uint64_t id = 1; id < r->strings.limit && rc == 0; id++) {
		data = report_text(r, id, &size);
		if (data && part && part->new_text)
			data = part->new_text(part->context, id, data, &size);
		if (data)
			rc = string_put(w, id, data, size);
	}
	for (uint64_t id = r->blobs.lowest; id < r->blobs.limit && rc == 0; id++) {
		if (part && part->keeps_blob && !part->keeps_blob(part->context, id))
			continue;
		data = report_blob_data(r, id, &size);
		if (data && part && part->new_blob)
			data = part->new_blob(part->context, id, data, size);
		if (data)
			rc = blob_put(w, id, data, size);
	}
	return rc;
}

static int copy_rows(struct copy *c)
{
	TRY(copy_texts(c->r, c->w, c->part));
	TRY(copy_tables(c));
	return c->part && c->part->adds ? c->part->adds(c->part->context, c->w) : 0;
}

int report_copy(struct report *r, const char *path, int overwrite, const struct report_part *part, struct error *err)
{
	struct report_writer *w = writer_new(path, overwrite);
	struct copy copy = { .r = r, .w = w, .part = part };
	int rc = w ? output_open_temporary(w, err) : error_set(err, ENOMEM, "no memory for a copy of the report");

	if (rc == 0) {
		rc = copy_rows(&copy);
		rc = rc < 0 ? error_set_errno(err, -rc, "cannot write %s", path) : finish_file(w, err);
		if (rc < 0)
			output_unlink(w, w->part_path);
	}
	writer_free(w);
	return rc;
}
