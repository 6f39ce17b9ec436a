/* What becomes of each event: slices, instants, counters, names, calls of CUDA. */
#include "ingest/kineto/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macros.h"

#define INSTANT_COLUMNS (1 | SINK_BIT(COLUMN_INSTANT_NAME) | SINK_BIT(COLUMN_INSTANT_CLASS) | SINK_BIT(COLUMN_INSTANT_ARGS))
#define CALL_COLUMNS \
	(3 | SINK_BIT(COLUMN_CUDA_API_NAME) | SINK_BIT(COLUMN_CUDA_API_CLASS) | SINK_BIT(COLUMN_CUDA_API_CORRELATION) | \
	 SINK_BIT(COLUMN_CUDA_API_ARGS))
#define MAX_OPEN 4096u /* "B" without "E" in one thread */

static int read_times(struct kineto_event *e)
{
	int64_t duration = 0;

	if (!json_scaled(&e->time, 3, &e->start) || e->start > KINETO_TIME_LIMIT || e->start < -KINETO_TIME_LIMIT)
		return 0;
	if (!json_scaled(&e->duration, 3, &duration) || duration < 0 || duration > KINETO_TIME_LIMIT)
		duration = 0;
	e->end = e->start + duration;
	return 1;
}

static struct kineto_place *place_with_event(struct kineto *k, const struct kineto_event *e)
{
	static const char *const of_gpu[] = { "gpu_user_annotation", "cuda_event" };
	struct kineto_place *p;
	int on_gpu = 0;

	for (unsigned i = 0; i < COUNT_OF(of_gpu); i++)
		on_gpu |= json_equals(&e->category, of_gpu[i]);
	p = kineto_place(k, e, on_gpu);
	if (p) {
		p->has_events = 1;
		k->processes[p->process].has_events |= !on_gpu;
	}
	return p;
}

static struct sink_track *ensure_event_track(struct kineto *k, struct sink_track **track, enum track_kind kind, enum table_id table,
					     uint32_t columns)
{
	if (!*track)
		*track = sink_track(&k->sink, kind, table, columns);
	return *track;
}

/* Annotations (record_function, ProfilerStep#5) are ranges like those of NVTX, in its default domain. */
static struct sink_track *slice_track(struct kineto *k, struct kineto_place *p, const struct kineto_event *e)
{
	if (p->thread && !p->on_gpu && json_equals(&e->category, "user_annotation"))
		return ensure_event_track(k, &p->ranges, TRACK_NVTX_PUSHPOP, TABLE_SLICE, KINETO_SLICE_COLUMNS);
	return ensure_event_track(k, &p->slices, TRACK_GENERIC, TABLE_SLICE, KINETO_SLICE_COLUMNS);
}

void kineto_begin_slice(struct kineto *k, const struct kineto_event *e, struct kineto_open *ret)
{
	*ret = (struct kineto_open){
		.start = e->start, .args = kineto_args(k, e, NULL), .class = kineto_text(k, &e->category), .name = kineto_text(k, &e->name)
	};
}

void kineto_end_slice(struct kineto *k, struct sink_track *t, const struct kineto_open *open, int64_t end, int has_end)
{
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_SLICE_START] = open->start;
	v[COLUMN_SLICE_END] = end > open->start ? end : open->start;
	v[COLUMN_SLICE_NAME] = (int64_t)open->name;
	v[COLUMN_SLICE_CLASS] = (int64_t)open->class;
	v[COLUMN_SLICE_ARGS] = (int64_t)open->args;
	v[COLUMN_SLICE_FLAGS] = SLICE_OPEN;
	sink_event(&k->sink, t, v,
		   3 | (open->name ? SINK_BIT(COLUMN_SLICE_NAME) : 0) | (open->class ? SINK_BIT(COLUMN_SLICE_CLASS) : 0) |
			   (open->args ? SINK_BIT(COLUMN_SLICE_ARGS) : 0) | (has_end ? 0 : SINK_BIT(COLUMN_SLICE_FLAGS)));
}

