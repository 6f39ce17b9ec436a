#include "query/engine/call_values.h"

#include <string.h>

#include "base/cleanup.h"
#include "query/index/nvtx_ranges.h"

/* What the rows of a group are looked up in. */
struct look_up {
	struct scan *s;
	const struct mapped_cell *cell;
	struct cuda_calls *calls;
	struct nvtx_ranges *ranges;
	const struct cuda_process *process;
	int64_t process_uid;
	const int64_t *correlations;
	const int64_t *starts; /* of the work */
	const int64_t *ends;
	const int64_t *nodes;
	/* Rows next to each other mostly have the same: */
	size_t group; /* of the call */
	int64_t thread;
	int64_t tid;
	int64_t name;
	int64_t clean_name;
};

static int64_t time_between_calls(int64_t start, int64_t end)
{
	return (int64_t)((uint64_t)end - (uint64_t)start);
}

static int64_t global_tid(struct look_up *l, uint32_t call)
{
	const int64_t *track = cuda_call_track(l->calls, call, &l->group);

	if (!track)
		return 0;
	if (track[TRACK_THREAD] != l->thread) {
		l->thread = track[TRACK_THREAD];
		l->tid = index_global_tid(&l->s->q->index, l->thread);
	}
	return l->tid;
}

static int64_t clean_name(struct look_up *l, int64_t name)
{
	const int64_t *row;

	if (name != l->name) {
		row = index_find(&l->s->q->index.cuda->api_names, name);
		l->name = name;
		l->clean_name = row ? row[API_CLEAN_NAME] : name;
	}
	return l->clean_name;
}

static int call_value(struct look_up *l, enum call_value value, uint32_t row, int64_t *ret)
{
	uint32_t call = cuda_call_find(l->calls, l->process, l->correlations[row]);
	int64_t end;

	if (call == CUDA_NO_CALL)
		return 0;
	switch (value) {
	case CALL_NAME: *ret = clean_name(l, cuda_call_name(l->calls, call)); return *ret != 0;
	case CALL_TID: *ret = global_tid(l, call); return *ret != 0;
	case CALL_TID_NUMBER: *ret = global_tid(l, call) & 0xffffff; return *ret != 0;
	case CALL_THREAD_NAME: *ret = global_tid(l, call) ? index_thread_name(&l->s->q->index, l->thread) : 0; return *ret != 0;
	case CALL_START: *ret = cuda_call_start(l->calls, call); return 1;
	default: end = cuda_call_end(l->calls, call);
	}
	switch (value) {
	case CALL_END: *ret = end; return 1;
	case CALL_DURATION: *ret = time_between_calls(cuda_call_start(l->calls, call), end); return 1;
	case CALL_QUEUE_START: *ret = end; return l->starts[row] > end;
	case CALL_QUEUE_DURATION: *ret = time_between_calls(end, l->starts[row]); return l->starts[row] > end;
	default: *ret = time_between_calls(cuda_call_start(l->calls, call), l->ends[row] > end ? l->ends[row] : end); return 1;
	}
}

/* What has to be known of the calls. */
static unsigned parts_of(enum call_value value)
{
	switch (value) {
	case CALL_START: return CALL_PART_STARTS;
	case CALL_NAME: return CALL_PART_NAMES;
	case CALL_END:
	case CALL_QUEUE_START:
	case CALL_QUEUE_DURATION: return CALL_PART_ENDS;
	case CALL_DURATION:
	case CALL_TOTAL_DURATION: return CALL_PART_STARTS | CALL_PART_ENDS;
	default: return 0;
	}
}

static int range_value(const struct look_up *l, enum call_value value, uint32_t row, int64_t *ret)
{
	uint32_t call = value == CALL_CAPTURE_RANGE ? CUDA_NO_CALL : cuda_call_find(l->calls, l->process, l->correlations[row]);
	uint32_t place = call == CUDA_NO_CALL ? 0 : l->ranges->of_call[call];
	const struct nvtx_range *range;

	if (!place && value != CALL_NVTX_RANGE && l->nodes)
		place = nvtx_range_of_node(l->ranges, l->process_uid, l->nodes[row]);
	if (!place)
		return 0;
	range = nvtx_range_get(l->ranges, place);
	*ret = value == CALL_NVTX_NAME ? range->name : value == CALL_NVTX_DOMAIN ? range->domain : range->id;
	return *ret != 0;
}

static int load_raw_column(struct scan *s, unsigned column, const int64_t **ret)
{
	struct scan_column *raw;
	int r = scan_raw(s, column, &raw);

	if (r >= 0)
		*ret = raw->values;
	return r;
}

static int prepare_call_lookup(struct look_up *l)
{
	enum call_value value = (enum call_value)l->cell->other;
	struct scan *s = l->s;
	int r = load_raw_column(s, l->cell->column, &l->correlations);

	if (r >= 0)
		r = cuda_calls_of(s->q, parts_of(value), &l->calls);
	if (r >= 0 && value >= CALL_NVTX_NAME)
		r = nvtx_ranges_of(s->q, &l->ranges);
	if (r >= 0 && value >= CALL_QUEUE_START && value <= CALL_TOTAL_DURATION) {
		r = load_raw_column(s, 0, &l->starts);
		if (r >= 0)
			r = load_raw_column(s, 1, &l->ends);
	}
	if (r >= 0 && value >= CALL_NVTX_NAME && l->cell->constant != CALL_NO_NODE)
		r = load_raw_column(s, (unsigned)l->cell->constant, &l->nodes);
	if (r >= 0)
		l->process = cuda_calls_process(l->calls, l->process_uid);
	return r;
}

static enum vector_kind get_call_value_kind(enum call_value value)
{
	return value == CALL_NAME || value == CALL_THREAD_NAME || value == CALL_NVTX_NAME || value == CALL_NVTX_DOMAIN ? VECTOR_STRING :
															 VECTOR_NUMBER;
}

int call_vector(struct scan *s, const struct mapped_cell *cell, struct scan_vector *v)
{
	enum call_value value = (enum call_value)cell->other;
	struct look_up l = { .s = s, .cell = cell, .process_uid = s->track ? s->track[TRACK_PROCESS] : 0, .thread = -1 };

	TRY(prepare_call_lookup(&l));
	TRY(scan_grow(v, s->rows));
	for (uint32_t i = 0; i < s->rows; i++)
		v->nulls[i] = value < CALL_NVTX_NAME ? !call_value(&l, value, i, &v->values[i]) : !range_value(&l, value, i, &v->values[i]);
	v->vector = (struct vector){ get_call_value_kind(value), 0, v->values, memchr(v->nulls, 1, s->rows) ? v->nulls : NULL };
	return 0;
}
