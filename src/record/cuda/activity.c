/* Records of what ran to rows. */
#include "record/cuda/internal.h"

#include <errno.h>
#include <string.h>

#include "record/session/address_space.h"
#include "record/stacks/stacks.h"

/* A GPU's time this much after now is no inaccuracy of clocks. */
#define LATEST_NS 1000000000ll

/* CUPTI's kinds of unified memory counters that are migrations. */
enum { UNIFIED_TO_DEVICE = 1, UNIFIED_TO_HOST = 2, UNIFIED_CPU_FAULT = 3, UNIFIED_BETWEEN_DEVICES = 8 };
/* gpu_copy.kind of these. */
enum { COPY_UNIFIED_TO_DEVICE = 11, COPY_UNIFIED_TO_HOST = 12, COPY_UNIFIED_BETWEEN_DEVICES = 13 };

/* Never later than now: stamps of this machine's own clock. */
static int64_t call_time(struct session *s, uint64_t ticks)
{
	int64_t time = timebase_convert(&s->time, ticks);

	return time > s->now ? s->now : time;
}

/* Times of a GPU are shown as they are, unless there are none, or they are of no sense. */
static int gpu_span(struct cuda_decoder *d, uint64_t first, uint64_t last, int64_t *start, int64_t *end)
{
	if (first && last >= first) {
		*start = timebase_convert(&d->s->time, first);
		*end = timebase_convert(&d->s->time, last);
		if (*end >= *start && *end <= d->s->now + LATEST_NS)
			return 0;
	}
	d->c->unplaced++;
	return -EINVAL;
}

static uint32_t graph_values(const struct cuda_graph_place *graph, int64_t *v, unsigned node, unsigned id, unsigned channel)
{
	uint32_t present = 0, type = graph->channel >> 24;

	if (graph->node) {
		v[node] = (int64_t)graph->node;
		present |= BIT(node);
	}
	if (graph->graph && graph->graph != CUDA_NO_ID) {
		v[id] = graph->graph;
		present |= BIT(id);
	}
	if (type && graph->channel != CUDA_NO_ID) {
		v[channel] = (int64_t)((graph->channel & 0xffffff) | (uint64_t)type << 32);
		present |= BIT(channel);
	}
	return present;
}

/* Adds a column to a row that was begun. */
static void set(int64_t *v, unsigned column, int64_t value)
{
	v[column] = value;
	v[-1] |= BIT(column);
}

/* A row of work on a stream, to be filled; NULL: there is no place for it. */
static int64_t *work_row(struct cuda_decoder *d, enum table_id table, const struct cuda_place *place, uint64_t first, uint64_t last)
{
	int64_t start, end;

	if (gpu_span(d, first, last, &start, &end) < 0)
		return NULL;
	return cuda_rows_add(d, cuda_work_rows(cuda_stream_at(d, place), table), start, end, 0);
}

static int api_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	const uint32_t present = BIT(COLUMN_CUDA_API_NAME) | BIT(COLUMN_CUDA_API_CLASS) | BIT(COLUMN_CUDA_API_RESULT) |
				 BIT(COLUMN_CUDA_API_CORRELATION);
	struct cuda_thread *t;
	struct cuda_rows *rows;
	struct record_cuda_api r;
	int64_t start, end, *v;
	unsigned is_driver;
	uint64_t name;

	memcpy(&r, bytes, sizeof(r));
	is_driver = (record_flags(r.head) & CUDA_API_DRIVER) != 0;
	name = cuda_call_name(d, is_driver, record_domain(r.head));
	if (!name) {
		d->c->unplaced++;
		return 0;
	}
	start = call_time(d->s, r.time);
	end = call_time(d->s, r.end);
	end = end < start ? start : end;
	t = cuda_thread_at(d, r.tid, start, end);
	rows = t ? cuda_rows_of(&t->calls, TABLE_CUDA_API, t->uid, 0) : NULL;
	v = cuda_rows_add(d, rows, start, end, present);
	if (!v)
		return 0;
	v[COLUMN_CUDA_API_NAME] = (int64_t)name;
	v[COLUMN_CUDA_API_CLASS] = is_driver;
	v[COLUMN_CUDA_API_RESULT] = r.result;
	v[COLUMN_CUDA_API_CORRELATION] = r.correlation;
	if (record_flags(r.head) & CUDA_API_STACK) {
		set(v, COLUMN_CUDA_API_STACK, cuda_stack_later(r.correlation));
		rows->stacks++;
	}
	cuda_clock_call(d->c, r.correlation, start, end);
	return 0;
}

