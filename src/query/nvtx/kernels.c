/* nvtx_kernel_stats([by]): kernels by the NVTX ranges their calls were made in and by name; a kernel counts for
 * every range around its call. Kernels outside of all ranges are rows without a range. `by` is name (the default), base
 * or mangled; with # behind it numbers in the names of kernels and ranges are folded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "query/index/cuda_index.h"
#include "query/functions/fold.h"
#include "query/engine/function.h"
#include "query/functions/group.h"
#include "query/index/nvtx_ranges.h"
#include "query/index/parallel.h"
#include "query/engine/scope.h"

/* clang-format off */
enum { COLUMN_RANGE, COLUMN_DOMAIN, COLUMN_STYLE, COLUMN_PID, COLUMN_TID, COLUMN_RANGES, COLUMN_COUNT, COLUMN_SUM,
       COLUMN_AVG, COLUMN_MED, COLUMN_MIN, COLUMN_MAX, COLUMN_STDDEV, COLUMN_NAME, COLUMN_BY };
/* clang-format on */
#define DECLARATION \
	"CREATE TABLE x(rangeName TEXT, domainName TEXT, style TEXT, pid INTEGER, tid INTEGER, " \
	"ranges INTEGER, count INTEGER, sum INTEGER, avg REAL, med REAL, min INTEGER, max INTEGER, " \
	"stddev REAL, name TEXT, by HIDDEN)"

enum { STYLE_NONE = 2 };

#define SCOPE_HIDDEN UINT32_MAX /* of ranges that the query's scope leaves out */

/* Kernels of one name in ranges of one name, or outside of ranges. */
enum { KEY_SCOPE, KEY_KERNEL };

/* Ranges of one name, style and thread; KEY_WHO is a thread's uid, or of kernels whose call is not known, their
 * process's, negative. */
enum { SCOPE_NAME, SCOPE_DOMAIN, SCOPE_STYLE, SCOPE_WHO };

/* Where there are few scopes and kernels, groups are found in an array by both. */
#define CELLS_MAX (4u << 20)
/* Kernels are looked at by name, as many names at a time as these allow. */
#define VALUES_MAX (16u << 20)
#define BITS_MAX (256u << 20)
#define WORD_BITS 64u
/* A kernel has a duration in every range around it: so many are more than any program nests. They are taken by the million. */
#define DURATIONS_MOST(kernels) ((1ull << 27) + 64 * (uint64_t)(kernels))
#define DURATIONS_TAKEN (1u << 20)

/* What a worker has found. */
struct part {
	struct group_table groups;  /* of durations */
	uint32_t *cells;            /* group + 1; NULL: too many */
	struct group_table outside; /* scopes without a range: SCOPE_* */
	uint32_t allowed;           /* durations, of those it took */
};

struct row {
	struct group_figures figures;
	double median;
	uint64_t ranges;
};

struct cursor {
	struct list_cursor list;
	struct query *q;
	struct cuda_calls *calls;
	const struct cuda_index *index;
	struct nvtx_ranges *ranges;
	unsigned by;               /* LAUNCH_NAME ... */
	struct fold_memo *fold;    /* NULL: names as they are */
	uint32_t *kernels;         /* by row of index->launches: its place among the names */
	struct group_table names;  /* of kernels: string ids, one for all with the same text */
	struct group_table scopes; /* SCOPE_* */
	uint32_t *scope_of_range;  /* by place, less 1 */
	/* The names that are looked at now: [first, limit). */
	uint32_t first;
	uint32_t limit;
	_Atomic uint64_t *launched; /* for each of them a bit by place: there was such a kernel in that range */
	size_t words;               /* of bits, for each name */
	struct part parts[PARALLEL_MAX];
	struct group_table groups; /* of all names so far; their values only until they are added up */
	size_t added_up;
	uint32_t *next_of_name;    /* group - added_up: the next of the same name, from 1 */
	uint32_t *first_of_name;   /* by name - first */
	struct row *rows;          /* by group */
	_Atomic size_t next;       /* work shared by threads */
	_Atomic int64_t durations; /* that may be taken yet */
};

