/* What is no slice of the report: counters, samples of the CPU, states of threads. */
#include <errno.h>

#include "export/perfetto/perfetto.h"
#include "fmt/gpu_enums.h"
#include "query/sched/run_walk.h"

static uint64_t counter_track(struct perfetto *p, const int64_t *track)
{
	struct counter_name name;

	timeline_counter_name(&p->t, track, &name);
	return perfetto_counter_track(p, name.gpu ? perfetto_gpu(p, name.gpu) : perfetto_process(p, track[TRACK_PROCESS]), name.text,
				      name.unit);
}

static void put_counter(struct perfetto *p, uint64_t uuid, const struct event_reader *r)
{
	int64_t whole = event_value(r, EVENT_WHAT), bits = event_value(r, EVENT_CORRELATION);
	double real;

	memcpy(&real, &bits, sizeof(real));
	perfetto_event_head(p, EVENT_TYPE_COUNTER, uuid);
	if (whole == 0 && bits != 0)
		proto_real(&p->event, EVENT_FIELD_REAL_COUNTER, real);
	else
		proto_number(&p->event, EVENT_FIELD_COUNTER, (uint64_t)whole);
	perfetto_packet(p, event_value(r, EVENT_START), PACKET_TRACK_EVENT);
}

/* None is allocated of the kinds behind. */
#define MEMORY_KINDS GPU_MEMORY_HOST

/* Allocations are shown as what is held, by kind of memory. */
struct held_memory {
	uint64_t tracks[MEMORY_KINDS];
	int64_t bytes[MEMORY_KINDS];
};

static void put_memory(struct perfetto *p, struct held_memory *held, const struct event_reader *r)
{
	int64_t kind = event_value(r, EVENT_SOURCE), bytes = event_value(r, EVENT_BYTES);
	uint64_t sum;
	char name[64];

	kind = kind > 0 && kind < MEMORY_KINDS ? kind : 0;
	if (!held->tracks[kind]) {
		snprintf(name, sizeof(name), "GPU memory: %s", kind ? gpu_memory_kind(kind)->word : "other");
		held->tracks[kind] = perfetto_counter_track(p, perfetto_process(p, r->track[TRACK_PROCESS]), name, "B");
	}
	sum = (uint64_t)held->bytes[kind] + (event_value(r, EVENT_WHAT) == GPU_MEMORY_RELEASE ? 0 - (uint64_t)bytes : (uint64_t)bytes);
	held->bytes[kind] = (int64_t)sum;
	perfetto_event_head(p, EVENT_TYPE_COUNTER, held->tracks[kind]);
	proto_number(&p->event, EVENT_FIELD_COUNTER, sum);
	perfetto_packet(p, event_value(r, EVENT_START), PACKET_TRACK_EVENT);
}

static int put_points(struct perfetto *p, const struct track_groups *groups, const int64_t *track, struct error *err)
{
	struct held_memory held = { 0 };
	struct event_reader r;
	uint64_t uuid = 0;
	int result;

	event_reader_init(&r, &p->t, groups->table, groups, (uint32_t)track[TRACK_ID]);
	while ((result = event_reader_load(&r)) > 0) {
		if (groups->table == TABLE_COUNTER && !uuid)
			uuid = counter_track(p, track);
		/* What was held before the range counts in it. */
		if (groups->table == TABLE_GPU_MEMORY)
			put_memory(p, &held, &r);
		else if (export_keeps(p->e, event_value(&r, EVENT_START), event_value(&r, EVENT_START)))
			put_counter(p, uuid, &r);
		r.row++;
		result = perfetto_flush(p, "counters", err);
		if (result < 0)
			break;
	}
	event_reader_release(&r);
	return result == -ENOMEM ? error_set(err, ENOMEM, "Not enough memory") : result;
}

