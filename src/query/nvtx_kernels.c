/* nvtx_kernel_stats([by]): kernels by the NVTX ranges their calls were made in and by name; a kernel counts for every range
 * around its call. Kernels outside of all ranges are rows without a range. `by` is name (the default), base or mangled. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/cuda_index.h"
#include "query/function.h"
#include "query/group.h"
#include "query/hash.h"
#include "query/nvtx_ranges.h"
#include "query/select.h"

enum { COLUMN_RANGE, COLUMN_DOMAIN, COLUMN_STYLE, COLUMN_PID, COLUMN_TID, COLUMN_RANGES, COLUMN_COUNT, COLUMN_SUM, COLUMN_AVG,
       COLUMN_MED, COLUMN_MIN, COLUMN_MAX, COLUMN_STDDEV, COLUMN_NAME, COLUMN_BY };
#define DECLARATION                                                                                     \
	"CREATE TABLE x(rangeName TEXT, domainName TEXT, style TEXT, pid INTEGER, tid INTEGER, "        \
	"ranges INTEGER, count INTEGER, sum INTEGER, avg REAL, med REAL, min INTEGER, max INTEGER, "    \
	"stddev REAL, name TEXT, by HIDDEN)"

/* KEY_WHO is a thread's uid, or of kernels whose call is not known, their process's, negative. */
enum { KEY_RANGE, KEY_DOMAIN_STYLE, KEY_WHO, KEY_KERNEL };
enum { STYLE_NONE = 2 };

struct group_extra {
	uint32_t last_range; /* counted already */
	uint64_t ranges;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct query *q;
	struct cuda_calls *calls;
	const struct cuda_index *index;
	struct nvtx_ranges *ranges;
	unsigned by;               /* LAUNCH_NAME ... */
	int64_t *kernel_names;     /* by row of index->launches: string id, one for all with the same text */
	struct group_table groups;
	struct group_extra *extra;
	size_t extra_cap;
	uint64_t *pairs;           /* (group, range) that were counted; 0 = free */
	size_t pair_count;
	size_t pair_slots;
	struct group_figures figures; /* of the row that is shown */
	double median;
	size_t at;
};

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret, char **error)
{
	return function_connect(db, aux, DECLARATION, ret);
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	return function_best_index(info, COLUMN_BY, 1, 0);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->q = ((struct function_vtab *)base)->q;
	*ret = &c->base;
	return SQLITE_OK;
}

static void forget(struct cursor *c)
{
	group_table_release(&c->groups);
	free(c->extra);
	free(c->pairs);
	free(c->kernel_names);
	c->extra = NULL;
	c->pairs = NULL;
	c->kernel_names = NULL;
	c->extra_cap = c->pair_count = c->pair_slots = c->at = 0;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	forget((struct cursor *)base);
	free(base);
	return SQLITE_OK;
}

static int name_kernels(struct cursor *c)
{
	const struct index_table *launches = &c->index->launches;
	int r = 0;

	c->kernel_names = calloc(launches->count + 1, sizeof(*c->kernel_names));
	if (!c->kernel_names)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < launches->count; i++) {
		const int64_t *row = launches->rows + i * LAUNCH_WIDTH;

		c->kernel_names[i] = row[c->by] ? row[c->by] : row[LAUNCH_NAME];
		r = canon_id(c->q, &c->kernel_names[i]);
	}
	return r;
}

static int grow_pairs(struct cursor *c)
{
	size_t slots = c->pair_slots ? c->pair_slots * 2 : 1024, at;
	uint64_t *grown = calloc(slots, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < c->pair_slots; i++) {
		if (!c->pairs[i])
			continue;
		at = hash_mix(c->pairs[i]) & (slots - 1);
		while (grown[at])
			at = (at + 1) & (slots - 1);
		grown[at] = c->pairs[i];
	}
	free(c->pairs);
	c->pairs = grown;
	c->pair_slots = slots;
	return 0;
}

/* 1 when the group meets the range for the first time. */
static int is_new_pair(struct cursor *c, size_t group, uint32_t range)
{
	uint64_t pair = (uint64_t)group << 32 | range;
	size_t at;

	if (c->pair_count * 2 >= c->pair_slots && grow_pairs(c) < 0)
		return -ENOMEM;
	for (at = hash_mix(pair) & (c->pair_slots - 1); c->pairs[at]; at = (at + 1) & (c->pair_slots - 1))
		if (c->pairs[at] == pair)
			return 0;
	c->pairs[at] = pair;
	c->pair_count++;
	return 1;
}

