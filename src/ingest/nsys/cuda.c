/* Calls of CUDA, what CUPTI cost, and how graphs were made. */
#include <string.h>

#include "ingest/nsys/internal.h"

#define OVERHEAD_SHIFT 16
enum { CLASS_RUNTIME, CLASS_DRIVER };

#define CALL_AT(column) NSYS_AT(CUPTI_ACTIVITY_KIND_RUNTIME, column)

static void add_nsys_call(struct nsys_rows *rows, int64_t class)
{
	struct nsys *n = rows->n;
	int64_t v[TABLE_MAX_COLUMNS], chain;
	uint64_t stack, set;
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	v[COLUMN_CUDA_API_CLASS] = class;
	present |= SINK_BIT(COLUMN_CUDA_API_CLASS);
	nsys_fill(rows, v, &present);
	v[COLUMN_CUDA_API_FLAGS] = nsys_call_flags(n, v[1]);
	present |= v[COLUMN_CUDA_API_FLAGS] ? SINK_BIT(COLUMN_CUDA_API_FLAGS) : 0;
	stack = nsys_number(rows, CALL_AT(callchainId), &chain) ? nsys_map_find(&n->cuda_stacks, chain) : 0;
	v[COLUMN_CUDA_API_STACK] = (int64_t)stack;
	present |= stack ? SINK_BIT(COLUMN_CUDA_API_STACK) : 0;
	set = nsys_extras(rows);
	v[COLUMN_CUDA_API_ARGS] = (int64_t)set;
	present |= set ? SINK_BIT(COLUMN_CUDA_API_ARGS) : 0;
	sink_event(&n->sink, nsys_thread_track(n, TRACK_CUDA_API, TABLE_CUDA_API, nsys_row_thread(rows, CALL_AT(globalTid)), 0, 0), v,
		   present);
}

/* Old exports have the driver's calls in a table of their own. */
static void read_calls(struct nsys *n, const char *name, int64_t class)
{
	struct nsys_table table = nsys_tables[NSYS_CUPTI_ACTIVITY_KIND_RUNTIME];
	struct nsys_rows rows;

	table.name = name;
	if (!nsys_rows_open(&rows, n, &table))
		return;
	while (nsys_rows_next(&rows))
		add_nsys_call(&rows, class);
	nsys_rows_close(&rows);
}

#define OVERHEAD_AT(column) NSYS_AT(CUPTI_ACTIVITY_KIND_OVERHEAD, column)

/* 1 unknown, 2 the compiler, then CUPTI's own from 1 << 16; 0 is one that has no number there. */
static int64_t cupti_overhead(int64_t kind)
{
	if (kind == 1 || kind == 2)
		return kind - 1;
	return kind >= 3 && kind <= 8 ? (kind - 2) << OVERHEAD_SHIFT : INT64_C(9) << OVERHEAD_SHIFT;
}

/* How many rows PROFILER_OVERHEAD has of the times, thread and kind of this one. */
static uint64_t *profilers_of(struct nsys_rows *rows, const int64_t *times)
{
	const int64_t key[] = { times[0], times[1], nsys_number_or(rows, OVERHEAD_AT(globalTid), 0),
				nsys_number_or(rows, OVERHEAD_AT(overheadType), 0) };
	struct nsys *n = rows->n;
	uint32_t count = n->overhead_keys.count, number = keymap_number(&n->overhead_keys, key, sizeof(key));

	if (number == KEYMAP_NONE || (number == count && nsys_room(n, &n->profilers_overhead, count, sizeof(uint64_t)) < 0))
		return NULL;
	if (number == count)
		n->profilers_overhead[number] = 0;
	return &n->profilers_overhead[number];
}

static void put_overhead(struct nsys_rows *rows, int64_t *values, uint32_t present, int64_t listed)
{
	struct nsys *n = rows->n;

	nsys_fill(rows, values, &present);
	values[COLUMN_CUDA_OVERHEAD_KIND] = cupti_overhead(nsys_number_or(rows, OVERHEAD_AT(overheadType), 0));
	values[COLUMN_CUDA_OVERHEAD_LISTED] = listed;
	present |= SINK_BIT(COLUMN_CUDA_OVERHEAD_KIND) | SINK_BIT(COLUMN_CUDA_OVERHEAD_LISTED);
	sink_event(&n->sink,
		   nsys_thread_track(n, TRACK_CUDA_OVERHEAD, TABLE_CUDA_OVERHEAD, nsys_row_thread(rows, OVERHEAD_AT(globalTid)), 0, 0),
		   values, present);
}

enum overhead_pass { COUNT_PROFILERS, TAKE_CUPTIS, TAKE_PROFILERS };

/* What both tables have becomes one row. */
static void overhead(struct nsys_rows *rows, enum overhead_pass pass)
{
	enum { CUPTIS = 1, BOTH, PROFILERS }; /* cuda_overhead.listed */
	int64_t v[TABLE_MAX_COLUMNS];
	uint64_t *profilers;
	uint32_t present;

	if (!nsys_times(rows, v, &present))
		return;
	profilers = profilers_of(rows, v);
	if (!profilers)
		return;
	if (pass == COUNT_PROFILERS)
		++*profilers;
	else if (pass == TAKE_CUPTIS)
		put_overhead(rows, v, present, *profilers ? (--*profilers, BOTH) : CUPTIS);
	else if (*profilers)
		put_overhead(rows, v, present, (--*profilers, PROFILERS));
}