static void slice(struct kineto *k, const struct kineto_event *e)
{
	struct kineto_place *p = place_with_event(k, e);
	struct kineto_open whole;

	if (!p)
		return;
	kineto_begin_slice(k, e, &whole);
	kineto_end_slice(k, slice_track(k, p, e), &whole, e->end, 1);
}

static void add_kineto_call(struct kineto *k, const struct kineto_event *e, int class)
{
	struct json_value correlation = { 0 };
	const struct kineto_known known[] = { KINETO_KNOWN("correlation", &correlation), KINETO_KNOWN_END };
	uint64_t set = kineto_args(k, e, known);
	struct kineto_place *p = place_with_event(k, e);
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present = 3 | SINK_BIT(COLUMN_CUDA_API_NAME) | SINK_BIT(COLUMN_CUDA_API_CLASS);

	if (!p)
		return;
	k->processes[p->process].has_calls = 1;
	v[COLUMN_CUDA_API_START] = e->start;
	v[COLUMN_CUDA_API_END] = e->end;
	v[COLUMN_CUDA_API_NAME] = (int64_t)kineto_text(k, &e->name);
	v[COLUMN_CUDA_API_CLASS] = class;
	v[COLUMN_CUDA_API_ARGS] = (int64_t)set;
	present |= set ? SINK_BIT(COLUMN_CUDA_API_ARGS) : 0;
	if (json_scaled(&correlation, 0, &v[COLUMN_CUDA_API_CORRELATION])) {
		present |= SINK_BIT(COLUMN_CUDA_API_CORRELATION);
		kineto_owner_call(k, k->processes[p->process].uid, v[COLUMN_CUDA_API_CORRELATION], e->start);
	}
	sink_event(&k->sink, ensure_event_track(k, &p->calls, TRACK_CUDA_API, TABLE_CUDA_API, CALL_COLUMNS), v, present);
}

/* Events of phases without a table of their own keep their phase among the arguments. */
void kineto_instant(struct kineto *k, struct kineto_event *e, struct sink_track **track)
{
	static const struct json_value key = { .kind = JSON_STRING, .text = "ph", .len = 2 };
	int64_t v[TABLE_MAX_COLUMNS];
	uint64_t set, category = kineto_text(k, &e->category);

	if (!json_equals(&e->phase, "i") && e->phase.kind && e->extra_count < KINETO_MAX_EXTRAS)
		e->extras[e->extra_count++] = (struct kineto_member){ key, e->phase };
	set = kineto_args(k, e, NULL);
	v[COLUMN_INSTANT_TIME] = e->start;
	v[COLUMN_INSTANT_NAME] = (int64_t)kineto_text(k, &e->name);
	v[COLUMN_INSTANT_CLASS] = (int64_t)category;
	v[COLUMN_INSTANT_ARGS] = (int64_t)set;
	sink_event(&k->sink, ensure_event_track(k, track, TRACK_GENERIC, TABLE_INSTANT, INSTANT_COLUMNS), v,
		   1 | (e->name.kind ? SINK_BIT(COLUMN_INSTANT_NAME) : 0) | (category ? SINK_BIT(COLUMN_INSTANT_CLASS) : 0) |
			   (set ? SINK_BIT(COLUMN_INSTANT_ARGS) : 0));
}

static void instant(struct kineto *k, struct kineto_event *e)
{
	struct kineto_place *p = place_with_event(k, e);

	if (p)
		kineto_instant(k, e, &p->instants);
}

static void open_kineto_range(struct kineto *k, const struct kineto_event *e)
{
	struct kineto_place *p = place_with_event(k, e);

	if (!p)
		return;
	if (p->open_count == MAX_OPEN) {
		k->odd++;
		return;
	}
	if (!ARRAY_ROOM(p->open, p->open_count, p->open_capacity, 1)) {
		k->sink.result = -ENOMEM;
		return;
	}
	kineto_begin_slice(k, e, &p->open[p->open_count++]);
}