static struct group_extra *extra_of(struct cursor *c, size_t group)
{
	struct group_extra *grown;
	size_t cap;

	if (group >= c->extra_cap) {
		cap = group * 2 + 64;
		grown = realloc(c->extra, cap * sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + c->extra_cap, 0, (cap - c->extra_cap) * sizeof(*grown));
		c->extra = grown;
		c->extra_cap = cap;
	}
	return &c->extra[group];
}

static int add_kernel(struct cursor *c, uint32_t place, int64_t who, int64_t kernel, int64_t duration)
{
	const struct nvtx_range *range = place ? nvtx_range_get(c->ranges, place) : NULL;
	int64_t key[REQUEST_MAX_KEYS] = { [KEY_RANGE] = range ? range->name : 0,
		[KEY_DOMAIN_STYLE] = range ? (int64_t)range->domain << 2 | nvtx_range_style(range) : STYLE_NONE,
		[KEY_WHO] = who, [KEY_KERNEL] = kernel };
	struct group_extra *extra;
	size_t group;
	int r = group_table_find(&c->groups, key, 0, &group);

	if (r < 0)
		return r;
	extra = extra_of(c, group);
	if (!extra)
		return -ENOMEM;
	if (place && extra->last_range != place) {
		extra->last_range = place;
		r = is_new_pair(c, group, place);
		extra->ranges += r > 0;
	}
	return r < 0 ? r : group_add_value(&c->groups.groups[group], duration);
}

enum { PART_START, PART_END, PART_CORRELATION, PART_LAUNCH, PART_COUNT };

static int add_row(struct cursor *c, const int64_t *track, const struct cuda_process *process, const int64_t *row,
		   size_t *hint)
{
	const int64_t *launch = cuda_launch(c->index, row[PART_LAUNCH]), *call_track;
	int64_t kernel = launch ? c->kernel_names[(size_t)(launch - c->index->launches.rows) / LAUNCH_WIDTH] : 0;
	int64_t duration = (int64_t)((uint64_t)row[PART_END] - (uint64_t)row[PART_START]);
	uint32_t call = cuda_call_find(process, row[PART_CORRELATION]), at;
	int r = 0;

	call_track = call == CUDA_NO_CALL ? NULL : cuda_call_track(c->calls, call, hint);
	if (!call_track || !(at = c->ranges->of_call[call]))
		return add_kernel(c, 0, call_track ? call_track[TRACK_THREAD] : -track[TRACK_PROCESS], kernel, duration);
	for (; r >= 0 && at; at = nvtx_range_outer(c->ranges, at, c->calls->ends[call]))
		r = add_kernel(c, at, call_track[TRACK_THREAD], kernel, duration);
	return r;
}

static int add_group(struct cursor *c, size_t group)
{
	static const uint8_t columns[] = { COLUMN_GPU_KERNEL_START, COLUMN_GPU_KERNEL_END, COLUMN_GPU_KERNEL_CORRELATION,
					   COLUMN_GPU_KERNEL_LAUNCH };
	const struct report_group *g = report_group(c->q->report, TABLE_GPU_KERNEL, group);
	const int64_t *track = index_find(&c->q->index.tracks, g->track);
	int64_t *values, row[PART_COUNT];
	size_t hint = 0;
	int r = 0;

	if (!track || track[TRACK_KIND] != TRACK_GPU_KERNEL)
		return 0;
	values = malloc((size_t)g->rows * PART_COUNT * sizeof(*values) + 1);
	if (!values)
		return -ENOMEM;
	for (unsigned i = 0; r >= 0 && i < PART_COUNT; i++)
		r = report_column(c->q->report, TABLE_GPU_KERNEL, group, columns[i], values + (size_t)i * g->rows, NULL);
	for (uint32_t i = 0; r >= 0 && i < g->rows; i++) {
		for (unsigned part = 0; part < PART_COUNT; part++)
			row[part] = values[(size_t)part * g->rows + i];
		r = add_row(c, track, cuda_calls_process(c->calls, track[TRACK_PROCESS]), row, &hint);
	}
	free(values);
	if (r == -EBADMSG) {
		atomic_fetch_add(&c->q->damaged, 1);
		r = 0;
	}
	return r;
}