int perfetto_counters(struct perfetto *p, struct error *err)
{
	static const enum table_id tables[] = { TABLE_COUNTER, TABLE_GPU_MEMORY };
	struct track_groups groups;
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < 2; i++) {
		r = track_groups_load(&groups, p->t.q, tables[i]);
		if (r < 0)
			return error_set(err, ENOMEM, "Not enough memory");
		for (size_t k = 0; r >= 0 && k < p->t.tracks.count; k++) {
			const int64_t *track = p->t.tracks.rows + k * p->t.tracks.width;

			if (track_groups_has(&groups, (uint32_t)track[TRACK_ID]))
				r = put_points(p, &groups, track, err);
		}
		track_groups_release(&groups);
	}
	return r;
}

/* The file that code is in. Perfetto leaves out stacks with a frame that is in none; it puts the first slash itself. */
static uint64_t intern_mapping(struct perfetto *p, const struct code_function *f)
{
	const char *path = "[unknown]";
	size_t len = strlen(path), entry;
	uint64_t path_id;
	uint32_t number;
	bool is_new;

	if (f->path)
		path = timeline_text(&p->t, f->path, &len);
	path_id = perfetto_intern(p, INTERNED_PATH, (uint64_t)f->path, path + (path[0] == '/'), len - (path[0] == '/'));
	number = perfetto_number(p, &p->ids[INTERNED_MAPPING], (uint64_t)f->path, &is_new);
	if (is_new) {
		entry = proto_begin(&p->interned, INTERNED_MAPPING);
		proto_number(&p->interned, 1, number);
		proto_number(&p->interned, 5, UINT64_MAX);
		proto_number(&p->interned, 7, path_id);
		proto_end(&p->interned, entry);
	}
	return number;
}

static uint64_t intern_frame(struct perfetto *p, const struct stack_tree *tree, uint32_t frame)
{
	const struct code_frame *code = &tree->code[frame];
	const struct code_function *f = &tree->functions[code->function];
	struct buf text = BUF_INIT;
	uint64_t name, mapping;
	uint32_t number;
	size_t entry;
	bool is_new;

	number = perfetto_number(p, &p->ids[INTERNED_FRAME], frame, &is_new);
	if (!is_new)
		return number;
	if (code_function_text(p->t.q, f, &text) < 0)
		p->result = -ENOMEM;
	name = perfetto_intern(p, INTERNED_FUNCTION, code->function, text.data, text.len);
	mapping = intern_mapping(p, f);
	entry = proto_begin(&p->interned, INTERNED_FRAME);
	proto_number(&p->interned, 1, number);
	proto_number(&p->interned, 2, name);
	proto_number(&p->interned, 3, mapping);
	proto_number(&p->interned, 4, (uint64_t)code->offset);
	proto_end(&p->interned, entry);
	buf_release(&text);
	return number;
}

/* The outermost caller comes first. */
static uint64_t intern_stack(struct perfetto *p, const struct stack_tree *tree, int64_t stack)
{
	uint64_t frames[STACK_MAX_DEPTH];
	unsigned count = 0;
	uint32_t number, at;
	size_t entry;
	bool is_new;

	if (stack <= 0 || stack >= (int64_t)tree->stack_count)
		return 0;
	number = perfetto_number(p, &p->ids[INTERNED_CALLSTACK], (uint64_t)stack, &is_new);
	if (!is_new)
		return number;
	for (at = (uint32_t)stack; at && count < STACK_MAX_DEPTH; at = tree->parents[at])
		frames[count++] = intern_frame(p, tree, tree->frames[at]);
	entry = proto_begin(&p->interned, INTERNED_CALLSTACK);
	proto_number(&p->interned, 1, number);
	while (count > 0)
		proto_number(&p->interned, 2, frames[--count]);
	proto_end(&p->interned, entry);
	return number;
}

static void put_cpu_sample(struct perfetto *p, const struct stack_tree *tree, const struct event_reader *r, const int64_t *thread,
			   const int64_t *process)
{
	uint64_t stack = intern_stack(p, tree, event_value(r, EVENT_WHAT));
	struct proto *s = &p->event;

	proto_number(s, 1, (uint64_t)event_value(r, EVENT_CORRELATION) & 0xffffffff);
	proto_number(s, 2, process ? (uint64_t)process[PROCESS_PID] : 0);
	proto_number(s, 3, (uint64_t)thread[THREAD_TID]);
	if (stack)
		proto_number(s, 4, stack);
	proto_number(s, 5, event_value(r, EVENT_FLAGS) ? 1 : 2);
	perfetto_packet(p, event_value(r, EVENT_START), PACKET_PERF_SAMPLE);
}