static void end_latest(struct kineto *k, struct kineto_place *p, int64_t time, int has_end)
{
	kineto_end_slice(k, ensure_event_track(k, &p->slices, TRACK_GENERIC, TABLE_SLICE, KINETO_SLICE_COLUMNS), &p->open[--p->open_count],
			 time, has_end);
}

static void close_kineto_range(struct kineto *k, const struct kineto_event *e)
{
	struct kineto_place *p = place_with_event(k, e);

	if (p && p->open_count)
		end_latest(k, p, e->start, 1);
	else if (p)
		k->unopened++;
}

/* One track per process, counter and series. */
static struct sink_track *counter_track(struct kineto *k, const struct kineto_event *e, const struct json_value *series)
{
	uint32_t count = k->counter_keys.count, number;

	kineto_cstr(k, &e->name);
	if (series->len) {
		buf_puts(&k->text, " ");
		buf_append(&k->text, series->text, series->len);
	}
	buf_append(&k->text, "", 1);
	buf_append(&k->text, e->pid.text ? e->pid.text : "", e->pid.len);
	number = count < KINETO_MAX_TRACKS ? keymap_number(&k->counter_keys, k->text.data, k->text.len) :
					     keymap_find(&k->counter_keys, k->text.data, k->text.len);
	if (number == KEYMAP_NONE) {
		k->odd++;
		return NULL;
	}
	if (number == count) {
		if (kineto_room(k, &k->counters, number, sizeof(*k->counters)) < 0)
			return NULL;
		k->counters[number] = (struct kineto_counter){ sink_track(&k->sink, TRACK_COUNTER, TABLE_COUNTER, 7),
							       kineto_process(k, &e->pid) };
		if (k->counters[number].track)
			k->counters[number].track->name = sink_text(&k->sink, k->text.data);
	}
	return k->counters[number].track;
}

static void counter(struct kineto *k, const struct kineto_event *e)
{
	const struct kineto_member *m;
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;
	double real;

	for (size_t i = 0; i < e->members->count; i++) {
		m = &e->members->list[i];
		v[COLUMN_COUNTER_TIME] = e->start;
		present = 1;
		if (json_integer(&m->value, &v[COLUMN_COUNTER_INTEGER])) {
			present |= SINK_BIT(COLUMN_COUNTER_INTEGER);
		} else if (json_real(&m->value, &real)) {
			memcpy(&v[COLUMN_COUNTER_REAL], &real, sizeof(real));
			present |= SINK_BIT(COLUMN_COUNTER_REAL);
		} else {
			k->odd++;
			continue;
		}
		sink_event(&k->sink, counter_track(k, e, &m->key), v, present);
	}
}

static void take_kineto_name(struct kineto *k, const struct kineto_event *e, const struct json_value *name)
{
	struct kineto_place *p;
	int of_process = json_equals(&e->name, "process_name");

	for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
		p = kineto_place(k, e, on_gpu);
		if (p && of_process)
			k->processes[p->process].name = kineto_text(k, name);
		else if (p)
			p->name = kineto_text(k, name);
	}
}

/* Names of processes and threads; the others (labels, order of rows) are facts about the trace. */
static void metadata(struct kineto *k, const struct kineto_event *e)
{
	struct json_value name = { 0 };
	struct buf what = BUF_INIT;

	for (size_t i = 0; e->members && i < e->members->count; i++)
		if (json_equals(&e->members->list[i].key, "name"))
			name = e->members->list[i].value;
	if (name.kind == JSON_STRING && (json_equals(&e->name, "process_name") || json_equals(&e->name, "thread_name"))) {
		take_kineto_name(k, e, &name);
		return;
	}
	buf_puts(&what, "trace.");
	buf_puts(&what, kineto_cstr(k, &e->name));
	buf_printf(&what, ".%.*s.%.*s", (int)(e->pid.len & 0xff), e->pid.text ? e->pid.text : "", (int)(e->tid.len & 0xff),
		   e->tid.text ? e->tid.text : "");
	sink_meta(&k->sink, buf_cstr(&what), kineto_cstr(k, &e->args));
	buf_release(&what);
}

