#include "ingest/snapshot/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "ingest/snapshot/internal.h"

#define LEAST_UTC INT64_C(1000000000000000000) /* 2001: times before are none since 1970 */

static int refuse(struct snapshot *s, const char *why)
{
	return error_set(s->err, EBADMSG, "%s", why);
}

static int read_traces(struct snapshot *s, uint32_t list)
{
	struct pickle_items at = pickle_items(&s->pickle, pickle_value(&s->pickle, list));
	struct snapshot_device *device;
	const struct pickle_value *v;
	uint32_t value;
	int r;

	for (int64_t number = 0; (r = snapshot_next(s, &at, &value)) > 0; number++) {
		v = pickle_value(&s->pickle, value);
		if (v->kind != PICKLE_LIST && v->kind != PICKLE_TUPLE)
			s->odd++;
		else if (v->count && (device = snapshot_device(s, number)))
			device->events = value;
		else if (v->count)
			s->odd += v->count;
	}
	return r;
}

static void write_setting(struct snapshot *s, const char *key, const struct pickle_value *v)
{
	char text[32];

	if (v->kind == PICKLE_TEXT && pickle_text(&s->pickle, v)->len)
		sink_meta_text(&s->sink, key, pickle_text(&s->pickle, v)->bytes, pickle_text(&s->pickle, v)->len, NULL);
	else if (v->kind == PICKLE_INT)
		sink_meta_number(&s->sink, key, v->is.integer);
	else if (v->kind == PICKLE_BOOL)
		sink_meta(&s->sink, key, v->is.integer ? "true" : "false");
	else if (v->kind == PICKLE_REAL) {
		snprintf(text, sizeof(text), "%.17g", v->is.real);
		sink_meta(&s->sink, key, text);
	}
}

static int read_settings(struct snapshot *s, uint32_t value)
{
	const struct pickle_value *settings = pickle_value(&s->pickle, value), *name;
	struct pickle_items at = pickle_items(&s->pickle, settings);
	uint32_t key, member;
	char text[128];
	int r = 0;

	if (settings->kind != PICKLE_DICT)
		return 0;
	while ((r = snapshot_next(s, &at, &key)) > 0 && pickle_next(&at, &member)) {
		name = pickle_value(&s->pickle, key);
		if (name->kind != PICKLE_TEXT)
			continue;
		snprintf(text, sizeof(text), "torch.%.100s", pickle_text(&s->pickle, name)->bytes);
		write_setting(s, text, pickle_value(&s->pickle, member));
	}
	return r;
}

static void write_gpus(struct snapshot *s)
{
	int64_t v[TABLE_MAX_COLUMNS];
	char name[32];

	for (uint32_t i = 0; i < s->device_count; i++) {
		if (!s->devices[i].is_used)
			continue;
		snprintf(name, sizeof(name), "GPU %u", i);
		v[COLUMN_GPU_UID] = i + 1;
		v[COLUMN_GPU_NAME] = (int64_t)sink_text(&s->sink, name);
		v[COLUMN_GPU_INDEX] = i;
		sink_row(&s->sink, TABLE_GPU, v, SINK_BIT(COLUMN_GPU_UID) | SINK_BIT(COLUMN_GPU_NAME) | SINK_BIT(COLUMN_GPU_INDEX));
	}
}

static void write_facts(struct snapshot *s)
{
	sink_meta(&s->sink, "sonde_version", SONDE_VERSION);
	sink_meta(&s->sink, "imported", "torch-memory");
	if (s->has_times && s->origin >= LEAST_UTC)
		sink_meta_number(&s->sink, "start_utc_ns", s->origin);
	sink_meta_number(&s->sink, "session_start_raw_ns", s->has_times ? s->origin : 0);
	sink_meta_number(&s->sink, "duration_ns", s->sink.last > 0 ? s->sink.last : 0);
}

