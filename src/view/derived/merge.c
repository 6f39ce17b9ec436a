/* Rows of several tracks in order of time. A track's group is decoded when its turn comes, and dropped behind it. */
#include <errno.h>
#include <stdlib.h>

#include "view/derived/derived.h"

static int add_source(struct merge *g, struct making *m, enum table_id table, const int64_t *track_row, const uint8_t *columns,
		      unsigned count)
{
	struct merged *s = &g->sources[g->source_count];
	const struct view_track *track = view_report_track(m->r, table, track_row[TRACK_ID]);

	*s = (struct merged){ .track_row = track_row, .track = track ? (uint32_t)(track - m->r->tracks) : MADE_FROM_NONE };
	track_reader_init_columns(&s->reader, m->q, &g->groups, (uint32_t)track_row[TRACK_ID], columns, count);
	if (track_reader_next_start(&s->reader, &s->place.key) == 0)
		return 0;
	g->heap.items[g->heap.count++] = &s->place;
	g->source_count++;
	return 0;
}

int merge_open(struct merge *g, struct making *m, enum table_id table, enum track_kind kind, const uint8_t *columns, unsigned count)
{
	const struct index_table *tracks = &m->q->index.tracks;
	int rc;

	*g = (struct merge){ 0 };
	rc = track_groups_load(&g->groups, m->q, table);
	g->sources = calloc(tracks->count + 1, sizeof(*g->sources));
	g->heap.items = calloc(tracks->count + 1, sizeof(*g->heap.items));
	if (rc == 0 && (!g->sources || !g->heap.items))
		rc = -ENOMEM;
	for (size_t i = 0; i < tracks->count && rc == 0; i++) {
		const int64_t *track_row = tracks->rows + i * tracks->width;

		if (track_row[TRACK_KIND] == (int64_t)kind && track_groups_has(&g->groups, (uint32_t)track_row[TRACK_ID]))
			rc = add_source(g, m, table, track_row, columns, count);
	}
	merge_heap_build(&g->heap);
	if (rc < 0)
		merge_close(g);
	return rc;
}

/* The key of one not decoded yet may be too early: it is looked at again then. */
struct merged *merge_next(struct merge *g, int *r)
{
	struct merged *s;

	for (*r = 0; g->heap.count; merge_heap_sink(&g->heap, 0)) {
		s = (struct merged *)(void *)g->heap.items[0];
		*r = track_reader_load(&s->reader);
		if (*r < 0)
			return NULL;
		if (*r == 0) {
			merge_heap_drop_top(&g->heap);
			if (!g->heap.count)
				break;
			continue;
		}
		if (s->place.key >= s->reader.columns[0][s->reader.row])
			return s;
		s->place.key = s->reader.columns[0][s->reader.row];
	}
	return NULL;
}

bool merge_is_null(struct merged *s, unsigned column)
{
	const struct track_reader *t = &s->reader;
	size_t group = t->groups->groups[t->at].group;
	int64_t *values;

	if (!s->nulls || s->nulls_group != group) {
		free(s->nulls);
		s->nulls = malloc(t->rows + 1u);
		s->nulls_group = group;
		values = malloc(t->rows * sizeof(*values) + 1);
		if (!s->nulls || !values || report_column(t->q->report, t->groups->table, group, column, values, s->nulls) < 0) {
			free(s->nulls);
			s->nulls = NULL;
		}
		free(values);
	}
	return !s->nulls || s->nulls[t->row];
}

void merge_advance(struct merge *g, struct merged *s)
{
	track_reader_advance(&s->reader);
	s->index++;
	if (track_reader_next_start(&s->reader, &s->place.key) == 0)
		merge_heap_drop_top(&g->heap);
	if (g->heap.count)
		merge_heap_sink(&g->heap, 0);
}

void merge_close(struct merge *g)
{
	for (size_t i = 0; g->sources && i < g->source_count; i++) {
		track_reader_release(&g->sources[i].reader);
		free(g->sources[i].nulls);
	}
	track_groups_release(&g->groups);
	free(g->sources);
	free(g->heap.items);
	*g = (struct merge){ 0 };
}
