/* How far GPU times may be off, from the recording itself: no kernel begins before the call that launched it, and no work
 * ends after the call that waited for it. The least of these distances are the bounds. */
#include "fmt/gpu_enums.h"
#include "record/cuda/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Calls kept until their work is told of, by the low bits of the correlation. A buffer of CUPTI's holds a tenth of it. */
#define RECENT_CALLS (1u << 18)

struct recent_call {
	uint32_t correlation; /* 0: none */
	uint32_t duration;    /* UINT32_MAX: so long or longer */
	int64_t start;
};

/* Work, or a call that waits, in the order of their correlations. */
struct clock_event {
	uint32_t order;
	uint32_t correlation;
	uint32_t waits_for; /* enum wait */
	int64_t end;
	int64_t call; /* work: end of its call; waiting: its start */
	struct cuda_stream *stream;
};

enum wait { WAIT_NONE, WAIT_STREAM, WAIT_CONTEXT };

void cuda_clock_call(struct cuda_process *c, uint32_t correlation, int64_t start, int64_t end)
{
	uint64_t duration = (uint64_t)(end - start);

	if (!c->recent)
		c->recent = calloc(RECENT_CALLS, sizeof(*c->recent));
	if (!c->recent || !correlation)
		return;
	c->recent[correlation % RECENT_CALLS] = (struct recent_call){ correlation, duration < UINT32_MAX ? (uint32_t)duration : UINT32_MAX,
								      start };
}

static const struct recent_call *call_of(const struct cuda_process *c, int64_t correlation)
{
	const struct recent_call *call = c->recent && correlation ? &c->recent[(uint32_t)correlation % RECENT_CALLS] : NULL;

	return call && call->correlation == (uint32_t)correlation ? call : NULL;
}

static void note_early(struct cuda_clock *clock, int64_t distance)
{
	if (!clock->early_count++ || distance < clock->early)
		clock->early = distance;
	clock->before += distance < 0;
}

static void note_late(struct cuda_clock *clock, int64_t distance)
{
	if (!clock->late_count++ || distance < clock->late)
		clock->late = distance;
}

static enum wait wait_of(const struct cuda_rows *rows, const int64_t *v)
{
	if (rows->table != TABLE_GPU_SYNC || (v[-1] & BIT(COLUMN_GPU_SYNC_RESULT) && v[COLUMN_GPU_SYNC_RESULT] != 0))
		return WAIT_NONE;
	return v[COLUMN_GPU_SYNC_KIND] == GPU_SYNC_STREAM  ? WAIT_STREAM :
	       v[COLUMN_GPU_SYNC_KIND] == GPU_SYNC_CONTEXT ? WAIT_CONTEXT :
							     WAIT_NONE;
}

/* Whether the row (its columns) takes part in the comparison. */
static int event_of(struct cuda_process *c, const struct cuda_rows *rows, const int64_t *v, unsigned column, struct clock_event *ret)
{
	/* Migrations of unified memory are of no call. */
	uint32_t correlation = v[-1] & BIT(column) ? (uint32_t)v[column] : 0;
	const struct recent_call *call = call_of(c, correlation);

	*ret = (struct clock_event){ correlation, correlation, wait_of(rows, v), v[1], v[0], rows->stream };
	if (rows->table == TABLE_GPU_SYNC)
		return ret->waits_for != WAIT_NONE && rows->stream->context;
	if (!call || !rows->stream->context)
		return 0;
	if (rows->table == TABLE_GPU_KERNEL)
		note_early(&c->clock, v[0] - call->start);
	ret->call = call->duration == UINT32_MAX ? INT64_MAX : call->start + call->duration;
	return 1;
}

static void work_ended(struct cuda_last_work *last, const struct clock_event *event)
{
	if (event->end >= last->end)
		*last = (struct cuda_last_work){ event->end, event->call, event->correlation };
}

/* Work of a later call, told of before; and a call of another thread that was not over and may have added its work
 * later: both say nothing. */
static int waited_for(const struct cuda_last_work *last, const struct clock_event *event)
{
	return last->end != INT64_MIN && last->call_end <= event->call && (int32_t)(last->correlation - event->correlation) < 0;
}

static void walk(struct cuda_clock *clock, const struct clock_event *events, uint32_t count)
{
	const struct cuda_last_work *last;

	for (uint32_t i = 0; i < count; i++) {
		const struct clock_event *event = &events[i];

		if (event->waits_for == WAIT_NONE) {
			work_ended(&event->stream->last, event);
			work_ended(&event->stream->context->last, event);
			continue;
		}
		last = event->waits_for == WAIT_STREAM ? &event->stream->last : &event->stream->context->last;
		if (waited_for(last, event))
			note_late(clock, event->end - last->end);
	}
}

static int by_order(const void *pa, const void *pb)
{
	const struct clock_event *a = pa, *b = pb;

	return a->order < b->order ? -1 : a->order > b->order;
}

/* Numbers may wrap: those of one buffer lie close together, wherever they are. */
static void sort_events(struct clock_event *events, uint32_t count)
{
	uint32_t base = events[0].order - (UINT32_C(1) << 31);
	int in_order = 1;

	for (uint32_t i = 0; i < count; i++) {
		events[i].order -= base;
		in_order &= i == 0 || events[i - 1].order <= events[i].order;
	}
	if (!in_order)
		qsort(events, count, sizeof(*events), by_order);
}

