/* Folded stacks, a line each: frames from the outermost on, joined by ';', and a number. Flame graphs are made of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/stacks/work_stacks.h"
#include "query/stacks/weights.h"

/* What separates frames, and lines, does not occur in them. */
static void put_folded_frame(FILE *f, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		putc_unlocked(text[i] == ';' ? ':' : text[i] == '\n' || text[i] == '\r' ? ' ' : text[i], f);
}

static int put_node(struct query *q, FILE *f, const struct stack_view *view, uint32_t node)
{
	uint32_t depth = view->fold.depths[node], *path = calloc((size_t)depth + 1, sizeof(*path));
	struct buf text = BUF_INIT;
	int r = path ? 0 : -ENOMEM;

	for (uint32_t i = depth + 1; r >= 0 && i-- > 0; node = view->fold.parents[node])
		path[i] = node;
	for (uint32_t i = 0; r >= 0 && i <= depth; i++) {
		buf_clear(&text);
		r = stack_view_text(q, view, stack_view_label(view, path[i]), &text);
		putc_unlocked(';', f);
		put_folded_frame(f, text.data, text.len);
	}
	buf_release(&text);
	free(path);
	return r;
}

static void put_owner(const struct timeline *t, FILE *f, int64_t thread)
{
	const int64_t *row = index_find(&t->q->index.threads, thread);
	char text[160];

	place_text(t, false, row ? row[THREAD_PROCESS] : 0, text, sizeof(text));
	put_folded_frame(f, text, strlen(text));
	place_text(t, true, thread, text, sizeof(text));
	putc_unlocked(';', f);
	put_folded_frame(f, text, strlen(text));
}

/* The number of a thread's names; 0 without memory. */
static uint32_t number_names(const struct timeline *t, struct idmap *names, int64_t thread, bool *ret_new)
{
	const int64_t *row = index_find(&t->q->index.threads, thread);
	char text[160];
	uint32_t own = idmap_number(names, place_text(t, true, thread, text, sizeof(text)), ret_new);
	uint32_t process = idmap_number(names, place_text(t, false, row ? row[THREAD_PROCESS] : 0, text, sizeof(text)), ret_new);

	return own && process ? idmap_number(names, (uint64_t)process << 32 | own, ret_new) : 0;
}

/* Threads that have the same name, in processes that have, become the first of them. */
static int join_threads(const struct timeline *t, struct stack_weights *w)
{
	uint32_t *first = calloc(3 * (size_t)w->owner_count + 1, sizeof(*first)),
		 *joined = calloc((size_t)w->owner_count + 1, sizeof(*joined));
	struct idmap names = { 0 };
	int r = first && joined ? 0 : -ENOMEM;
	uint32_t number;
	bool is_new;

	for (uint32_t i = 0; r >= 0 && i < w->owner_count; i++) {
		number = number_names(t, &names, w->owners[i], &is_new);
		r = number ? 0 : -ENOMEM;
		if (number && is_new)
			first[number - 1] = i;
		joined[i] = number ? first[number - 1] : 0;
	}
	for (size_t i = 0; r >= 0 && i < w->count; i++)
		w->rows[i].owner = joined[w->rows[i].owner];
	if (r >= 0)
		stack_weights_sort(w);
	idmap_release(&names);
	free(first);
	free(joined);
	return r;
}

static int put_threads(struct timeline *t, struct stack_weights *w, bool counts, struct error *err)
{
	struct stack_view view = { 0 };
	struct stack_sums sums = { 0 };
	FILE *f = t->e->stream;
	int r = join_threads(t, w);

	if (r >= 0)
		r = stack_view_open(&view, t->q, STACK_FUNCTIONS, w);
	if (r >= 0)
		r = stack_sums_init(&sums, &view.fold);
	for (size_t begin = 0, end; r >= 0 && begin < w->count; begin = end) {
		end = stack_weights_end(w, begin);
		stack_sums_add(&sums, w, view.nodes, begin, end);
		for (uint32_t n = stack_sums_next(&sums, 0); r >= 0 && n < view.fold.count; n = stack_sums_next(&sums, n + 1)) {
			if (!sums.self[n].count)
				continue;
			put_owner(t, f, w->owners[w->rows[begin].owner]);
			r = put_node(t->q, f, &view, n);
			fprintf(f, " %llu\n", (unsigned long long)(counts ? sums.self[n].count : sums.self[n].weight));
		}
	}
	stack_sums_release(&sums);
	stack_view_release(&view);
	return r < 0 ? error_set(err, ENOMEM, "Not enough memory") : export_poll(t->e, "stacks", err);
}

