#include "query/cuda_correlate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/parallel.h"

/* An array by number may be this many times longer than it has entries. */
#define DENSE_FACTOR 8
#define DENSE_ALWAYS 65536

struct loading {
	struct query *q;
	struct cuda_calls *calls;
	_Atomic size_t next;
};

static const int64_t *api_track(struct query *q, uint32_t track)
{
	const int64_t *row = index_find(&q->index.tracks, track);

	return row && row[TRACK_KIND] == TRACK_CUDA_API ? row : NULL;
}

static int allocate_calls(struct cuda_calls *c, struct query *q)
{
	size_t groups = report_group_count(q->report, TABLE_CUDA_API);
	uint64_t rows = 0;

	c->group_first = calloc(groups + 1, sizeof(*c->group_first));
	c->group_tracks = calloc(groups + 1, sizeof(*c->group_tracks));
	if (!c->group_first || !c->group_tracks)
		return -ENOMEM;
	for (size_t i = 0; i < groups; i++) {
		const struct report_group *group = report_group(q->report, TABLE_CUDA_API, i);

		if (rows + group->rows >= CUDA_NO_CALL)
			break;
		c->group_first[i] = (uint32_t)rows;
		c->group_tracks[i] = api_track(q, group->track);
		rows += group->rows;
		c->group_count = i + 1;
	}
	c->group_first[c->group_count] = c->count = (uint32_t)rows;
	c->starts = malloc((rows + 1) * sizeof(*c->starts));
	c->ends = malloc((rows + 1) * sizeof(*c->ends));
	c->names = calloc(rows + 1, sizeof(*c->names));
	c->correlations = calloc(rows + 1, sizeof(*c->correlations));
	return c->starts && c->ends && c->names && c->correlations ? 0 : -ENOMEM;
}

/* A column whose values fit into half; others read as 0. */
static int load_narrow(const struct loading *l, size_t group, unsigned column, int64_t *values, uint32_t *to)
{
	uint32_t rows = l->calls->group_first[group + 1] - l->calls->group_first[group];
	int r = report_column(l->q->report, TABLE_CUDA_API, group, column, values, NULL);

	for (uint32_t i = 0; r >= 0 && i < rows; i++)
		to[i] = values[i] > 0 && values[i] < UINT32_MAX ? (uint32_t)values[i] : 0;
	return r;
}

static int load_group(const struct loading *l, size_t group)
{
	struct cuda_calls *c = l->calls;
	uint32_t first = c->group_first[group], rows = c->group_first[group + 1] - first;
	int64_t *values = malloc((rows + 1) * sizeof(*values));
	int r = values ? 0 : -ENOMEM;

	if (r >= 0)
		r = report_column(l->q->report, TABLE_CUDA_API, group, COLUMN_CUDA_API_START, c->starts + first, NULL);
	if (r >= 0)
		r = report_column(l->q->report, TABLE_CUDA_API, group, COLUMN_CUDA_API_END, c->ends + first, NULL);
	if (r >= 0)
		r = load_narrow(l, group, COLUMN_CUDA_API_NAME, values, c->names + first);
	if (r >= 0 && c->group_tracks[group])
		r = load_narrow(l, group, COLUMN_CUDA_API_CORRELATION, values, c->correlations + first);
	free(values);
	if (r != -EBADMSG)
		return r;
	/* Nobody finds the calls of a damaged group. */
	atomic_fetch_add(&l->q->damaged, 1);
	memset(c->starts + first, 0, rows * sizeof(*c->starts));
	memset(c->ends + first, 0, rows * sizeof(*c->ends));
	memset(c->correlations + first, 0, rows * sizeof(*c->correlations));
	return 0;
}

static int load_groups(void *context, unsigned worker)
{
	struct loading *l = context;
	size_t group;
	int r = 0;

	while (r >= 0 && (group = atomic_fetch_add(&l->next, 1)) < l->calls->group_count)
		r = load_group(l, group);
	return r;
}

static struct cuda_process *process_of(struct cuda_calls *c, int64_t uid)
{
	struct cuda_process *grown;
	size_t at = 0;

