/* sched_stats: switches, migrations, CPU time and waiting for a CPU, added up by thread and by
 * core. cpu_runs: what ran on each core, in order of core and time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "query/engine/function.h"
#include "query/sched/run_walk.h"
#include "query/engine/scope.h"

/* No machine has more; a report may say anything. */
#define MAX_CORES 65536

/* clang-format off */
enum { SUM_KIND = WHO_COUNT, SUM_CPU, SUM_RUNS, SUM_BUSY, SUM_VOLUNTARY, SUM_FORCED, SUM_MIGRATIONS, SUM_WAITS,
       SUM_WAIT_TIME, SUM_WAIT_MAX, SUM_NOT_SPLIT };
/* clang-format on */
#define SUM_DECLARATION \
	"CREATE TABLE x(" WHO_DECLARATION ", kind TEXT, cpu INTEGER, runs INTEGER, " \
	"busy INTEGER, voluntary INTEGER, forced INTEGER, migrations INTEGER, waits INTEGER, " \
	"waitTime INTEGER, waitMax INTEGER, notSplit INTEGER)"

enum { RUNS_CPU = WHO_COUNT, RUNS_START, RUNS_END, RUNS_DURATION, RUNS_MIGRATED, RUNS_AFTER };
#define RUNS_DECLARATION \
	"CREATE TABLE x(" WHO_DECLARATION ", cpu INTEGER, start INTEGER, end INTEGER, " \
	"duration INTEGER, migrated INTEGER, after INTEGER)"

/* A run with what only its thread's earlier ones tell. */
struct placed_run {
	struct run run;
	int migrated; /* the one before was on another core */
	int waited;   /* how long it waited for its CPU is known */
	int64_t wait;
	int64_t gap; /* blocked and waiting, not split; 0 = none */
	int64_t busy;
};

struct placing {
	struct track_reader reader;
	struct run last;
	int has_last;
	struct query *q;
	const int64_t *track;
};

static void begin_placing(struct placing *p, const struct run_threads *threads, size_t thread)
{
	*p = (struct placing){ .q = threads->q, .track = threads->tracks[thread] };
	run_reader_init(threads, thread, &p->reader);
}

static int next_any(struct placing *p, struct placed_run *ret)
{
	int r = run_reader_next(&p->reader, &ret->run);
	const struct run *run = &ret->run;

	if (r <= 0)
		return r;
	ret->migrated = p->has_last && p->last.cpu != run->cpu;
	ret->waited = run->ready && run->ready <= run->start && (!p->has_last || run->ready >= p->last.end);
	ret->wait = ret->waited ? scope_length(p->q, p->track, run->ready, run->start) : 0;
	ret->gap = !ret->waited && p->has_last && p->last.after == RUN_BLOCKED && run->start > p->last.end ?
			   scope_length(p->q, p->track, p->last.end, run->start) :
			   0;
	ret->busy = run->end > run->start ? scope_length(p->q, p->track, run->start, run->end) : 0;
	if (p->q->scope && ret->wait == 0)
		ret->waited = 0; /* outside */
	p->last = *run;
	p->has_last = 1;
	return 1;
}

/* With a scope: the runs of which some part is in it. */
static int next_placed(struct placing *p, struct placed_run *ret)
{
	int r;

	do
		r = next_any(p, ret);
	while (r > 0 && p->q->scope && ret->busy == 0);
	return r;
}

/* sched_stats */

struct sched_sum {
	int64_t runs;
	int64_t busy;
	int64_t voluntary;
	int64_t forced;
	int64_t migrations;
	int64_t waits;
	int64_t wait_time;
	int64_t wait_max;
	int64_t not_split;
};

struct sum_cursor {
	sqlite3_vtab_cursor base;
	struct run_threads threads;
	struct sched_sum *sums; /* of the threads, then of the cores */
	struct sched_sum *cores;
	size_t core_count;
	size_t at;
};

