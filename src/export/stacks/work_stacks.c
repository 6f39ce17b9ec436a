#include "export/stacks/work_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/sort.h"

#define CALLS 16u
#define MAX_OPEN 4096u
/* Names that are places, above string ids and made names. */
#define PLACE_PROCESS (3ull << 61)
#define PLACE_THREAD (3ull << 61 | 1ull << 60)
#define PLACE_NAMES ((1ull << 60) - 1)

/* The nodes of calls of a process whose correlations follow each other, as they mostly do. */
struct call_group {
	uint32_t nodes[CALLS];
};

/* Folded stacks of two runs are compared line by line, and numbers are other ones in every run. */
static bool has_numbers(const struct export_request *request)
{
	return request->type != EXPORT_FOLDED || request->ids;
}

/* torch.profiler writes a thread's number into its name, too: "thread 4711 (python3)" is python3. */
static bool put_bracketed(const char *name, char *text, size_t size)
{
	const char *digits = strncmp(name, "thread ", 7) == 0 ? name + 7 : "", *inner = digits + strspn(digits, "0123456789");
	size_t len = strlen(inner);

	if (inner == digits || len < 4 || strncmp(inner, " (", 2) != 0 || inner[len - 1] != ')')
		return false;
	snprintf(text, size, "%.*s", (int)(len - 3), inner + 2);
	return true;
}

uint64_t place_text(const struct timeline *t, bool is_thread, int64_t uid, char *text, size_t size)
{
	const struct index_table *table = is_thread ? &t->q->index.threads : &t->q->index.processes;
	const int64_t *row = index_find(table, uid);
	int64_t id = !row ? 0 : is_thread ? index_thread_name(&t->q->index, uid) : row[PROCESS_NAME];
	const char *name = timeline_text(t, id, NULL);

	if (!name[0]) {
		name = is_thread ? "thread" : "process";
		id = 0;
	}
	if (has_numbers(t->e->request)) {
		snprintf(text, size, "%s-%lld", name, row ? (long long)row[is_thread ? THREAD_TID : PROCESS_PID] : 0);
		id = uid;
	} else if (is_thread && put_bracketed(name, text, size)) {
		id = (int64_t)(hash_text(HASH_START, text) & PLACE_NAMES);
	} else {
		snprintf(text, size, "%s", name);
	}
	return (is_thread ? PLACE_THREAD : PLACE_PROCESS) | (uint64_t)id;
}

uint32_t work_name(struct work_stacks *w, uint64_t id, const char *text, size_t len)
{
	bool is_new;
	uint32_t number = idmap_number(&w->names, id, &is_new);

	if (!is_new)
		return number;
	if (!ARRAY_REACH(w->texts, w->text_cap, number))
		return 0;
	w->texts[number - 1] = strndup(text, len);
	return w->texts[number - 1] ? number : 0;
}

static uint32_t child_node(struct work_stacks *w, uint32_t parent, uint32_t name)
{
	bool is_new;
	uint32_t number = name ? idmap_number(&w->edges, (uint64_t)parent << 32 | name, &is_new) : 0;

	if (!number || !is_new)
		return number;
	if (!ARRAY_REACH(w->nodes, w->node_cap, number))
		return 0;
	w->nodes[number] = (struct work_node){ .parent = parent, .name = name };
	w->node_count = number + 1;
	return number;
}

static uint32_t place_node(struct work_stacks *w, uint32_t parent, bool is_thread, int64_t uid)
{
	char text[160];
	uint64_t id = place_text(w->t, is_thread, uid, text, sizeof(text));

	return child_node(w, parent, work_name(w, id, text, strlen(text)));
}

/* The number of a process, and its node, which is also that of work of calls that are not known; 0: no memory. */
static uint32_t find_process(struct work_stacks *w, int64_t uid, uint32_t *ret_node)
{
	bool ignored;
	uint32_t number = idmap_number(&w->processes, (uint64_t)uid, &ignored);

	if (!number || !ARRAY_REACH(w->process_nodes, w->process_cap, number))
		return 0;
	if (!w->process_nodes[number])
		w->process_nodes[number] = place_node(w, 0, false, uid);
	*ret_node = w->process_nodes[number];
	return *ret_node ? number : 0;
}

static uint64_t call_key(uint32_t process, int64_t correlation)
{
	return (uint64_t)process << 32 | (uint64_t)correlation / CALLS;
}

