/* Rows of GPUs: a heading each, below it the streams' kernels, their copies, and what was measured. */
#include <errno.h>

#include "query/index/times.h"
#include "view/rows/rows.h"

static int64_t gpu_of_stream(const struct view_report *r, int64_t uid)
{
	const int64_t *stream = index_find(&r->index.cuda->streams, uid);

	return stream ? stream[STREAM_GPU] : 0;
}

int64_t gpu_of_context(const struct view_report *r, int64_t uid)
{
	const int64_t *context = index_find(&r->index.cuda->contexts, uid);

	return context ? cuda_device_gpu(r->index.cuda, context[CONTEXT_PROCESS], context[CONTEXT_DEVICE]) : 0;
}

int64_t gpu_of_track(const struct view_report *r, uint32_t track)
{
	const int64_t *track_row = view_report_track_row(r, r->tracks[track].id);

	return track_row ? gpu_of_stream(r, track_row[TRACK_DOMAIN]) : 0;
}

static int64_t gpu_of_metric(const struct view_report *r, int64_t track_row)
{
	const int64_t *metric = index_find(&r->metrics, track_row);

	return metric ? metric[VIEW_METRIC_GPU] : 0;
}

bool gpu_track_key(const struct view_report *r, const int64_t *track_row, struct track_key *ret)
{
	ret->section = SECTION_GPU;
	ret->owner = track_row[TRACK_DOMAIN];
	ret->depth = track_row[TRACK_DEPTH];
	ret->kind = ROW_STREAM;
	ret->place = gpu_of_stream(r, track_row[TRACK_DOMAIN]);
	switch (track_row[TRACK_KIND]) {
	case TRACK_GPU_GRAPH:
		ret->depth += INT64_C(1) << 32; /* below the kernels */
						/* fallthrough */
	case TRACK_GPU_KERNEL: ret->order = ROW_COMPUTE; return true;
	case TRACK_GPU_SET:
		ret->depth += INT64_C(1) << 32;
		/* fallthrough */
	case TRACK_GPU_COPY: ret->order = ROW_COPIES; return true;
	case TRACK_GPU_SYNC: ret->order = ret->kind = ROW_GPU_SYNC; return true;
	case TRACK_GPU_MEMORY:
		ret->order = ret->kind = ROW_GPU_MEMORY;
		ret->place = gpu_of_context(r, track_row[TRACK_DOMAIN]);
		return true;
	case TRACK_GPU_METRIC:
		ret->order = ret->kind = ROW_GPU_METRICS;
		ret->place = gpu_of_metric(r, track_row[TRACK_ID]);
		ret->owner = track_row[TRACK_ID];
		return true;
	case TRACK_TORCH_MEMORY:
		ret->order = ret->kind = ROW_GPU_ALLOCATOR;
		ret->place = track_row[TRACK_DOMAIN];
		return true;
	case TRACK_GPU_SWITCH:
		ret->order = ret->kind = ROW_GPU_SWITCH;
		ret->place = track_row[TRACK_DOMAIN];
		return true;
	default:
		ret->order = ROW_COMPUTE;
		ret->depth = time_sum(ret->depth, (int64_t)((uint64_t)track_row[TRACK_KIND] << 32));
		return table_is_work(table_of_tracks((unsigned)track_row[TRACK_KIND]));
	}
}

static int add_gpu(struct row_maker *m, int64_t uid)
{
	const int64_t *gpu = index_find(&m->r->index.cuda->gpus, uid);
	struct row *row = row_add(m, ROW_NO_PARENT, ROW_GPU, DRAW_GROUP);

	if (!row)
		return -1;
	m->place_row = (uint32_t)(m->r->row_count - 1);
	row->uid = uid;
	if (!gpu)
		return row_print(&row->label, "GPU");
	row_print(&row->detail, "%s", row_text(m->r, gpu[GPU_NAME]));
	return row_print(&row->label, "GPU %lld", (long long)gpu[GPU_INDEX]);
}

static int add_heading(struct row_maker *m, int64_t kind)
{
	static const char *const names[] = { [ROW_COMPUTE] = "Compute", [ROW_COPIES] = "Copies", [ROW_GPU_SYNC] = "Waiting" };
	struct row *row;

	m->owner_row = m->place_row;
	if (kind != ROW_COMPUTE && kind != ROW_COPIES && kind != ROW_GPU_SYNC)
		return 0;
	row = row_add(m, m->place_row, (enum row_kind)kind, DRAW_GROUP);
	if (!row)
		return -1;
	m->owner_row = (uint32_t)(m->r->row_count - 1);
	return row_print(&row->label, "%s", names[kind]);
}

int gpu_headings(struct row_maker *m, const struct track_key *before, const struct track_key *key)
{
	bool new_gpu = !before || before->place != key->place;
	int r = new_gpu ? add_gpu(m, key->place) : 0;

	if (r >= 0 && (new_gpu || before->order != key->order))
		r = add_heading(m, key->order);
	return r < 0 ? -ENOMEM : 0;
}

static int stream_label(struct view_report *r, int64_t uid, struct row *row)
{
	const int64_t *stream = index_find(&r->index.cuda->streams, uid), *process;

	if (!stream)
		return row_print(&row->label, "stream");
	process = index_find(&r->index.processes, stream[STREAM_PROCESS]);
	if (process)
		row_print(&row->detail, "%s %lld", row_text(r, process[PROCESS_NAME]), (long long)process[PROCESS_PID]);
	if (stream[STREAM_NAME])
		return row_print(&row->label, "%s (stream %lld)", row_text(r, stream[STREAM_NAME]), (long long)stream[STREAM_ID]);
	if (stream[STREAM_ID])
		return row_print(&row->label, "stream %lld", (long long)stream[STREAM_ID]);
	return row_print(&row->label, "%s", stream[STREAM_CONTEXT] ? "whole context" : "unified memory");
}

int gpu_label(struct view_report *r, const struct track_key *key, struct row *row)
{
	const int64_t *metric, *process;

	switch ((int)key->kind) {
	case ROW_GPU_METRICS:
		metric = index_find(&r->metrics, key->owner);
		row->unit = metric ? metric[VIEW_METRIC_UNIT] : 0;
		process = metric ? index_find(&r->index.processes, metric[VIEW_METRIC_PROCESS]) : NULL;
		if (process)
			row_print(&row->detail, "%s %lld", row_text(r, process[PROCESS_NAME]), (long long)process[PROCESS_PID]);
		return row_print(&row->label, "%s", metric ? row_text(r, metric[VIEW_METRIC_NAME]) : "metric");
	case ROW_GPU_MEMORY: return row_print(&row->label, "memory");
	case ROW_GPU_ALLOCATOR: return row_print(&row->label, "PyTorch allocator");
	case ROW_GPU_SWITCH: return row_print(&row->label, "context switches");
	default: return stream_label(r, key->owner, row);
	}
}