static void add_run(struct sched_sum *sum, const struct placed_run *p)
{
	sum->runs++;
	sum->busy = time_sum(sum->busy, p->busy);
	sum->voluntary += p->run.after == RUN_BLOCKED;
	sum->forced += p->run.after == RUN_PREEMPTED;
	sum->migrations += p->migrated;
	sum->waits += p->waited;
	sum->wait_time = time_sum(sum->wait_time, p->wait);
	sum->wait_max = p->wait > sum->wait_max ? p->wait : sum->wait_max;
	sum->not_split = time_sum(sum->not_split, p->gap);
}

static struct sched_sum *core_sum(struct sum_cursor *c, int64_t cpu)
{
	if (cpu < 0 || cpu >= MAX_CORES || !ARRAY_REACH(c->cores, c->core_count, (size_t)cpu))
		return NULL;
	return &c->cores[cpu];
}

static int sum_thread(struct sum_cursor *c, size_t thread)
{
	struct placing placing;
	struct placed_run placed;
	struct sched_sum *core;
	int r;

	begin_placing(&placing, &c->threads, thread);
	while ((r = next_placed(&placing, &placed)) > 0) {
		add_run(&c->sums[thread], &placed);
		core = core_sum(c, placed.run.cpu);
		/* What was not split is of the thread, not of a core. */
		placed.gap = 0;
		if (core)
			add_run(core, &placed);
	}
	track_reader_release(&placing.reader);
	return r;
}

static int sum_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, SUM_DECLARATION, ret);
}

static int sum_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct sum_cursor));
}

static void sum_forget(struct sum_cursor *c)
{
	free(c->sums);
	free(c->cores);
	c->sums = c->cores = NULL;
	c->core_count = c->at = 0;
	run_threads_release(&c->threads);
}

static int sum_close(sqlite3_vtab_cursor *base)
{
	sum_forget((struct sum_cursor *)base);
	free(base);
	return SQLITE_OK;
}

/* Cores nothing ran on are not shown, nor are threads that did not run in the query's scope. */
static void skip_empty(struct sum_cursor *c)
{
	while (c->threads.q->scope && c->at < c->threads.count && !c->sums[c->at].runs)
		c->at++;
	while (c->at >= c->threads.count && c->at - c->threads.count < c->core_count && !c->cores[c->at - c->threads.count].runs)
		c->at++;
}

static int sum_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct sum_cursor *c = (struct sum_cursor *)base;
	int r;

	sum_forget(c);
	r = run_threads_load(&c->threads, ((struct function_vtab *)base->pVtab)->q);
	if (r < 0)
		return function_code(r);
	c->sums = calloc(c->threads.count + 1, sizeof(*c->sums));
	if (!c->sums)
		return SQLITE_NOMEM;
	for (size_t i = 0; r >= 0 && i < c->threads.count; i++)
		r = sum_thread(c, i);
	skip_empty(c);
	return function_code(r);
}

static int sum_next(sqlite3_vtab_cursor *base)
{
	struct sum_cursor *c = (struct sum_cursor *)base;

	c->at++;
	skip_empty(c);
	return SQLITE_OK;
}

static int sum_eof(sqlite3_vtab_cursor *base)
{
	struct sum_cursor *c = (struct sum_cursor *)base;

	return c->at >= c->threads.count + c->core_count;
}

static int64_t figure_of(const struct sched_sum *sum, int column)
{
	switch (column) {
	case SUM_RUNS: return sum->runs;
	case SUM_BUSY: return sum->busy;
	case SUM_VOLUNTARY: return sum->voluntary;
	case SUM_FORCED: return sum->forced;
	case SUM_MIGRATIONS: return sum->migrations;
	case SUM_WAITS: return sum->waits;
	case SUM_WAIT_TIME: return sum->wait_time;
	case SUM_WAIT_MAX: return sum->wait_max;
	default: return sum->not_split;
	}
}

