#include "query/cuda_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/nvtx_ranges.h"

/* What the rows of a group are looked up in. */
struct look_up {
	struct scan *s;
	const struct mapped_cell *cell;
	struct cuda_names *names;
	struct cuda_calls *calls;
	struct nvtx_ranges *ranges;
	const struct cuda_process *process;
	int64_t process_uid;
	const int64_t *values; /* of the cell's column */
	const int64_t *starts; /* of the work */
	const int64_t *ends;
	const int64_t *nodes;
	uint32_t first_row;
	size_t hint;
	int64_t last_tid_thread;
	int64_t last_tid;
};

static enum vector_kind kind_of(enum cuda_value value)
{
	switch (value) {
	case CUDA_DEVICE_NAME:
	case CUDA_NAME:
	case CUDA_SHORT_NAME:
	case CUDA_MANGLED:
	case CUDA_API_NAME:
	case CUDA_NVTX_NAME:
	case CUDA_NVTX_DOMAIN:
	case CUDA_OWN_NAME:
	case CUDA_OWN_NVTX_NAME:
	case CUDA_OWN_NVTX_DOMAIN:
	case CUDA_OWN_THREAD_NAME: return VECTOR_STRING;
	default: return VECTOR_NUMBER;
	}
}

/* By the row's track: one value for the group. */
static int stream_value(const struct look_up *l, enum cuda_value value, int64_t *ret)
{
	const int64_t *stream = l->s->track ? index_find(&l->names->streams, l->s->track[TRACK_DOMAIN]) : NULL;
	const int64_t *found;
	int64_t key[2] = { l->process_uid, 0 };

	if (!stream)
		return 0;
	switch (value) {
	case CUDA_DEVICE: *ret = stream[STREAM_DEVICE]; return 1;
	case CUDA_CONTEXT:
	case CUDA_GREEN_CONTEXT:
		key[1] = stream[STREAM_CONTEXT];
		found = index_find_last(&l->names->contexts, key, 2);
		if (value == CUDA_GREEN_CONTEXT)
			*ret = stream[STREAM_CONTEXT];
		else
			*ret = found && found[CONTEXT_GREEN] && found[CONTEXT_PARENT] ? found[CONTEXT_PARENT] :
										      stream[STREAM_CONTEXT];
		return value == CUDA_CONTEXT || (found && found[CONTEXT_GREEN]);
	case CUDA_STREAM: *ret = stream[STREAM_ID]; return 1;
	default: /* CUDA_DEVICE_NAME */
		key[1] = stream[STREAM_DEVICE];
		found = index_find_last(&l->names->devices, key, 2);
		found = found ? index_find(&l->names->gpus, found[DEVICE_GPU]) : NULL;
		*ret = found ? found[GPU_NAME] : 0;
		return *ret != 0;
	}
}

static int64_t packed(const int64_t *dimensions)
{
	return (dimensions[0] & 0x7fffffff) << 32 | (dimensions[1] & 0xffff) << 16 | (dimensions[2] & 0xffff);
}

static int launch_value(const struct look_up *l, enum cuda_value value, uint32_t row, int64_t *ret)
{
	const int64_t *launch, *function;

	if (value <= CUDA_MANGLED) {
		function = cuda_function_of(l->names, l->values[row]);
		if (!function)
			return 0;
		*ret = value == CUDA_NAME ? function[FUNCTION_NAME] :
		       value == CUDA_SHORT_NAME ? function[FUNCTION_SHORT_NAME] : function[FUNCTION_MANGLED];
		if (!*ret) /* what is not known has its usual name */
			*ret = function[FUNCTION_NAME];
		return *ret != 0;
	}
	launch = cuda_launch_find(l->names, l->values[row]);
	if (!launch)
		return 0;
	switch (value) {
	case CUDA_GRID: *ret = packed(launch + LAUNCH_GRID_X); break;
	case CUDA_BLOCK: *ret = packed(launch + LAUNCH_BLOCK_X); break;
	case CUDA_REGISTERS: *ret = launch[LAUNCH_REGISTERS]; break;
	case CUDA_STATIC_SHARED: *ret = launch[LAUNCH_STATIC_SHARED]; break;
	default: *ret = launch[LAUNCH_DYNAMIC_SHARED]; break;
	}
	return 1;
}

static int64_t between(int64_t start, int64_t end)
{
	return (int64_t)((uint64_t)end - (uint64_t)start);
}

/* Rows next to each other were mostly started by one thread. */
static int64_t global_tid(struct look_up *l, uint32_t call)
{
	const int64_t *track = cuda_call_track(l->calls, call, &l->hint);

	if (!track)
		return 0;
	if (track[TRACK_THREAD] != l->last_tid_thread) {
		l->last_tid_thread = track[TRACK_THREAD];
		l->last_tid = index_global_tid(&l->s->q->index, track[TRACK_THREAD]);
	}
	return l->last_tid;
}

static int call_value(struct look_up *l, enum cuda_value value, uint32_t row, int64_t *ret)
{
	uint32_t call = cuda_call_find(l->process, l->values[row]);
	int64_t start, end;

	if (call == CUDA_NO_CALL)
		return 0;
	start = l->calls->starts[call];
	end = l->calls->ends[call];
	switch (value) {
	case CUDA_API_START: *ret = start; return 1;
	case CUDA_API_END: *ret = end; return 1;
	case CUDA_API_DURATION: *ret = between(start, end); return 1;
	case CUDA_API_NAME: *ret = cuda_plain_name(l->s->q, l->names, l->calls->names[call]); return *ret != 0;
	case CUDA_API_TID: *ret = global_tid(l, call); return *ret != 0;
	case CUDA_QUEUE_START: *ret = end; return l->starts[row] > end;
	case CUDA_QUEUE_DURATION: *ret = between(end, l->starts[row]); return l->starts[row] > end;
	default: /* CUDA_TOTAL_DURATION */
		*ret = between(start, l->ends[row] > end ? l->ends[row] : end);
		return 1;
	}
}