	while (at < c->process_count && c->processes[at].uid < uid)
		at++;
	if (at < c->process_count && c->processes[at].uid == uid)
		return &c->processes[at];
	grown = realloc(c->processes, (c->process_count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	c->processes = grown;
	memmove(grown + at + 1, grown + at, (c->process_count++ - at) * sizeof(*grown));
	grown[at] = (struct cuda_process){ .uid = uid, .least = UINT32_MAX };
	return &grown[at];
}

static int measure_processes(struct cuda_calls *c)
{
	struct cuda_process *p;
	uint32_t number;

	for (size_t g = 0; g < c->group_count; g++) {
		if (!c->group_tracks[g])
			continue;
		p = process_of(c, c->group_tracks[g][TRACK_PROCESS]);
		if (!p)
			return -ENOMEM;
		for (uint32_t i = c->group_first[g]; i < c->group_first[g + 1]; i++) {
			number = c->correlations[i];
			p->calls += number != 0;
			p->least = number && number < p->least ? number : p->least;
			p->largest = number > p->largest ? number : p->largest;
		}
	}
	return 0;
}

static int make_arrays(struct cuda_calls *c)
{
	for (size_t i = 0; i < c->process_count; i++) {
		struct cuda_process *p = &c->processes[i];
		size_t span = p->calls ? (size_t)(p->largest - p->least) + 1 : 0;

		if (span <= DENSE_ALWAYS || span <= DENSE_FACTOR * p->calls)
			p->dense = calloc(span + 1, sizeof(*p->dense));
		else
			p->sorted = malloc(p->calls * sizeof(*p->sorted));
		if (!p->dense && !p->sorted)
			return -ENOMEM;
	}
	return 0;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct cuda_pair *x = a, *y = b;

	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Of two calls with the same number the first in the file counts, so the last is written first. */
static void fill_group(struct cuda_calls *c, size_t group, struct cuda_process *p)
{
	for (uint32_t i = c->group_first[group + 1]; i-- > c->group_first[group]; ) {
		if (!c->correlations[i])
			continue;
		if (p->dense)
			p->dense[c->correlations[i] - p->least] = i + 1;
		else
			p->sorted[p->sorted_count++] = (struct cuda_pair){ c->correlations[i], i };
	}
}

static int index_calls(struct cuda_calls *c)
{
	int r = measure_processes(c);

	if (r >= 0)
		r = make_arrays(c);
	for (size_t g = c->group_count; r >= 0 && g-- > 0; )
		if (c->group_tracks[g])
			fill_group(c, g, process_of(c, c->group_tracks[g][TRACK_PROCESS]));
	for (size_t i = 0; r >= 0 && i < c->process_count; i++)
		if (c->processes[i].sorted)
			qsort(c->processes[i].sorted, c->processes[i].sorted_count, sizeof(struct cuda_pair),
			      compare_pairs);
	return r;
}

static int load_calls(struct query *q, struct cuda_calls **ret)
{
	struct loading l = { .q = q, .calls = calloc(1, sizeof(*l.calls)) };
	int r = l.calls ? allocate_calls(l.calls, q) : -ENOMEM;

	if (r >= 0)
		r = parallel_run(load_groups, &l, parallel_width(l.calls->group_count));
	if (r >= 0)
		r = index_calls(l.calls);
	if (r < 0)
		cuda_calls_release(l.calls);
	else
		*ret = l.calls;
	return r;
}

int cuda_calls_of(struct query *q, struct cuda_calls **ret)
{
	int r = 0;

	pthread_mutex_lock(&q->loading);
	if (!q->calls)
		r = load_calls(q, &q->calls);
	*ret = q->calls;
	pthread_mutex_unlock(&q->loading);
	return r;
}

void cuda_calls_release(struct cuda_calls *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->process_count; i++) {
		free(c->processes[i].dense);
		free(c->processes[i].sorted);
	}
	free(c->processes);
	free(c->starts);
	free(c->ends);
	free(c->names);
	free(c->correlations);
	free(c->group_first);
	free(c->group_tracks);
	free(c);
}

const struct cuda_process *cuda_calls_process(const struct cuda_calls *c, int64_t uid)
{
	size_t low = 0, high = c->process_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (c->processes[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->process_count && c->processes[low].uid == uid ? &c->processes[low] : NULL;
}

uint32_t cuda_call_find(const struct cuda_process *p, int64_t correlation)
{
	size_t low = 0, high, middle;

	if (!p || correlation < (int64_t)p->least || correlation > (int64_t)p->largest)
		return CUDA_NO_CALL;
	if (p->dense)
		return p->dense[correlation - p->least] - 1;
	for (high = p->sorted_count; low < high; ) {
		middle = low + (high - low) / 2;
		if ((int64_t)p->sorted[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->sorted_count && (int64_t)p->sorted[low].correlation == correlation ? p->sorted[low].row :
											       CUDA_NO_CALL;
}

const int64_t *cuda_call_track(const struct cuda_calls *c, uint32_t row, size_t *hint)
{
	size_t low = 0, high = c->group_count, middle;

	if (*hint < c->group_count && c->group_first[*hint] <= row && row < c->group_first[*hint + 1])
		return c->group_tracks[*hint];
	while (low < high) {
		middle = low + (high - low) / 2;
		if (c->group_first[middle + 1] <= row)
			low = middle + 1;
		else
			high = middle;
	}
	*hint = low;
	return low < c->group_count ? c->group_tracks[low] : NULL;
}