static int sum_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct sum_cursor *c = (struct sum_cursor *)base;
	int is_core = c->at >= c->threads.count;
	size_t core = c->at - c->threads.count;

	if (column == SUM_KIND)
		sqlite3_result_text(context, is_core ? "core" : "thread", -1, SQLITE_STATIC);
	else if (column == SUM_CPU && is_core)
		sqlite3_result_int64(context, (sqlite3_int64)core);
	else if (column >= SUM_RUNS)
		sqlite3_result_int64(context, figure_of(is_core ? &c->cores[core] : &c->sums[c->at], column));
	else if (column < WHO_COUNT && !is_core)
		result_who(context, c->threads.q, c->threads.tracks[c->at], column);
	return SQLITE_OK;
}

static int sum_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)((struct sum_cursor *)base)->at;
	return SQLITE_OK;
}

const sqlite3_module sched_stats_module = FUNCTION_MODULE(sum, plain_best_index);

/* cpu_runs */

struct core_run {
	int64_t start;
	int64_t end;
	uint32_t thread;
	uint16_t cpu;
	uint8_t migrated;
	uint8_t after;
};

struct runs_cursor {
	struct list_cursor list;
	struct run_threads threads;
	struct core_run *runs;
};

static int compare_core_runs(const void *a, const void *b)
{
	const struct core_run *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int collect_thread(struct runs_cursor *c, size_t thread, size_t cap)
{
	struct placing placing;
	struct placed_run p;
	int r;

	begin_placing(&placing, &c->threads, thread);
	while ((r = next_placed(&placing, &p)) > 0 && c->list.count < cap)
		if (p.run.cpu >= 0 && p.run.cpu < MAX_CORES)
			c->runs[c->list.count++] = (struct core_run){ p.run.start,         p.run.end,           (uint32_t)thread,
								      (uint16_t)p.run.cpu, (uint8_t)p.migrated, (uint8_t)p.run.after };
	track_reader_release(&placing.reader);
	return r;
}

static int runs_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, RUNS_DECLARATION, ret);
}

static int runs_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct runs_cursor));
}

static void runs_forget(struct runs_cursor *c)
{
	free(c->runs);
	c->runs = NULL;
	c->list.count = c->list.at = 0;
	run_threads_release(&c->threads);
}

static int runs_close(sqlite3_vtab_cursor *base)
{
	runs_forget((struct runs_cursor *)base);
	free(base);
	return SQLITE_OK;
}

static int runs_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct runs_cursor *c = (struct runs_cursor *)base;
	struct query *q = ((struct function_vtab *)base->pVtab)->q;
	size_t cap = report_row_count(q->report, TABLE_RUN);
	int r;

	runs_forget(c);
	r = run_threads_load(&c->threads, q);
	if (r < 0)
		return function_code(r);
	c->runs = calloc(cap + 1, sizeof(*c->runs));
	if (!c->runs)
		return SQLITE_NOMEM;
	for (size_t i = 0; r >= 0 && i < c->threads.count; i++)
		r = collect_thread(c, i, cap);
	sort_items(c->runs, c->list.count, sizeof(*c->runs), compare_core_runs);
	return function_code(r);
}

static int runs_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct runs_cursor *c = (struct runs_cursor *)base;
	const struct core_run *run = &c->runs[c->list.at];

	switch (column) {
	case RUNS_CPU: sqlite3_result_int64(context, run->cpu); break;
	case RUNS_START: sqlite3_result_int64(context, run->start); break;
	case RUNS_END: sqlite3_result_int64(context, run->end); break;
	case RUNS_DURATION: sqlite3_result_int64(context, time_between(run->start, run->end)); break;
	case RUNS_MIGRATED: sqlite3_result_int64(context, run->migrated); break;
	case RUNS_AFTER: sqlite3_result_int64(context, run->after); break;
	default: result_who(context, c->threads.q, c->threads.tracks[run->thread], column);
	}
	return SQLITE_OK;
}

const sqlite3_module cpu_runs_module = LIST_MODULE(runs, plain_best_index);