static int kernel_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct record_cuda_kernel r;
	uint64_t launch;
	int64_t *v;

	memcpy(&r, bytes, sizeof(r));
	v = work_row(d, TABLE_GPU_KERNEL, &r.place, r.time, r.end);
	if (!v)
		return 0;
	set(v, COLUMN_GPU_KERNEL_CORRELATION, r.place.correlation);
	set(v, COLUMN_GPU_KERNEL_GRID, (int64_t)r.grid);
	launch = cuda_launch_id(d, r.launch);
	if (launch)
		set(v, COLUMN_GPU_KERNEL_LAUNCH, (int64_t)launch);
	v[-1] |= graph_values(&r.graph, v, COLUMN_GPU_KERNEL_GRAPH_NODE, COLUMN_GPU_KERNEL_GRAPH, COLUMN_GPU_KERNEL_CHANNEL);
	if (r.queued)
		set(v, COLUMN_GPU_KERNEL_QUEUED, timebase_convert(&d->s->time, r.queued));
	if (r.submitted)
		set(v, COLUMN_GPU_KERNEL_SUBMITTED, timebase_convert(&d->s->time, r.submitted));
	return 0;
}

static int copy_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct record_cuda_copy r;
	int64_t *v;

	memcpy(&r, bytes, sizeof(r));
	v = work_row(d, TABLE_GPU_COPY, &r.place, r.time, r.end);
	if (!v)
		return 0;
	set(v, COLUMN_GPU_COPY_BYTES, (int64_t)r.bytes);
	set(v, COLUMN_GPU_COPY_KIND, r.kind);
	set(v, COLUMN_GPU_COPY_SOURCE, r.source);
	set(v, COLUMN_GPU_COPY_TARGET, r.target);
	set(v, COLUMN_GPU_COPY_CORRELATION, r.place.correlation);
	set(v, COLUMN_GPU_COPY_FLAGS, r.flags);
	v[-1] |= graph_values(&r.graph, v, COLUMN_GPU_COPY_GRAPH_NODE, COLUMN_GPU_COPY_GRAPH, COLUMN_GPU_COPY_CHANNEL);
	if (r.count)
		set(v, COLUMN_GPU_COPY_COUNT, (int64_t)r.count);
	if (r.source_device != CUDA_NO_ID) {
		set(v, COLUMN_GPU_COPY_SOURCE_DEVICE, r.source_device);
		set(v, COLUMN_GPU_COPY_SOURCE_CONTEXT, r.source_context);
		set(v, COLUMN_GPU_COPY_TARGET_DEVICE, r.target_device);
		set(v, COLUMN_GPU_COPY_TARGET_CONTEXT, r.target_context);
	}
	return 0;
}

static int set_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct record_cuda_set r;
	int64_t *v;

	memcpy(&r, bytes, sizeof(r));
	v = work_row(d, TABLE_GPU_SET, &r.place, r.time, r.end);
	if (!v)
		return 0;
	set(v, COLUMN_GPU_SET_BYTES, (int64_t)r.bytes);
	set(v, COLUMN_GPU_SET_VALUE, r.value);
	set(v, COLUMN_GPU_SET_MEMORY, r.memory);
	set(v, COLUMN_GPU_SET_CORRELATION, r.place.correlation);
	set(v, COLUMN_GPU_SET_FLAGS, r.flags);
	v[-1] |= graph_values(&r.graph, v, COLUMN_GPU_SET_GRAPH_NODE, COLUMN_GPU_SET_GRAPH, COLUMN_GPU_SET_CHANNEL);
	return 0;
}