void cuda_clock_compare(struct cuda_process *c)
{
	struct clock_event *events = c->waiting_rows ? malloc(c->waiting_rows * sizeof(*events)) : NULL;
	uint32_t count = 0, waits = 0;

	for (struct cuda_rows *rows = c->waiting; events && rows; rows = rows->next_waiting) {
		/* Graphs are not compared. */
		int column = rows->stream && rows->table != TABLE_GPU_GRAPH ? table_column(rows->table, ROLE_WORK) : -1;

		for (uint32_t i = 0; column >= 0 && i < rows->count; i++) {
			if (!event_of(c, rows, rows->values + (size_t)i * rows->stride + 1, (unsigned)column, &events[count]))
				continue;
			waits += events[count].waits_for != WAIT_NONE;
			count++;
		}
	}
	if (waits)
		sort_events(events, count);
	if (count)
		walk(&c->clock, events, count);
	free(events);
}

int cuda_define_clock(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size)
{
	struct cuda_clock *clock = &d->c->clock;

	if (size < sizeof(clock->wire))
		return -EBADMSG;
	memcpy(&clock->wire, body, sizeof(clock->wire));
	clock->method = (uint32_t)id;
	clock->reported = 1;
	if (size > sizeof(clock->wire))
		clock->path = report_string(d->s->writer, (const char *)body + sizeof(clock->wire), size - sizeof(clock->wire));
	return 0;
}

static uint32_t clock_values(const struct cuda_decoder *d, int64_t *v)
{
	const struct cuda_clock *clock = &d->c->clock;
	uint32_t present = BIT(COLUMN_CUDA_CLOCK_PROCESS) | BIT(COLUMN_CUDA_CLOCK_KERNELS) | BIT(COLUMN_CUDA_CLOCK_BEFORE);

	v[COLUMN_CUDA_CLOCK_PROCESS] = (int64_t)d->p->uid;
	v[COLUMN_CUDA_CLOCK_METHOD] = clock->method;
	v[COLUMN_CUDA_CLOCK_ERROR] = (int64_t)clock->wire.error;
	v[COLUMN_CUDA_CLOCK_EARLY] = clock->early;
	v[COLUMN_CUDA_CLOCK_LATE] = clock->late;
	v[COLUMN_CUDA_CLOCK_KERNELS] = (int64_t)clock->early_count;
	v[COLUMN_CUDA_CLOCK_BEFORE] = (int64_t)clock->before;
	v[COLUMN_CUDA_CLOCK_CUPTI] = clock->wire.cupti;
	v[COLUMN_CUDA_CLOCK_DRIVER] = clock->wire.driver;
	v[COLUMN_CUDA_CLOCK_PATH] = (int64_t)clock->path;
	if (clock->reported)
		present |= BIT(COLUMN_CUDA_CLOCK_METHOD) | BIT(COLUMN_CUDA_CLOCK_CUPTI) | BIT(COLUMN_CUDA_CLOCK_DRIVER);
	present |= clock->reported && clock->method == CUDA_CLOCK_FITTED ? BIT(COLUMN_CUDA_CLOCK_ERROR) : 0;
	present |= clock->early_count ? BIT(COLUMN_CUDA_CLOCK_EARLY) : 0;
	present |= clock->late_count ? BIT(COLUMN_CUDA_CLOCK_LATE) : 0;
	present |= clock->path ? BIT(COLUMN_CUDA_CLOCK_PATH) : 0;
	return present;
}

static int has_row(const struct cuda_clock *clock)
{
	return clock->reported || clock->early_count || clock->late_count;
}

void cuda_clock_provisional(struct cuda_decoder *d)
{
	struct report_track *track = has_row(&d->c->clock) ? report_track(d->s->writer, TABLE_CUDA_CLOCK, 0) : NULL;
	int64_t v[TABLE_MAX_COLUMNS];

	if (track)
		report_append_provisional(track, v, clock_values(d, v));
}

void cuda_clock_end(struct cuda_decoder *d)
{
	const struct cuda_clock *clock = &d->c->clock;
	int64_t v[TABLE_MAX_COLUMNS];

	if (!has_row(clock))
		return;
	session_row(d->s, TABLE_CUDA_CLOCK, v, clock_values(d, v));
	if (clock->before)
		session_diagnose(d->s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, d->p->uid,
				 "%llu of %llu kernels of process %u seem to begin before the call that launched them, by up to %lld "
				 "ns: GPU times are too early by that much.",
				 (unsigned long long)clock->before, (unsigned long long)clock->early_count, d->p->info.pid,
				 (long long)-clock->early);
	if (clock->late_count && clock->late < 0)
		session_diagnose(d->s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, d->p->uid,
				 "GPU work of process %u seems to end up to %lld ns after the call that waited for it: GPU times are "
				 "too late by that much.",
				 d->p->info.pid, (long long)-clock->late);
}

void cuda_clock_free(struct cuda_process *c)
{
	free(c->recent);
}
