#include "ingest/rows/sink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RELIEF_ROWS 4096u
#define BUILDER_BYTES (48u << 20) /* of rows that wait to be encoded */

enum { SOURCE_READER = 3 };

void sink_begin(struct sink *s, struct report_writer *writer)
{
	*s = (struct sink){ .writer = writer, .first = INT64_MAX, .last = INT64_MIN };
	s->tail = &s->tracks;
	s->result = store_begin(&s->store, report_writer_path(writer), STORE_BYTES);
}

static void fail_sink(struct sink *s, int result)
{
	if (result < 0 && !s->result)
		s->result = result;
}

uint64_t sink_text(struct sink *s, const char *text)
{
	return report_string(s->writer, text, strlen(text));
}

void sink_row(struct sink *s, enum table_id table, const int64_t *values, uint32_t present)
{
	struct report_track **track = &s->plain[table];

	if (!*track)
		*track = report_track(s->writer, table, 0);
	fail_sink(s, *track ? report_append(*track, values, present) : -ENOMEM);
}

void sink_meta_text(struct sink *s, const char *key, const char *text, size_t len, const int64_t *number)
{
	uint32_t present = SINK_BIT(COLUMN_META_KEY) | SINK_BIT(COLUMN_META_APART);
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_META_KEY] = (int64_t)report_string_apart(s->writer, key, strlen(key));
	v[COLUMN_META_VALUE] = text ? (int64_t)report_string_apart(s->writer, text, len) : 0;
	v[COLUMN_META_NUMBER] = number ? *number : 0;
	v[COLUMN_META_APART] = 1;
	present |= (text ? SINK_BIT(COLUMN_META_VALUE) : 0) | (number ? SINK_BIT(COLUMN_META_NUMBER) : 0);
	sink_row(s, TABLE_META, v, present);
}

void sink_meta(struct sink *s, const char *key, const char *text)
{
	sink_meta_text(s, key, text, strlen(text), NULL);
}

void sink_meta_number(struct sink *s, const char *key, int64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	sink_meta_text(s, key, text, strlen(text), &number);
}

void sink_diagnose(struct sink *s, int severity, const char *format, ...)
{
	int64_t v[TABLE_MAX_COLUMNS];
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	v[COLUMN_DIAGNOSTIC_TIME] = 0;
	v[COLUMN_DIAGNOSTIC_SOURCE] = SOURCE_READER;
	v[COLUMN_DIAGNOSTIC_SEVERITY] = severity;
	v[COLUMN_DIAGNOSTIC_TEXT] = (int64_t)sink_text(s, text);
	sink_row(s, TABLE_DIAGNOSTIC, v, SINK_BIT(COLUMN_DIAGNOSTIC_TEXT + 1) - 1);
}

static int is_span(const struct sink_track *t)
{
	return table_schema(t->table)->kind == TABLE_KIND_SPAN;
}

struct sink_track *sink_track(struct sink *s, enum track_kind kind, enum table_id table, uint32_t columns)
{
	struct sink_track *t = calloc(1, sizeof(*t));

	if (!t) {
		fail_sink(s, -ENOMEM);
		return NULL;
	}
	t->kind = kind;
	t->table = table;
	t->columns = columns;
	store_add_track(&s->store, &t->rows, is_span(t));
	*s->tail = t;
	s->tail = &t->next;
	return t;
}

void sink_event(struct sink *s, struct sink_track *t, const int64_t *values, uint32_t present)
{
	int64_t *row;

	if (!t || s->result)
		return;
	present &= t->columns;
	row = store_row(&s->store, &t->rows, present, &s->result);
	if (!row)
		return;
	for (uint32_t left = present; left; left &= left - 1)
		*++row = values[__builtin_ctz(left)];
	if (values[0] < s->first)
		s->first = values[0];
	if (values[t->rows.is_span] > s->last)
		s->last = values[t->rows.is_span];
}

/* A track of its own in the report. */
static struct report_track *open_depth_track(struct sink *s, const struct sink_track *t, unsigned depth)
{
	uint32_t present = SINK_BIT(COLUMN_TRACK_ID) | SINK_BIT(COLUMN_TRACK_KIND) | SINK_BIT(COLUMN_TRACK_DEPTH);
	int64_t v[TABLE_MAX_COLUMNS];
	struct report_track *track;