static int set_call(struct work_stacks *w, uint32_t process, int64_t correlation, uint32_t node)
{
	bool ignored;
	uint32_t number;

	if (correlation <= 0 || correlation > UINT32_MAX)
		return 0;
	number = idmap_number(&w->call_groups, call_key(process, correlation), &ignored);
	if (!number || !ARRAY_REACH(w->calls, w->call_cap, number))
		return -ENOMEM;
	w->calls[number].nodes[correlation % CALLS] = node;
	return 0;
}

/* 0: not known. */
static uint32_t call_node(const struct work_stacks *w, uint32_t process, int64_t correlation)
{
	uint64_t number = correlation > 0 && correlation <= UINT32_MAX ? idmap_get(&w->call_groups, call_key(process, correlation)) :
									 IDMAP_NONE;

	return number == IDMAP_NONE ? 0 : w->calls[number].nodes[correlation % CALLS];
}

/* What is open on a thread. Ranges need not nest, so that one may end below others. */
struct open_ranges {
	struct open_range {
		int64_t end;
		uint32_t name;
		uint32_t node; /* 0: those below it have changed */
	} list[MAX_OPEN];
	unsigned count;
	uint32_t thread; /* node */
};

static void close_ranges(struct open_ranges *open, int64_t time)
{
	unsigned kept = 0;

	while (kept < open->count && open->list[kept].end > time)
		kept++;
	for (unsigned i = kept; i < open->count; i++)
		if (open->list[i].end > time) {
			open->list[kept] = open->list[i];
			open->list[kept++].node = 0;
		}
	open->count = kept;
}

static uint32_t find_innermost_range(struct work_stacks *w, struct open_ranges *open)
{
	uint32_t node = open->thread;

	for (unsigned i = 0; i < open->count; i++) {
		if (!open->list[i].node)
			open->list[i].node = child_node(w, node, open->list[i].name);
		node = open->list[i].node;
		if (!node)
			return 0;
	}
	return node;
}

static int take_event(struct work_stacks *w, uint32_t process, struct open_ranges *open, const struct event_reader *r)
{
	struct event_name name;
	uint32_t node;

	close_ranges(open, event_value(r, EVENT_START));
	if (r->table == TABLE_CUDA_API) {
		node = find_innermost_range(w, open);
		return node ? set_call(w, process, event_value(r, EVENT_CORRELATION), node) : -ENOMEM;
	}
	if (open->count == MAX_OPEN)
		return 0;
	event_name(r, &name);
	open->list[open->count] = (struct open_range){ event_end(r), work_name(w, name.id, name.text, name.len), 0 };
	return open->list[open->count++].name ? 0 : -ENOMEM;
}

static const int64_t *track_at(const struct work_stacks *w, size_t i)
{
	return w->t->tracks.rows + (size_t)w->tracks[i] * w->t->tracks.width;
}

static int compare_stack_tracks(const void *a, const void *b, void *context)
{
	const struct timeline *t = context;
	const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	int64_t x = t->tracks.rows[one * t->tracks.width + TRACK_THREAD], y = t->tracks.rows[other * t->tracks.width + TRACK_THREAD];

	return x != y ? x < y ? -1 : 1 : one < other ? -1 : 1;
}

static int sort_tracks(struct work_stacks *w)
{
	size_t count = w->t->tracks.count;

	w->tracks = count < UINT32_MAX ? calloc(count + 1, sizeof(*w->tracks)) : NULL;
	if (!w->tracks)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		w->tracks[i] = i;
	sort_items_with(w->tracks, count, sizeof(*w->tracks), compare_stack_tracks, w->t);
	return 0;
}

