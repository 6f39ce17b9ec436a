#include "record/drain/decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fmt/cuda_wire.h"
#include "fmt/kernel_wire.h"
#include "fmt/torch_wire.h"
#include "record/stacks/call_stack.h"
#include "record/nvtx/counters.h"
#include "record/cuda/cuda.h"
#include "record/nvtx/definitions.h"
#include "record/drain/osrt.h"
#include "record/nvtx/payloads.h"
#include "record/drain/process.h"
#include "record/nvtx/start_end.h"
#include "record/nvtx/push_pop.h"
#include "record/drain/thread.h"
#include "record/stacks/timer_samples.h"
#include "record/torch/operators.h"
#include "record/session/window.h"

/* One record, its size checked against the block. */
struct record {
	uint64_t head;
	uint64_t ticks;
	int64_t time;         /* ns since the session started */
	const uint8_t *bytes; /* the head's place */
	uint32_t size;
};

/* Half of what an agent waits. */
#define CAPTURE_STALE_NS 1000000000ll
/* Half of how long an id of a passing name is good for is left to the range that bears it. */
#define NAME_NS (PASSING_SECONDS * 1000000000ll / 5)

struct decoder {
	struct session *s;
	struct traced_process *p;
	struct traced_thread *t;
};

/* Never later than now. */
static inline int64_t any_time(struct decoder *d, uint64_t ticks)
{
	int64_t time = timebase_convert(&d->s->time, ticks);

	return __builtin_expect(time > d->s->now, 0) ? d->s->now : time;
}

/* In order within the thread, too. */
static inline int64_t event_time(struct decoder *d, uint64_t ticks)
{
	int64_t time = any_time(d, ticks);

	if (__builtin_expect(time < d->t->last_time, 0))
		time = d->t->last_time;
	d->t->last_time = time;
	return time;
}

static int decode_blob(struct decoder *d, const struct record *r)
{
	struct record_blob blob;

	memcpy(&blob, r->bytes, sizeof(blob));
	payloads_collect(d->s, &d->t->payloads, &blob, r->bytes + sizeof(blob), r->size - sizeof(blob));
	return 0;
}

/* What came before the record, if it says that something did; NULL otherwise. Valid until the next record. */
static const struct payload_list *payloads_before(struct decoder *d, const struct record *r)
{
	return record_flags(r->head) & NVTX_FLAG_BLOB ? payloads_take(&d->t->payloads, r->ticks) : NULL;
}

/* Fills everything an event record can carry; `fixed`, which it is as long as at least, is where its text begins. */
static int decode_event(struct decoder *d, const struct record *r, uint32_t fixed, struct event_attributes *ret)
{
	struct record_nvtx_event event;
	unsigned flags = record_flags(r->head);
	uint64_t string_id;

	memcpy(&event, r->bytes, sizeof(event));
#define FROM_RECORD(NAME, name, type) .name = event.name,
	*ret = (struct event_attributes){ .start = r->time,
					  .color = event.color,
					  .payload = event.payload,
					  .payload_kind = flags >> NVTX_FLAG_PAYLOAD_SHIFT,
					  NVTX_FIELDS(FROM_RECORD) };
#undef FROM_RECORD
	if (ret->payload_kind >= NVTX_PAYLOAD_KIND_COUNT)
		return -EBADMSG;
	if (flags & NVTX_FLAG_COLOR)
		ret->flags |= SLICE_HAS_COLOR;
	if (flags & NVTX_FLAG_REGISTERED) {
		if (r->size < fixed + sizeof(string_id))
			return -EBADMSG;
		memcpy(&string_id, r->bytes + fixed, sizeof(string_id));
		ret->name = definitions_string(d->s, d->p->definitions, string_id);
		ret->flags |= SLICE_REGISTERED;
	} else if (!(flags & NVTX_FLAG_NO_MESSAGE)) {
		ret->name = report_string_passing(d->s->writer, (const char *)r->bytes + fixed, r->size - fixed);
	}
	if (flags & NVTX_FLAG_BLOB)
		payloads_attach(d->s, ret, payloads_before(d, r));
	return 0;
}

