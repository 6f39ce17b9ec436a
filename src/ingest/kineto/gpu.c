/* Work of GPUs: kernels, copies, sets, synchronisation, and the devices, contexts and streams they name. */
#include "ingest/kineto/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "fmt/gpu_enums.h"
#include "symbol/demangle.h"

#define NOT_TOLD INT64_MIN
#define MAX_LAUNCHES 65536u /* remembered at once */

/* What all records of a device's work have in common. */
struct work {
	struct json_value device, context, stream, correlation, bytes, graph, node, channel, channel_type;
};

#define WORK_ARGS(w) \
	KINETO_KNOWN("device", &(w).device), KINETO_KNOWN("context", &(w).context), KINETO_KNOWN("stream", &(w).stream), \
		KINETO_KNOWN("correlation", &(w).correlation), KINETO_KNOWN("graph id", &(w).graph), \
		KINETO_KNOWN("graph node id", &(w).node), KINETO_KNOWN("channel", &(w).channel), \
		KINETO_KNOWN("channel_type", &(w).channel_type)

static int64_t number_or(const struct json_value *v, int64_t otherwise)
{
	int64_t value;

	return json_scaled(v, 0, &value) ? value : otherwise;
}

static void put_kineto_number(int64_t *values, uint32_t *present, unsigned column, const struct json_value *v)
{
	if (json_scaled(v, 0, &values[column]))
		*present |= SINK_BIT(column);
}

struct kineto_device *kineto_device(struct kineto *k, int64_t id)
{
	uint32_t count = k->device_keys.count, number = keymap_number(&k->device_keys, &id, sizeof(id));

	if (number == KEYMAP_NONE)
		return NULL;
	if (number == count) {
		if (kineto_room(k, &k->devices, number, sizeof(*k->devices)) < 0)
			return NULL;
		k->devices[number] = (struct kineto_device){ .id = id, .sm_count = -1 };
	}
	return &k->devices[number];
}

/* The row's own numbers stand in where the arguments have none. */
static struct kineto_stream *find_kineto_stream(struct kineto *k, const struct kineto_event *e, const struct work *w)
{
	uint32_t row = kineto_process(k, &e->pid), count = k->stream_keys.count, number;
	int64_t key[] = { number_or(&w->device, number_or(&e->pid, NOT_TOLD)), number_or(&w->context, NOT_TOLD),
			  number_or(&w->stream, number_or(&e->tid, NOT_TOLD)), row },
		correlation;
	struct kineto_device *device;

	number = count < KINETO_MAX_TRACKS ? keymap_number(&k->stream_keys, key, sizeof(key)) :
					     keymap_find(&k->stream_keys, key, sizeof(key));
	if (number == KEYMAP_NONE || row == KEYMAP_NONE) {
		k->odd++;
		return NULL;
	}
	if (number == count) {
		if (kineto_room(k, &k->streams, number, sizeof(*k->streams)) < 0)
			return NULL;
		k->streams[number] = (struct kineto_stream){ .device = key[0], .context = key[1], .id = key[2], .row = row };
		device = key[0] != NOT_TOLD ? kineto_device(k, key[0]) : NULL;
		if (device)
			device->has_streams = 1;
	}
	if (json_scaled(&w->correlation, 0, &correlation) && correlation)
		kineto_owner_work(k, &k->streams[number], correlation, e->start);
	return &k->streams[number];
}

static struct sink_track *ensure_stream_track(struct kineto *k, struct kineto_stream *stream, struct sink_track **track,
					      enum track_kind kind, enum table_id table, uint32_t columns)
{
	if (!*track) {
		*track = sink_track(&k->sink, kind, table, columns);
		if (*track)
			(*track)->domain = (uint64_t)(stream - k->streams) + 1;
	}
	return *track;
}

static uint32_t function_of(struct kineto *k, const struct json_value *name)
{
	uint64_t text = kineto_text(k, name);
	uint32_t count = k->function_keys.count, number = keymap_number(&k->function_keys, &text, sizeof(text));
	const char *written, *part;
	char *plain, *brief;
	int64_t v[TABLE_MAX_COLUMNS];
	size_t len;

	if (number == KEYMAP_NONE || number < count)
		return number + 1;
	written = kineto_cstr(k, name);
	plain = demangle_kernel(written);
	brief = demangle_short(written);
	part = kineto_short_name(written, &len);
	v[COLUMN_CUDA_FUNCTION_ID] = number + 1;
	v[COLUMN_CUDA_FUNCTION_MANGLED] = (int64_t)text;
	v[COLUMN_CUDA_FUNCTION_SHORT_NAME] = (int64_t)(brief ? sink_text(&k->sink, brief) : report_string(k->sink.writer, part, len));
	v[COLUMN_CUDA_FUNCTION_NAME] = (int64_t)(plain ? sink_text(&k->sink, plain) : text);
	free(plain);
	free(brief);
	sink_row(&k->sink, TABLE_CUDA_FUNCTION, v, SINK_BIT(COLUMN_CUDA_FUNCTION_MANGLED + 1) - 1);
	return number + 1;
}