static int range_text(const struct look_up *l, uint32_t place, int name, int64_t *ret)
{
	const struct nvtx_range *range;

	if (!place)
		return 0;
	range = nvtx_range_get(l->ranges, place);
	*ret = name ? range->name : range->domain;
	return *ret != 0;
}

static int range_value(const struct look_up *l, enum cuda_value value, uint32_t row, int64_t *ret)
{
	uint32_t call = value == CUDA_CAPTURE_RANGE ? CUDA_NO_CALL : cuda_call_find(l->process, l->values[row]);
	uint32_t place = call == CUDA_NO_CALL ? 0 : l->ranges->of_call[call];

	if (!place && value != CUDA_NVTX_RANGE && l->nodes)
		place = nvtx_range_of_node(l->ranges, l->process_uid, l->nodes[row]);
	if (value == CUDA_NVTX_NAME || value == CUDA_NVTX_DOMAIN)
		return range_text(l, place, value == CUDA_NVTX_NAME, ret);
	*ret = place ? nvtx_range_get(l->ranges, place)->id : 0;
	return place != 0;
}

static int own_value(struct look_up *l, enum cuda_value value, uint32_t row, int64_t *ret)
{
	uint32_t call = l->first_row + row;

	if (value == CUDA_OWN_NAME || value == CUDA_OWN_THREAD_NAME) {
		*ret = value == CUDA_OWN_THREAD_NAME ?
			(l->s->track ? index_thread_name(&l->s->q->index, l->s->track[TRACK_THREAD]) : 0) :
			l->values[row] > 0 && l->values[row] < UINT32_MAX ?
			cuda_plain_name(l->s->q, l->names, (uint32_t)l->values[row]) : 0;
		return *ret != 0;
	}
	if (call >= l->calls->count || call < l->first_row)
		return 0;
	return range_text(l, l->ranges->of_call[call], value == CUDA_OWN_NVTX_NAME, ret);
}

static int row_value(struct look_up *l, uint32_t row, int64_t *ret)
{
	enum cuda_value value = (enum cuda_value)l->cell->other;

	if (value <= CUDA_STREAM)
		return stream_value(l, value, ret);
	if (value <= CUDA_DYNAMIC_SHARED)
		return launch_value(l, value, row, ret);
	if (value <= CUDA_TOTAL_DURATION)
		return call_value(l, value, row, ret);
	return value <= CUDA_CAPTURE_RANGE ? range_value(l, value, row, ret) : own_value(l, value, row, ret);
}

static int load_column(struct scan *s, unsigned column, const int64_t **ret)
{
	struct scan_column *raw;
	int r = scan_raw(s, column, &raw);

	if (r >= 0)
		*ret = raw->values;
	return r;
}

static int prepare(struct look_up *l)
{
	enum cuda_value value = (enum cuda_value)l->cell->other;
	struct scan *s = l->s;
	int by_name = value <= CUDA_DYNAMIC_SHARED || value >= CUDA_OWN_NAME;
	int r = value <= CUDA_STREAM ? 0 : load_column(s, l->cell->column, &l->values);

	if (r >= 0 && (by_name || value == CUDA_API_NAME))
		r = cuda_names_of(s->q, &l->names);
	if (r < 0 || by_name)
		return r;
	r = cuda_calls_of(s->q, &l->calls);
	if (r >= 0 && value >= CUDA_NVTX_NAME)
		r = nvtx_ranges_of(s->q, &l->ranges);
	if (r >= 0 && value >= CUDA_QUEUE_START && value <= CUDA_TOTAL_DURATION) {
		r = load_column(s, 0, &l->starts);
		if (r >= 0)
			r = load_column(s, 1, &l->ends);
	}
	if (r >= 0 && value >= CUDA_NVTX_NAME && value <= CUDA_CAPTURE_RANGE && l->cell->constant != CUDA_NO_NODE)
		r = load_column(s, (unsigned)l->cell->constant, &l->nodes);
	if (r >= 0)
		l->process = cuda_calls_process(l->calls, l->process_uid);
	return r;
}

int cuda_vector(struct scan *s, const struct mapped_cell *cell, struct scan_vector *v)
{
	const struct report_group *group = report_group(s->q->report, s->table->sources[s->source].table, s->group);
	struct look_up l = { .s = s, .cell = cell, .process_uid = s->track ? s->track[TRACK_PROCESS] : 0,
			     .first_row = (uint32_t)group->first_row, .last_tid_thread = -1 };
	int r = prepare(&l), constant = cell->other <= CUDA_STREAM || cell->other == CUDA_OWN_THREAD_NAME;
	uint32_t rows = constant ? 1 : s->rows;

	if (r >= 0)
		r = scan_grow(v, s->rows);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < rows; i++)
		v->nulls[i] = !row_value(&l, i, &v->values[i]);
	v->vector = (struct vector){ kind_of((enum cuda_value)cell->other), constant, v->values,
				     memchr(v->nulls, 1, rows) ? v->nulls : NULL };
	return 0;
}
