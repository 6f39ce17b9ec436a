/* Slices and instants, row by row: a row is what a viewer shows as one thing (the calls of a thread, the work of a stream).
 * Slices of one track must nest, so that those that overlap otherwise go to further tracks. */
#include <errno.h>

#include "base/array.h"
#include "base/sort.h"
#include "export/perfetto/perfetto.h"

#define MAX_TRACKS 4096u

/* clang-format off */
enum row_class {
	ROW_NONE, ROW_GENERIC, ROW_NVTX, ROW_NVTX_RANGES, ROW_API, ROW_OSRT, ROW_JIT, ROW_STREAM, ROW_SYNC, ROW_GRAPH,
	ROW_OVERHEAD,
	ROW_OTHER /* and behind it the kind of track: events of a thread that nobody here knows */
};
/* clang-format on */

static unsigned class_of_table(int64_t track_kind)
{
	const struct table_tracks *tracks = table_tracks(table_of_tracks((unsigned)track_kind));

	if (!tracks || !tracks->category)
		return ROW_NONE;
	return tracks->place == TRACKS_OF_STREAM ? ROW_STREAM : ROW_OTHER + tracks->kind;
}

static unsigned class_of(const int64_t *track)
{
	switch (track[TRACK_KIND]) {
	case TRACK_GENERIC: return ROW_GENERIC;
	case TRACK_NVTX_PUSHPOP:
	case TRACK_NVTX_MARK: return ROW_NVTX;
	case TRACK_NVTX_STARTEND: return ROW_NVTX_RANGES;
	case TRACK_CUDA_API: return ROW_API;
	case TRACK_OSRT: return ROW_OSRT;
	case TRACK_CUDA_JIT: return ROW_JIT;
	case TRACK_GPU_SYNC: return ROW_SYNC;
	case TRACK_GPU_GRAPH: return ROW_GRAPH;
	case TRACK_CUDA_OVERHEAD: return ROW_OVERHEAD;
	default: return class_of_table(track[TRACK_KIND]);
	}
}

/* A track of the report and one table that has rows of it. */
struct part {
	const int64_t *track;
	unsigned table;
};

struct row_track {
	uint64_t track;
	int64_t *ends; /* of slices that are open, the innermost last */
	unsigned open, cap;
};

struct row {
	struct perfetto *p;
	unsigned class; /* enum row_class */
	bool nests;
	uint64_t parent;
	uint64_t first; /* the first track, where it is there already; 0: it is made */
	char name[200];
	struct event_merge events;
	struct row_track *tracks;
	unsigned track_count;
};

