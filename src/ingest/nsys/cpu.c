/* Samples, calls of the OS runtime, and who had a CPU. */
#include <errno.h>
#include <string.h>

#include "ingest/nsys/internal.h"

#define SAMPLE_AT(column) NSYS_AT(COMPOSITE_EVENTS, column)

/* Both come in order of id: the chain of a sample is the next one, or there is none. */
struct chain_at_hand {
	struct nsys_chains chains;
	int has, in_kernel;
	int64_t id;
	uint64_t stack;
};

static void next_chain(struct chain_at_hand *c)
{
	c->has = c->chains.is_open && nsys_chains_next(&c->chains, &c->id, &c->stack);
	c->in_kernel = c->chains.in_kernel;
}

static void sample(struct nsys_rows *rows, struct chain_at_hand *c)
{
	struct nsys *n = rows->n;
	int64_t v[TABLE_MAX_COLUMNS], id = nsys_number_or(rows, SAMPLE_AT(id), INT64_MIN);
	uint32_t present = 1;

	while (c->has && c->id < id)
		next_chain(c);
	if (!nsys_time(rows, SAMPLE_AT(start), &v[0])) {
		n->untimed++;
		return;
	}
	nsys_fill(rows, v, &present);
	if (c->has && c->id == id) {
		v[COLUMN_SAMPLE_STACK] = (int64_t)c->stack;
		v[COLUMN_SAMPLE_KERNEL] = c->in_kernel;
		present |= SINK_BIT(COLUMN_SAMPLE_STACK) | SINK_BIT(COLUMN_SAMPLE_KERNEL);
	}
	sink_event(&n->sink, nsys_thread_track(n, TRACK_SAMPLES, TABLE_SAMPLE, nsys_row_thread(rows, SAMPLE_AT(globalTid)), 0, 0), v,
		   present);
}

static void read_samples(struct nsys *n)
{
	struct chain_at_hand c = { 0 };
	struct nsys_rows rows;

	if (!nsys_rows_open_sorted(&rows, n, &nsys_tables[NSYS_COMPOSITE_EVENTS], (const unsigned[]){ SAMPLE_AT(id) }, 1))
		return;
	nsys_chains_open(&c.chains, n, NSYS_SAMPLING_CALLCHAINS);
	next_chain(&c);
	while (nsys_rows_next(&rows))
		sample(&rows, &c);
	nsys_chains_close(&c.chains);
	nsys_rows_close(&rows);
}

#define FILE_AT(column) NSYS_AT(OSRT_FILE_ACCESS_DESCRIPTORS, column)

/* 0: it was not seen. */
static void put_moment(const struct nsys_rows *rows, unsigned from, int64_t *values, uint32_t *present, unsigned column)
{
	if (nsys_time(rows, from, &values[column]) && values[column])
		*present |= SINK_BIT(column);
}

static void read_files(struct nsys *n)
{
	int64_t v[TABLE_MAX_COLUMNS];
	struct nsys_rows rows;
	uint32_t present;

	if (!nsys_rows_open(&rows, n, &nsys_tables[NSYS_OSRT_FILE_ACCESS_DESCRIPTORS]))
		return;
	while (nsys_rows_next(&rows)) {
		present = SINK_BIT(COLUMN_FILE_ID) | SINK_BIT(COLUMN_FILE_PROCESS) | SINK_BIT(COLUMN_FILE_PATH);
		v[COLUMN_FILE_ID] = nsys_number_or(&rows, FILE_AT(fileAccessId), 0);
		v[COLUMN_FILE_PROCESS] = (int64_t)nsys_row_process(&rows, FILE_AT(processId));
		v[COLUMN_FILE_PATH] = (int64_t)nsys_text(&rows, FILE_AT(filePath));
		put_moment(&rows, FILE_AT(openedAt), v, &present, COLUMN_FILE_OPENED);
		put_moment(&rows, FILE_AT(closedAt), v, &present, COLUMN_FILE_CLOSED);
		sink_row(&n->sink, TABLE_FILE, v, present);
	}
	nsys_rows_close(&rows);
}

/* What calls did with files, by the number of the call: its row in OSRT_API. */
struct accesses {
	struct nsys_map files, bytes; /* + 1 */
};

#define ACCESS_AT(column) NSYS_AT(OSRT_FILE_ACCESS_EVENTS, column)