static int decode_push(struct decoder *d, const struct record *r)
{
	struct domain_state *domain = thread_domain(d->s, d->p, d->t, record_domain(r->head));
	struct event_attributes event;

	if (!domain)
		return -ENOMEM;
	event.start = r->time;
	event.flags = 0;
	event.name = report_string_passing(d->s->writer, (const char *)r->bytes + sizeof(struct record_plain),
					   r->size - sizeof(struct record_plain));
	push_pop_push(d->s, d->p, d->t, domain, record_level(r->head), &event, 1);
	return 0;
}

static int keep_text(struct decoder *d, const struct record *r, struct numbered_name *name)
{
	name->text_size = r->size - (uint32_t)sizeof(struct record_nvtx_event);
	name->text = malloc(name->text_size + 1);
	if (!name->text)
		return -ENOMEM;
	memcpy(name->text, r->bytes + sizeof(struct record_nvtx_event), name->text_size);
	name->since = d->s->now;
	return 0;
}

/* The ring gives a name a number; from now on short pushes mean this one by it. */
static int decode_name(struct decoder *d, const struct record *r)
{
	unsigned number = record_level(r->head);
	struct event_attributes event;
	struct numbered_name *name;

	if (number >= RECORD_SHORT_NAMES || record_flags(r->head) & NVTX_FLAG_BLOB)
		return -EBADMSG;
	if (!d->t->names)
		d->t->names = calloc(RECORD_SHORT_NAMES, sizeof(*d->t->names));
	if (!d->t->names)
		return -ENOMEM;
	if (decode_event(d, r, sizeof(struct record_nvtx_event), &event) < 0)
		return -EBADMSG;
	name = &d->t->names[number];
	free(name->text);
	*name = (struct numbered_name){ .name = event.name,
					.color = event.color,
					.category = event.category,
					.domain = (uint16_t)record_domain(r->head),
					.flags = (uint8_t)event.flags,
					.payload_kind = (uint8_t)event.payload_kind,
					.known = 1 };
	name->plain = event.name && !event.color && !event.category && !event.flags;
	if (__builtin_expect(report_string_passes(d->s->writer, event.name), 0))
		return keep_text(d, r, name);
	return 0;
}

/* A name that passes needs a new id from time to time. */
static void renew(struct decoder *d, struct numbered_name *name)
{
	if (d->s->now - name->since < NAME_NS)
		return;
	name->name = report_string_passing(d->s->writer, name->text, name->text_size);
	name->since = d->s->now;
}

static int decode_short_push(struct decoder *d, uint64_t head, int64_t time, const uint64_t *payload)
{
	unsigned number = record_short_which(head);
	struct numbered_name *name;
	struct event_attributes event;
	struct domain_state *domain;

	if (number >= RECORD_SHORT_NAMES || !d->t->names || !d->t->names[number].known)
		return -EBADMSG;
	name = &d->t->names[number];
	if (__builtin_expect(name->text != NULL, 0))
		renew(d, name);
	domain = thread_domain(d->s, d->p, d->t, name->domain);
	if (!domain)
		return -ENOMEM;
	if (name->plain && !payload) {
		event.start = time;
		event.flags = 0;
		event.name = name->name;
		push_pop_push(d->s, d->p, d->t, domain, record_short_level(head), &event, 1);
		return 0;
	}
	event = (struct event_attributes){
		.start = time, .name = name->name, .color = name->color, .category = name->category, .flags = name->flags
	};
	if (payload) {
		event.payload_kind = name->payload_kind;
		event.payload = *payload;
	}
	push_pop_push(d->s, d->p, d->t, domain, record_short_level(head), &event, 0);
	return 0;
}