static int sync_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct record_cuda_sync r;
	int64_t *v;

	memcpy(&r, bytes, sizeof(r));
	v = work_row(d, TABLE_GPU_SYNC, &r.place, r.time, r.end);
	if (!v)
		return 0;
	set(v, COLUMN_GPU_SYNC_KIND, r.kind);
	set(v, COLUMN_GPU_SYNC_CORRELATION, r.place.correlation);
	if (r.event != CUDA_NO_ID)
		set(v, COLUMN_GPU_SYNC_EVENT, r.event);
	if (r.event_sync)
		set(v, COLUMN_GPU_SYNC_EVENT_SYNC, (int64_t)r.event_sync);
	if (record_flags(r.head) & 1)
		set(v, COLUMN_GPU_SYNC_RESULT, r.result);
	return 0;
}

static int graph_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct record_cuda_graph r;
	int64_t *v;

	memcpy(&r, bytes, sizeof(r));
	v = work_row(d, TABLE_GPU_GRAPH, &r.place, r.time, r.end);
	if (!v)
		return 0;
	set(v, COLUMN_GPU_GRAPH_GRAPH, r.graph);
	set(v, COLUMN_GPU_GRAPH_CORRELATION, r.place.correlation);
	if (r.exec != CUDA_NO_ID)
		set(v, COLUMN_GPU_GRAPH_EXEC, r.exec);
	return 0;
}

static int event_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	uint32_t present = BITS_TO(COLUMN_CUDA_EVENT_CORRELATION);
	struct record_cuda_event r;
	struct cuda_stream *stream;
	int64_t v[TABLE_MAX_COLUMNS];

	memcpy(&r, bytes, sizeof(r));
	stream = cuda_stream_at(d, &r.place);
	v[COLUMN_CUDA_EVENT_TIME] = r.time ? timebase_convert(&d->s->time, r.time) : 0;
	v[COLUMN_CUDA_EVENT_STREAM] = stream ? (int64_t)stream->uid : 0;
	v[COLUMN_CUDA_EVENT_EVENT] = r.event;
	v[COLUMN_CUDA_EVENT_EVENT_SYNC] = (int64_t)r.event_sync;
	v[COLUMN_CUDA_EVENT_CORRELATION] = r.place.correlation;
	present &= ~(r.time ? 0 : BIT(COLUMN_CUDA_EVENT_TIME));
	present &= ~(stream ? 0 : BIT(COLUMN_CUDA_EVENT_STREAM));
	present &= ~(r.event_sync ? 0 : BIT(COLUMN_CUDA_EVENT_EVENT_SYNC));
	session_plain_event(d->s, TABLE_CUDA_EVENT, v, present);
	return 0;
}

static int memory_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct cuda_context *context;
	struct record_cuda_memory r;
	int64_t time, *v;

	memcpy(&r, bytes, sizeof(r));
	time = call_time(d->s, r.time);
	context = cuda_context_at(d, r.place.context, r.place.device);
	v = cuda_rows_add(d, context ? cuda_rows_of(&context->memory, TABLE_GPU_MEMORY, 0, context->uid) : NULL, time, time,
			  BIT(COLUMN_GPU_MEMORY_OPERATION) | BIT(COLUMN_GPU_MEMORY_ADDRESS) | BIT(COLUMN_GPU_MEMORY_BYTES) |
				  BIT(COLUMN_GPU_MEMORY_KIND) | BIT(COLUMN_GPU_MEMORY_CORRELATION));
	if (!v)
		return 0;
	v[COLUMN_GPU_MEMORY_OPERATION] = r.operation;
	v[COLUMN_GPU_MEMORY_ADDRESS] = (int64_t)r.address;
	v[COLUMN_GPU_MEMORY_BYTES] = (int64_t)r.bytes;
	v[COLUMN_GPU_MEMORY_KIND] = r.kind;
	v[COLUMN_GPU_MEMORY_CORRELATION] = r.place.correlation;
	if (r.pc)
		set(v, COLUMN_GPU_MEMORY_PC, (int64_t)r.pc);
	if (r.place.stream != CUDA_NO_ID)
		set(v, COLUMN_GPU_MEMORY_STREAM, r.place.stream);
	if (size > sizeof(r))
		set(v, COLUMN_GPU_MEMORY_NAME, (int64_t)report_string(d->s->writer, (const char *)bytes + sizeof(r), size - sizeof(r)));
	if (r.pool_type) {
		set(v, COLUMN_GPU_MEMORY_POOL, (int64_t)r.pool);
		set(v, COLUMN_GPU_MEMORY_POOL_TYPE, r.pool_type);
		set(v, COLUMN_GPU_MEMORY_POOL_THRESHOLD, (int64_t)r.pool_threshold);
		set(v, COLUMN_GPU_MEMORY_POOL_SIZE, (int64_t)r.pool_size);
		set(v, COLUMN_GPU_MEMORY_POOL_USED, (int64_t)r.pool_used);
	}
	return 0;
}