static void put_kineto_triple(int64_t *values, uint32_t *present, unsigned column, const struct json_value *list)
{
	struct json_value item;
	struct json j;
	int first = 1;

	if (list->kind != JSON_ARRAY)
		return;
	json_begin(&j, list->text, list->len);
	for (unsigned i = 0; i < 3 && json_next_element(&j, &first) > 0 && json_value(&j, &item) >= 0; i++)
		put_kineto_number(values, present, column + i, &item);
}

struct launch {
	struct json_value grid, block, registers, shared, priority;
};

/* Kineto adds up static and dynamic shared memory: the sum stands as dynamic. */
static int64_t launch_of(struct kineto *k, const struct kineto_event *e, const struct launch *l)
{
	uint32_t present = SINK_BIT(COLUMN_CUDA_LAUNCH_FUNCTION), count = k->launch_keys.count, number;
	int64_t v[TABLE_MAX_COLUMNS] = { 0 };

	v[COLUMN_CUDA_LAUNCH_FUNCTION] = function_of(k, &e->name);
	put_kineto_triple(v, &present, COLUMN_CUDA_LAUNCH_GRID_X, &l->grid);
	put_kineto_triple(v, &present, COLUMN_CUDA_LAUNCH_BLOCK_X, &l->block);
	put_kineto_number(v, &present, COLUMN_CUDA_LAUNCH_REGISTERS, &l->registers);
	put_kineto_number(v, &present, COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED, &l->shared);
	put_kineto_number(v, &present, COLUMN_CUDA_LAUNCH_PRIORITY, &l->priority);
	v[COLUMN_CUDA_LAUNCH_ID] = present;
	number = keymap_number(&k->launch_keys, v, (COLUMN_CUDA_LAUNCH_PRIORITY + 1) * sizeof(*v));
	if (number == KEYMAP_NONE)
		return 0;
	v[COLUMN_CUDA_LAUNCH_ID] = k->first_launch + number;
	if (number == count)
		sink_row(&k->sink, TABLE_CUDA_LAUNCH, v, present | SINK_BIT(COLUMN_CUDA_LAUNCH_ID));
	/* A launch that is written twice does no harm. */
	if (k->launch_keys.count == MAX_LAUNCHES) {
		k->first_launch += MAX_LAUNCHES;
		keymap_release(&k->launch_keys);
	}
	return v[COLUMN_CUDA_LAUNCH_ID];
}

/* 0 stands for "not in a graph". */
static void put_graph(int64_t *values, uint32_t *present, unsigned graph, unsigned node, const struct work *w)
{
	put_kineto_number(values, present, graph, &w->graph);
	put_kineto_number(values, present, node, &w->node);
	if (!(*present & SINK_BIT(node)) || !values[node])
		*present &= ~(SINK_BIT(graph) | SINK_BIT(node));
}

static void put_channel(int64_t *values, uint32_t *present, unsigned column, const struct work *w)
{
	int64_t type = number_or(&w->channel_type, 0);

	put_kineto_number(values, present, column, &w->channel);
	if (*present & SINK_BIT(column))
		values[column] = (int64_t)((uint64_t)values[column] | (uint64_t)type << 32);
}

static void put_set(int64_t *values, uint32_t *present, unsigned column, uint64_t set)
{
	values[column] = (int64_t)set;
	*present |= set ? SINK_BIT(column) : 0;
}

static void put_kineto_times(int64_t *values, uint32_t *present, const struct kineto_event *e)
{
	values[0] = e->start;
	values[1] = e->end;
	*present = 3;
}