static int kernels_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, DECLARATION, ret);
}

static int kernels_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return function_best_index(info, COLUMN_BY, 1, 0);
}

static int kernels_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->q = ((struct function_vtab *)base)->q;
	*ret = &c->list.base;
	return SQLITE_OK;
}

static void forget_part(struct part *p)
{
	free(p->cells);
	group_table_release(&p->groups);
	group_table_release(&p->outside);
	*p = (struct part){ 0 };
}

static void forget_pass(struct cursor *c)
{
	for (unsigned i = 0; i < PARALLEL_MAX; i++)
		forget_part(&c->parts[i]);
	free((void *)c->launched);
	free(c->next_of_name);
	free(c->first_of_name);
	c->launched = NULL;
	c->next_of_name = c->first_of_name = NULL;
}

static void clear_kernel_cursor(struct cursor *c)
{
	forget_pass(c);
	group_table_release(&c->groups);
	c->added_up = 0;
	group_table_release(&c->scopes);
	free(c->scope_of_range);
	free(c->kernels);
	group_table_release(&c->names);
	free(c->rows);
	free(c->fold);
	c->fold = NULL;
	c->scope_of_range = NULL;
	c->kernels = NULL;
	c->rows = NULL;
	c->list.at = 0;
}

static int kernels_close(sqlite3_vtab_cursor *base)
{
	clear_kernel_cursor((struct cursor *)base);
	free(base);
	return SQLITE_OK;
}

static int name_kernel(struct cursor *c, int64_t name, uint32_t *ret)
{
	int64_t key[REQUEST_MAX_KEYS] = { name };
	size_t found = 0;

	TRY(c->fold ? fold_id_again(c->q, c->fold, &key[0]) : first_text_id(c->q, &key[0]));
	TRY(group_table_find(&c->names, key, 0, &found));
	*ret = (uint32_t)found;
	return 0;
}

/* Place 0 is of kernels without a name, or whose launch is not known. */
static int name_kernels(struct cursor *c)
{
	const struct index_table *launches = &c->index->launches;
	int r;

	c->kernels = calloc(launches->count + 1, sizeof(*c->kernels));
	if (!c->kernels)
		return -ENOMEM;
	r = name_kernel(c, 0, &c->kernels[0]);
	for (size_t i = 0; r >= 0 && i < launches->count; i++) {
		const int64_t *row = launches->rows + i * LAUNCH_WIDTH;

		r = name_kernel(c, row[c->by] ? row[c->by] : row[LAUNCH_NAME], &c->kernels[i]);
	}
	return r;
}

static int name_scopes(struct cursor *c)
{
	size_t scope = 0;
	int r = 0;

	c->scope_of_range = malloc(((size_t)c->ranges->count + 1) * sizeof(*c->scope_of_range));
	if (!c->scope_of_range)
		return -ENOMEM;
	for (uint32_t i = 0; r >= 0 && i < c->ranges->count; i++) {
		const struct nvtx_range *range = &c->ranges->ranges[i];
		int64_t key[REQUEST_MAX_KEYS] = { [SCOPE_NAME] = range->name,
						  [SCOPE_DOMAIN] = range->domain,
						  [SCOPE_STYLE] = nvtx_range_style(range),
						  [SCOPE_WHO] = range->track[TRACK_THREAD] };

		c->scope_of_range[i] = SCOPE_HIDDEN;
		if (!scope_has(c->q, range->track, range->start, range->end))
			continue;
		if (c->fold)
			r = fold_id_again(c->q, c->fold, &key[SCOPE_NAME]);
		if (r >= 0)
			r = group_table_find(&c->scopes, key, 0, &scope);
		c->scope_of_range[i] = (uint32_t)scope;
	}
	return r;
}

static void mark_launching_range(const struct cursor *c, uint32_t kernel, uint32_t place)
{
	_Atomic uint64_t *word = &c->launched[(size_t)(kernel - c->first) * c->words + place / WORD_BITS];
	uint64_t bit = 1ull << place % WORD_BITS;

	if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
		atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
}

