/* What torch.profiler writes beside a user's annotations: the same on the GPUs, and steps of training. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/chrome/chrome.h"
#include "query/nvtx/projection.h"
#include "query/engine/scope.h"

/* Viewers nest what begins and ends together in the order of the file; Kineto makes annotations this much wider than the work. */
#define MARGIN 1

struct ranges {
	struct chrome *c;
	struct nvtx_ranges *ranges;
	struct query_step *steps;
	size_t step_count;
};

static void put_range_times(struct chrome *c, int64_t start, int64_t end)
{
	chrome_time(c, "ts", (int64_t)((uint64_t)start + (uint64_t)c->base));
	chrome_time(c, "dur", (int64_t)((uint64_t)end - (uint64_t)start));
}

static void put_step_name(struct chrome *c, const struct query_step *step)
{
	char name[48];
	int len = snprintf(name, sizeof(name), "ProfilerStep#%llu", (unsigned long long)step->number);

	chrome_text(c, "name", name, (size_t)len);
}

/* A step of the thread that starts then. */
static const struct query_step *find_step(const struct ranges *r, const struct nvtx_range *range)
{
	size_t first = 0, count = r->step_count, half;

	while (count) {
		half = count / 2;
		if (r->steps[first + half].start < range->start) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	for (; first < r->step_count && r->steps[first].start == range->start; first++)
		if (r->steps[first].thread == range->track[TRACK_THREAD] && r->steps[first].end == range->end)
			return &r->steps[first];
	return NULL;
}

static void put_on_gpu(const struct ranges *r, const struct nvtx_range *range, const struct query_step *step, const int64_t *stream,
		       const struct nvtx_projection *work)
{
	struct chrome *c = r->c;
	const char *domain = timeline_domain_name(&c->t, range->track[TRACK_DOMAIN]), *text;
	size_t len;

	chrome_event_begin(c, "X");
	chrome_text(c, "cat", "gpu_user_annotation", 19);
	if (step) {
		put_step_name(c, step);
	} else {
		text = timeline_text(&c->t, range->name, &len);
		chrome_text(c, "name", text, len);
	}
	chrome_number(c, "pid", chrome_gpu_pid(c, stream));
	chrome_number(c, "tid", stream[STREAM_ID]);
	put_range_times(c, time_sum(work->first, -MARGIN), time_sum(work->last, MARGIN));
	if (domain[0] && !step) {
		chrome_key(c, "args");
		fputs_unlocked("{\"domain\":", c->out);
		json_put_text(c->out, domain, strlen(domain));
		putc_unlocked('}', c->out);
	}
	putc_unlocked('}', c->out);
}

static int write_stream(const struct ranges *r, const int64_t *stream, struct nvtx_projection *work, struct error *err)
{
	uint32_t rows = 0;
	int result;

	memset(work, 0, r->ranges->count * sizeof(*work));
	result = nvtx_project_stream(r->c->t.q, r->ranges, stream[STREAM_UID], work);
	for (uint32_t i = 0; result >= 0 && i < r->ranges->count; i++) {
		const struct nvtx_range *range = &r->ranges->ranges[i];
		const struct query_step *step;

		if (!work[i].ops || !export_keeps(r->c->e, work[i].first, work[i].last))
			continue;
		step = find_step(r, range);
		if (step)
			put_on_gpu(r, range, step, stream, &work[i]);
		put_on_gpu(r, range, NULL, stream, &work[i]);
		if (++rows % 4096 == 0)
			result = export_poll(r->c->e, "NVTX on GPUs", err);
	}
	return result;
}

static int write_streams(const struct ranges *r, struct error *err)
{
	const struct index_table *streams = &r->c->t.q->index.cuda->streams;
	struct nvtx_projection *work = calloc((size_t)r->ranges->count + 1, sizeof(*work));
	int result = work ? 0 : -ENOMEM;

	for (size_t i = 0; result >= 0 && i < streams->count; i++)
		result = write_stream(r, streams->rows + i * STREAM_WIDTH, work, err);
	free(work);
	return result;
}

static void write_steps(const struct ranges *r)
{
	const struct index_table *threads = &r->c->t.q->index.threads;
	struct chrome *c = r->c;

	for (size_t i = 0; i < r->step_count; i++) {
		const struct query_step *step = &r->steps[i];
		const int64_t *thread = index_find(threads, step->thread);

		if (!thread || !export_keeps(c->e, step->start, step->end))
			continue;
		chrome_event_begin(c, "X");
		chrome_text(c, "cat", "user_annotation", 15);
		put_step_name(c, step);
		chrome_number(c, "pid", chrome_pid(c, step->process));
		chrome_number(c, "tid", thread[THREAD_TID]);
		put_range_times(c, step->start, step->end);
		putc_unlocked('}', c->out);
	}
}

/* Those that torch.profiler named itself are there already. */
static void keep_other_names(struct ranges *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->step_count; i++)
		if (strncmp(timeline_text(&r->c->t, r->steps[i].name, NULL), "ProfilerStep#", 13) != 0)
			r->steps[kept++] = r->steps[i];
	r->step_count = kept;
}

int chrome_ranges(struct chrome *c, struct error *err)
{
	struct ranges r = { .c = c };
	int result = nvtx_ranges_of(c->t.q, &r.ranges);

	if (result >= 0)
		result = query_steps(c->t.q, &r.steps, &r.step_count);
	if (result >= 0) {
		keep_other_names(&r);
		write_steps(&r);
		result = r.ranges->count ? write_streams(&r, err) : 0;
	}
	free(r.steps);
	return result == -ENOMEM ? error_set(err, ENOMEM, "Not enough memory") : result;
}