/* `room`: bytes from the record to the end of the block. */
static int decode_short(struct decoder *d, const uint8_t *bytes, uint64_t head, uint32_t room)
{
	int64_t time = event_time(d, record_short_time(head, d->s->time.now_ticks));
	struct domain_state *domain;
	uint64_t payload;

	switch (record_short_kind(head)) {
	case RECORD_SHORT_PUSH: return decode_short_push(d, head, time, NULL);
	case RECORD_SHORT_PUSH_PAYLOAD:
		if (room < 2 * sizeof(head))
			return -EBADMSG;
		memcpy(&payload, bytes + sizeof(head), sizeof(payload));
		return decode_short_push(d, head, time, &payload);
	case RECORD_SHORT_POP:
		domain = thread_domain(d->s, d->p, d->t, record_short_which(head));
		if (!domain)
			return -ENOMEM;
		push_pop_pop(d->s, d->p, d->t, domain, record_short_level(head), time, NULL);
		return 0;
	default: return -EBADMSG;
	}
}

static int decode_push_ex(struct decoder *d, const struct record *r)
{
	struct domain_state *domain = thread_domain(d->s, d->p, d->t, record_domain(r->head));
	struct event_attributes event;

	if (!domain)
		return -ENOMEM;
	if (decode_event(d, r, sizeof(struct record_nvtx_event), &event) < 0)
		return -EBADMSG;
	push_pop_push(d->s, d->p, d->t, domain, record_level(r->head), &event, 0);
	return 0;
}

static int decode_pop(struct decoder *d, const struct record *r)
{
	struct domain_state *domain = thread_domain(d->s, d->p, d->t, record_domain(r->head));

	if (!domain)
		return -ENOMEM;
	push_pop_pop(d->s, d->p, d->t, domain, record_level(r->head), r->time, payloads_before(d, r));
	return 0;
}

static int decode_start(struct decoder *d, const struct record *r)
{
	struct domain_state *domain = thread_domain(d->s, d->p, d->t, record_domain(r->head));
	struct record_nvtx_range range;
	struct event_attributes event;

	if (!domain)
		return -ENOMEM;
	if (decode_event(d, r, sizeof(range), &event) < 0)
		return -EBADMSG;
	memcpy(&range, r->bytes, sizeof(range));
	ranges_start(d->s, d->p, d->t, domain, range.range_id, &event);
	return 0;
}

static int decode_end(struct decoder *d, const struct record *r)
{
	struct record_nvtx_end end;

	memcpy(&end, r->bytes, sizeof(end));
	ranges_end(d->s, d->p, d->t, end.range_id, r->time, payloads_before(d, r));
	return 0;
}

static int decode_mark(struct decoder *d, const struct record *r)
{
	struct domain_state *domain = thread_domain(d->s, d->p, d->t, record_domain(r->head));
	struct event_attributes event;

	if (!domain)
		return -ENOMEM;
	if (decode_event(d, r, sizeof(struct record_nvtx_event), &event) < 0)
		return -EBADMSG;
	push_pop_mark(d->s, d->p, d->t, domain, &event);
	return 0;
}

static int decode_counter(struct decoder *d, const struct record *r)
{
	struct record_counter counter;

	memcpy(&counter, r->bytes, sizeof(counter));
	counters_sample(d->s, d->p, d->t, &counter, r->time);
	return 0;
}

static int decode_define(struct decoder *d, const struct record *r)
{
	struct record_define define;

	memcpy(&define, r->bytes, sizeof(define));
	return definitions_record(d->s, d->p, d->t, &define, r->bytes + sizeof(define), r->size - sizeof(define), r->time);
}

static int decode_stack(struct decoder *d, const struct record *r)
{
	return call_stack_record(d->t, r->bytes, r->size);
}

static int decode_osrt(struct decoder *d, const struct record *r)
{
	struct record_osrt record;
	int64_t start;

	memcpy(&record, r->bytes, sizeof(record));
	start = any_time(d, record.start);
	return osrt_call_record(d->s, d->p, d->t, r->bytes, r->size, start < r->time ? start : r->time, r->time);
}