static int find_group(const struct cursor *c, struct part *p, int64_t scope, uint32_t kernel, size_t *ret)
{
	int64_t key[REQUEST_MAX_KEYS] = { [KEY_SCOPE] = scope, [KEY_KERNEL] = kernel };
	size_t cell = scope >= 0 && p->cells ? (size_t)scope * c->names.count + kernel : SIZE_MAX;
	int r;

	if (cell != SIZE_MAX && p->cells[cell]) {
		*ret = p->cells[cell] - 1;
		return 0;
	}
	r = group_table_find(&p->groups, key, 0, ret);
	if (r >= 0 && cell != SIZE_MAX)
		p->cells[cell] = (uint32_t)*ret + 1;
	return r;
}

/* Scopes outside of ranges are numbered by each worker for itself, from -1 down. */
static int add_scope_kernel(struct cursor *c, struct part *p, int64_t scope, uint32_t place, uint32_t kernel, int64_t duration)
{
	size_t group;

	TRY(find_group(c, p, scope, kernel, &group));
	if (place)
		mark_launching_range(c, kernel, place);
	if (!p->allowed) {
		if (atomic_fetch_sub(&c->durations, DURATIONS_TAKEN) <= 0)
			return -E2BIG;
		p->allowed = DURATIONS_TAKEN;
	}
	p->allowed--;
	return group_add_value(&p->groups.groups[group], duration);
}

static int add_outside(struct cursor *c, struct part *p, int64_t who, uint32_t kernel, int64_t duration)
{
	int64_t key[REQUEST_MAX_KEYS] = { [SCOPE_STYLE] = STYLE_NONE, [SCOPE_WHO] = who };
	size_t scope;

	TRY(group_table_find(&p->outside, key, 0, &scope));
	return add_scope_kernel(c, p, -1 - (int64_t)scope, 0, kernel, duration);
}

enum { PART_START, PART_END, PART_CORRELATION, PART_LAUNCH, PART_COUNT };

static int add_kernel_row(struct cursor *c, struct part *p, const int64_t *track, const struct cuda_process *process, const int64_t *row,
			  size_t *hint)
{
	const int64_t *launch = cuda_launch(c->index, row[PART_LAUNCH]), *call_track;
	uint32_t kernel = launch ? c->kernels[(size_t)(launch - c->index->launches.rows) / LAUNCH_WIDTH] : 0;
	int64_t duration = (int64_t)((uint64_t)row[PART_END] - (uint64_t)row[PART_START]);
	uint32_t call, at;
	int64_t end;
	int r = 0;

	if (kernel < c->first || kernel >= c->limit)
		return 0;
	call = cuda_call_find(c->calls, process, row[PART_CORRELATION]);
	if (call == CUDA_NO_CALL || !(at = c->ranges->of_call[call])) {
		call_track = call == CUDA_NO_CALL ? NULL : cuda_call_track(c->calls, call, hint);
		return add_outside(c, p, call_track ? call_track[TRACK_THREAD] : -track[TRACK_PROCESS], kernel, duration);
	}
	end = c->ranges->crossing ? cuda_call_end(c->calls, call) : INT64_MIN;
	for (; r >= 0 && at; at = nvtx_range_outer(c->ranges, at, end))
		if (c->scope_of_range[at - 1] != SCOPE_HIDDEN)
			r = add_scope_kernel(c, p, c->scope_of_range[at - 1], at, kernel, duration);
	return r;
}

