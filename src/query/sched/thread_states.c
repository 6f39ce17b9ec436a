/* thread_states: every interval of every thread in order of time: running, runnable, blocked and
 * in what. thread_state_stats: the same added up by thread, state and reason. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/hash_index.h"
#include "query/engine/function.h"
#include "query/index/parallel.h"
#include "query/sched/run_walk.h"

enum { STATES_STATE = WHO_COUNT, STATES_REASON, STATES_SOURCE, STATES_START, STATES_END, STATES_DURATION, STATES_CPU };
#define STATES_DECLARATION \
	"CREATE TABLE x(" WHO_DECLARATION ", state TEXT, reason TEXT, reasonSource TEXT, " \
	"start INTEGER, end INTEGER, duration INTEGER, cpu INTEGER)"

enum { STATS_STATE = WHO_COUNT, STATS_REASON, STATS_SOURCE, STATS_COUNT, STATS_TIME, STATS_MIN, STATS_MAX, STATS_TOTAL };
#define STATS_DECLARATION \
	"CREATE TABLE x(" WHO_DECLARATION ", state TEXT, reason TEXT, reasonSource TEXT, " \
	"count INTEGER, time INTEGER, min INTEGER, max INTEGER, total INTEGER)"

static void result_reason(sqlite3_context *context, struct query *q, int64_t reason)
{
	if (reason)
		result_text(context, q, reason);
}

static void result_static(sqlite3_context *context, const char *text)
{
	if (*text)
		sqlite3_result_text(context, text, -1, SQLITE_STATIC);
}

/* thread_states */

struct states_cursor {
	sqlite3_vtab_cursor base;
	struct run_threads threads;
	struct run_walk walk;
	int walking;
	size_t thread;
	struct state_interval shown;
	sqlite3_int64 row;
	int at_end;
};

static int states_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, STATES_DECLARATION, ret);
}

static int states_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct states_cursor));
}

static void states_forget(struct states_cursor *c)
{
	if (c->walking)
		run_walk_release(&c->walk);
	run_threads_release(&c->threads);
	c->walking = c->at_end = 0;
	c->thread = 0;
	c->row = 0;
}

static int states_close(sqlite3_vtab_cursor *base)
{
	states_forget((struct states_cursor *)base);
	free(base);
	return SQLITE_OK;
}

static int states_next(sqlite3_vtab_cursor *base)
{
	struct states_cursor *c = (struct states_cursor *)base;
	int r;

	c->row++;
	while (c->thread < c->threads.count) {
		if (!c->walking)
			run_walk_init(&c->walk, &c->threads, c->thread);
		c->walking = 1;
		r = run_walk_next(&c->walk, &c->shown);
		if (r != 0)
			return function_code(r);
		run_walk_release(&c->walk);
		c->walking = 0;
		c->thread++;
	}
	c->at_end = 1;
	return SQLITE_OK;
}

static int states_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct states_cursor *c = (struct states_cursor *)base;
	int r;

	states_forget(c);
	r = run_threads_load(&c->threads, ((struct function_vtab *)base->pVtab)->q);
	return r < 0 ? function_code(r) : states_next(base);
}

static int states_eof(sqlite3_vtab_cursor *base)
{
	return ((struct states_cursor *)base)->at_end;
}

static int states_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct states_cursor *c = (struct states_cursor *)base;

	switch (column) {
	case STATES_STATE: result_static(context, thread_state_names[c->shown.state]); break;
	case STATES_REASON: result_reason(context, c->threads.q, c->shown.reason); break;
	case STATES_SOURCE: result_static(context, block_source_names[c->shown.source]); break;
	case STATES_START: sqlite3_result_int64(context, c->shown.start); break;
	case STATES_END: sqlite3_result_int64(context, c->shown.end); break;
	case STATES_DURATION: sqlite3_result_int64(context, time_between(c->shown.start, c->shown.end)); break;
	case STATES_CPU:
		if (c->shown.state == STATE_RUNNING)
			sqlite3_result_int64(context, c->shown.cpu);
		break;
	default: result_who(context, c->threads.q, c->threads.tracks[c->thread], column);
	}
	return SQLITE_OK;
}

static int states_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((struct states_cursor *)base)->row;
	return SQLITE_OK;
}

const sqlite3_module thread_states_module = FUNCTION_MODULE(states, plain_best_index);

/* thread_state_stats */

struct state_sum {
	size_t thread;
	uint8_t state;
	uint8_t source;
	int64_t reason;
	int64_t count;
	int64_t time;
	int64_t min;
	int64_t max;
};

/* What one thread did: a handful of sums, found by hash. */
struct thread_sums {
	struct state_sum *sums;
	size_t count, cap;
	struct hash_index index;
	int64_t total;
};

struct stats_cursor {
	sqlite3_vtab_cursor base;
	struct run_threads threads;
	struct thread_sums *results; /* by thread */
	_Atomic size_t next;         /* work shared by threads */
	size_t thread;
	size_t at;
	sqlite3_int64 row;
};