static int decode_capture(struct decoder *d, const struct record *r)
{
	struct capture_message message = { .request = record_flags(r->head),
					   .source = record_level(r->head),
					   .owner = ring_owner(d->p->uid, d->t->inner_tid),
					   .ticks = r->ticks };

	if (message.request == CAPTURE_SEEN) {
		window_saw(&d->s->seen, (const char *)r->bytes + sizeof(struct record_capture), r->size - sizeof(struct record_capture));
		return 0;
	}
	if (message.request == CAPTURE_STEP || message.request == CAPTURE_STEP_SEEN) {
		if (r->size < sizeof(struct record_capture) + sizeof(message.step))
			return -EBADMSG;
		memcpy(&message.step, r->bytes + sizeof(struct record_capture), sizeof(message.step));
	}
	if (message.request == CAPTURE_STEP_SEEN) {
		atomic_store(&d->s->steps_seen, message.step + 1);
		return 0;
	}
	if (message.request != CAPTURE_START && message.request != CAPTURE_STOP && message.request != CAPTURE_STEP)
		return -EBADMSG;
	/* Nobody waits for the answer any more. */
	if (message.request != CAPTURE_STOP && d->s->now - r->time > CAPTURE_STALE_NS)
		return 0;
	if (process_unfinished(d->s, d->p))
		atomic_store(&d->s->unfinished, 1);
	/* A program that asks faster than it can be served is not heard. */
	if (d->s->capture_fd && write(d->s->capture_fd, &message, sizeof(message)) < 0)
		return 0;
	return 0;
}

/* Kept for the command line, too: who asked for CUDA wants to know. */
static void keep_trouble(struct session *s, int severity, const char *text, int size)
{
	if (severity >= DIAGNOSTIC_WARNING && !s->cuda_trouble[0] && size > 8 && memcmp(text, "CUDA is ", 8) == 0)
		snprintf(s->cuda_trouble, sizeof(s->cuda_trouble), "%.*s", size, text);
}

static int decode_diagnostic(struct decoder *d, const struct record *r)
{
	int severity = (int)record_flags(r->head);
	int size = (int)(r->size - sizeof(struct record_plain));

	if (severity < DIAGNOSTIC_INFO || severity > DIAGNOSTIC_ERROR)
		return -EBADMSG;
	keep_trouble(d->s, severity, (const char *)r->bytes + sizeof(struct record_plain), size);
	session_diagnose(d->s, SOURCE_AGENT, severity, d->p->uid, "%.*s", size < 1000 ? size : 1000,
			 (const char *)r->bytes + sizeof(struct record_plain));
	return 0;
}

static int decode_sample(struct decoder *d, const struct record *r)
{
	return timer_samples_add(d->s, d->p, d->t, r->bytes, r->size, r->time);
}

static int decode_kernel(struct decoder *d, const struct record *r)
{
	return cuda_kernel_counters(d->s, d->p, r->bytes, r->size);
}

static int decode_kernel_values(struct decoder *d, const struct record *r)
{
	return cuda_kernel_values(d->s, d->p, r->bytes, r->size);
}

static int decode_kernel_source(struct decoder *d, const struct record *r)
{
	return cuda_kernel_source(d->s, d->p, r->bytes, r->size);
}

static int decode_kernel_place(struct decoder *d, const struct record *r)
{
	return cuda_kernel_place(d->s, d->p, d->t, r->bytes, r->size);
}

static int decode_torch_name(struct decoder *d, const struct record *r)
{
	return operators_name(d->s, d->t, r->bytes, r->size);
}

static int decode_torch_start(struct decoder *d, const struct record *r)
{
	return operators_start(d->s, d->p, d->t, r->bytes, r->size, r->time);
}

static int decode_torch_end(struct decoder *d, const struct record *r)
{
	return operators_end(d->s, d->p, d->t, r->bytes, r->size, r->time);
}

/* What was done with it: one that could not be kept is lost, one that makes no sense ends the ring. */
static inline int count_event(struct decoder *d, int result)
{
	d->s->events++;
	if (__builtin_expect(result == -ENOMEM, 0))
		session_event_damaged(d->s, d->t);
	d->s->events -= result == -EBADMSG;
	return result;
}

static int decode_cuda(struct decoder *d, const struct record *r)
{
	return cuda_record(d->s, d->p, r->bytes, r->size);
}

enum record_kind { KIND_DETAIL, KIND_EVENT, KIND_SAMPLES, KIND_CUDA };

