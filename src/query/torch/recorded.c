/* Operators that Sonde recorded itself. Imported traces say which operator a call of CUDA, and a kernel, belongs to. Here that is the innermost
 * one that was open in the calling thread when the call began. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "query/index/cuda_calls.h"
#include "query/torch/ops.h"

/* Slices of an imported trace are on tracks of their own kind. */
enum torch_recorded torch_who_recorded(struct query *q)
{
	if (report_row_count(q->report, TABLE_TORCH_OP))
		return TORCH_FROM_TABLE;
	for (size_t i = 0; i < report_group_count(q->report, TABLE_SLICE); i++) {
		const int64_t *track = index_find(&q->index.tracks, report_group(q->report, TABLE_SLICE, i)->track);

		if (track && track[TRACK_KIND] == TRACK_GENERIC)
			return TORCH_IMPORTED;
	}
	return TORCH_FROM_NVTX;
}

/* An operator, or something that wants one. */
struct moment {
	int64_t time;
	int64_t end;
	uint32_t thread;
	uint32_t place;
	uint8_t wants;
};

struct sweep {
	struct torch_ops *ops;
	struct moment *moments;
	uint32_t count;
	uint32_t *open; /* places, the innermost last */
	uint32_t depth;
	uint32_t cap;
};

/* At one time operators come first, the outer one before the inner. */
static int compare_moments(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->wants != y->wants)
		return x->wants - y->wants;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int is_operator(const struct torch_event *e)
{
	return (e->kind == TORCH_OPERATOR || e->kind == TORCH_ANNOTATION) && !(e->flags & TORCH_ASYNC);
}

/* Of work of a device: its call. Returns whether there is one. */
static int find_call(const struct cuda_calls *calls, const struct torch_event *e, size_t *hint, struct moment *ret)
{
	const struct cuda_process *process = cuda_calls_process(calls, e->thread);
	uint32_t call = process && e->external ? cuda_call_find(calls, process, e->external) : CUDA_NO_CALL;
	const int64_t *track = call != CUDA_NO_CALL ? cuda_call_track(calls, call, hint) : NULL;

	if (!track)
		return 0;
	ret->thread = (uint32_t)track[TRACK_THREAD];
	ret->time = cuda_call_start(calls, call);
	return 1;
}

static void list_moments(struct sweep *s, const struct cuda_calls *calls)
{
	struct torch_ops *t = s->ops;
	size_t hint = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		struct torch_event *e = &t->events[i];
		struct moment *m = &s->moments[s->count];

		*m = (struct moment){ .time = e->start, .end = e->end, .thread = e->thread, .place = i, .wants = !is_operator(e) };
		if (torch_on_device(e))
			s->count += (uint32_t)find_call(calls, e, &hint, m);
		else
			s->count += m->wants ? e->kind == TORCH_CALL : 1;
		if (torch_on_device(e))
			e->thread = 0;
		e->external = m->wants ? 0 : (int64_t)i + 1;
	}
}

static int meet(struct sweep *s, const struct moment *m)
{
	struct torch_event *events = s->ops->events;

	while (s->depth && (events[s->open[s->depth - 1]].thread != m->thread || events[s->open[s->depth - 1]].end <= m->time))
		s->depth--;
	if (m->wants) {
		events[m->place].external = s->depth ? (int64_t)s->open[s->depth - 1] + 1 : 0;
		return 0;
	}
	if (!ARRAY_ROOM(s->open, s->depth, s->cap, 1))
		return -ENOMEM;
	s->open[s->depth++] = m->place;
	return 0;
}

int torch_own_recorded(struct torch_ops *t)
{
	struct sweep s = { .ops = t };
	struct cuda_calls *calls;
	int r = cuda_calls_of(t->q, CALL_PART_STARTS, &calls);

	if (r < 0)
		return r;
	s.moments = malloc(((size_t)t->count + 1) * sizeof(*s.moments));
	if (!s.moments)
		return -ENOMEM;
	list_moments(&s, calls);
	sort_items(s.moments, s.count, sizeof(*s.moments), compare_moments);
	for (uint32_t i = 0; r >= 0 && i < s.count; i++)
		r = meet(&s, &s.moments[i]);
	free(s.open);
	free(s.moments);
	return r;
}

/* Of the event whose number in the table is row + 1, in `args`: details by that. */
static int read_group(struct torch_ops *t, size_t group, struct torch_detail *rows)
{
	static const uint8_t columns[] = { COLUMN_TORCH_OP_SEQUENCE, COLUMN_TORCH_OP_FORWARD };
	uint32_t count = report_group(t->q->report, TABLE_TORCH_OP, group)->rows;
	int64_t *values = malloc((size_t)count * 2 * sizeof(*values) + 1);
	uint8_t *nulls = malloc((size_t)count + 1);
	int r = values && nulls ? 0 : -ENOMEM;

	if (r >= 0)
		r = report_column(t->q->report, TABLE_TORCH_OP, group, columns[0], values, nulls);
	for (uint32_t i = 0; r >= 0 && i < count; i++)
		rows[i].sequence = nulls[i] ? -1 : values[i];
	if (r >= 0)
		r = report_column(t->q->report, TABLE_TORCH_OP, group, columns[1], values + count, nulls);
	for (uint32_t i = 0; r >= 0 && i < count; i++)
		rows[i].forward_thread = nulls[i] ? 0 : (uint32_t)values[count + i];
	free(values);
	free(nulls);
	if (r != -EBADMSG)
		return r;
	atomic_fetch_add(&t->q->damaged, 1);
	return 0;
}

static void read_nvtx_details(struct torch_ops *t)
{
	struct torch_nvtx_text parsed;
	const char *text;
	size_t len;

	for (uint32_t i = 0; i < t->count; i++) {
		text = t->events[i].kind == TORCH_OPERATOR && t->events[i].args ? query_text(t->q, t->events[i].args, &len) : NULL;
		if (text && torch_parse_nvtx(text, &parsed))
			t->details[i].sequence = parsed.sequence;
	}
}

static int read_table_details(struct torch_ops *t)
{
	uint64_t total = report_row_count(t->q->report, TABLE_TORCH_OP), first = 0;
	struct torch_detail *rows = calloc((size_t)total + 1, sizeof(*rows));
	int r = rows ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < report_group_count(t->q->report, TABLE_TORCH_OP); i++) {
		r = read_group(t, i, rows + first);
		first += report_group(t->q->report, TABLE_TORCH_OP, i)->rows;
	}
	for (uint32_t i = 0; r >= 0 && i < t->count; i++)
		if (t->events[i].kind <= TORCH_ANNOTATION && t->events[i].args && t->events[i].args <= total)
			t->details[i] = rows[t->events[i].args - 1];
	free(rows);
	return r;
}

int torch_recorded_details(struct torch_ops *t)
{
	if (t->recorded == TORCH_FROM_TABLE)
		return read_table_details(t);
	read_nvtx_details(t);
	return 0;
}
