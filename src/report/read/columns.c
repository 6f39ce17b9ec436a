/* Columns of groups, and the facts of the META table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/read/internal.h"

static int find_set(struct report *r, const struct set_address *p, enum table_id table, struct set_view *ret)
{
	const struct block_ref *b = &r->blocks[p->block];
	struct cursor c;
	int rc;

	TRY(reader_load(r, p->block));
	if (p->inside > b->payload_size || p->bytes > b->payload_size - p->inside)
		return -EBADMSG;
	c = (struct cursor){ b->payload + p->inside, b->payload + p->inside + p->bytes, 0 };
	rc = set_parse(&c, ret);
	if (rc == 0 && (ret->head.table != table || ret->head.rows != p->stored))
		rc = -EBADMSG; /* the directory says something else */
	return rc;
}

/* The rows from `skip` on, by way of room for all of them. */
static int decode_tail(struct scratch *s, const struct set_view *set, unsigned column, uint32_t skip, int64_t *values, uint8_t *nulls)
{
	uint32_t rows = set->head.rows;
	int64_t *all = malloc(rows * (sizeof(*all) + 1));
	uint8_t *all_nulls = (uint8_t *)(all + rows);
	int rc;

	if (!all)
		return -ENOMEM;
	rc = decode_column(s, set, column, all, all_nulls);
	if (rc == 0) {
		memcpy(values, all + skip, (rows - skip) * sizeof(*values));
		if (nulls)
			memcpy(nulls, all_nulls + skip, rows - skip);
	}
	free(all);
	return rc;
}

int report_column(const struct report *report, enum table_id table, size_t group, unsigned column, int64_t *values, uint8_t *nulls)
{
	/* the content is constant to callers; what is loaded on the way is guarded */
	struct report *r = (struct report *)(uintptr_t)report;
	const struct set_address *p;
	struct set_view set;
	struct scratch *s;
	int rc;

	if (group >= report_group_count(r, table))
		return -EINVAL;
	p = &r->tables[table].places[group];
	TRY(find_set(r, p, table, &set));
	s = reader_scratch_take(r);
	if (!s)
		return -ENOMEM;
	rc = p->skip ? decode_tail(s, &set, column, p->skip, values, nulls) : decode_column(s, &set, column, values, nulls);
	reader_scratch_give(r, s);
	return rc;
}

/* The value of the key within one group; 0 when it is not there. */
static uint64_t meta_in_group(struct report *r, size_t group, const char *key)
{
	uint32_t rows = report_group(r, TABLE_META, group)->rows;
	int64_t *keys = malloc(rows * sizeof(*keys)), *texts = malloc(rows * sizeof(*texts));
	uint64_t found = 0;
	const char *name;

	if (keys && texts && report_column(r, TABLE_META, group, COLUMN_META_KEY, keys, NULL) == 0 &&
	    report_column(r, TABLE_META, group, COLUMN_META_VALUE, texts, NULL) == 0) {
		for (uint32_t i = 0; i < rows && !found; i++) {
			name = report_text(r, (uint64_t)keys[i], NULL);
			if (name && strcmp(name, key) == 0)
				found = (uint64_t)texts[i];
		}
	}
	free(keys);
	free(texts);
	return found;
}

const char *report_meta(struct report *r, const char *key)
{
	uint64_t id = 0;

	for (size_t i = 0; i < report_group_count(r, TABLE_META) && !id; i++)
		id = meta_in_group(r, i, key);
	return id ? report_text(r, id, NULL) : NULL;
}