#define RECORD(type, NAME, name, body, kind) [type] = { decode_##name, sizeof(struct record_##body), KIND_##kind },
#define CUDA_RECORD(type, NAME, name) [type] = { decode_cuda, sizeof(struct record_cuda_##name), KIND_CUDA },
static const struct record_how {
	int (*decode)(struct decoder *, const struct record *);
	uint16_t size; /* at least */
	uint8_t kind;
} record_types[RECORD_TYPE_COUNT] = {
#include "fmt/records.def"
};
#undef RECORD
#undef CUDA_RECORD

/* CUDA's records are of other threads and look after their times themselves. */
static int64_t record_time(struct decoder *d, const struct record *r, enum record_kind kind)
{
	if (kind == KIND_CUDA)
		return 0;
	return kind == KIND_SAMPLES ? any_time(d, r->ticks) : event_time(d, r->ticks);
}

static int decode_record(struct decoder *d, struct record *r)
{
	unsigned type = record_type(r->head);
	const struct record_how *how = &record_types[type < RECORD_TYPE_COUNT ? type : 0];
	int result;

	if (!how->decode || r->size < how->size)
		return -EBADMSG;
	r->time = record_time(d, r, (enum record_kind)how->kind);
	result = how->decode(d, r);
	return how->kind == KIND_EVENT || how->kind == KIND_SAMPLES ? count_event(d, result) : result;
}

static void decode_data(struct decoder *d, const uint8_t *data, uint32_t size)
{
	struct record r;
	uint32_t stride;

	for (uint32_t at = 0; at < size; at += stride) {
		if (size - at < sizeof(r.head))
			goto damaged;
		memcpy(&r.head, data + at, sizeof(r.head));
		if (__builtin_expect(record_is_short(r.head), 1)) {
			if (count_event(d, decode_short(d, data + at, r.head, size - at)) == -EBADMSG)
				goto damaged;
			stride = record_short_size(r.head);
			continue;
		}
		if (size - at < sizeof(struct record_plain))
			goto damaged;
		memcpy(&r.ticks, data + at + 8, sizeof(r.ticks));
		r.bytes = data + at;
		r.size = record_size(r.head);
		stride = record_stride(r.size);
		if (r.size < sizeof(struct record_plain) || stride > size - at)
			goto damaged;
		if (decode_record(d, &r) == -EBADMSG)
			goto damaged;
	}
	return;
damaged:
	/* Where one record makes no sense the next cannot be found. */
	d->t->counts.damaged++;
	d->t->damaged = 1;
	session_diagnose(d->s, SOURCE_RECORDER, DIAGNOSTIC_ERROR, d->p->uid,
			 "The ring of thread %u of process %u is damaged; the thread is no longer recorded.", d->t->tid, d->p->info.pid);
}

static void decode_block(struct session *s, const struct ring_batch *batch, const struct ring_block *block)
{
	struct decoder d = { .s = s, .p = block->owner };
	const uint8_t *data = batch->data + block->offset;
	struct ring_slot slot;
	int64_t end;

	d.t = thread_at(d.p, block->slot);
	switch (block->kind) {
	case RING_BLOCK_OPEN:
		memcpy(&slot, data, sizeof(slot));
		if (!d.t)
			thread_open(s, d.p, block->slot, &slot);
		return;
	case RING_BLOCK_DATA:
		if (d.t && !d.t->damaged)
			decode_data(&d, data, block->size);
		return;
	case RING_BLOCK_CLOSE:
		memcpy(&slot, data, sizeof(slot));
		if (!d.t)
			return;
		end = slot.end_time ? timebase_convert(&s->time, slot.end_time) : s->now;
		thread_close(s, d.p, d.t, end < s->now ? end : s->now, &slot);
		return;
	case RING_BLOCK_DAMAGED:
		if (d.t && !d.t->damaged) {
			d.t->counts.damaged++;
			d.t->damaged = 1;
			session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_ERROR, d.p->uid,
					 "The ring of thread %u of process %u is damaged; the thread is no longer recorded.", d.t->tid,
					 d.p->info.pid);
		}
		return;
	}
}

void decode_batch(struct session *s, const struct ring_batch *batch)
{
	for (uint32_t i = 0; i < batch->count; i++)
		decode_block(s, batch, &batch->blocks[i]);
}
