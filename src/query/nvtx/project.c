#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "query/nvtx/projection.h"
#include "query/index/parallel.h"
#include "query/engine/scope.h"

/* Where GPU work is, and which columns tell of it. */
static const struct work_table {
	enum table_id table;
	int64_t track_kind;
	uint8_t start;
	uint8_t end;
	uint8_t correlation;
} work_tables[] = {
	{ TABLE_GPU_KERNEL, TRACK_GPU_KERNEL, COLUMN_GPU_KERNEL_START, COLUMN_GPU_KERNEL_END, COLUMN_GPU_KERNEL_CORRELATION },
	{ TABLE_GPU_COPY, TRACK_GPU_COPY, COLUMN_GPU_COPY_START, COLUMN_GPU_COPY_END, COLUMN_GPU_COPY_CORRELATION },
	{ TABLE_GPU_SET, TRACK_GPU_SET, COLUMN_GPU_SET_START, COLUMN_GPU_SET_END, COLUMN_GPU_SET_CORRELATION },
	{ TABLE_GPU_GRAPH, TRACK_GPU_GRAPH, COLUMN_GPU_GRAPH_START, COLUMN_GPU_GRAPH_END, COLUMN_GPU_GRAPH_CORRELATION },
};
#define WORK_TABLES COUNT_OF(work_tables)

/* Each worker adds up for itself; more of them are not worth more memory than this. */
#define PROJECTIONS_MAX (64u << 20)
/* Ranges around all work together: so many are more than any program nests. */
#define STEPS_MOST(rows) ((1ull << 30) + 256 * (uint64_t)(rows))

struct projecting {
	struct query *q;
	const struct nvtx_ranges *ranges;
	const struct cuda_calls *calls;
	int64_t stream; /* uid; 0: all */
	struct nvtx_projection *workers[PARALLEL_MAX];
	_Atomic size_t next;
	_Atomic uint64_t steps;
	uint64_t most_steps;
};

static uint64_t project_gpu_work(const struct projecting *p, struct nvtx_projection *to, uint32_t call, int64_t start, int64_t end)
{
	const struct nvtx_ranges *ranges = p->ranges;
	int64_t returned = ranges->crossing ? cuda_call_end(p->calls, call) : INT64_MIN;
	uint64_t steps = 0;

	for (uint32_t at = ranges->of_call[call]; at; at = nvtx_range_outer(ranges, at, returned), steps++) {
		struct nvtx_projection *sum = &to[at - 1];

		if (sum->ops++ == 0) {
			sum->first = start;
			sum->last = end;
			continue;
		}
		sum->first = start < sum->first ? start : sum->first;
		sum->last = end > sum->last ? end : sum->last;
	}
	return steps;
}

static int project_group(struct projecting *p, const struct work_table *work, size_t group, int64_t *values, struct nvtx_projection *to)
{
	const struct report_group *g = report_group(p->q->report, work->table, group);
	const int64_t *track = index_find(&p->q->index.tracks, g->track);
	int64_t *starts = values, *ends = values + g->rows, *correlations = values + 2 * (size_t)g->rows;
	uint8_t *counts = (uint8_t *)(values + 3 * (size_t)g->rows);
	const struct cuda_process *process;
	uint64_t steps = 0;
	uint32_t call;
	int r;

	if (!track || track[TRACK_KIND] != work->track_kind || (p->stream && track[TRACK_DOMAIN] != p->stream))
		return 0;
	process = cuda_calls_process(p->calls, track[TRACK_PROCESS]);
	if (!process)
		return 0;
	r = report_column(p->q->report, work->table, group, work->start, starts, NULL);
	if (r >= 0)
		r = report_column(p->q->report, work->table, group, work->end, ends, NULL);
	if (r >= 0)
		r = report_column(p->q->report, work->table, group, work->correlation, correlations, NULL);
	if (r >= 0)
		r = scope_mark_group(p->q, work->table, group, counts);
	for (uint32_t i = 0; r >= 0 && i < g->rows; i++) {
		call = cuda_call_find(p->calls, process, correlations[i]);
		if (call != CUDA_NO_CALL && counts[i])
			steps += project_gpu_work(p, to, call, starts[i], ends[i]);
		if (steps > p->most_steps)
			r = -E2BIG;
	}
	return r >= 0 && atomic_fetch_add(&p->steps, steps) > p->most_steps ? -E2BIG : r;
}

