#include <string.h>

#include "agent/cuda/records/calls.h"
#include "agent/cuda/records/decode.h"
#include "agent/cuda/records/definitions.h"

static void decode_call(const struct cuda_source *s, enum cuda_api_class class)
{
	const struct cupti_api *a = s->record;
	struct record_cuda_api *record;
	unsigned flags = class == CUDA_CLASS_DRIVER ? CUDA_API_DRIVER : 0;

	if (cuda_call_is_left_out(cuda_at(s, a->start), cuda_correlation(a->correlation)) || !cuda_call_wanted(class, a->id))
		return;
	if (cuda_call_stack_possible(class, a->id))
		flags |= CUDA_API_STACK;
	record = cuda_begin(sizeof(*record));
	if (!record)
		return;
	record->time = cuda_at(s, a->start);
	record->end = cuda_at(s, a->end);
	record->tid = a->thread;
	record->correlation = cuda_correlation(a->correlation);
	record->result = a->result;
	record->pad = 0;
	cuda_end(record, RECORD_CUDA_API, flags, a->id, sizeof(*record));
}

static void decode_runtime(const struct cuda_source *s)
{
	decode_call(s, CUDA_CLASS_RUNTIME);
}

static void decode_driver(const struct cuda_source *s)
{
	decode_call(s, CUDA_CLASS_DRIVER);
}

static void decode_sync(const struct cuda_source *s)
{
	const struct cupti_synchronization *y = s->record;
	struct record_cuda_sync *record = cuda_begin_work(s, y->start, y->correlation, sizeof(*record));

	if (!record)
		return;
	record->time = cuda_at(s, y->start);
	record->end = cuda_at(s, y->end);
	record->place = (struct cuda_place){ CUDA_NO_ID, y->context, y->stream, cuda_correlation(y->correlation) };
	record->event_sync = y->event_sync;
	record->kind = y->type;
	record->event = y->event;
	record->result = y->result;
	record->pad = 0;
	cuda_end(record, RECORD_CUDA_SYNC, CUDA_HAS(s, cupti_synchronization, result), 0, sizeof(*record));
}

static void decode_event(const struct cuda_source *s)
{
	const struct cupti_cuda_event *e = s->record;
	uint32_t device = CUDA_HAS(s, cupti_cuda_event, device) ? e->device : CUDA_NO_ID;
	struct record_cuda_event *record = cuda_begin_work(s, e->device_time, e->correlation, sizeof(*record));

	if (!record)
		return;
	record->time = cuda_at(s, e->device_time);
	record->place = (struct cuda_place){ device, e->context, e->stream, cuda_correlation(e->correlation) };
	record->event_sync = e->event_sync;
	record->event = e->event;
	record->pad = 0;
	cuda_end(record, RECORD_CUDA_EVENT, 0, 0, sizeof(*record));
}

static void decode_overhead(const struct cuda_source *s)
{
	const struct cupti_overhead *o = s->record;
	struct record_cuda_overhead *record = cuda_begin_work(s, o->start, o->correlation, sizeof(*record));

	if (!record)
		return;
	record->time = cuda_at(s, o->start);
	record->end = cuda_at(s, o->end);
	record->kind = o->overhead_kind;
	record->tid = o->object_kind == CUPTI_OBJECT_THREAD ? o->object[1] : 0;
	record->correlation = cuda_correlation(o->correlation);
	record->pad = 0;
	cuda_end(record, RECORD_CUDA_OVERHEAD, 0, 0, sizeof(*record));
}

static void decode_jit(const struct cuda_source *s)
{
	const struct cupti_jit *j = s->record;
	uint32_t path_size = cuda_text_room(sizeof(struct record_cuda_jit), j->path);
	uint32_t size = (uint32_t)sizeof(struct record_cuda_jit) + path_size;
	struct record_cuda_jit *record = cuda_begin_work(s, j->start, j->correlation, size);

	if (!record)
		return;
	record->time = cuda_at(s, j->start);
	record->end = cuda_at(s, j->end);
	record->link = j->link;
	record->size = j->size;
	record->entry = j->entry;
	record->operation = j->operation;
	record->device = j->device;
	record->correlation = cuda_correlation(j->correlation);
	record->tid = j->thread;
	record->pad = 0;
	memcpy(record + 1, j->path ? j->path : "", path_size);
	cuda_end(record, RECORD_CUDA_JIT, 0, 0, size);
}

const struct cuda_kind cuda_host_kinds[] = {
	{ CUPTI_KIND_RUNTIME, 0, decode_runtime, 0, NULL },
	{ CUPTI_KIND_DRIVER, 0, decode_driver, 0, NULL },
	{ CUPTI_KIND_SYNCHRONIZATION, 1, decode_sync, 0, NULL },
	{ CUPTI_KIND_CUDA_EVENT, 1, decode_event, 0, NULL },
	{ CUPTI_KIND_OVERHEAD, 1, decode_overhead, 0, NULL },
	{ CUPTI_KIND_JIT, 1, decode_jit, 0, NULL },
	{ 0 },
};
