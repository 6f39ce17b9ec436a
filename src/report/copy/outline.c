/* A report without the rows of its events where the levels of detail tell of them: what a whole recording looks like, in a file that
 * is small. Blocks are copied as they lie; a large group of events leaves an entry in the directory (BLOCK_ABSENT). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "report/write/detail.h"
#include "report/read/internal.h"
#include "report/write/internal.h"

struct outline {
	struct report *r;
	struct report_writer *w;
	struct detail_span {
		uint32_t track;
		int64_t time_min, time_max;
	} * details; /* groups that level 0 has, in order */
	size_t detail_count;
	uint64_t from, to; /* the block copied last: where it was, where it is */
	uint64_t left_out; /* rows */
};

static int compare_spans(const void *a, const void *b)
{
	const struct detail_span *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->time_min != y->time_min)
		return x->time_min < y->time_min ? -1 : 1;
	return x->time_max < y->time_max ? -1 : x->time_max > y->time_max;
}

static int list_details(struct outline *o)
{
	size_t all = report_group_count(o->r, TABLE_LOD);

	o->details = calloc(all + 1, sizeof(*o->details));
	if (!o->details)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		const struct report_group *g = report_group(o->r, TABLE_LOD, i);

		if (g->track)
			o->details[o->detail_count++] = (struct detail_span){ g->track, g->time_min, g->time_max };
	}
	qsort(o->details, o->detail_count, sizeof(*o->details), compare_spans);
	return 0;
}

static bool has_detail(const struct outline *o, const struct entry *e)
{
	const struct table_schema *schema = e->kind == BLOCK_GROUP ? table_schema(e->table) : NULL;
	struct detail_span span = { e->track, e->time_min, e->time_max };

	return schema && schema->kind != TABLE_KIND_PLAIN && e->table != TABLE_COUNTER && e->items >= DETAIL_MIN_ROWS && e->track &&
	       bsearch(&span, o->details, o->detail_count, sizeof(span), compare_spans);
}

static int copy_block(struct outline *o, uint64_t offset)
{
	struct report_writer *w = o->w;
	struct block_header h;

	if (o->to && o->from == offset)
		return 0;
	if (offset > o->r->size || block_peek(o->r->map + offset, o->r->size - offset, &h) < 0 || block_span(&h) > o->r->size - offset)
		return -EBADMSG;
	o->from = offset;
	o->to = w->size;
	buf_clear(&w->block);
	TRY(buf_append(&w->block, o->r->map + offset, block_span(&h)));
	return output_append(w);
}

static int take_outline_entry(struct report *r, const struct entry *entry, void *context)
{
	struct outline *o = context;
	struct entry e = *entry;

	if (has_detail(o, &e)) {
		e.kind = BLOCK_ABSENT;
		e.offset = o->to;
		e.inside = e.bytes = e.present = 0;
		o->left_out += e.items;
	} else if (e.kind >= BLOCK_GROUP && e.kind <= BLOCK_BLOBS) {
		TRY(copy_block(o, e.offset));
		e.offset = o->to;
	}
	return entry_add(o->w, &e);
}

static int copy_outline_blocks(struct outline *o, const struct footer *footer, struct error *err)
{
	buf_clear(&o->w->block);
	TRY(buf_append(&o->w->block, o->r->map, sizeof(struct file_header)));
	TRY(output_append(o->w));
	TRY(list_details(o));
	return directory_walk(o->r, footer, take_outline_entry, o, err);
}

static int write_outline(struct outline *o, const struct footer *footer, struct error *err)
{
	struct report_writer *w = o->w;
	int rc;

	memcpy(w->id, o->r->id, sizeof(w->id));
	w->seed = o->r->seed;
	w->extends = 1; /* the levels of detail are there already */
	TRY(output_open_temporary(w, err));
	w->size = 0;
	rc = copy_outline_blocks(o, footer, err);
	w->rows = footer->rows - o->left_out;
	rc = rc < 0 ? error_set_errno(err, -rc, "cannot write %s", w->path) : finish_file(w, err);
	if (rc < 0)
		output_unlink(w, w->part_path);
	return rc;
}

int report_outline(struct report *r, const char *path, uint64_t *ret_left_out, struct error *err)
{
	struct outline o = { .r = r };
	struct footer footer;
	int rc;

	if (r->partial || !reader_footer(r, &footer))
		return error_set(err, EINVAL, "the report is not complete");
	o.w = writer_new(path, 0);
	if (!o.w)
		return error_set(err, ENOMEM, "no memory for the report");
	rc = write_outline(&o, &footer, err);
	*ret_left_out = o.left_out;
	writer_free(o.w);
	free(o.details);
	return rc;
}