static void read_accesses(struct nsys *n, struct accesses *ret)
{
	struct nsys_rows rows;
	int64_t call;

	if (!nsys_rows_open(&rows, n, &nsys_tables[NSYS_OSRT_FILE_ACCESS_EVENTS]))
		return;
	while (nsys_rows_next(&rows)) {
		if (!nsys_number(&rows, ACCESS_AT(apiCallId), &call))
			continue;
		if (nsys_map_put(&ret->files, call, (uint64_t)nsys_number_or(&rows, ACCESS_AT(fileAccessId), 0) + 1) < 0 ||
		    nsys_map_put(&ret->bytes, call, (uint64_t)nsys_number_or(&rows, ACCESS_AT(bytesProcessed), 0) + 1) < 0)
			n->sink.result = -ENOMEM;
	}
	nsys_rows_close(&rows);
}

#define OSRT_AT(column) NSYS_AT(OSRT_API, column)

static void osrt(struct nsys_rows *rows, const struct accesses *accesses)
{
	struct nsys *n = rows->n;
	int64_t v[TABLE_MAX_COLUMNS], chain, row = nsys_number_or(rows, rows->count - 1, 0);
	uint64_t stack, file;
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	nsys_fill(rows, v, &present);
	v[COLUMN_OSRT_FLAGS] = nsys_call_flags(n, v[1]);
	present |= v[COLUMN_OSRT_FLAGS] ? SINK_BIT(COLUMN_OSRT_FLAGS) : 0;
	stack = nsys_number(rows, OSRT_AT(callchainId), &chain) ? nsys_map_find(&n->osrt_stacks, chain) : 0;
	v[COLUMN_OSRT_STACK] = (int64_t)stack;
	present |= stack ? SINK_BIT(COLUMN_OSRT_STACK) : 0;
	file = nsys_map_find(&accesses->files, row);
	if (file > 1) {
		v[COLUMN_OSRT_FILE] = (int64_t)(file - 1);
		v[COLUMN_OSRT_BYTES] = (int64_t)(nsys_map_find(&accesses->bytes, row) - 1);
		present |= SINK_BIT(COLUMN_OSRT_FILE) | SINK_BIT(COLUMN_OSRT_BYTES);
	}
	sink_event(&n->sink, nsys_thread_track(n, TRACK_OSRT, TABLE_OSRT, nsys_row_thread(rows, OSRT_AT(globalTid)), 0, 0), v, present);
}

static void read_osrt(struct nsys *n)
{
	struct nsys_table table = nsys_tables[NSYS_OSRT_API];
	struct nsys_column columns[NSYS_WIDTH(OSRT_API) + 1];
	struct accesses accesses = { 0 };
	struct nsys_rows rows;

	memcpy(columns, table.columns, table.count * sizeof(*columns));
	columns[table.count++] = (struct nsys_column){ "rowid", NSYS_OTHER, 0, 0 }; /* the last: osrt() */
	table.columns = columns;
	read_files(n);
	read_accesses(n, &accesses);
	nsys_read_chains(n, NSYS_OSRT_CALLCHAINS, &n->osrt_stacks);
	if (nsys_rows_open(&rows, n, &table)) {
		while (nsys_rows_next(&rows))
			osrt(&rows, &accesses);
		nsys_rows_close(&rows);
	}
	nsys_map_release(&accesses.files);
	nsys_map_release(&accesses.bytes);
}

/* Numbers of states are not documented, so their names tell. */
static enum run_after state_of(const char *label)
{
	static const struct {
		const char *part;
		enum run_after state;
	} parts[] = {
		{ "exit", RUN_EXITED },           { "dead", RUN_EXITED },   { "zombie", RUN_EXITED }, { "preempt", RUN_PREEMPTED },
		{ "run", RUN_PREEMPTED },         { "block", RUN_BLOCKED }, { "sleep", RUN_BLOCKED }, { "wait", RUN_BLOCKED },
		{ "interruptible", RUN_BLOCKED }, { "idle", RUN_BLOCKED },  { "stop", RUN_BLOCKED },
	};

	for (unsigned i = 0; label && i < COUNT_OF(parts); i++)
		if (strcasestr(label, parts[i].part))
			return parts[i].state;
	return RUN_AFTER_UNKNOWN;
}