/* Groups of all tables are numbered through. */
static int find_work_group(const struct projecting *p, size_t nth, const struct work_table **ret, size_t *ret_group)
{
	for (size_t i = 0; i < WORK_TABLES; i++) {
		size_t groups = report_group_count(p->q->report, work_tables[i].table);

		*ret = &work_tables[i];
		*ret_group = nth;
		if (nth < groups)
			return 1;
		nth -= groups;
	}
	return 0;
}

static int project(void *context, unsigned worker)
{
	struct projecting *p = context;
	const struct work_table *work;
	int64_t *values;
	size_t group;
	int r = 0;

	while (r >= 0 && find_work_group(p, atomic_fetch_add(&p->next, 1), &work, &group)) {
		values = malloc(4 * ((size_t)report_group(p->q->report, work->table, group)->rows + 1) * sizeof(*values));
		r = values ? project_group(p, work, group, values, p->workers[worker]) : -ENOMEM;
		free(values);
		if (r == -EBADMSG) {
			atomic_fetch_add(&p->q->damaged, 1);
			r = 0;
		}
	}
	return r;
}

static void merge_projections(struct nvtx_projection *to, const struct nvtx_projection *from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!from[i].ops)
			continue;
		to[i].first = !to[i].ops || from[i].first < to[i].first ? from[i].first : to[i].first;
		to[i].last = !to[i].ops || from[i].last > to[i].last ? from[i].last : to[i].last;
		to[i].ops += from[i].ops;
	}
}

static void limit_steps(struct projecting *p)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < WORK_TABLES; i++)
		rows += report_row_count(p->q->report, work_tables[i].table);
	p->most_steps = STEPS_MOST(rows);
}

static int project_all(struct projecting *p)
{
	size_t group_count = 0, count = (size_t)p->ranges->count + 1;
	unsigned width;
	int r = 0;

	for (size_t i = 0; i < WORK_TABLES; i++)
		group_count += report_group_count(p->q->report, work_tables[i].table);
	width = parallel_width(group_count);
	while (width > 1 && width * count > PROJECTIONS_MAX)
		width--;
	for (unsigned i = 0; i < width; i++) {
		p->workers[i] = calloc(count, sizeof(**p->workers));
		if (!p->workers[i])
			r = -ENOMEM;
	}
	if (r >= 0)
		r = parallel_run(project, p, width);
	for (unsigned i = 1; r >= 0 && i < width; i++)
		merge_projections(p->workers[0], p->workers[i], p->ranges->count);
	for (unsigned i = r >= 0; i < width; i++)
		free(p->workers[i]);
	return r;
}

int nvtx_projections_of(struct query *q, const struct nvtx_ranges *ranges, struct nvtx_projections **ret)
{
	struct projecting p = { .q = q, .ranges = ranges };
	struct cuda_calls *calls;
	struct nvtx_projections *made;
	int r;

	*ret = q->projections;
	if (q->projections)
		return 0;
	TRY(cuda_calls_of(q, ranges->crossing ? CALL_PART_ENDS : 0, &calls));
	p.calls = calls;
	limit_steps(&p);
	made = calloc(1, sizeof(*made));
	r = made ? project_all(&p) : -ENOMEM;
	if (r < 0) {
		free(made);
		return r;
	}
	made->of_range = p.workers[0];
	*ret = q->projections = made;
	return 0;
}

int nvtx_project_stream(struct query *q, const struct nvtx_ranges *ranges, int64_t stream_uid, struct nvtx_projection *ret)
{
	struct projecting p = { .q = q, .ranges = ranges, .stream = stream_uid, .workers = { ret } };
	struct cuda_calls *calls;

	TRY(cuda_calls_of(q, ranges->crossing ? CALL_PART_ENDS : 0, &calls));
	p.calls = calls;
	limit_steps(&p);
	return project(&p, 0);
}

void nvtx_projections_release(struct nvtx_projections *projections)
{
	if (!projections)
		return;
	free(projections->of_range);
	free(projections);
}