static void kernel(struct kineto *k, const struct kineto_event *e)
{
	struct launch l = { 0 };
	struct work w = { 0 };
	const struct kineto_known known[] = { WORK_ARGS(w),
					      KINETO_KNOWN("grid", &l.grid),
					      KINETO_KNOWN("block", &l.block),
					      KINETO_KNOWN("registers per thread", &l.registers),
					      KINETO_KNOWN("shared memory", &l.shared),
					      KINETO_KNOWN("priority", &l.priority),
					      KINETO_KNOWN_END };
	uint64_t set = kineto_args(k, e, known);
	struct kineto_stream *s = find_kineto_stream(k, e, &w);
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!s)
		return;
	put_kineto_times(v, &present, e);
	v[COLUMN_GPU_KERNEL_LAUNCH] = launch_of(k, e, &l);
	present |= SINK_BIT(COLUMN_GPU_KERNEL_LAUNCH);
	put_kineto_number(v, &present, COLUMN_GPU_KERNEL_CORRELATION, &w.correlation);
	put_graph(v, &present, COLUMN_GPU_KERNEL_GRAPH, COLUMN_GPU_KERNEL_GRAPH_NODE, &w);
	put_channel(v, &present, COLUMN_GPU_KERNEL_CHANNEL, &w);
	put_set(v, &present, COLUMN_GPU_KERNEL_ARGS, set);
	sink_event(&k->sink,
		   ensure_stream_track(k, s, &s->kernels, TRACK_GPU_KERNEL, TABLE_GPU_KERNEL,
				       3 | SINK_BIT(COLUMN_GPU_KERNEL_LAUNCH) | SINK_BIT(COLUMN_GPU_KERNEL_CORRELATION) |
					       SINK_BIT(COLUMN_GPU_KERNEL_GRAPH) | SINK_BIT(COLUMN_GPU_KERNEL_GRAPH_NODE) |
					       SINK_BIT(COLUMN_GPU_KERNEL_CHANNEL) | SINK_BIT(COLUMN_GPU_KERNEL_ARGS)),
		   v, present);
}

/* CUPTI's numbers of what the name says: "Memcpy HtoD (Pageable -> Device)". */
static int64_t copy_kind(const char *name)
{
	for (int64_t kind = GPU_COPY_HTOD; kind <= GPU_COPY_PTOP; kind++)
		if (strstr(name, gpu_copy_kind(kind)->kineto))
			return kind;
	return GPU_COPY_UNKNOWN;
}

static int64_t memory_kind(const char *at)
{
	return at ? gpu_memory_kind_of_text(at) : GPU_MEMORY_UNKNOWN;
}

static const char *text_behind(const char *text, const char *mark)
{
	const char *at = strstr(text, mark);

	return at ? at + strlen(mark) : NULL;
}

static void add_kineto_copy(struct kineto *k, const struct kineto_event *e)
{
	struct json_value from = { 0 }, in = { 0 }, to = { 0 }, from_context = { 0 }, in_context = { 0 }, to_context = { 0 };
	struct work w = { 0 };
	const struct kineto_known known[] = { WORK_ARGS(w),
					      KINETO_KNOWN("bytes", &w.bytes),
					      KINETO_KNOWN("fromDevice", &from),
					      KINETO_KNOWN("inDevice", &in),
					      KINETO_KNOWN("toDevice", &to),
					      KINETO_KNOWN("fromContext", &from_context),
					      KINETO_KNOWN("inContext", &in_context),
					      KINETO_KNOWN("toContext", &to_context),
					      KINETO_KNOWN_END };
	uint64_t set = kineto_args(k, e, known);
	const char *name = kineto_cstr(k, &e->name);
	struct kineto_stream *s;
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	w.device = in.kind ? in : w.device;
	w.context = in_context.kind ? in_context : w.context;
	put_kineto_times(v, &present, e);
	v[COLUMN_GPU_COPY_KIND] = copy_kind(name);
	v[COLUMN_GPU_COPY_SOURCE] = memory_kind(text_behind(name, "("));
	v[COLUMN_GPU_COPY_TARGET] = memory_kind(text_behind(name, "-> "));
	present |= SINK_BIT(COLUMN_GPU_COPY_KIND) | SINK_BIT(COLUMN_GPU_COPY_SOURCE) | SINK_BIT(COLUMN_GPU_COPY_TARGET);
	put_kineto_number(v, &present, COLUMN_GPU_COPY_BYTES, &w.bytes);
	put_kineto_number(v, &present, COLUMN_GPU_COPY_CORRELATION, &w.correlation);
	put_kineto_number(v, &present, COLUMN_GPU_COPY_SOURCE_DEVICE, &from);
	put_kineto_number(v, &present, COLUMN_GPU_COPY_SOURCE_CONTEXT, &from_context);
	put_kineto_number(v, &present, COLUMN_GPU_COPY_TARGET_DEVICE, &to);
	put_kineto_number(v, &present, COLUMN_GPU_COPY_TARGET_CONTEXT, &to_context);
	put_graph(v, &present, COLUMN_GPU_COPY_GRAPH, COLUMN_GPU_COPY_GRAPH_NODE, &w);
	put_channel(v, &present, COLUMN_GPU_COPY_CHANNEL, &w);
	put_set(v, &present, COLUMN_GPU_COPY_ARGS, set);
	s = find_kineto_stream(k, e, &w);
	if (s)
		sink_event(&k->sink,
			   ensure_stream_track(k, s, &s->copies, TRACK_GPU_COPY, TABLE_GPU_COPY, SINK_BIT(COLUMN_GPU_COPY_ARGS + 1) - 1), v,
			   present);
}