static void read_states(struct nsys *n, struct nsys_map *ret)
{
	enum { ID, LABEL };
	static const struct nsys_column columns[] = { { "id", NSYS_OTHER, 0, 0 }, { "label", NSYS_OTHER, 0, 0 } };
	static const struct nsys_table table = { "ENUM_SAMPLING_THREAD_STATE", columns, COUNT_OF(columns) };
	struct nsys_rows rows;
	int64_t id;
	size_t len;

	if (!nsys_rows_open(&rows, n, &table))
		return;
	while (nsys_rows_next(&rows))
		if (nsys_number(&rows, ID, &id))
			nsys_map_put(ret, id, (uint64_t)state_of(nsys_cell_text(&rows, LABEL, &len)) + 1);
	nsys_rows_close(&rows);
}

static void put_run(struct nsys *n, const struct nsys_thread *t, int64_t start, int64_t end, int64_t cpu, int64_t after)
{
	int64_t v[TABLE_MAX_COLUMNS];

	v[COLUMN_RUN_START] = start;
	v[COLUMN_RUN_END] = end > start ? end : start;
	v[COLUMN_RUN_CPU] = cpu;
	v[COLUMN_RUN_AFTER] = after;
	sink_event(&n->sink, nsys_thread_track(n, TRACK_RUN, TABLE_RUN, t, 0, 0), v,
		   SINK_BIT(COLUMN_RUN_START) | SINK_BIT(COLUMN_RUN_END) | SINK_BIT(COLUMN_RUN_CPU) | SINK_BIT(COLUMN_RUN_AFTER));
}

/* Leaving a CPU comes before getting one at the same moment: a run that took no time is told the wrong way around. */
static void got_cpu(struct nsys *n, struct nsys_thread *t, int64_t time, int64_t cpu)
{
	if (t->has_early_out && t->early_out == time) {
		put_run(n, t, time, time, cpu, t->early_state);
		t->has_early_out = 0;
		return;
	}
	n->unpaired += (uint64_t)(t->has_early_out + t->is_running);
	if (t->is_running)
		put_run(n, t, t->run_start, time, t->run_cpu, RUN_AFTER_UNKNOWN);
	t->has_early_out = 0;
	t->is_running = 1;
	t->run_start = time;
	t->run_cpu = cpu;
}

static void left_cpu(struct nsys *n, struct nsys_thread *t, int64_t time, int64_t state)
{
	if (t->is_running) {
		put_run(n, t, t->run_start, time, t->run_cpu, state);
		t->is_running = 0;
		return;
	}
	n->unpaired += (uint64_t)t->has_early_out;
	t->has_early_out = 1;
	t->early_out = time;
	t->early_state = state;
}

#define SCHED_AT(column) NSYS_AT(SCHED_EVENTS, column)

static void take_switch_rows(struct nsys_rows *rows, const struct nsys_map *states)
{
	struct nsys_thread *t = nsys_row_thread(rows, SCHED_AT(globalTid));
	uint64_t state;
	int64_t time;

	if (!t || !nsys_time(rows, SCHED_AT(start), &time)) {
		rows->n->untimed++;
		return;
	}
	if (nsys_number_or(rows, SCHED_AT(isSchedIn), 0)) {
		got_cpu(rows->n, t, time, nsys_number_or(rows, SCHED_AT(cpu), 0));
	} else {
		state = nsys_map_find(states, nsys_number_or(rows, SCHED_AT(threadState), 0));
		left_cpu(rows->n, t, time, state ? (int64_t)state - 1 : RUN_AFTER_UNKNOWN);
	}
}

static void read_switches(struct nsys *n)
{
	struct nsys_map states = { 0 };
	struct nsys_rows rows;

	if (!nsys_rows_open_sorted(&rows, n, &nsys_tables[NSYS_SCHED_EVENTS], (const unsigned[]){ SCHED_AT(start), SCHED_AT(isSchedIn) },
				   2))
		return;
	read_states(n, &states);
	while (nsys_rows_next(&rows))
		take_switch_rows(&rows, &states);
	nsys_rows_close(&rows);
	nsys_map_release(&states);
	for (uint32_t i = 0; i < n->thread_count; i++) {
		n->unpaired += (uint64_t)n->threads[i].has_early_out;
		if (n->threads[i].is_running)
			put_run(n, &n->threads[i], n->threads[i].run_start, n->duration > n->sink.last ? n->duration : n->sink.last,
				n->threads[i].run_cpu, RUN_STILL);
	}
}

void nsys_read_cpu(struct nsys *n)
{
	read_samples(n);
	read_osrt(n);
	read_switches(n);
}
