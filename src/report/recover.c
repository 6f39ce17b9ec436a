/* Finishing what a killed recorder left: everything readable in the .part and its journal
 * is written again, to a file of its own; the .part goes only when that is complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "report/reader_internal.h"
#include "report/writer_internal.h"

#define RECLAIM_GROUPS 64 /* how often builders are looked at */

/* One group's columns. */
struct group_copy {
	int64_t *values[TABLE_MAX_COLUMNS];
	uint8_t *nulls[TABLE_MAX_COLUMNS];
	void *room;
};

static int copy_alloc(struct group_copy *g)
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

/* Appends the rows of a decoded group; those out of order cannot be kept. */
static int append_rows(struct report_track *t, const struct report_group *group,
		       const struct group_copy *g)
{
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present;
	int rc = 0;

	for (uint32_t i = 0; i < group->rows && (rc == 0 || rc == -EINVAL); i++) {
		present = 0;
		for (uint32_t left = group->present; left; left &= left - 1) {
			unsigned c = (unsigned)__builtin_ctz(left);

			values[c] = g->values[c][i];
			present |= (uint32_t)!g->nulls[c][i] << c;
		}
		rc = report_append(t, values, present);
	}
	return rc == -EINVAL ? 0 : rc;
}

static int copy_group(struct report *r, struct report_writer *w, enum table_id table, size_t i,
		      struct group_copy *g)
{
	const struct report_group *group = report_group(r, table, i);
	struct report_track *t = report_track(w, table, group->track);
	int rc = t ? 0 : -ENOMEM;

	for (unsigned c = 0; c < TABLE_MAX_COLUMNS && rc == 0; c++)
		if (group->present >> c & 1)
			rc = report_column(r, table, i, c, g->values[c], g->nulls[c]);
	if (rc == -EBADMSG)
		return 0; /* a damaged group: the others are still worth having */
	rc = rc < 0 ? rc : append_rows(t, group, g);
	w->tick++; /* tracks that have not been seen for some groups count as idle */
	return rc < 0 || w->tick % RECLAIM_GROUPS ? rc : reclaim_memory(w);
}

static int copy_tables(struct report *r, struct report_writer *w)
{
	struct group_copy g;
	int rc = copy_alloc(&g);

	for (unsigned table = 1; table < TABLE_ID_LIMIT && rc == 0; table++) {
		if (table == TABLE_LOD)
			continue; /* made anew */
		for (size_t i = 0; i < report_group_count(r, (enum table_id)table) && rc == 0; i++)
			rc = copy_group(r, w, (enum table_id)table, i, &g);
	}
	free(g.room);
	return rc;
}

static int copy_texts(struct report *r, struct report_writer *w)
{
	const void *data;
	size_t size;
	int rc = 0;

	for (uint64_t id = 1; id < r->strings.limit && rc == 0; id++) {
		data = report_text(r, id, &size);
		if (data)
			rc = string_put(w, id, data, size);
	}
	for (uint64_t id = r->blobs.lowest; id < r->blobs.limit && rc == 0; id++) {
		data = report_blob_data(r, id, &size);
		if (data)
			rc = blob_put(w, id, data, size);
	}
	return rc;
}

/* X.part and X.part.3 become X. */
static int final_name(const char *part_path, char *ret, size_t size, struct error *err)
{
	char *journal = journal_path_of(part_path);
	const char *suffix = NULL;
	int length;

	free(journal);
	for (const char *at = strstr(part_path, ".part"); at; at = strstr(at + 1, ".part"))
		suffix = at;
	if (!journal || suffix == part_path)
		return error_set(err, EINVAL, "%s is not the .part file of a recording", part_path);
	length = snprintf(ret, size, "%.*s", (int)(suffix - part_path), part_path);
	if (length < 0 || (size_t)length >= size)
		return error_set(err, ENAMETOOLONG, "%s is too long a name", part_path);
	return 0;
}

/* Nobody may be writing it; the lock is held until the end. */
static int lock_part(const char *part_path, struct error *err)
{
	int fd = open(part_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return error_set(err, ENOENT, "%s does not exist", part_path);
	if (fd < 0)
		return error_set_errno(err, errno, "cannot open %s", part_path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(fd);
		return error_set(err, EBUSY, "%s is still being recorded; stop that recording first",
				 part_path);
	}
	return fd;
}

static int write_copy(struct report *r, const char *path, int overwrite, struct error *err)
{
	struct report_writer *w = writer_new(path, overwrite);
	int rc = w ? 0 : error_set(err, ENOMEM, "no memory to recover the report");

	rc = rc < 0 ? rc : output_open_temporary(w, err);
	if (rc == 0) {
		rc = copy_texts(r, w);
		rc = rc < 0 ? rc : copy_tables(r, w);
		rc = rc < 0 ? error_set_errno(err, -rc, "cannot write %s", path)
			    : finish_file(w, err);
		if (rc < 0)
			unlink(w->part_path);
	}
	writer_free(w);
	return rc;
}

static void remove_part(const char *part_path)
{
	char *journal = journal_path_of(part_path);

	unlink(part_path);
	if (journal)
		unlink(journal);
	free(journal);
}

int report_recover(const char *part_path, int overwrite, char *ret_path, size_t path_size,
		   struct error *err)
{
	struct report *r = NULL;
	char room[4096];
	int rc, fd = lock_part(part_path, err);

	if (fd < 0)
		return fd;
	if (!ret_path) {
		ret_path = room;
		path_size = sizeof(room);
	}
	rc = final_name(part_path, ret_path, path_size, err);
	rc = rc < 0 ? rc : report_open(&r, part_path, err);
	rc = rc < 0 ? rc : write_copy(r, ret_path, overwrite, err);
	if (rc == 0)
		remove_part(part_path);
	report_close(r);
	close(fd);
	return rc;
}
