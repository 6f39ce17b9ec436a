/* Events that have a text not in their name but in what they refer to: a kernel's whole name, and arguments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "view/events/text_match.h"

static int add_match_id(struct match_ids *ids, int64_t id)
{
	if (!ARRAY_ROOM(ids->ids, ids->count, ids->capacity, 1))
		return -ENOMEM;
	ids->ids[ids->count++] = id;
	return 0;
}

static bool has_match_id(const struct match_ids *ids, int64_t id)
{
	return ids->count && bsearch(&id, ids->ids, ids->count, sizeof(id), compare_int64) != NULL;
}

static bool text_has(const struct match *m, int64_t string)
{
	return string > 0 && (uint64_t)string < m->limit && m->bits[string / 64] >> (string % 64) & 1;
}

static int find_launches(struct match *m)
{
	const struct index_table *launches = &m->r->index.cuda->launches;
	int r = 0;

	for (size_t i = 0; i < launches->count && r == 0; i++) {
		const int64_t *launch = launches->rows + i * LAUNCH_WIDTH;

		if (text_has(m, launch[LAUNCH_NAME]))
			r = add_match_id(&m->launches, launch[COLUMN_CUDA_LAUNCH_ID]);
	}
	return r;
}

static int find_sets_in(struct match *m, size_t group)
{
	struct report *report = m->r->report;
	uint32_t rows = report_group(report, TABLE_ARG, group)->rows;
	int64_t *sets = malloc(rows * sizeof(*sets) + 1), *texts = malloc(rows * sizeof(*texts) + 1);
	uint8_t *nulls = malloc(rows + 1u);
	int r = sets && texts && nulls ? 0 : -ENOMEM;

	if (r == 0 && report_column(report, TABLE_ARG, group, COLUMN_ARG_SET, sets, NULL) >= 0 &&
	    report_column(report, TABLE_ARG, group, COLUMN_ARG_TEXT, texts, nulls) >= 0)
		for (uint32_t i = 0; i < rows && r == 0; i++)
			if (!nulls[i] && text_has(m, texts[i]))
				r = add_match_id(&m->sets, sets[i]);
	free(sets);
	free(texts);
	free(nulls);
	return r;
}

int match_look_deep(struct match *m)
{
	int r = m->count ? find_launches(m) : 0;

	for (size_t i = 0; m->count && i < report_group_count(m->r->report, TABLE_ARG) && r == 0; i++)
		if (report_group(m->r->report, TABLE_ARG, i)->present >> COLUMN_ARG_TEXT & 1)
			r = find_sets_in(m, i);
	if (m->launches.count)
		qsort(m->launches.ids, m->launches.count, sizeof(*m->launches.ids), compare_int64);
	if (m->sets.count)
		qsort(m->sets.ids, m->sets.count, sizeof(*m->sets.ids), compare_int64);
	return r;
}

static int mark_matched_rows(struct match *m, const struct row_group *p, int column, const struct match_ids *ids, uint8_t **ret)
{
	int64_t *values;
	uint8_t *nulls;

	if (column < 0 || p->derived || !ids->count || !(report_group(m->r->report, p->table, p->number)->present >> column & 1))
		return 0;
	values = malloc(p->rows * sizeof(*values) + 1);
	nulls = malloc(p->rows + 1u);
	*ret = *ret ? *ret : calloc(p->rows + 1u, 1);
	if (values && nulls && *ret && report_column(m->r->report, p->table, p->number, (unsigned)column, values, nulls) >= 0)
		for (uint32_t i = 0; i < p->rows; i++)
			(*ret)[i] |= !nulls[i] && has_match_id(ids, values[i]);
	free(values);
	free(nulls);
	return *ret ? 0 : -ENOMEM;
}

int match_deep_rows(struct match *m, const struct row_group *p, uint8_t **ret)
{
	int r;

	*ret = NULL;
	r = mark_matched_rows(m, p, p->table == TABLE_GPU_KERNEL ? COLUMN_GPU_KERNEL_LAUNCH : -1, &m->launches, ret);
	if (r == 0)
		r = mark_matched_rows(m, p, table_column(p->table, ROLE_ARGS), &m->sets, ret);
	if (r < 0) {
		free(*ret);
		*ret = NULL;
	}
	return r;
}