static int pool_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct record_cuda_pool r;
	int64_t v[TABLE_MAX_COLUMNS];

	memcpy(&r, bytes, sizeof(r));
	v[COLUMN_GPU_POOL_TIME] = call_time(d->s, r.time);
	v[COLUMN_GPU_POOL_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_GPU_POOL_DEVICE] = r.device;
	v[COLUMN_GPU_POOL_OPERATION] = r.operation;
	v[COLUMN_GPU_POOL_TYPE] = r.type;
	v[COLUMN_GPU_POOL_ADDRESS] = (int64_t)r.address;
	v[COLUMN_GPU_POOL_KEEP] = (int64_t)r.keep;
	v[COLUMN_GPU_POOL_THRESHOLD] = (int64_t)r.threshold;
	v[COLUMN_GPU_POOL_SIZE] = (int64_t)r.size;
	v[COLUMN_GPU_POOL_USED] = (int64_t)r.used;
	v[COLUMN_GPU_POOL_CORRELATION] = r.correlation;
	session_plain_event(d->s, TABLE_GPU_POOL, v, BITS_TO(COLUMN_GPU_POOL_CORRELATION));
	return 0;
}

static void migration(struct cuda_decoder *d, const struct record_cuda_unified *r, unsigned kind)
{
	uint32_t device = kind == COPY_UNIFIED_TO_HOST ? r->source : r->target;
	int64_t start, end, *v;

	if (gpu_span(d, r->time, r->end, &start, &end) < 0)
		return;
	v = cuda_rows_add(d, cuda_work_rows(cuda_unified_stream(d, device), TABLE_GPU_COPY), start, end,
			  BIT(COLUMN_GPU_COPY_BYTES) | BIT(COLUMN_GPU_COPY_KIND) | BIT(COLUMN_GPU_COPY_CAUSE) |
				  BIT(COLUMN_GPU_COPY_ADDRESS));
	if (!v)
		return;
	v[COLUMN_GPU_COPY_BYTES] = (int64_t)r->value;
	v[COLUMN_GPU_COPY_KIND] = kind;
	v[COLUMN_GPU_COPY_CAUSE] = r->flags;
	v[COLUMN_GPU_COPY_ADDRESS] = (int64_t)r->address;
	if (r->source != CUDA_NO_ID)
		set(v, COLUMN_GPU_COPY_SOURCE_DEVICE, r->source);
	if (r->target != CUDA_NO_ID)
		set(v, COLUMN_GPU_COPY_TARGET_DEVICE, r->target);
}

static void fault_row(struct cuda_decoder *d, const struct record_cuda_unified *r)
{
	uint32_t present = BITS_TO(COLUMN_GPU_FAULT_PC), device = r->source != CUDA_NO_ID ? r->source : r->target;
	int of_cpu = r->kind == UNIFIED_CPU_FAULT;
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_GPU_FAULT_START] = timebase_convert(&d->s->time, r->time);
	v[COLUMN_GPU_FAULT_END] = timebase_convert(&d->s->time, r->end);
	v[COLUMN_GPU_FAULT_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_GPU_FAULT_DEVICE] = device;
	v[COLUMN_GPU_FAULT_KIND] = r->kind;
	v[COLUMN_GPU_FAULT_ADDRESS] = (int64_t)r->address;
	v[COLUMN_GPU_FAULT_COUNT] = (int64_t)r->value;
	v[COLUMN_GPU_FAULT_ACCESS] = r->flags;
	v[COLUMN_GPU_FAULT_FRAME] = r->pc ? (int64_t)stacks_frame(d->s, space_of(d->s, d->p->uid, d->p->info.pid), r->pc) : 0;
	v[COLUMN_GPU_FAULT_PC] = (int64_t)r->pc;
	present &= ~(of_cpu || r->end < r->time ? BIT(COLUMN_GPU_FAULT_END) : 0);
	present &= ~(of_cpu || device == CUDA_NO_ID ? BIT(COLUMN_GPU_FAULT_DEVICE) : 0);
	present &= ~(r->pc ? 0 : BIT(COLUMN_GPU_FAULT_PC));
	present &= ~(v[COLUMN_GPU_FAULT_FRAME] ? 0 : BIT(COLUMN_GPU_FAULT_FRAME));
	session_plain_event(d->s, TABLE_GPU_FAULT, v, present);
}