/* The first that is not of a smaller thread. */
static size_t first_track(const struct work_stacks *w, int64_t thread)
{
	size_t from = 0, to = w->t->tracks.count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (track_at(w, middle)[TRACK_THREAD] < thread)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static int read_thread(struct work_stacks *w, const int64_t *thread, const struct track_groups *groups, struct open_ranges *open,
		       struct error *err)
{
	uint32_t process_node = 0, process = find_process(w, thread[THREAD_PROCESS], &process_node);
	struct event_merge events = { 0 };
	struct event_reader *r = NULL;
	uint32_t rows = 0;
	int result = process ? 0 : -ENOMEM;

	open->count = 0;
	if (result >= 0)
		open->thread = place_node(w, process_node, true, thread[THREAD_UID]);
	for (size_t i = first_track(w, thread[THREAD_UID]);
	     result >= 0 && i < w->t->tracks.count && track_at(w, i)[TRACK_THREAD] == thread[THREAD_UID]; i++)
		for (unsigned g = 0; result >= 0 && g < 2; g++)
			if (track_groups_has(&groups[g], (uint32_t)track_at(w, i)[TRACK_ID]))
				result = event_merge_add(&events, w->t, &groups[g], (uint32_t)track_at(w, i)[TRACK_ID]);
	while (result >= 0 && (result = event_merge_next(&events, &r)) >= 0 && r) {
		result = take_event(w, process, open, r);
		r->row++;
		if (result >= 0 && ++rows % 65536 == 0 && (result = export_poll(w->t->e, "calls", err)) < 0)
			break;
	}
	event_merge_release(&events);
	return result == -ENOMEM ? error_set(err, ENOMEM, "Not enough memory") : result;
}

static int read_calls(struct work_stacks *w, struct error *err)
{
	static const enum table_id tables[] = { TABLE_SLICE, TABLE_CUDA_API };
	const struct index_table *threads = &w->t->q->index.threads;
	struct open_ranges *open = calloc(1, sizeof(*open));
	struct track_groups groups[2] = { 0 };
	int r = open ? sort_tracks(w) : -ENOMEM;

	for (unsigned i = 0; r >= 0 && i < 2; i++)
		r = track_groups_load(&groups[i], w->t->q, tables[i]) < 0 ? -ENOMEM : 0;
	if (r < 0)
		error_set(err, ENOMEM, "Not enough memory");
	for (size_t i = 0; r >= 0 && i < threads->count; i++)
		r = read_thread(w, threads->rows + i * threads->width, groups, open, err);
	for (unsigned i = 0; i < 2; i++)
		track_groups_release(&groups[i]);
	free(open);
	return r;
}

static int add_gpu_work_stack(struct work_stacks *w, const struct event_reader *r)
{
	int64_t start = event_value(r, EVENT_START), end = event_end(r);
	struct event_name name;
	uint32_t process, call, node;

	if (!r->track || !export_keeps(w->t->e, start, end))
		return 0;
	process = find_process(w, r->track[TRACK_PROCESS], &node);
	if (!process)
		return -ENOMEM;
	call = call_node(w, process, event_value(r, EVENT_CORRELATION));
	event_name(r, &name);
	node = child_node(w, call ? call : node, work_name(w, name.id, name.text, name.len));
	if (!node)
		return -ENOMEM;
	w->nodes[node].count++;
	w->nodes[node].ns += (uint64_t)end - (uint64_t)start;
	return 0;
}

static int read_work(struct work_stacks *w, enum table_id table, struct error *err)
{
	struct event_reader r;
	uint32_t rows = 0;
	int result;

	event_reader_init(&r, w->t, table, NULL, 0);
	while ((result = event_reader_load(&r)) > 0) {
		result = add_gpu_work_stack(w, &r);
		r.row++;
		if (result >= 0 && ++rows % 65536 == 0)
			result = export_poll(w->t->e, "GPU work", err);
		if (result < 0)
			break;
	}
	event_reader_release(&r);
	return result == -ENOMEM ? error_set(err, ENOMEM, "Not enough memory") : result;
}

int work_stacks_load(struct work_stacks *w, struct timeline *t, struct error *err)
{
	*w = (struct work_stacks){ .t = t };
	TRY(read_calls(w, err));
	TRY(read_work(w, TABLE_GPU_KERNEL, err));
	TRY(read_work(w, TABLE_GPU_COPY, err));
	return read_work(w, TABLE_GPU_SET, err);
}

void work_stacks_release(struct work_stacks *w)
{
	for (uint32_t i = 0; i < w->text_cap; i++)
		free(w->texts[i]);
	free(w->texts);
	free(w->process_nodes);
	free(w->calls);
	free(w->tracks);
	free(w->nodes);
	idmap_release(&w->processes);
	idmap_release(&w->call_groups);
	idmap_release(&w->edges);
	idmap_release(&w->names);
	*w = (struct work_stacks){ 0 };
}
