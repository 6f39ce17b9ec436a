#include "query/torch/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "query/engine/scope.h"
#include "query/slice_class.h"

#define MODULE "nn.Module: "
#define NAME_CACHE 1024
#define MOST_PATH 2048
#define MOST_STACK 65536

/* What is known of a name; those asked about last. */
struct frame_name {
	int64_t id;
	int32_t name;
	uint8_t is_module;
	uint8_t is_hidden;
	uint8_t is_python; /* the category of Python's functions */
};

struct frame_reading {
	struct torch_ops *ops;
	struct torch_frames *frames;
	struct frame_name names[NAME_CACHE];
};

enum { PART_START, PART_END, PART_NAME, PART_CLASS, PART_COUNT };

/* What torch leaves out of stacks: its own functions that start the backward pass. */
static int is_hidden_frame(const char *text)
{
	static const char *const pairs[][2] = { { "autograd/__init__", "_make_grads" },
						{ "autograd/__init__", "backward" },
						{ "torch/tensor", "backward" },
						{ "_internal/common_utils", "prof_callable" },
						{ "_internal/common_utils", "prof_func_call" },
						{ "_internal/common_utils", "prof_meth_call" } };

	for (unsigned i = 0; i < COUNT_OF(pairs); i++)
		if (strstr(text, pairs[i][0]) && strstr(text, pairs[i][1]))
			return 1;
	return 0;
}

static const struct frame_name *find_frame_name(struct frame_reading *g, int64_t id)
{
	struct frame_name *n = &g->names[(uint64_t)id % NAME_CACHE];
	int64_t first = id;
	const char *text;
	size_t len;

	if (n->id == id && n->name)
		return n;
	text = query_text(g->ops->q, id, &len);
	text = text ? text : "";
	if (first_text_id(g->ops->q, &first) < 0)
		return NULL;
	n->id = id;
	n->name = first > 0 && first <= INT32_MAX ? (int32_t)first : torch_made_text(&g->ops->texts, text);
	n->is_module = strncmp(text, MODULE, strlen(MODULE)) == 0;
	n->is_hidden = (uint8_t)is_hidden_frame(text);
	n->is_python = strcmp(text, "python_function") == 0;
	return n->name ? n : NULL;
}

static int take_frame(struct frame_reading *g, int64_t *const *parts, uint32_t row, uint32_t thread, int counts)
{
	const struct frame_name *name = find_frame_name(g, parts[PART_CLASS][row]);
	struct torch_frames *f = g->frames;

	if (name && !name->is_python)
		return 0;
	name = name ? find_frame_name(g, parts[PART_NAME][row]) : NULL;
	if (!name || !ARRAY_ROOM(f->frames, f->count, f->cap, 1))
		return -ENOMEM;
	f->frames[f->count++] = (struct torch_frame){ .start = parts[PART_START][row],
						      .end = parts[PART_END][row],
						      .name = name->name,
						      .thread = thread,
						      .is_module = name->is_module,
						      .is_hidden = name->is_hidden,
						      .counts = (uint8_t)counts };
	return 0;
}

static int read_frame_rows(struct frame_reading *g, size_t group, int64_t *const *parts, uint32_t rows, uint32_t thread)
{
	uint8_t *counts = malloc((size_t)rows + 1);
	int r = counts ? scope_mark_group(g->ops->q, TABLE_SLICE, group, counts) : -ENOMEM;

	for (uint32_t row = 0; r >= 0 && row < rows; row++)
		r = take_frame(g, parts, row, thread, counts[row]);
	free(counts);
	return r;
}