static int unified_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct record_cuda_unified r;

	memcpy(&r, bytes, sizeof(r));
	switch (r.kind) {
	case UNIFIED_TO_DEVICE: migration(d, &r, COPY_UNIFIED_TO_DEVICE); return 0;
	case UNIFIED_TO_HOST: migration(d, &r, COPY_UNIFIED_TO_HOST); return 0;
	case UNIFIED_BETWEEN_DEVICES: migration(d, &r, COPY_UNIFIED_BETWEEN_DEVICES); return 0;
	default: fault_row(d, &r); return 0;
	}
}

static int overhead_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct record_cuda_overhead r;
	struct cuda_rows **rows = &d->c->overhead;
	struct cuda_thread *t = NULL;
	int64_t start, end, *v;

	memcpy(&r, bytes, sizeof(r));
	if (gpu_span(d, r.time, r.end, &start, &end) < 0)
		return 0;
	if (r.tid)
		t = cuda_thread_at(d, r.tid, start, end);
	if (t)
		rows = &t->overhead;
	v = cuda_rows_add(d, cuda_rows_of(rows, TABLE_CUDA_OVERHEAD, t ? t->uid : 0, 0), start, end, BIT(COLUMN_CUDA_OVERHEAD_KIND));
	if (!v)
		return 0;
	v[COLUMN_CUDA_OVERHEAD_KIND] = r.kind;
	if (r.correlation)
		set(v, COLUMN_CUDA_OVERHEAD_CORRELATION, r.correlation);
	return 0;
}

static int jit_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct record_cuda_jit r;
	struct cuda_thread *t;
	int64_t start, end, *v;

	memcpy(&r, bytes, sizeof(r));
	if (gpu_span(d, r.time, r.end, &start, &end) < 0)
		return 0;
	t = cuda_thread_at(d, r.tid, start, end);
	v = cuda_rows_add(d, t ? cuda_rows_of(&t->jit, TABLE_CUDA_JIT, t->uid, 0) : NULL, start, end, BITS_TO(COLUMN_CUDA_JIT_SIZE));
	if (!v)
		return 0;
	v[COLUMN_CUDA_JIT_ENTRY] = r.entry;
	v[COLUMN_CUDA_JIT_OPERATION] = r.operation;
	v[COLUMN_CUDA_JIT_DEVICE] = r.device;
	v[COLUMN_CUDA_JIT_CORRELATION] = r.correlation;
	v[COLUMN_CUDA_JIT_LINK] = (int64_t)r.link;
	v[COLUMN_CUDA_JIT_SIZE] = (int64_t)r.size;
	if (size > sizeof(r))
		set(v, COLUMN_CUDA_JIT_PATH, (int64_t)report_string(d->s->writer, (const char *)bytes + sizeof(r), size - sizeof(r)));
	return 0;
}

static int batch_record(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
	struct record_cuda_batch r;

	memcpy(&r, bytes, sizeof(r));
	cuda_flush(d, 0);
	session_loss(d->s, d->p->uid, 0, LOSS_CUPTI, r.dropped & INT64_MAX);
	return 0;
}

int cuda_activity(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size)
{
#define RECORD(...)
#define CUDA_RECORD(type, NAME, name) [type] = { name##_record, sizeof(struct record_cuda_##name) },
	static const struct {
		int (*decode)(struct cuda_decoder *, const uint8_t *, uint32_t);
		uint16_t size; /* at least */
	} types[RECORD_TYPE_COUNT] = {
#include "fmt/records.def"
	};
#undef RECORD
#undef CUDA_RECORD
	uint64_t head;
	unsigned type;

	memcpy(&head, bytes, sizeof(head));
	type = record_type(head);
	if (type >= RECORD_TYPE_COUNT || !types[type].decode || size < types[type].size)
		return -EBADMSG;
	return types[type].decode(d, bytes, size);
}