static void set_memory(struct kineto *k, const struct kineto_event *e)
{
	struct work w = { 0 };
	const struct kineto_known known[] = { WORK_ARGS(w), KINETO_KNOWN("bytes", &w.bytes), KINETO_KNOWN_END };
	uint64_t set = kineto_args(k, e, known);
	struct kineto_stream *s = find_kineto_stream(k, e, &w);
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!s)
		return;
	put_kineto_times(v, &present, e);
	v[COLUMN_GPU_SET_MEMORY] = memory_kind(text_behind(kineto_cstr(k, &e->name), "("));
	present |= SINK_BIT(COLUMN_GPU_SET_MEMORY);
	put_kineto_number(v, &present, COLUMN_GPU_SET_BYTES, &w.bytes);
	put_kineto_number(v, &present, COLUMN_GPU_SET_CORRELATION, &w.correlation);
	put_graph(v, &present, COLUMN_GPU_SET_GRAPH, COLUMN_GPU_SET_GRAPH_NODE, &w);
	put_channel(v, &present, COLUMN_GPU_SET_CHANNEL, &w);
	put_set(v, &present, COLUMN_GPU_SET_ARGS, set);
	sink_event(&k->sink, ensure_stream_track(k, s, &s->sets, TRACK_GPU_SET, TABLE_GPU_SET, SINK_BIT(COLUMN_GPU_SET_ARGS + 1) - 1), v,
		   present);
}

static int64_t sync_kind(const char *name)
{
	for (int64_t kind = GPU_SYNC_EVENT; kind <= GPU_SYNC_CONTEXT; kind++)
		if (strcmp(name, gpu_sync_kind(kind)->kineto) == 0)
			return kind;
	return GPU_SYNC_UNKNOWN;
}

static void synchronisation(struct kineto *k, const struct kineto_event *e)
{
	struct json_value event = { 0 };
	struct work w = { 0 };
	const struct kineto_known known[] = { WORK_ARGS(w), KINETO_KNOWN("wait_on_cuda_event_id", &event), KINETO_KNOWN_END };
	uint64_t set = kineto_args(k, e, known);
	struct kineto_stream *s = find_kineto_stream(k, e, &w);
	int64_t v[TABLE_MAX_COLUMNS];
	uint32_t present;

	if (!s)
		return;
	put_kineto_times(v, &present, e);
	v[COLUMN_GPU_SYNC_KIND] = sync_kind(kineto_cstr(k, &e->name));
	present |= SINK_BIT(COLUMN_GPU_SYNC_KIND);
	put_kineto_number(v, &present, COLUMN_GPU_SYNC_EVENT, &event);
	put_kineto_number(v, &present, COLUMN_GPU_SYNC_CORRELATION, &w.correlation);
	put_set(v, &present, COLUMN_GPU_SYNC_ARGS, set);
	sink_event(&k->sink, ensure_stream_track(k, s, &s->syncs, TRACK_GPU_SYNC, TABLE_GPU_SYNC, SINK_BIT(COLUMN_GPU_SYNC_ARGS + 1) - 1),
		   v, present);
}

int kineto_gpu_event(struct kineto *k, const struct kineto_event *e)
{
	static const struct {
		const char *category;
		void (*take)(struct kineto *k, const struct kineto_event *e);
	} kinds[] = {
		{ "kernel", kernel }, { "gpu_memcpy", add_kineto_copy }, { "gpu_memset", set_memory }, { "cuda_sync", synchronisation }
	};

	for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
		if (!json_equals(&e->category, kinds[i].category))
			continue;
		kinds[i].take(k, e);
		return 1;
	}
	return 0;
}