static void read_overhead(struct nsys *n)
{
	struct nsys_table table = nsys_tables[NSYS_CUPTI_ACTIVITY_KIND_OVERHEAD]; /* it has all columns of the other */
	uint64_t untimed, backwards;
	struct nsys_rows rows;

	for (enum overhead_pass pass = COUNT_PROFILERS; pass <= TAKE_PROFILERS; pass++) {
		table.name = nsys_tables[pass == TAKE_CUPTIS ? NSYS_CUPTI_ACTIVITY_KIND_OVERHEAD : NSYS_PROFILER_OVERHEAD].name;
		if (!nsys_rows_open(&rows, n, &table))
			continue;
		untimed = n->untimed;
		backwards = n->backwards;
		while (nsys_rows_next(&rows))
			overhead(&rows, pass);
		nsys_rows_close(&rows);
		if (pass == COUNT_PROFILERS) { /* they are read again */
			n->untimed = untimed;
			n->backwards = backwards;
		}
	}
}

/* The tables of nodes and of graphs begin alike. */
#define MADE_AT(column) NSYS_AT(CUDA_GRAPH_EVENTS, column)
_Static_assert(MADE_AT(start) == NSYS_AT(CUDA_GRAPH_NODE_EVENTS, start) &&
		       MADE_AT(globalTid) == NSYS_AT(CUDA_GRAPH_NODE_EVENTS, globalTid) &&
		       MADE_AT(nameId) == NSYS_AT(CUDA_GRAPH_NODE_EVENTS, nameId),
	       "one function reads both");

static void put_maker(const struct nsys_rows *rows, int64_t *values, uint32_t *present, unsigned process, unsigned thread)
{
	const struct nsys_thread *t = nsys_row_thread(rows, MADE_AT(globalTid));

	if (!t)
		return;
	values[process] = t->process + 1;
	values[thread] = (int64_t)nsys_thread_uid(rows->n, t);
	*present |= SINK_BIT(process) | SINK_BIT(thread);
}

/* The name is that of a kernel's function, or says what kind of node it is. */
static void put_node_name(const struct nsys_rows *rows, int64_t *values, uint32_t *present)
{
	/* clang-format off */
	static const char *const types[] = {
		"Kernel", "Memcpy", "Memset", "Host function", "Child graph", "Empty", "Event wait", "Event record",
		"Semaphore signal", "Semaphore wait", "Memory allocation", "Memory release", "Batch of memory operations",
		"Conditional",
	};
	/* clang-format on */
	uint64_t name = nsys_string(rows, MADE_AT(nameId));

	if (!name || name == sink_text(&rows->n->sink, "Unknown node"))
		return;
	for (unsigned i = 0; i < COUNT_OF(types); i++)
		if (name == sink_text(&rows->n->sink, types[i])) {
			values[COLUMN_CUDA_GRAPH_NODE_TYPE] = i;
			*present |= SINK_BIT(COLUMN_CUDA_GRAPH_NODE_TYPE);
			return;
		}
	values[COLUMN_CUDA_GRAPH_NODE_TYPE] = 0;
	values[COLUMN_CUDA_GRAPH_NODE_FUNCTION] = nsys_function(rows->n, name, name, 0);
	*present |= SINK_BIT(COLUMN_CUDA_GRAPH_NODE_TYPE) | SINK_BIT(COLUMN_CUDA_GRAPH_NODE_FUNCTION);
}

static void node(struct nsys_rows *rows)
{
	int64_t v[TABLE_MAX_COLUMNS], time;
	uint32_t present = SINK_BIT(COLUMN_CUDA_GRAPH_NODE_TIME);

	if (!nsys_time(rows, MADE_AT(start), &time)) {
		rows->n->untimed++;
		return;
	}
	v[COLUMN_CUDA_GRAPH_NODE_TIME] = time;
	nsys_fill(rows, v, &present);
	put_maker(rows, v, &present, COLUMN_CUDA_GRAPH_NODE_PROCESS, COLUMN_CUDA_GRAPH_NODE_THREAD);
	put_node_name(rows, v, &present);
	sink_row(&rows->n->sink, TABLE_CUDA_GRAPH_NODE, v, present);
}

static void graph(struct nsys_rows *rows)
{
	enum { MADE = 1, CLONED = 2, MADE_EXECUTABLE = 3 };
	uint32_t present = SINK_BIT(COLUMN_CUDA_GRAPH_TIME) | SINK_BIT(COLUMN_CUDA_GRAPH_KIND);
	int64_t v[TABLE_MAX_COLUMNS], class = nsys_number_or(rows, MADE_AT(eventClass), 95), time;

	if (!nsys_time(rows, MADE_AT(start), &time)) {
		rows->n->untimed++;
		return;
	}
	v[COLUMN_CUDA_GRAPH_TIME] = time;
	v[COLUMN_CUDA_GRAPH_KIND] = class == 94 ? MADE_EXECUTABLE : class == 96 ? CLONED : MADE;
	nsys_fill(rows, v, &present);
	put_maker(rows, v, &present, COLUMN_CUDA_GRAPH_PROCESS, COLUMN_CUDA_GRAPH_THREAD);
	sink_row(&rows->n->sink, TABLE_CUDA_GRAPH, v, present);
}

void nsys_read_calls(struct nsys *n)
{
	static const struct nsys_reading graphs[] = { { NSYS_CUDA_GRAPH_NODE_EVENTS, node }, { NSYS_CUDA_GRAPH_EVENTS, graph } };

	nsys_read_chains(n, NSYS_CUDA_CALLCHAINS, &n->cuda_stacks);
	read_calls(n, nsys_tables[NSYS_CUPTI_ACTIVITY_KIND_RUNTIME].name, CLASS_RUNTIME);
	read_calls(n, NSYS_OLD_DRIVER, CLASS_DRIVER);
	read_overhead(n);
	nsys_read_tables(n, graphs, COUNT_OF(graphs));
}
