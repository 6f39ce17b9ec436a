#include "query/engine/view_values.h"

#include <string.h>

#include "base/cleanup.h"
#include "query/index/stack_tree.h"

static const char *const words[VIEW_WORD_COUNT] = {
#define COPY_KIND(number, NAME, word, text, ...) [WORD_COPY + number] = text,
#define MEMORY_KIND(number, NAME, word, text, ...) [WORD_MEMORY + number] = text,
#define MEMORY_KIND_ELSEWHERE(number, NAME, word, text) [WORD_MEMORY + number] = text,
#define SYNC_KIND(number, NAME, word, text, ...) [WORD_SYNC + number] = text,
#include "fmt/gpu_enums.def"
	[WORD_RUNTIME] = "runtime",    [WORD_DRIVER] = "driver", [WORD_PUSH_POP] = "pushpop",
	[WORD_START_END] = "startend", [WORD_SLICE] = "slice",
};

const char *view_word_text(int64_t id)
{
	return id >= STRING_ID_VIEW && id < STRING_ID_VIEW + VIEW_WORD_COUNT ? words[id - STRING_ID_VIEW] : NULL;
}

static int of_process(const struct query_index *index, int64_t uid, unsigned field, int64_t *ret)
{
	const int64_t *process = index_find(&index->processes, uid);

	*ret = process ? process[field] : 0;
	return *ret != 0;
}

int view_constant(const struct scan *s, const struct mapped_cell *cell, int64_t *ret)
{
	const struct query_index *index = &s->q->index;
	const int64_t *thread;

	switch ((enum view_value)cell->other) {
	case VIEW_TRACK_PID: return of_process(index, s->track[TRACK_PROCESS], PROCESS_PID, ret);
	case VIEW_TRACK_PROCESS: return of_process(index, s->track[TRACK_PROCESS], PROCESS_NAME, ret);
	case VIEW_TRACK_TID:
		thread = index_find(&index->threads, s->track[TRACK_THREAD]);
		*ret = thread ? thread[THREAD_TID] : 0;
		return thread != NULL;
	case VIEW_TRACK_THREAD: *ret = index_thread_name(index, s->track[TRACK_THREAD]); return *ret != 0;
	default: return 0;
	}
}

/* The word for a number; the first one where there is none for it. */
static int64_t get_view_word_id(enum view_word first, enum view_word last, int64_t number)
{
	return STRING_ID_VIEW + first + (number >= 0 && number <= (int64_t)(last - first) ? number : 0);
}

static int of_stack(const struct scan *s, int64_t stack, enum view_value value, int64_t *ret)
{
	const struct stack_tree *tree = s->q->stacks;
	uint32_t frame;

	if (!tree || stack <= 0 || stack >= tree->stack_count)
		return 0;
	frame = tree->frames[stack];
	*ret = value == VIEW_FUNCTION ? code_frame_string(tree, frame) : code_frame_module_string(tree, frame);
	return 1;
}

static int bandwidth(const struct scan *s, int64_t bytes, uint32_t row, int64_t *ret)
{
	double length = (double)s->raw[1].values[row] - (double)s->raw[0].values[row], rate = (double)bytes / length;

	memcpy(ret, &rate, sizeof(*ret));
	return length > 0;
}

static int row_value(const struct scan *s, enum view_value value, int64_t number, uint32_t row, int64_t *ret)
{
	const struct query_index *index = &s->q->index;

	switch (value) {
	case VIEW_PID: return of_process(index, number, PROCESS_PID, ret);
	case VIEW_PROCESS: return of_process(index, number, PROCESS_NAME, ret);
	case VIEW_THREAD: *ret = index_thread_name(index, number); return *ret != 0;
	case VIEW_COPY_KIND: *ret = get_view_word_id(WORD_COPY, WORD_COPY_LAST, number); return 1;
	case VIEW_MEMORY_KIND: *ret = get_view_word_id(WORD_MEMORY, WORD_MEMORY_LAST, number); return 1;
	case VIEW_SYNC_KIND: *ret = get_view_word_id(WORD_SYNC, WORD_SYNC_LAST, number); return 1;
	case VIEW_API_KIND: *ret = STRING_ID_VIEW + (number ? WORD_DRIVER : WORD_RUNTIME); return 1;
	case VIEW_FUNCTION:
	case VIEW_MODULE: return of_stack(s, number, value, ret);
	case VIEW_BANDWIDTH: return bandwidth(s, number, row, ret);
	default: return 0;
	}
}

static enum vector_kind get_view_value_kind(enum view_value value)
{
	return value == VIEW_PID ? VECTOR_NUMBER : value == VIEW_BANDWIDTH ? VECTOR_REAL : VECTOR_STRING;
}

int view_vector(struct scan *s, const struct mapped_cell *cell, struct scan_vector *v)
{
	enum view_value value = (enum view_value)cell->other;
	struct scan_column *raw, *ignored;

	TRY(scan_raw(s, cell->column, &raw));
	if (value == VIEW_BANDWIDTH)
		TRY(scan_raw(s, 0, &ignored));
	if (value == VIEW_BANDWIDTH)
		TRY(scan_raw(s, 1, &ignored));
	TRY(scan_grow(v, s->rows));
	for (uint32_t i = 0; i < s->rows; i++)
		v->nulls[i] = raw->nulls[i] || !row_value(s, value, raw->values[i], i, &v->values[i]);
	v->vector = (struct vector){ get_view_value_kind(value), 0, v->values, memchr(v->nulls, 1, s->rows) ? v->nulls : NULL };
	return 0;
}