static int read_frame_group(struct frame_reading *g, size_t group)
{
	static const uint8_t columns[] = { COLUMN_SLICE_START, COLUMN_SLICE_END, COLUMN_SLICE_NAME, COLUMN_SLICE_CLASS };
	const struct report_group *info = report_group(g->ops->q->report, TABLE_SLICE, group);
	const int64_t *track = index_find(&g->ops->q->index.tracks, info->track);
	int64_t *values, *parts[PART_COUNT];
	int r = 0;

	if (!track || track[TRACK_THREAD] <= 0 || track[TRACK_THREAD] >= UINT32_MAX)
		return 0;
	values = malloc((size_t)info->rows * PART_COUNT * sizeof(*values) + 1);
	r = values ? 0 : -ENOMEM;
	for (unsigned i = 0; r >= 0 && i < PART_COUNT; i++) {
		parts[i] = values + (size_t)i * info->rows;
		r = report_column(g->ops->q->report, TABLE_SLICE, group, columns[i], parts[i], NULL);
	}
	if (r >= 0)
		r = read_frame_rows(g, group, parts, info->rows, (uint32_t)track[TRACK_THREAD]);
	free(values);
	if (r != -EBADMSG)
		return r;
	atomic_fetch_add(&g->ops->q->damaged, 1);
	return 0;
}