static int add_kernel_group(struct cursor *c, struct part *p, size_t group)
{
	static const uint8_t columns[] = { COLUMN_GPU_KERNEL_START, COLUMN_GPU_KERNEL_END, COLUMN_GPU_KERNEL_CORRELATION,
					   COLUMN_GPU_KERNEL_LAUNCH };
	const struct report_group *g = report_group(c->q->report, TABLE_GPU_KERNEL, group);
	const int64_t *track = index_find(&c->q->index.tracks, g->track);
	const struct cuda_process *process;
	int64_t *values, row[PART_COUNT];
	uint8_t *counts;
	size_t hint = 0;
	int r = 0;

	if (!track || track[TRACK_KIND] != TRACK_GPU_KERNEL)
		return 0;
	process = cuda_calls_process(c->calls, track[TRACK_PROCESS]);
	values = malloc((size_t)g->rows * PART_COUNT * sizeof(*values) + g->rows + 1);
	if (!values)
		return -ENOMEM;
	counts = (uint8_t *)(values + (size_t)g->rows * PART_COUNT);
	for (unsigned i = 0; r >= 0 && i < PART_COUNT; i++)
		r = report_column(c->q->report, TABLE_GPU_KERNEL, group, columns[i], values + (size_t)i * g->rows, NULL);
	if (r >= 0)
		r = scope_mark_group(c->q, TABLE_GPU_KERNEL, group, counts);
	for (uint32_t i = 0; r >= 0 && i < g->rows; i++) {
		if (!counts[i])
			continue;
		for (unsigned part = 0; part < PART_COUNT; part++)
			row[part] = values[(size_t)part * g->rows + i];
		r = add_kernel_row(c, p, track, process, row, &hint);
	}
	free(values);
	return r;
}

static int gather_kernels(void *context, unsigned worker)
{
	struct cursor *c = context;
	size_t group, cells = c->names.count * c->scopes.count;
	int r = 0;

	c->parts[worker].groups.narrow = 1;
	if (cells > 0 && cells <= CELLS_MAX)
		c->parts[worker].cells = calloc(cells, sizeof(*c->parts[worker].cells));
	while (r >= 0 && (group = atomic_fetch_add(&c->next, 1)) < report_group_count(c->q->report, TABLE_GPU_KERNEL)) {
		r = add_kernel_group(c, &c->parts[worker], group);
		if (r == -EBADMSG) {
			atomic_fetch_add(&c->q->damaged, 1);
			r = 0;
		}
	}
	return r;
}

/* The worker's own scopes become those of all. */
static int common_scope(struct cursor *c, const struct part *from, int64_t scope, int64_t *ret)
{
	size_t found;
	int r;

	*ret = scope;
	if (scope >= 0)
		return 0;
	r = group_table_find(&c->scopes, from->outside.groups[-1 - scope].key, 0, &found);
	*ret = (int64_t)found;
	return r;
}

static int merge_parts(struct cursor *c)
{
	size_t found = 0;
	int r = 0;

	c->groups.narrow = 1;
	for (unsigned w = 0; w < PARALLEL_MAX; w++) {
		struct part *from = &c->parts[w];

		for (size_t i = 0; r >= 0 && i < from->groups.count; i++) {
			struct group *group = &from->groups.groups[i];
			int64_t key[REQUEST_MAX_KEYS] = { [KEY_KERNEL] = group->key[KEY_KERNEL] };

			r = common_scope(c, from, group->key[KEY_SCOPE], &key[KEY_SCOPE]);
			if (r >= 0)
				r = group_table_find(&c->groups, key, 0, &found);
			if (r >= 0)
				r = group_take_values(&c->groups.groups[found], group);
		}
		forget_part(from);
	}
	return r;
}