/* Kineto had other words for "ac2g" before. */
static int is_launch_flow(const struct kineto_event *e)
{
	static const char *const words[] = { "ac2g", "async_cpu_to_gpu", "async_gpu" };

	if (!json_equals(&e->phase, "s") && !json_equals(&e->phase, "f"))
		return 0;
	for (unsigned i = 0; i < COUNT_OF(words); i++)
		if (json_equals(&e->category, words[i]))
			return 1;
	return 0;
}

static int names_correlation(const struct kineto_event *e)
{
	static const char *const keys[] = { "correlation", "External id", "external id" };

	for (size_t i = 0; e->members && i < e->members->count; i++)
		for (unsigned n = 0; n < COUNT_OF(keys); n++)
			if (json_equals(&e->members->list[i].key, keys[n]))
				return 1;
	return 0;
}

/* Kineto up to PyTorch 1.12 had other words. Other tools have them, too: only Kineto tells what belongs to what. */
static void modernize(struct kineto_event *e)
{
	static const struct {
		const char *old, *category;
	} words[] = { { "Operator", "cpu_op" },
		      { "Runtime", "cuda_runtime" },
		      { "Kernel", "kernel" },
		      { "Memcpy", "gpu_memcpy" },
		      { "Memset", "gpu_memset" } };

	for (unsigned i = 0; i < COUNT_OF(words); i++) {
		if (!json_equals(&e->category, words[i].old) || !names_correlation(e))
			continue;
		e->category.text = words[i].category;
		e->category.len = strlen(words[i].category);
	}
}

static void complete(struct kineto *k, struct kineto_event *e)
{
	modernize(e);
	if (kineto_gpu_event(k, e))
		return;
	if (json_equals(&e->category, "cuda_runtime"))
		add_kineto_call(k, e, 0);
	else if (json_equals(&e->category, "cuda_driver"))
		add_kineto_call(k, e, 1);
	else
		slice(k, e);
}

void kineto_event(struct kineto *k, struct kineto_event *e)
{
	/* A phase is a letter: what else has a time is an event of nothing that we read. */
	if (e->phase.kind != JSON_STRING || e->phase.len != 1) {
		k->odd++;
		return;
	}
	if (json_equals(&e->phase, "M")) {
		k->result->names++;
		metadata(k, e);
		return;
	}
	if (is_launch_flow(e)) {
		k->result->flows++;
		return;
	}
	if (!read_times(e)) {
		k->untimed++;
		return;
	}
	k->result->events++;
	if (json_equals(&e->phase, "X"))
		complete(k, e);
	else if (json_equals(&e->phase, "B"))
		open_kineto_range(k, e);
	else if (json_equals(&e->phase, "E"))
		close_kineto_range(k, e);
	else if (json_equals(&e->phase, "C") && e->members)
		counter(k, e);
	else if (!kineto_async_event(k, e))
		instant(k, e);
}

static void close_open(struct kineto *k, struct kineto_place *p)
{
	for (; p->open_count; k->unended++)
		end_latest(k, p, k->sink.last, 0);
}

static void reported(struct kineto *k, uint64_t count, const char *what)
{
	if (count)
		sink_diagnose(&k->sink, 2, "%llu %s", (unsigned long long)count, what);
}

void kineto_events_finish(struct kineto *k)
{
	for (uint32_t i = 0; i < k->place_count; i++)
		close_open(k, &k->places[i]);
	kineto_async_finish(k);
	reported(k, k->unended, "slices have no end in the trace: they end with it.");
	reported(k, k->unopened, "ends of slices (\"E\") have no begin and are left out.");
	reported(k, k->untimed, "events have no time that can be read and are left out.");
	reported(k, k->odd + k->members.lost, "members of events could not be kept.");
	reported(k, k->crowded, "events are of too many threads; the last ones share a track.");
	reported(k, k->cut, "texts were longer than 4 MB and are cut.");
}
