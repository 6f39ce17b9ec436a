/* A report with rows added. The blocks that are there are copied, not read: what was recorded stays as it is,
 * and a new directory behind them names the old and the new ones. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "report/read/internal.h"
#include "report/write/internal.h"

#define COPY_PIECE (1u << 20)

static int take_extended_entry(struct report *r, const struct entry *entry, void *context)
{
	struct report_writer *w = context;

	(void)r;
	if (entry->kind == BLOCK_GROUP && entry->segment >= w->segment)
		w->segment = entry->segment;
	return entry_add(w, entry);
}

/* The file up to its directory, header included. */
static int copy_extended_blocks(struct report_writer *w, const struct report *r, uint64_t size)
{
	w->size = 0;
	while (w->size < size) {
		uint64_t left = size - w->size;

		buf_clear(&w->block);
		TRY(buf_append(&w->block, r->map + w->size, left < COPY_PIECE ? (size_t)left : COPY_PIECE));
		TRY(output_append(w));
	}
	return 0;
}

/* Rows of a track are numbered through: the new ones go on behind the old. */
static int go_on(struct report_writer *w, const struct report *r)
{
	for (unsigned table = 1; table < TABLE_ID_LIMIT; table++) {
		const struct table_schema *schema = table_schema(table);
		struct report_track *t;

		if (!schema || schema->kind != TABLE_KIND_PLAIN || !r->tables[table].rows)
			continue;
		t = report_track(w, (enum table_id)table, 0);
		if (!t)
			return -ENOMEM;
		t->flushed = r->tables[table].rows;
	}
	w->next_string = r->strings.limit ? r->strings.limit : 1;
	w->next_blob = r->blobs.limit ? r->blobs.limit : 1;
	return 0;
}

/* Who could read the report that is replaced can read the new one. */
static void keep_mode(struct report_writer *w)
{
	struct stat st;

	if (w->overwrite && stat(w->path, &st) == 0 && fchmod(w->fd, st.st_mode & 0777) < 0)
		return;
}

static int begin_extension(struct report_writer *w, struct report *r, const struct footer *footer, struct error *err)
{
	int rc;

	memcpy(w->id, r->id, sizeof(w->id));
	w->seed = r->seed;
	w->extends = 1;
	TRY(output_open_temporary(w, err));
	/* No recording of that name is meant when the journal is removed. */
	free(w->journal_path);
	w->journal_path = path_with(w->part_path, ".journal");
	keep_mode(w);
	rc = w->journal_path ? directory_walk(r, footer, take_extended_entry, w, err) : -ENOMEM;
	if (rc == 0)
		rc = copy_extended_blocks(w, r, footer->directory_offset);
	if (rc == 0)
		rc = go_on(w, r);
	w->segment_start = w->size;
	w->segment++;
	w->rows = footer->rows;
	if (rc < 0) {
		output_unlink(w, w->part_path);
		error_set_errno(err, -rc, "cannot copy the report to %s", w->path);
	}
	return rc;
}

int report_extend_begin(struct report_writer **ret, struct report *r, const char *path, int overwrite, struct error *err)
{
	struct report_writer *w;
	struct footer footer;
	int rc;

	*ret = NULL;
	if (r->partial || !reader_footer(r, &footer))
		return error_set(err, EINVAL, "the report is not complete; 'sonde recover' completes it");
	w = writer_new(path, overwrite);
	if (!w)
		return error_set(err, ENOMEM, "no memory for the report");
	rc = begin_extension(w, r, &footer, err);
	if (rc < 0)
		writer_free(w);
	else
		*ret = w;
	return rc;
}

int report_extend_finish(struct report_writer *w, struct error *err)
{
	int rc = finish_file(w, NULL);

	if (rc < 0) {
		output_unlink(w, w->part_path);
		error_set_errno(err, -rc, "cannot write %s", w->path);
	}
	writer_free(w);
	return rc;
}

void report_extend_cancel(struct report_writer *w)
{
	if (!w)
		return;
	output_unlink(w, w->part_path);
	writer_free(w);
}
