/* What the program was about while it allocated: record_function and profiler steps, which newer versions of PyTorch note beside the events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ingest/snapshot/internal.h"

#define MOST_OPEN 256u /* at a time; an end is looked for among them */

struct open_annotation {
	uint64_t name;
	int64_t start, device;
};

struct annotations {
	struct snapshot *s;
	struct sink_track *tracks[SNAPSHOT_MOST_DEVICES];
	struct open_annotation open[MOST_OPEN];
	unsigned count;
};

static void write_annotation(struct annotations *a, const struct open_annotation *open, int64_t end, int flags)
{
	struct sink *sink = &a->s->sink;
	struct sink_track **track = &a->tracks[open->device];
	int64_t v[TABLE_MAX_COLUMNS];
	char name[48];

	if (!*track) {
		*track = sink_track(sink, TRACK_GENERIC, TABLE_SLICE,
				    SINK_BIT(COLUMN_SLICE_START) | SINK_BIT(COLUMN_SLICE_END) | SINK_BIT(COLUMN_SLICE_NAME) |
					    SINK_BIT(COLUMN_SLICE_FLAGS) | SINK_BIT(COLUMN_SLICE_CLASS));
		if (!*track)
			return;
		snprintf(name, sizeof(name), "PyTorch annotations, GPU %u", (unsigned)open->device);
		(*track)->name = sink_text(sink, name);
	}
	v[COLUMN_SLICE_START] = open->start;
	v[COLUMN_SLICE_END] = end;
	v[COLUMN_SLICE_NAME] = (int64_t)open->name;
	v[COLUMN_SLICE_FLAGS] = flags;
	v[COLUMN_SLICE_CLASS] = (int64_t)sink_text(sink, "memory_annotation");
	sink_event(sink, *track, v, (*track)->columns);
}

static void end_annotation(struct annotations *a, const struct open_annotation *end)
{
	for (unsigned i = a->count; i-- > 0;)
		if (a->open[i].name == end->name && a->open[i].device == end->device) {
			if (end->start >= a->open[i].start)
				write_annotation(a, &a->open[i], end->start, 0);
			else
				a->s->odd++;
			for (a->count--; i < a->count; i++)
				a->open[i] = a->open[i + 1];
			return;
		}
	a->s->odd++;
}

static int read_annotation(struct annotations *a, uint32_t value)
{
	struct snapshot *s = a->s;
	struct open_annotation at;
	struct members m;
	int r = snapshot_members(s, value, &m), is_start;

	if (r <= 0)
		return r;
	at.name = snapshot_string(s, &m, FIELD_NAME);
	is_start = snapshot_text_is(snapshot_text(s, &m, FIELD_STAGE), "START");
	if (!at.name || (!is_start && !snapshot_text_is(snapshot_text(s, &m, FIELD_STAGE), "END")) || !snapshot_time(s, &m, &at.start) ||
	    !snapshot_integer(s, &m, FIELD_DEVICE, &at.device) || at.device < 0 || at.device >= SNAPSHOT_MOST_DEVICES)
		return 0;
	at.start = at.start > s->origin ? at.start - s->origin : 0;
	if (!is_start)
		end_annotation(a, &at);
	else if (a->count < MOST_OPEN)
		a->open[a->count++] = at;
	else
		return 0;
	return 1;
}

int snapshot_annotations(struct snapshot *s, uint32_t list)
{
	struct pickle_items at = pickle_items(&s->pickle, pickle_value(&s->pickle, list));
	struct annotations *a = calloc(1, sizeof(*a));
	uint32_t value;
	int r, found;

	if (!a)
		return -ENOMEM;
	a->s = s;
	while ((r = snapshot_next(s, &at, &value)) > 0) {
		found = read_annotation(a, value);
		if (found < 0) {
			r = found;
			break;
		}
		s->odd += !found;
	}
	for (unsigned i = 0; i < a->count; i++)
		write_annotation(a, &a->open[i], s->sink.last > a->open[i].start ? s->sink.last : a->open[i].start, SLICE_OPEN);
	free(a);
	return r;
}