/* Samples have a time; what took long is kept as other events are. */
static void time_filter(const struct export *e, const char *last, char *text, size_t size)
{
	const struct export_times *times = &e->request->times;

	text[0] = '\0';
	if (times->given)
		snprintf(text, size, "%s >= %lld and %s <= %lld", times->start_overlaps ? last : "start", (long long)times->start,
			 times->end_overlaps ? "start" : last, (long long)times->end);
}

static int put_cpu(struct timeline *t, const char *source, struct error *err)
{
	bool samples = strcmp(source, "samples") == 0;
	struct stack_weights w = { 0 };
	char filter[160];
	int r;

	time_filter(t->e, samples ? "start" : "end", filter, sizeof(filter));
	TRY(stack_weights_collect(&w, t->q, source, OWNER_THREAD, filter, err));
	r = put_threads(t, &w, samples, err);
	stack_weights_release(&w);
	return r;
}

static int put_gpu(struct timeline *t, struct error *err)
{
	CLEANUP(work_stacks_release) struct work_stacks w = { 0 };
	CLEANUP_FREE uint32_t *path = NULL;
	uint32_t depth, at;
	FILE *f = t->e->stream;

	TRY(work_stacks_load(&w, t, err));
	path = calloc((size_t)w.node_count + 1, sizeof(*path));
	if (!path)
		return error_set(err, ENOMEM, "Not enough memory");
	for (uint32_t node = 1; node < w.node_count; node++) {
		if (!w.nodes[node].count)
			continue;
		for (at = node, depth = 0; at; at = w.nodes[at].parent)
			path[depth++] = w.nodes[at].name;
		while (depth > 0) {
			put_folded_frame(f, w.texts[path[depth - 1] - 1], strlen(w.texts[path[depth - 1] - 1]));
			if (--depth)
				putc_unlocked(';', f);
		}
		fprintf(f, " %llu\n", (unsigned long long)w.nodes[node].ns);
	}
	return export_poll(t->e, "stacks", err);
}

static bool has_work(const struct timeline *t)
{
	return report_row_count(t->report, TABLE_GPU_KERNEL) || report_row_count(t->report, TABLE_GPU_COPY) ||
	       report_row_count(t->report, TABLE_GPU_SET);
}

static int put_all(struct timeline *t, struct error *err)
{
	enum export_stacks stacks = t->e->request->stacks;
	bool any = stacks == EXPORT_STACKS_ANY;
	const char *missing = "CPU samples and no GPU work";

	if ((any || stacks == EXPORT_STACKS_CPU) && report_row_count(t->report, TABLE_SAMPLE))
		return put_cpu(t, "samples", err);
	if ((any || stacks == EXPORT_STACKS_GPU) && has_work(t))
		return put_gpu(t, err);
	if (stacks == EXPORT_STACKS_OFFCPU && report_row_count(t->report, TABLE_RUN))
		return put_cpu(t, "offcpu", err);
	if (stacks == EXPORT_STACKS_OSRT && report_row_count(t->report, TABLE_OSRT))
		return put_cpu(t, "osrt", err);
	switch (stacks) {
	case EXPORT_STACKS_CPU: missing = "CPU samples"; break;
	case EXPORT_STACKS_GPU: missing = "GPU work"; break;
	case EXPORT_STACKS_OFFCPU: missing = "times off the CPU"; break;
	case EXPORT_STACKS_OSRT: missing = "calls of the OS runtime"; break;
	case EXPORT_STACKS_ANY: break;
	}
	return error_set(err, ENODATA, "%s has no %s", t->e->request->input, missing);
}

static int write_folded_file(struct export *e, struct error *err)
{
	struct timeline t;
	int r = timeline_open(&t, e, err);

	if (r >= 0)
		r = put_all(&t, err);
	timeline_close(&t);
	return r;
}

/* clang-format off */
const struct export_format export_folded = {
	.name = "Folded", .streams = true, .whole = write_folded_file, .begin = export_stream_begin,
	.end = export_stream_end, .give_up = export_stream_give_up,
};
/* clang-format on */