int perfetto_samples(struct perfetto *p, struct error *err)
{
	const int64_t *thread, *process;
	struct stack_tree *tree;
	struct event_reader r;
	int result = 0;

	if (report_row_count(p->t.report, TABLE_SAMPLE) == 0)
		return 0;
	if (stack_tree_of(p->t.q, &tree) < 0)
		return error_set(err, ENOMEM, "Not enough memory for the stacks");
	event_reader_init(&r, &p->t, TABLE_SAMPLE, NULL, 0);
	while (result >= 0 && (result = event_reader_load(&r)) > 0) {
		thread = r.track ? index_find(&p->t.q->index.threads, r.track[TRACK_THREAD]) : NULL;
		process = thread ? index_find(&p->t.q->index.processes, thread[THREAD_PROCESS]) : NULL;
		if (thread && export_keeps(p->e, event_value(&r, EVENT_START), event_value(&r, EVENT_START)))
			put_cpu_sample(p, tree, &r, thread, process);
		r.row++;
		result = perfetto_flush(p, "samples", err);
	}
	event_reader_release(&r);
	return result == -ENOMEM ? error_set(err, ENOMEM, "Not enough memory") : result;
}

static void put_state(struct perfetto *p, uint64_t track, const struct state_interval *s)
{
	const char *name = thread_state_names[s->state], *reason;
	static const char category[] = "thread_state";
	size_t len;

	perfetto_event_head(p, EVENT_TYPE_BEGIN, track);
	proto_number(&p->event, EVENT_FIELD_NAME, perfetto_intern(p, INTERNED_NAME, 1ull << 61 | s->state, name, strlen(name)));
	proto_number(&p->event, EVENT_FIELD_CATEGORY, perfetto_intern(p, INTERNED_CATEGORY, 1ull << 61, category, sizeof(category) - 1));
	if (s->state == STATE_RUNNING)
		perfetto_annotate_number(p, "cpu", s->cpu);
	reason = timeline_text(&p->t, s->reason, &len);
	if (len)
		perfetto_annotate_text(p, "blocked in", reason, len);
	perfetto_packet(p, s->start, PACKET_TRACK_EVENT);
	perfetto_end_slice(p, track, s->end > s->start ? s->end : s->start);
}

static int put_states(struct perfetto *p, const struct run_threads *threads, size_t thread, struct error *err)
{
	struct run_walk *walk = calloc(1, sizeof(*walk));
	struct state_interval state;
	uint64_t parent, track = 0;
	int r = walk ? 0 : -ENOMEM;

	if (walk)
		run_walk_init(walk, threads, thread);
	while (r >= 0 && (r = run_walk_next(walk, &state)) > 0) {
		parent = perfetto_thread(p, threads->tracks[thread][TRACK_THREAD]);
		if (!track)
			track = perfetto_track(p, parent, "State");
		if (export_keeps(p->e, state.start, state.end))
			put_state(p, track, &state);
		r = perfetto_flush(p, "states of threads", err);
	}
	if (walk)
		run_walk_release(walk);
	free(walk);
	return r == -ENOMEM ? error_set(err, ENOMEM, "Not enough memory") : r;
}

int perfetto_states(struct perfetto *p, struct error *err)
{
	struct run_threads threads = { 0 };
	int r;

	if (report_row_count(p->t.report, TABLE_RUN) == 0)
		return 0;
	r = run_threads_load(&threads, p->t.q);
	if (r < 0)
		error_set(err, ENOMEM, "Not enough memory");
	for (size_t i = 0; r >= 0 && i < threads.count; i++)
		r = put_states(p, &threads, i, err);
	run_threads_release(&threads);
	return r;
}
