/* Levels of detail: level 0 is in detail.c; level 1 has one row per group, each further level one per sixteen
 * rows of the level below, until one is left. Kept per group while writing, so that
 * finishing need not read the data again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "report/write/internal.h"

#define FOLD 16

/* The value of a sparse column in a given row; 0 when it is null. */
static int64_t value_in_row(const struct row_set *rows, unsigned column, uint32_t row)
{
	uint32_t at = row;

	if (!rows->counts[column])
		return 0;
	if (rows->masks) {
		if (!(rows->masks[row] >> column & 1))
			return 0;
		at = 0;
		for (uint32_t i = 0; i < row; i++)
			at += rows->masks[i] >> column & 1;
	}
	return rows->columns[column][at];
}

static void summarise_spans(const struct row_set *rows, struct entry *entry)
{
	const int64_t *start = rows->columns[0], *end = rows->columns[1];
	int64_t longest = -1, length;
	uint64_t busy = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < rows->head.rows; i++) {
		length = (int64_t)((uint64_t)end[i] - (uint64_t)start[i]);
		busy += (uint64_t)length;
		if (length > longest) {
			longest = length;
			at = i;
		}
	}
	entry->busy = (int64_t)busy;
	entry->longest = longest;
	if (rows->head.table == TABLE_SLICE)
		entry->name = (uint64_t)value_in_row(rows, COLUMN_SLICE_NAME, at);
}

static int64_t to_integer(int64_t pattern)
{
	double real;

	memcpy(&real, &pattern, sizeof(real));
	if (!(real > -9e18 && real < 9e18))
		return 0;
	return (int64_t)real;
}

static void summarise_counter(const struct row_set *rows, struct entry *entry)
{
	int is_real = rows->counts[COLUMN_COUNTER_INTEGER] == 0;
	unsigned column = is_real ? COLUMN_COUNTER_REAL : COLUMN_COUNTER_INTEGER;
	int64_t value, largest = INT64_MIN;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rows->counts[column]; i++) {
		value = rows->columns[column][i];
		value = is_real ? to_integer(value) : value;
		sum += (uint64_t)value;
		largest = value > largest ? value : largest;
	}
	entry->busy = (int64_t)sum;
	entry->longest = rows->counts[column] ? largest : 0;
}

void lod_summarise(const struct row_set *rows, struct entry *entry)
{
	if (rows->kind == TABLE_KIND_SPAN)
		summarise_spans(rows, entry);
	else if (rows->head.table == TABLE_COUNTER)
		summarise_counter(rows, entry);
}

static int has_levels(const struct entry *entry)
{
	const struct table_schema *schema = table_schema(entry->table);

	return entry->kind == BLOCK_GROUP && schema && schema->kind != TABLE_KIND_PLAIN;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int put_level_row(struct report_track *lod, const struct entry *e, int64_t level, int64_t rows)
{
	int64_t values[] = {
		[COLUMN_LOD_TABLE] = e->table,          [COLUMN_LOD_TRACK] = e->track, [COLUMN_LOD_LEVEL] = level,
		[COLUMN_LOD_FIRST] = (int64_t)e->first, [COLUMN_LOD_ROWS] = rows,      [COLUMN_LOD_START] = e->time_min,
		[COLUMN_LOD_END] = e->time_max,         [COLUMN_LOD_BUSY] = e->busy,   [COLUMN_LOD_LONGEST] = e->longest,
		[COLUMN_LOD_NAME] = (int64_t)e->name,
	};
	uint32_t present = (1u << COUNT_OF(values)) - 1;

	if (!e->name)
		present &= ~(1u << COLUMN_LOD_NAME);
	return report_append(lod, values, present);
}

static void fold_into(struct entry *to, const struct entry *from)
{
	to->last += from->last;
	to->time_max = from->time_max > to->time_max ? from->time_max : to->time_max;
	to->busy = (int64_t)((uint64_t)to->busy + (uint64_t)from->busy);
	if (from->longest > to->longest) {
		to->longest = from->longest;
		to->name = from->name;
	}
}

/* All levels of one track; its entries are folded in place, `last` counts the rows. */
static int put_track(struct report_track *lod, struct entry *entries, size_t count)
{
	int r = 0;

	for (int64_t level = 1;; level++) {
		for (size_t i = 0; i < count && r == 0; i++)
			r = put_level_row(lod, &entries[i], level, (int64_t)entries[i].last);
		if (r < 0 || count <= 1)
			return r;
		for (size_t i = 0; i < count; i++) {
			if (i % FOLD)
				fold_into(&entries[i / FOLD], &entries[i]);
			else
				entries[i / FOLD] = entries[i];
		}
		count = (count + FOLD - 1) / FOLD;
	}
}

static size_t copy_entries(const struct report_writer *w, struct entry *copy)
{
	size_t count = 0;

	for (size_t i = 0; i < w->entry_count; i++) {
		if (!has_levels(&w->entries[i]))
			continue;
		copy[count] = w->entries[i];
		copy[count++].last = w->entries[i].items;
	}
	qsort(copy, count, sizeof(*copy), compare_entries);
	return count;
}

int lod_write(struct report_writer *w)
{
	struct report_track *lod = report_track(w, TABLE_LOD, 0);
	CLEANUP_FREE struct entry *copy = malloc((w->entry_count + 1) * sizeof(*copy));
	size_t count, from = 0;

	TRY(lod && copy ? detail_flush(w) : -ENOMEM);
	count = copy_entries(w, copy);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && copy[i].table == copy[from].table && copy[i].track == copy[from].track)
			continue;
		TRY(put_track(lod, copy + from, i - from));
		from = i;
	}
	return flush_all(w, 0);
}