	v[COLUMN_TRACK_ID] = ++s->next_track;
	v[COLUMN_TRACK_KIND] = t->kind;
	v[COLUMN_TRACK_DEPTH] = depth;
	v[COLUMN_TRACK_PROCESS] = (int64_t)t->process;
	v[COLUMN_TRACK_THREAD] = (int64_t)t->thread;
	v[COLUMN_TRACK_DOMAIN] = (int64_t)t->domain;
	v[COLUMN_TRACK_NAME] = (int64_t)t->name;
	present |= t->process ? SINK_BIT(COLUMN_TRACK_PROCESS) : 0;
	present |= t->thread ? SINK_BIT(COLUMN_TRACK_THREAD) : 0;
	present |= t->domain ? SINK_BIT(COLUMN_TRACK_DOMAIN) : 0;
	present |= t->name ? SINK_BIT(COLUMN_TRACK_NAME) : 0;
	sink_row(s, TABLE_TRACK, v, present);
	track = report_track(s->writer, t->table, s->next_track);
	if (!track)
		fail_sink(s, -ENOMEM);
	return track;
}

/* A track on its way into the report. */
struct spread_rows {
	struct sink *sink;
	const struct sink_track *track;
	struct report_track *tracks[SINK_MAX_DEPTH];
	int64_t ends[SINK_MAX_DEPTH];
	unsigned opened;
	unsigned depth; /* tracks with something under way */
};

/* Within what is under way, or beside it. NULL where there is no track left. */
static struct report_track *spread_track_of(struct spread_rows *spread, const int64_t *row)
{
	unsigned depth = 0;

	if (spread->track->rows.is_span) {
		while (spread->depth && spread->ends[spread->depth - 1] <= row[1])
			spread->depth--;
		if (spread->depth == SINK_MAX_DEPTH)
			return NULL;
		depth = spread->depth++;
		spread->ends[depth] = row[2];
	}
	if (depth == spread->opened)
		spread->tracks[spread->opened++] = open_depth_track(spread->sink, spread->track, depth);
	return spread->tracks[depth];
}

static void append_sink_row(struct sink *s, struct report_track *track, const int64_t *row, int is_span)
{
	uint32_t present = (uint32_t)row[0];
	int64_t v[TABLE_MAX_COLUMNS];

	for (uint32_t left = present; left; left &= left - 1)
		v[__builtin_ctz(left)] = *++row;
	v[0] -= s->first;
	if (is_span)
		v[1] -= s->first;
	fail_sink(s, report_append(track, v, present));
	/* Hundreds of tracks at once would hold hundreds of megabytes. */
	if (!(++s->placed % RELIEF_ROWS))
		fail_sink(s, report_writer_relieve(s->writer, BUILDER_BYTES));
}

static void place_row(void *context, const int64_t *row)
{
	struct spread_rows *spread = context;
	struct report_track *track;

	if (spread->sink->result)
		return;
	track = spread_track_of(spread, row);
	if (track)
		append_sink_row(spread->sink, track, row, spread->track->rows.is_span);
	else
		spread->sink->unplaced++;
}

static int finish_track(struct sink *s, struct sink_track *t)
{
	struct spread_rows *spread = calloc(1, sizeof(*spread));
	int r;

	if (!spread)
		return -ENOMEM;
	spread->sink = s;
	spread->track = t;
	r = store_each(&s->store, &t->rows, place_row, spread);
	for (unsigned i = 0; i < spread->opened; i++)
		if (spread->tracks[i])
			report_track_close(spread->tracks[i]);
	free(spread);
	return r;
}

int sink_finish(struct sink *s)
{
	if (!s->result)
		fail_sink(s, store_end(&s->store));
	for (struct sink_track *t = s->tracks; t && !s->result; t = t->next)
		fail_sink(s, finish_track(s, t));
	if (s->unplaced)
		sink_diagnose(s, 2, "%llu slices were nested deeper than %u levels and are left out.", (unsigned long long)s->unplaced,
			      SINK_MAX_DEPTH);
	return s->result;
}

void sink_release(struct sink *s)
{
	struct sink_track *t = s->tracks, *next;

	store_release(&s->store);
	for (; t; t = next) {
		next = t->next;
		free(t);
	}
	s->tracks = NULL;
}