static int compare_track_values(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Parts of a row are neighbours. */
static int compare_track_rows(const int64_t *x, const int64_t *y)
{
	static const uint8_t order[] = { TRACK_PROCESS, TRACK_THREAD, TRACK_DOMAIN };
	int r = compare_track_values(class_of(x), class_of(y));

	for (unsigned i = 0; r == 0 && i < sizeof(order); i++)
		r = compare_track_values(x[order[i]], y[order[i]]);
	if (r == 0 && class_of(x) == ROW_GENERIC && !x[TRACK_THREAD])
		r = compare_track_values(x[TRACK_TEXT], y[TRACK_TEXT]);
	return r;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int r = compare_track_rows(x->track, y->track);

	if (r == 0)
		r = compare_track_values(x->track[TRACK_DEPTH], y->track[TRACK_DEPTH]);
	if (r == 0)
		r = compare_track_values(x->track[TRACK_ID], y->track[TRACK_ID]);
	return r ? r : compare_track_values(x->table, y->table);
}

static uint64_t thread_or_process(struct perfetto *p, const int64_t *track)
{
	uint64_t uuid = perfetto_thread(p, track[TRACK_THREAD]);

	return uuid ? uuid : perfetto_process(p, track[TRACK_PROCESS]);
}

static void name_stream(struct row *row, const int64_t *track, const char *behind)
{
	const int64_t *stream = timeline_stream(&row->p->t, track);
	size_t len;

	if (!stream) {
		snprintf(row->name, sizeof(row->name), "Stream%s", behind);
		return;
	}
	row->parent = perfetto_context(row->p, stream);
	if (stream[STREAM_NAME])
		snprintf(row->name, sizeof(row->name), "%s (Stream %lld)%s", timeline_text(&row->p->t, stream[STREAM_NAME], &len),
			 (long long)stream[STREAM_ID], behind);
	else if (stream[STREAM_ID])
		snprintf(row->name, sizeof(row->name), "Stream %lld%s", (long long)stream[STREAM_ID], behind);
	else
		snprintf(row->name, sizeof(row->name), "No stream%s", behind);
}

static void name_row(struct row *row, const int64_t *track)
{
	struct perfetto *p = row->p;
	const char *domain = timeline_domain_name(&p->t, track[TRACK_DOMAIN]);

	row->nests = true;
	row->parent = thread_or_process(p, track);
	switch (row->class) {
	case ROW_GENERIC:
		if (track[TRACK_THREAD])
			row->first = row->parent;
		snprintf(row->name, sizeof(row->name), "%s",
			 track[TRACK_THREAD] ? "Slices" : timeline_text(&p->t, track[TRACK_TEXT], NULL));
		break;
	case ROW_NVTX: snprintf(row->name, sizeof(row->name), "%s", domain[0] ? domain : "NVTX"); break;
	case ROW_NVTX_RANGES:
		row->nests = false;
		snprintf(row->name, sizeof(row->name), "%s ranges", domain[0] ? domain : "NVTX");
		break;
	case ROW_API: snprintf(row->name, sizeof(row->name), "CUDA API"); break;
	case ROW_OSRT: snprintf(row->name, sizeof(row->name), "OS runtime"); break;
	case ROW_JIT: snprintf(row->name, sizeof(row->name), "CUDA JIT"); break;
	case ROW_OVERHEAD: snprintf(row->name, sizeof(row->name), "CUDA overhead"); break;
	case ROW_STREAM:
		row->nests = false;
		name_stream(row, track, "");
		break;
	case ROW_SYNC: name_stream(row, track, " synchronization"); break;
	case ROW_GRAPH:
		row->nests = false;
		name_stream(row, track, " graphs");
		break;
	case ROW_NONE: break;
	default: snprintf(row->name, sizeof(row->name), "%s", table_tracks(table_of_tracks(row->class - ROW_OTHER))->word);
	}
}

static void close_until(struct row *row, struct row_track *nested, int64_t time)
{
	for (; nested->open && nested->ends[nested->open - 1] <= time; nested->open--)
		perfetto_end_slice(row->p, nested->track, nested->ends[nested->open - 1]);
}

static struct row_track *add_row_track(struct row *row)
{
	struct row_track *added;

	if (row->track_count == MAX_TRACKS)
		return NULL;
	added = LIST_ROOM(row->tracks, row->track_count) ? &row->tracks[row->track_count] : NULL;
	if (!added) {
		row->p->result = -ENOMEM;
		return NULL;
	}
	*added = (struct row_track){ .track = row->track_count == 0 && row->first ? row->first :
										    perfetto_track(row->p, row->parent, row->name) };
	row->track_count++;
	return added;
}

/* A track in which the slice is alone, or within the innermost that is open. */
static struct row_track *find_row_track(struct row *row, int64_t start, int64_t end)
{
	for (unsigned i = 0; i < row->track_count; i++) {
		struct row_track *nested = &row->tracks[i];

		close_until(row, nested, start);
		if (nested->open == 0 || (row->nests && nested->ends[nested->open - 1] >= end))
			return nested;
	}
	return add_row_track(row);
}

static void put_range_event(struct row *row, const struct event_reader *r)
{
	int64_t start = event_value(r, EVENT_START), end = event_end(r);
	struct row_track *nested = find_row_track(row, start, end);

	if (!nested) {
		row->p->e->left_out++;
		return;
	}
	if (!ARRAY_ROOM(nested->ends, nested->open, nested->cap, 1)) {
		row->p->result = -ENOMEM;
		return;
	}
	perfetto_event(row->p, r, EVENT_TYPE_BEGIN, nested->track);
	perfetto_packet(row->p, start, PACKET_TRACK_EVENT);
	nested->ends[nested->open++] = end;
}

static void put_instant(struct row *row, const struct event_reader *r)
{
	if (row->track_count == 0 && !add_row_track(row))
		return;
	perfetto_event(row->p, r, EVENT_TYPE_INSTANT, row->tracks[0].track);
	perfetto_packet(row->p, event_value(r, EVENT_START), PACKET_TRACK_EVENT);
}

static int put_events(struct row *row, struct error *err)
{
	struct event_reader *r;
	int result;

	while ((result = event_merge_next(&row->events, &r)) >= 0 && r) {
		if (export_keeps(row->p->e, event_value(r, EVENT_START), event_end(r))) {
			if (r->table == TABLE_INSTANT)
				put_instant(row, r);
			else
				put_range_event(row, r);
		}
		r->row++;
		result = perfetto_flush(row->p, row->name, err);
		if (result < 0)
			return result;
	}
	if (result < 0)
		return error_set(err, ENOMEM, "Not enough memory");
	for (unsigned i = 0; i < row->track_count; i++)
		close_until(row, &row->tracks[i], INT64_MAX);
	return 0;
}

static void release_row(struct row *row)
{
	event_merge_release(&row->events);
	for (unsigned i = 0; i < row->track_count; i++)
		free(row->tracks[i].ends);
	free(row->tracks);
}

static int put_timeline_row(struct perfetto *p, const struct part *parts, size_t count, const struct track_groups *groups,
			    struct error *err)
{
	struct row row = { .p = p, .class = class_of(parts[0].track) };
	int r;

	for (size_t i = 0; i < count; i++)
		if (event_merge_add(&row.events, &p->t, &groups[parts[i].table], (uint32_t)parts[i].track[TRACK_ID]) < 0) {
			release_row(&row);
			return error_set(err, ENOMEM, "Not enough memory");
		}
	name_row(&row, parts[0].track);
	r = put_events(&row, err);
	release_row(&row);
	return r;
}

static int list_parts(struct perfetto *p, const struct track_groups *groups, unsigned table_count, struct part **ret, size_t *ret_count)
{
	const struct index_table *tracks = &p->t.tracks;
	struct part *parts = calloc(tracks->count * 2 + 1, sizeof(*parts));
	size_t cap = tracks->count * 2 + 1, count = 0;

	for (size_t i = 0; parts && i < tracks->count; i++) {
		const int64_t *track = tracks->rows + i * tracks->width;

		for (unsigned table = 0; class_of(track) != ROW_NONE && table < table_count; table++) {
			if (!track_groups_has(&groups[table], (uint32_t)track[TRACK_ID]))
				continue;
			if (!ARRAY_ROOM(parts, count, cap, 1)) {
				free(parts);
				return -ENOMEM;
			}
			parts[count++] = (struct part){ track, table };
		}
	}
	if (!parts)
		return -ENOMEM;
	sort_items(parts, count, sizeof(*parts), compare_parts);
	*ret = parts;
	*ret_count = count;
	return 0;
}

int perfetto_rows(struct perfetto *p, struct error *err)
{
	struct track_groups groups[EVENT_ROW_TABLES] = { 0 };
	enum table_id tables[EVENT_ROW_TABLES];
	unsigned table_count = event_row_tables(tables);
	struct part *parts = NULL;
	size_t count = 0, last;
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < table_count; i++)
		r = track_groups_load(&groups[i], p->t.q, tables[i]);
	if (r >= 0)
		r = list_parts(p, groups, table_count, &parts, &count);
	if (r < 0)
		error_set(err, ENOMEM, "Not enough memory");
	for (size_t first = 0; r >= 0 && first < count; first = last) {
		for (last = first + 1; last < count && compare_track_rows(parts[first].track, parts[last].track) == 0;)
			last++;
		r = put_timeline_row(p, parts + first, last - first, groups, err);
	}
	free(parts);
	for (unsigned i = 0; i < table_count; i++)
		track_groups_release(&groups[i]);
	return r;
}