static void compute(struct cursor *c)
{
	static const double half[] = { 0.5 };
	struct grouping kind = { .value_kind = VECTOR_NUMBER };
	struct group *group;
	struct quantile middle;

	if (c->at >= c->groups.count)
		return;
	group = &c->groups.groups[c->at];
	group_figures(&kind, group, &c->figures);
	select_quantiles(group->values, group->count, half, 1, &middle);
	c->median = (double)middle.low + ((double)middle.high - (double)middle.low) * middle.between;
}

static int parse_by(struct cursor *c, const char *by, struct error *err)
{
	c->by = LAUNCH_NAME;
	if (!by || strcmp(by, "name") == 0)
		return 0;
	c->by = strcmp(by, "base") == 0 ? LAUNCH_SHORT_NAME : LAUNCH_MANGLED;
	if (c->by == LAUNCH_MANGLED && strcmp(by, "mangled") != 0)
		return error_set(err, EINVAL, "Kernels are told apart by name, base or mangled, not by '%s'", by);
	return 0;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct error err = { "" };
	int r;

	forget(c);
	r = parse_by(c, function_argument(plan, 0, argc, argv), &err);
	if (r < 0)
		return function_fail(base, r, &err);
	r = cuda_calls_of(c->q, &c->calls);
	if (r >= 0)
		r = nvtx_ranges_of(c->q, &c->ranges);
	c->index = c->q->index.cuda;
	if (r >= 0)
		r = name_kernels(c);
	for (size_t i = 0; r >= 0 && i < report_group_count(c->q->report, TABLE_GPU_KERNEL); i++)
		r = add_group(c, i);
	compute(c);
	return r >= 0 ? SQLITE_OK : r == -ENOMEM ? SQLITE_NOMEM : SQLITE_CORRUPT;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->at++;
	compute((struct cursor *)base);
	return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	return c->at >= c->groups.count;
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

static void result_range(sqlite3_context *context, const struct cursor *c, const int64_t *key, int column)
{
	static const char *const styles[] = { [RANGE_PUSH_POP] = "PushPop", [RANGE_START_END] = "StartEnd" };
	int style = (int)(key[KEY_DOMAIN_STYLE] & 3);

	if (style == STYLE_NONE)
		return; /* null */
	if (column == COLUMN_RANGE)
		result_text(context, c->q, key[KEY_RANGE]);
	else if (column == COLUMN_DOMAIN)
		result_text(context, c->q, key[KEY_DOMAIN_STYLE] >> 2);
	else if (column == COLUMN_STYLE)
		sqlite3_result_text(context, styles[style], -1, SQLITE_STATIC);
	else
		sqlite3_result_int64(context, (int64_t)c->extra[c->at].ranges);
}

static int show_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *c = (struct cursor *)base;
	const struct group *group = &c->groups.groups[c->at];

	switch (column) {
	case COLUMN_PID:
	case COLUMN_TID: result_who(context, c, group->key[KEY_WHO], column); break;
	case COLUMN_COUNT: sqlite3_result_int64(context, (int64_t)group->count); break;
	case COLUMN_SUM: sqlite3_result_int64(context, c->figures.whole_sum); break;
	case COLUMN_AVG: sqlite3_result_double(context, c->figures.average); break;
	case COLUMN_MED: sqlite3_result_double(context, c->median); break;
	case COLUMN_MIN: sqlite3_result_int64(context, c->figures.least); break;
	case COLUMN_MAX: sqlite3_result_int64(context, c->figures.largest); break;
	case COLUMN_STDDEV: sqlite3_result_double(context, c->figures.deviation); break;
	case COLUMN_NAME: result_text(context, c->q, group->key[KEY_KERNEL]); break;
	case COLUMN_BY: break;
	default: result_range(context, c, group->key, column);
	}
	return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)((struct cursor *)base)->at + 1;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1, .xConnect = connect_table, .xBestIndex = best_index,
	.xDisconnect = vtab_disconnect, .xOpen = open_cursor, .xClose = close_cursor,
	.xFilter = filter, .xNext = next_row, .xEof = at_end, .xColumn = show_column, .xRowid = row_id,
};

int nvtx_kernels_register(struct query *q)
{
	return sqlite3_create_module_v2(q->db, "nvtx_kernel_stats", &module, q, NULL);
}