static struct state_sum *find_state_sum(struct thread_sums *t, const struct state_interval *i)
{
	uint64_t hash = hash_mix((uint64_t)i->reason * STATE_COUNT + i->state) + i->source;
	struct hash_probe at = hash_probe(hash);
	struct state_sum *sum;

	while (hash_next(&t->index, &at)) {
		sum = &t->sums[at.item];
		if (sum->reason == i->reason && sum->state == i->state && sum->source == i->source)
			return sum;
	}
	if (!ARRAY_ROOM(t->sums, t->count, t->cap, 1) || !hash_index_add(&t->index, hash, t->count))
		return NULL;
	t->sums[t->count] = (struct state_sum){
		.state = (uint8_t)i->state, .source = (uint8_t)i->source, .reason = i->reason, .min = INT64_MAX
	};
	return &t->sums[t->count++];
}

static int add_interval(struct thread_sums *t, const struct state_interval *i)
{
	int64_t time = time_between(i->start, i->end);
	struct state_sum *sum = find_state_sum(t, i);

	if (!sum)
		return -ENOMEM;
	sum->count++;
	sum->time = time_sum(sum->time, time);
	sum->min = time < sum->min ? time : sum->min;
	sum->max = time > sum->max ? time : sum->max;
	t->total = time_sum(t->total, time);
	return 0;
}

static int sum_threads(void *context, unsigned worker)
{
	struct stats_cursor *c = context;
	struct state_interval interval;
	struct run_walk *walk = malloc(sizeof(*walk));
	size_t thread;
	int r = walk ? 0 : -ENOMEM;

	while (r >= 0 && (thread = atomic_fetch_add(&c->next, 1)) < c->threads.count) {
		run_walk_init(walk, &c->threads, thread);
		while ((r = run_walk_next(walk, &interval)) > 0) {
			r = add_interval(&c->results[thread], &interval);
			if (r < 0)
				break;
		}
		run_walk_release(walk);
	}
	free(walk);
	return r;
}

static int thread_stats_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, STATS_DECLARATION, ret);
}

static int thread_stats_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	return cursor_open(ret, sizeof(struct stats_cursor));
}

static void stats_forget(struct stats_cursor *c)
{
	for (size_t i = 0; c->results && i < c->threads.count; i++) {
		free(c->results[i].sums);
		hash_index_release(&c->results[i].index);
	}
	free(c->results);
	c->results = NULL;
	run_threads_release(&c->threads);
	c->thread = c->at = 0;
	c->row = 0;
}

static int thread_stats_close(sqlite3_vtab_cursor *base)
{
	stats_forget((struct stats_cursor *)base);
	free(base);
	return SQLITE_OK;
}

static void skip_finished(struct stats_cursor *c)
{
	while (c->thread < c->threads.count && c->at >= c->results[c->thread].count) {
		c->thread++;
		c->at = 0;
	}
}

static int thread_stats_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct stats_cursor *c = (struct stats_cursor *)base;
	int r;

	stats_forget(c);
	r = run_threads_load(&c->threads, ((struct function_vtab *)base->pVtab)->q);
	if (r < 0)
		return function_code(r);
	c->results = calloc(c->threads.count + 1, sizeof(*c->results));
	if (!c->results)
		return SQLITE_NOMEM;
	atomic_store(&c->next, 0);
	r = parallel_run(sum_threads, c, parallel_width(c->threads.count));
	skip_finished(c);
	return function_code(r);
}

static int thread_stats_next(sqlite3_vtab_cursor *base)
{
	struct stats_cursor *c = (struct stats_cursor *)base;

	c->at++;
	c->row++;
	skip_finished(c);
	return SQLITE_OK;
}

static int thread_stats_eof(sqlite3_vtab_cursor *base)
{
	struct stats_cursor *c = (struct stats_cursor *)base;

	return c->thread >= c->threads.count;
}

static int thread_stats_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct stats_cursor *c = (struct stats_cursor *)base;
	const struct state_sum *sum = &c->results[c->thread].sums[c->at];

	switch (column) {
	case STATS_STATE: result_static(context, thread_state_names[sum->state]); break;
	case STATS_REASON: result_reason(context, c->threads.q, sum->reason); break;
	case STATS_SOURCE: result_static(context, block_source_names[sum->source]); break;
	case STATS_COUNT: sqlite3_result_int64(context, sum->count); break;
	case STATS_TIME: sqlite3_result_int64(context, sum->time); break;
	case STATS_MIN: sqlite3_result_int64(context, sum->min); break;
	case STATS_MAX: sqlite3_result_int64(context, sum->max); break;
	case STATS_TOTAL: sqlite3_result_int64(context, c->results[c->thread].total); break;
	default: result_who(context, c->threads.q, c->threads.tracks[c->thread], column);
	}
	return SQLITE_OK;
}

static int thread_stats_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = ((struct stats_cursor *)base)->row;
	return SQLITE_OK;
}

const sqlite3_module thread_state_stats_module = FUNCTION_MODULE(thread_stats, plain_best_index);