static int compare_frames(const void *a, const void *b)
{
	const struct torch_frame *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

/* "Net_0.Conv2d_1", within the path around it; 0: no memory. */
static int32_t make_path(struct torch_ops *t, const char *name, int32_t around)
{
	struct buf path = BUF_INIT;
	int32_t id = 0;

	if (around)
		buf_printf(&path, "%s.", torch_text(t, around));
	if (buf_puts(&path, name) >= 0)
		id = torch_made_text(&t->texts, buf_cstr(&path));
	buf_release(&path);
	return id;
}

/* Paths of a hostile trace would grow without an end: what is within too long a one belongs to it. */
static int enter_module(struct torch_ops *t, struct torch_frame *frame, uint32_t place)
{
	const struct torch_frame *around = frame->parent ? &t->frames->frames[frame->parent - 1] : NULL;
	const char *name = torch_text(t, frame->name);
	size_t len = around && around->path ? strlen(torch_text(t, around->path)) : 0;

	frame->path = around ? around->path : 0;
	frame->module = around ? around->module : 0;
	frame->is_module &= name && strlen(name) > strlen(MODULE) && len + strlen(name) < MOST_PATH;
	if (!frame->is_module)
		return 0;
	frame->path = make_path(t, name + strlen(MODULE), frame->path);
	frame->module = place + 1;
	return frame->path ? 0 : -ENOMEM;
}

/* Each frame is within the last one before it that has not ended. */
static int nest_frames(struct torch_ops *t)
{
	struct torch_frames *f = t->frames;
	uint32_t at = 0;

	for (uint32_t i = 0; i < f->count; i++) {
		struct torch_frame *frame = &f->frames[i];

		if (i == 0 || frame->thread != f->frames[i - 1].thread)
			at = 0;
		while (at && f->frames[at - 1].end <= frame->start)
			at = f->frames[at - 1].parent;
		frame->parent = at;
		TRY(enter_module(t, frame, i));
		at = i + 1;
	}
	return 0;
}

/* Both are in order of thread and start. */
static void place_events(struct torch_ops *t)
{
	struct torch_frames *f = t->frames;
	uint32_t next = 0, at = 0;

	for (uint32_t i = 0; i < t->host_count; i++) {
		const struct torch_event *e = &t->events[i];

		while (next < f->count &&
		       (f->frames[next].thread < e->thread || (f->frames[next].thread == e->thread && f->frames[next].start <= e->start)))
			at = ++next;
		while (at && f->frames[at - 1].thread == e->thread && f->frames[at - 1].end <= e->start)
			at = f->frames[at - 1].parent;
		f->of_event[i] = at && f->frames[at - 1].thread == e->thread ? at : 0;
	}
}

static int make_frames(struct torch_ops *t)
{
	struct frame_reading *g = calloc(1, sizeof(*g));
	int r = g ? 0 : -ENOMEM;

	t->frames = calloc(1, sizeof(*t->frames));
	if (!t->frames)
		r = -ENOMEM;
	if (r >= 0)
		*g = (struct frame_reading){ .ops = t, .frames = t->frames };
	for (size_t i = 0;
	     r >= 0 && t->count && query_has_class(t->q, "python_function") && i < report_group_count(t->q->report, TABLE_SLICE); i++)
		r = read_frame_group(g, i);
	free(g);
	if (r < 0)
		return r;
	t->frames->of_event = calloc((size_t)t->host_count + 1, sizeof(*t->frames->of_event));
	if (!t->frames->of_event)
		return -ENOMEM;
	sort_items(t->frames->frames, t->frames->count, sizeof(*t->frames->frames), compare_frames);
	r = nest_frames(t);
	if (r >= 0)
		place_events(t);
	return r;
}

int torch_load_frames(struct torch_ops *t)
{
	int r = torch_load_forwards(t);

	if (r < 0 || t->frames)
		return r;
	r = make_frames(t);
	if (r < 0) {
		torch_frames_release(t->frames);
		t->frames = NULL;
	}
	return r;
}

void torch_frames_release(struct torch_frames *f)
{
	if (!f)
		return;
	free(f->frames);
	free(f->of_event);
	free(f);
}

/* The event whose surroundings say where another belongs: its forward operator, or who started it. */
static uint32_t find_speaker(const struct torch_ops *t, uint32_t event)
{
	const struct torch_event *e = &t->events[event];

	if (t->forward[event])
		return t->forward[event] - 1;
	/* Calls are on their operator's thread only where they name one. */
	if (e->parent && (torch_on_device(e) || e->kind == TORCH_CALL))
		return e->parent - 1;
	return event;
}

uint32_t torch_frame_of(const struct torch_ops *t, uint32_t event)
{
	uint32_t speaker = find_speaker(t, event);

	return speaker < t->host_count ? t->frames->of_event[speaker] : 0;
}

int32_t torch_module_of(const struct torch_ops *t, uint32_t event)
{
	uint32_t frame = torch_frame_of(t, event);

	return frame ? t->frames->frames[frame - 1].path : 0;
}

/* "inner;outer", as traces of torch's verbose profiler have it. */
static int append_text_stack(struct buf *text, const char *stack_text, unsigned most)
{
	size_t len;
	unsigned count = 0;

	for (; *stack_text && count < most && text->len < MOST_STACK; stack_text += len + (stack_text[len] == ';')) {
		len = strcspn(stack_text, ";");
		if (len == 0 || (count && buf_puts(text, "\n") < 0) || buf_append(text, stack_text, len) < 0)
			continue;
		count++;
	}
	return buf_result(text);
}

static int append_frames(struct buf *text, const struct torch_ops *t, uint32_t frame, unsigned most)
{
	unsigned count = 0;

	for (; frame && count < most && text->len < MOST_STACK; frame = t->frames->frames[frame - 1].parent) {
		const char *name = torch_text(t, t->frames->frames[frame - 1].name);

		if (t->frames->frames[frame - 1].is_hidden || !name)
			continue;
		if (count++)
			buf_puts(text, "\n");
		buf_puts(text, name);
	}
	return buf_result(text);
}

int torch_stack_text(struct torch_ops *t, uint32_t event, unsigned most, int32_t *ret)
{
	uint32_t speaker = find_speaker(t, event);
	struct buf text = BUF_INIT;
	const char *stack_text;
	size_t len;
	int r;

	*ret = 0;
	stack_text = query_text(t->q, t->details[speaker].stack, &len);
	if (stack_text && *stack_text)
		r = append_text_stack(&text, stack_text, most);
	else
		r = append_frames(&text, t, torch_frame_of(t, event), most);
	if (r >= 0 && text.len) {
		*ret = torch_made_text(&t->texts, buf_cstr(&text));
		r = *ret ? 0 : -ENOMEM;
	}
	buf_release(&text);
	return r;
}