static int make_rows(struct cursor *c)
{
	size_t names = c->limit - c->first, added = c->groups.count - c->added_up;
	struct row *grown = realloc(c->rows, (c->groups.count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	c->rows = grown;
	memset(grown + c->added_up, 0, added * sizeof(*grown));
	c->first_of_name = calloc(names + 1, sizeof(*c->first_of_name));
	c->next_of_name = calloc(added + 1, sizeof(*c->next_of_name));
	if (!c->first_of_name || !c->next_of_name)
		return -ENOMEM;
	for (size_t i = 0; i < added; i++) {
		size_t name = (size_t)c->groups.groups[c->added_up + i].key[KEY_KERNEL] - c->first;

		c->next_of_name[i] = c->first_of_name[name];
		c->first_of_name[name] = (uint32_t)i + 1;
	}
	return 0;
}

static void compute_kernel_figures(struct cursor *c, size_t i)
{
	static const double half[] = { 0.5 };
	struct grouping kind = { .value_kind = VECTOR_NUMBER };
	struct group *group = &c->groups.groups[i];
	struct quantile middle;

	group_figures(&kind, group, &c->rows[i].figures);
	group_quantiles(group, half, 1, &middle);
	c->rows[i].median = (double)middle.low + ((double)middle.high - (double)middle.low) * middle.between;
	group_forget_values(group);
}

/* Ranges of each scope that had a kernel of the name. */
static void count_ranges(const struct cursor *c, size_t name, uint64_t *counts)
{
	const _Atomic uint64_t *bits = c->launched + name * c->words;

	memset(counts, 0, c->scopes.count * sizeof(*counts));
	for (size_t i = 0; i < c->words; i++)
		for (uint64_t word = bits[i]; word; word &= word - 1)
			counts[c->scope_of_range[i * WORD_BITS + (unsigned)__builtin_ctzll(word) - 1]]++;
}

/* The rows of one name after the other. */
static int compute_kernel_rows(void *context, unsigned worker)
{
	struct cursor *c = context;
	uint64_t *counts = malloc((c->scopes.count + 1) * sizeof(*counts));
	size_t name, group;

	if (!counts)
		return -ENOMEM;
	while ((name = atomic_fetch_add(&c->next, 1)) < c->limit - c->first) {
		if (c->first_of_name[name])
			count_ranges(c, name, counts);
		for (uint32_t i = c->first_of_name[name]; i; i = c->next_of_name[i - 1]) {
			group = c->added_up + i - 1;
			compute_kernel_figures(c, group);
			c->rows[group].ranges = counts[c->groups.groups[group].key[KEY_SCOPE]];
		}
	}
	free(counts);
	return 0;
}

static int run_pass(struct cursor *c)
{
	size_t names = c->limit - c->first;
	int r = 0;

	c->words = c->ranges->count / WORD_BITS + 1;
	c->launched = calloc(names * c->words + 1, sizeof(*c->launched));
	if (!c->launched)
		return -ENOMEM;
	atomic_store(&c->next, 0);
	r = parallel_run(gather_kernels, c, parallel_width(report_group_count(c->q->report, TABLE_GPU_KERNEL)));
	if (r >= 0)
		r = merge_parts(c);
	if (r >= 0)
		r = make_rows(c);
	atomic_store(&c->next, 0);
	if (r >= 0)
		r = parallel_run(compute_kernel_rows, c, parallel_width(names));
	c->added_up = c->groups.count;
	forget_pass(c);
	return r;
}

/* Names to look at together, so that durations (one for each range around a kernel) and bits take little memory. */
static uint32_t names_at_a_time(const struct cursor *c)
{
	uint64_t values, names = c->names.count, depth = 1, most = BITS_MAX / ((uint64_t)c->ranges->count + 1);

	for (uint32_t i = 0; i < c->ranges->count; i++)
		depth = c->ranges->ranges[i].level >= depth ? c->ranges->ranges[i].level + 1 : depth;
	values = report_row_count(c->q->report, TABLE_GPU_KERNEL) * depth;
	if (values > VALUES_MAX)
		names = (names + values / VALUES_MAX) / (values / VALUES_MAX + 1);
	names = names > most ? most : names;
	return names ? (uint32_t)names : 1;
}

static int sum_kernels(struct cursor *c)
{
	uint32_t together;
	int r = name_kernels(c);

	if (r >= 0)
		r = name_scopes(c);
	together = names_at_a_time(c);
	for (c->first = 0; r >= 0 && c->first < c->names.count; c->first = c->limit) {
		c->limit = (uint32_t)c->names.count;
		if (c->limit - c->first > together)
			c->limit = c->first + together;
		r = run_pass(c);
	}
	return r;
}

static int parse_kernels_by(struct cursor *c, const char *by, struct error *err)
{
	static const struct {
		const char *name;
		unsigned by;
	} ways[] = { { "name", LAUNCH_NAME }, { "base", LAUNCH_SHORT_NAME }, { "mangled", LAUNCH_MANGLED } };
	size_t len = strcspn(by ? by : (by = "name"), "#"), i = 0;

	while (i < 3 && (strlen(ways[i].name) != len || strncmp(ways[i].name, by, len) != 0))
		i++;
	if (i == 3 || strlen(by + len) > 1)
		return error_set(err, EINVAL, "Kernels can be grouped by name, base or mangled, not by '%s'", by);
	c->by = ways[i].by;
	c->fold = by[len] ? calloc(1, sizeof(*c->fold)) : NULL;
	return by[len] && !c->fold ? error_set(err, ENOMEM, "Not enough memory") : 0;
}

static int kernels_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct error err = { "" };
	int r;

	clear_kernel_cursor(c);
	r = parse_kernels_by(c, function_argument(plan, 0, argc, argv), &err);
	if (r < 0)
		return function_fail(base, r, &err);
	c->index = c->q->index.cuda;
	r = nvtx_ranges_of(c->q, &c->ranges);
	if (r >= 0)
		r = cuda_calls_of(c->q, c->ranges->crossing ? CALL_PART_ENDS : 0, &c->calls);
	atomic_store(&c->durations, (int64_t)DURATIONS_MOST(report_row_count(c->q->report, TABLE_GPU_KERNEL)));
	if (r >= 0)
		r = sum_kernels(c);
	if (r == -E2BIG)
		return function_fail(base, error_set(&err, E2BIG, "Ranges are nested too deeply to count kernels in all of them"), &err);
	c->list.count = c->groups.count;
	return function_code(r);
}

static void result_who(sqlite3_context *context, const struct cursor *c, int64_t who, int column)
{
	const int64_t *thread = who > 0 ? index_find(&c->q->index.threads, who) : NULL;
	const int64_t *process = index_find(&c->q->index.processes, thread ? thread[THREAD_PROCESS] : -who);

	if (column == COLUMN_TID && thread)
		sqlite3_result_int64(context, thread[THREAD_TID]);
	if (column == COLUMN_PID && process)
		sqlite3_result_int64(context, process[PROCESS_PID]);
}

static void result_range(sqlite3_context *context, const struct cursor *c, const int64_t *scope, int column)
{
	static const char *const styles[] = { [RANGE_PUSH_POP] = "PushPop", [RANGE_START_END] = "StartEnd" };

	if (scope[SCOPE_STYLE] == STYLE_NONE)
		return; /* null */
	if (column == COLUMN_RANGE)
		result_text(context, c->q, scope[SCOPE_NAME]);
	else if (column == COLUMN_DOMAIN)
		result_text(context, c->q, scope[SCOPE_DOMAIN]);
	else if (column == COLUMN_STYLE)
		sqlite3_result_text(context, styles[scope[SCOPE_STYLE]], -1, SQLITE_STATIC);
	else
		sqlite3_result_int64(context, (int64_t)c->rows[c->list.at].ranges);
}

static int kernels_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *c = (struct cursor *)base;
	const struct group *group = &c->groups.groups[c->list.at];
	const int64_t *scope = c->scopes.groups[group->key[KEY_SCOPE]].key;
	const struct group_figures *figures = &c->rows[c->list.at].figures;

	switch (column) {
	case COLUMN_PID:
	case COLUMN_TID: result_who(context, c, scope[SCOPE_WHO], column); break;
	case COLUMN_COUNT: sqlite3_result_int64(context, (int64_t)group->count); break;
	case COLUMN_SUM: sqlite3_result_int64(context, figures->whole_sum); break;
	case COLUMN_AVG: sqlite3_result_double(context, figures->average); break;
	case COLUMN_MED: sqlite3_result_double(context, c->rows[c->list.at].median); break;
	case COLUMN_MIN: sqlite3_result_int64(context, figures->least); break;
	case COLUMN_MAX: sqlite3_result_int64(context, figures->largest); break;
	case COLUMN_STDDEV: sqlite3_result_double(context, figures->deviation); break;
	case COLUMN_NAME: result_text(context, c->q, c->names.groups[group->key[KEY_KERNEL]].key[0]); break;
	case COLUMN_BY: break;
	default: result_range(context, c, scope, column);
	}
	return SQLITE_OK;
}

const sqlite3_module nvtx_kernels_module = LIST_MODULE(kernels, kernels_best_index);