static void say_troubles(struct snapshot *s, int has_events)
{
	const struct {
		uint64_t count;
		const char *what;
	} troubles[] = {
		{ s->odd, "entries lack what they need, or have a value of another kind, and are left out" },
		{ s->early, "events were earlier than the one before them, and follow it now" },
		{ s->lost_frees, "blocks were allocated again without a release; they count as released then" },
		{ s->misfits, "blocks are in use by the events, but not in the final state; curves may be too high, or too low" },
	};

	for (unsigned i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++)
		if (troubles[i].count)
			sink_diagnose(&s->sink, 2, "%llu %s.", (unsigned long long)troubles[i].count, troubles[i].what);
	if (has_events && !s->has_times)
		sink_diagnose(&s->sink, 2, "The events have no times (PyTorch before 2.1); they are shown 1 us apart, in their order.");
	if (!has_events)
		sink_diagnose(&s->sink, 1,
			      "The snapshot has no events, only the final state: torch.cuda.memory._record_memory_history() "
			      "was not called, or with 'state'.");
}

/* What the top of the pickle stands for: a dictionary, or up to PyTorch 1.13 the list of segments. */
static int find_parts(struct snapshot *s, struct members *ret)
{
	uint32_t top = s->pickle.top;

	memset(ret, 0, sizeof(*ret));
	if (pickle_value(&s->pickle, top)->kind == PICKLE_LIST)
		ret->at[FIELD_SEGMENTS] = top;
	else
		TRY(snapshot_members(s, top, ret));
	if (!snapshot_list(s, ret, FIELD_SEGMENTS))
		return refuse(s, "is a pickle, but not a memory snapshot of PyTorch: it has no list 'segments'");
	return 0;
}

static int read_snapshot_parts(struct snapshot *s)
{
	uint32_t traces, annotations;
	struct members parts;
	int has_events = 0;

	TRY(find_parts(s, &parts));
	traces = snapshot_list(s, &parts, FIELD_DEVICE_TRACES);
	annotations = snapshot_list(s, &parts, FIELD_ANNOTATIONS);
	TRY(snapshot_segments(s, snapshot_list(s, &parts, FIELD_SEGMENTS)));
	if (traces)
		TRY(read_traces(s, traces));
	if (!s->device_count)
		return refuse(s, "is a memory snapshot without segments and events");
	TRY(snapshot_find_begin(s, annotations));
	for (uint32_t i = 0; i < s->device_count && !s->sink.result; i++) {
		has_events |= s->devices[i].events != 0;
		if (s->devices[i].is_used)
			TRY(snapshot_device_events(s, i));
	}
	if (annotations)
		TRY(snapshot_annotations(s, annotations));
	if (parts.at[FIELD_SETTINGS])
		TRY(read_settings(s, parts.at[FIELD_SETTINGS]));
	if (pickle_value(&s->pickle, parts.at[FIELD_HOST_TRACES])->count || pickle_value(&s->pickle, parts.at[FIELD_HOST_SEGMENTS])->count)
		sink_diagnose(&s->sink, 1, "The snapshot has pinned memory of the host, too, which is not read.");
	write_gpus(s);
	say_troubles(s, has_events);
	return 0;
}

static void release_snapshot(struct snapshot *s)
{
	for (uint32_t i = 0; i < SNAPSHOT_MOST_DEVICES; i++)
		free(s->devices[i].blocks);
	snapshot_frames_release(s);
	free(s->fields);
	free(s->strings);
	pickle_release(&s->pickle);
	sink_release(&s->sink);
	free(s);
}

static int fill_report(struct snapshot *s, struct report_writer *writer)
{
	int r;

	sink_begin(&s->sink, writer);
	/* Times count from the origin already. */
	s->sink.first = 0;
	r = s->sink.result ? s->sink.result : snapshot_fields_begin(s);
	if (r >= 0)
		r = read_snapshot_parts(s);
	if (r == -EBADMSG)
		return r;
	if (r >= 0 && !s->sink.result) {
		write_facts(s);
		sink_finish(&s->sink);
	}
	r = r < 0 ? r : s->sink.result;
	return r < 0 ? error_set_errno(s->err, -r, "cannot be read into a report") : 0;
}

int snapshot_import(struct source *source, struct report_writer *writer, struct error *err)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set_errno(err, ENOMEM, "cannot be read");
	s->err = err;
	r = pickle_read(&s->pickle, source, err);
	if (r >= 0)
		r = fill_report(s, writer);
	release_snapshot(s);
	return r;
}
