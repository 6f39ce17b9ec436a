#include "export/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "export/json_text.h"

enum { LINK_CALL, LINK_WORK, LINK_SIDES };

/* Of the correlations of a process that stand beside each other: those that have a call, and those that have work. */
#define LINK_PAGE_BITS 8
struct link_page {
	uint64_t bits[LINK_SIDES][(1 << LINK_PAGE_BITS) / 64];
};

/* Processes are numbered as they come, so that a page is found by one number. */
static uint64_t link_key(uint64_t process, int64_t correlation)
{
	return process << (32 - LINK_PAGE_BITS) | (uint64_t)correlation >> LINK_PAGE_BITS;
}

static struct link_page *link_page_of(struct timeline *t, uint64_t key)
{
	uint64_t at = idmap_get(&t->link_numbers, key);

	if (at != IDMAP_NONE)
		return &t->links[at];
	if (!ARRAY_REACH(t->links, t->link_capacity, t->link_count) || idmap_put(&t->link_numbers, key, t->link_count) < 0)
		return NULL;
	return &t->links[t->link_count++];
}

static int link_add(struct timeline *t, uint64_t process, unsigned side, int64_t correlation)
{
	struct link_page *page;

	if (correlation <= 0 || correlation > UINT32_MAX)
		return 0;
	page = link_page_of(t, link_key(process, correlation));
	if (!page)
		return -ENOMEM;
	page->bits[side][correlation % (1 << LINK_PAGE_BITS) / 64] |= 1ull << (correlation & 63);
	return 0;
}

static bool link_has(const struct link_page *page, unsigned side, int64_t correlation)
{
	return page->bits[side][correlation % (1 << LINK_PAGE_BITS) / 64] >> (correlation & 63) & 1;
}

bool timeline_linked(const struct timeline *t, int64_t process, int64_t correlation)
{
	uint64_t number = idmap_get(&t->link_processes, (uint64_t)process), at;

	if (number == IDMAP_NONE || correlation <= 0 || correlation > UINT32_MAX)
		return false;
	at = idmap_get(&t->link_numbers, link_key(number, correlation));
	return at != IDMAP_NONE && link_has(&t->links[at], LINK_CALL, correlation) && link_has(&t->links[at], LINK_WORK, correlation);
}

static int load_link_group(struct timeline *t, enum table_id table, unsigned column, unsigned side, size_t i)
{
	const struct report_group *g = report_group(t->report, table, i);
	const int64_t *track = timeline_track(t, g->track);
	int64_t *values = malloc(g->rows * sizeof(*values) + 1);
	bool is_new;
	uint32_t number = idmap_number(&t->link_processes, (uint64_t)(track ? track[TRACK_PROCESS] : 0), &is_new);
	int r = number && values ? report_column(t->report, table, i, column, values, NULL) : -ENOMEM;

	for (uint32_t row = 0; r >= 0 && row < g->rows; row++)
		r = link_add(t, number, side, values[row]);
	free(values);
	return r == -ENOMEM ? r : 0; /* damage is met, and counted, when the rows are written */
}

static int load_links(struct timeline *t)
{
	enum table_id tables[EVENT_ROW_TABLES];
	unsigned count = event_row_tables(tables);
	int r = 0;

	for (unsigned k = 0; k < count; k++) {
		enum table_id table = tables[k];
		bool is_work = table_column(table, ROLE_NODE) >= 0;
		int column = table_column(table, is_work ? ROLE_WORK : ROLE_CALL);

		for (size_t i = 0; column >= 0 && r >= 0 && i < report_group_count(t->report, table); i++)
			r = load_link_group(t, table, (unsigned)column, is_work ? LINK_WORK : LINK_CALL, i);
	}
	return r;
}

static void release_links(struct timeline *t)
{
	free(t->links);
	idmap_release(&t->link_numbers);
	idmap_release(&t->link_processes);
}

#define ARG_CACHED_GROUPS 256u
#define ARG_CACHED_ROWS (2u << 20) /* some 40 MB */

/* Rows of `arg`, found by set: the groups' least and largest sets, and the groups that were read last. */
struct arg_groups {
	size_t count;
	int64_t *least;
	int64_t *largest;
	bool ordered; /* the groups are, too */
	struct arg_group {
		size_t group; /* plus 1; 0 = free */
		uint64_t used;
		uint32_t rows;
		bool sorted;
		int64_t *sets;
		int64_t *values; /* whole number, bits of a real one, or string id */
		uint32_t *keys;  /* string ids */
		uint8_t *kinds;  /* enum arg_kind; ARG_LEFT_OUT for binary payloads */
	} cached[ARG_CACHED_GROUPS];
	struct arg_group *last; /* events that follow each other have their arguments in one group, most often */
	uint64_t cached_rows;
	uint64_t clock;
	uint64_t given; /* arguments, to all events */
};

/* Each set is of one event, which is looked at up to three times. Where many events share what only one can have, a small report
 * would fill any disk. */
static bool gave_too_much(struct timeline *t)
{
	uint64_t most = report_row_count(t->report, TABLE_ARG) * 16 + (1u << 20), given = t->args->given;

	if (given == most)
		atomic_fetch_add(&t->q->damaged, 1);
	t->args->given += given <= most;
	return given >= most;
}

#define ARG_LEFT_OUT 0xff

static int load_arg_bounds(struct timeline *t, struct arg_groups *a, size_t i)
{
	uint32_t rows = report_group(t->report, TABLE_ARG, i)->rows;
	int64_t *sets = malloc(rows * sizeof(*sets) + 1);
	int r = sets ? report_column(t->report, TABLE_ARG, i, COLUMN_ARG_SET, sets, NULL) : -ENOMEM;

	a->least[i] = INT64_MAX;
	a->largest[i] = INT64_MIN;
	for (uint32_t row = 0; r >= 0 && row < rows; row++) {
		if (sets[row] < a->least[i])
			a->least[i] = sets[row];
		if (sets[row] > a->largest[i])
			a->largest[i] = sets[row];
	}
	if (i && (a->least[i] < a->largest[i - 1]))
		a->ordered = false;
	free(sets);
	return r == -ENOMEM ? r : 0;
}

static int load_args(struct timeline *t)
{
	struct arg_groups *a = t->args = calloc(1, sizeof(*a));
	int r = 0;

	if (!a)
		return -ENOMEM;
	a->count = report_group_count(t->report, TABLE_ARG);
	a->ordered = true;
	a->least = calloc(a->count + 1, sizeof(*a->least));
	a->largest = calloc(a->count + 1, sizeof(*a->largest));
	if (!a->least || !a->largest)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < a->count; i++)
		r = load_arg_bounds(t, a, i);
	return r;
}

static void drop_arg_group(struct arg_groups *a, struct arg_group *g)
{
	a->cached_rows -= g->group ? g->rows : 0;
	free(g->sets);
	free(g->values);
	free(g->keys);
	free(g->kinds);
	*g = (struct arg_group){ 0 };
}

static void release_args(struct arg_groups *a)
{
	if (!a)
		return;
	for (unsigned i = 0; i < ARG_CACHED_GROUPS; i++)
		drop_arg_group(a, &a->cached[i]);
	free(a->least);
	free(a->largest);
	free(a);
}

/* The first of the columns that has a value gives the kind. */
static int read_arg_values(struct timeline *t, struct arg_group *g, size_t group)
{
	static const struct {
		uint8_t column, kind;
	} order[] = { { COLUMN_ARG_BLOB, ARG_LEFT_OUT },
		      { COLUMN_ARG_INTEGER, ARG_INTEGER },
		      { COLUMN_ARG_REAL, ARG_REAL },
		      { COLUMN_ARG_TEXT, ARG_TEXT } };
	int64_t *values = malloc(g->rows * sizeof(*values) + 1);
	uint8_t *nulls = malloc(g->rows + 1u);
	int r = values && nulls ? report_column(t->report, TABLE_ARG, group, COLUMN_ARG_KEY, values, NULL) : -ENOMEM;

	for (uint32_t i = 0; r >= 0 && i < g->rows; i++)
		g->keys[i] = values[i] > 0 && values[i] <= UINT32_MAX ? (uint32_t)values[i] : 0;
	for (unsigned c = 0; r >= 0 && c < COUNT_OF(order); c++) {
		r = report_column(t->report, TABLE_ARG, group, order[c].column, values, nulls);
		for (uint32_t i = 0; r >= 0 && i < g->rows; i++)
			if (!nulls[i] && g->kinds[i] == ARG_NOTHING) {
				g->kinds[i] = order[c].kind;
				g->values[i] = values[i];
			}
	}
	free(values);
	free(nulls);
	return r;
}

static int read_arg_group(struct timeline *t, struct arg_group *g, size_t group)
{
	int r;

	g->rows = report_group(t->report, TABLE_ARG, group)->rows;
	g->sets = malloc(g->rows * sizeof(*g->sets) + 1);
	g->values = malloc(g->rows * sizeof(*g->values) + 1);
	g->keys = malloc(g->rows * sizeof(*g->keys) + 1);
	g->kinds = calloc(g->rows + 1u, 1);
	if (!g->sets || !g->values || !g->keys || !g->kinds)
		return -ENOMEM;
	r = report_column(t->report, TABLE_ARG, group, COLUMN_ARG_SET, g->sets, NULL);
	if (r >= 0)
		r = read_arg_values(t, g, group);
	if (r == -EBADMSG) {
		atomic_fetch_add(&t->q->damaged, 1);
		g->rows = 0;
	} else if (r < 0) {
		return r;
	}
	g->sorted = true;
	for (uint32_t i = 1; i < g->rows; i++)
		g->sorted &= g->sets[i - 1] <= g->sets[i];
	return 0;
}

static struct arg_group *oldest_arg_group(struct arg_groups *a)
{
	struct arg_group *oldest = NULL;

	for (unsigned i = 0; i < ARG_CACHED_GROUPS; i++)
		if (a->cached[i].group && (!oldest || a->cached[i].used < oldest->used))
			oldest = &a->cached[i];
	return oldest;
}

static struct arg_group *free_arg_group(struct arg_groups *a, uint32_t rows)
{
	struct arg_group *oldest;

	while ((oldest = oldest_arg_group(a)) != NULL && a->cached_rows + rows > ARG_CACHED_ROWS)
		drop_arg_group(a, oldest);
	for (unsigned i = 0; i < ARG_CACHED_GROUPS; i++)
		if (!a->cached[i].group)
			return &a->cached[i];
	drop_arg_group(a, oldest);
	return oldest;
}

static int arg_group(struct timeline *t, size_t group, struct arg_group **ret)
{
	struct arg_groups *a = t->args;
	int r;

	*ret = a->last;
	if (*ret && (*ret)->group == group + 1)
		return 0;
	for (unsigned i = 0; i < ARG_CACHED_GROUPS; i++) {
		*ret = &a->cached[i];
		if ((*ret)->group == group + 1) {
			(*ret)->used = ++a->clock;
			a->last = *ret;
			return 0;
		}
	}
	*ret = free_arg_group(a, report_group(t->report, TABLE_ARG, group)->rows);
	r = read_arg_group(t, *ret, group);
	if (r < 0) {
		drop_arg_group(a, *ret);
		return r;
	}
	(*ret)->group = group + 1;
	(*ret)->used = ++a->clock;
	a->last = *ret;
	a->cached_rows += (*ret)->rows;
	return 0;
}

static void take_arg(struct timeline *t, const struct arg_group *g, uint32_t row, arg_fn take, void *context)
{
	struct arg_value v = { .kind = (enum arg_kind)g->kinds[row] };

	if (g->kinds[row] == ARG_LEFT_OUT)
		return;
	v.key_id = g->keys[row];
	v.key = timeline_text(t, v.key_id, &v.key_len);
	if (v.kind == ARG_INTEGER)
		v.integer = g->values[row];
	else if (v.kind == ARG_REAL)
		memcpy(&v.real, &g->values[row], sizeof(v.real));
	else if (v.kind == ARG_TEXT)
		v.text = timeline_text(t, g->values[row], &v.text_len);
	take(context, &v);
}

static uint32_t first_row(const struct arg_group *g, int64_t set)
{
	uint32_t low = 0, high = g->rows, middle;

	while (g->sorted && low < high) {
		middle = low + (high - low) / 2;
		if (g->sets[middle] < set)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t first_arg_group(const struct arg_groups *a, int64_t set)
{
	size_t low = 0, high = a->count, middle;

	while (a->ordered && low < high) {
		middle = low + (high - low) / 2;
		if (a->largest[middle] < set)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int timeline_args(struct timeline *t, int64_t set, arg_fn take, void *context)
{
	struct arg_groups *a = t->args;
	struct arg_group *g;

	if (set <= 0)
		return 0;
	for (size_t i = first_arg_group(a, set); i < a->count && (!a->ordered || a->least[i] <= set); i++) {
		if (set < a->least[i] || set > a->largest[i])
			continue;
		TRY(arg_group(t, i, &g));
		for (uint32_t row = first_row(g, set); row < g->rows && (!g->sorted || g->sets[row] == set); row++)
			if (g->sets[row] == set && gave_too_much(t))
				return 0;
			else if (g->sets[row] == set)
				take_arg(t, g, row, take, context);
	}
	return 0;
}

bool timeline_is_json(const char *text, size_t len)
{
	return len >= 2 && (text[0] == '[' || text[0] == '{' || text[0] == 't' || text[0] == 'f') && json_is_valid(text, len);
}

int64_t timeline_meta(const struct timeline *t, const char *key, int64_t otherwise)
{
	const char *text = report_meta(t->report, key);
	char *end;
	long long value;

	if (!text)
		return otherwise;
	errno = 0;
	value = strtoll(text, &end, 10);
	return end != text && *end == '\0' && errno == 0 ? value : otherwise;
}

const char *timeline_text(const struct timeline *t, int64_t id, size_t *ret_len)
{
	const char *text = id ? report_text(t->report, (uint64_t)id, ret_len) : NULL;

	if (!text && ret_len)
		*ret_len = 0;
	return text ? text : "";
}

const char *timeline_thread_name(const struct timeline *t, int64_t thread)
{
	return timeline_text(t, index_thread_name(&t->q->index, thread), NULL);
}

const char *timeline_domain_name(const struct timeline *t, int64_t domain)
{
	const int64_t *row = index_find(&t->q->index.domains, domain);

	return timeline_text(t, row ? row[DOMAIN_NAME] : 0, NULL);
}

enum { COUNTER_TRACK, COUNTER_NAME, COUNTER_UNIT, COUNTER_GPU, COUNTER_WIDTH };
enum { COUNTERS_NVTX, COUNTERS_GPU };

void timeline_counter_name(const struct timeline *t, const int64_t *track, struct counter_name *ret)
{
	const int64_t *metric = index_find(&t->counters[COUNTERS_GPU], track[TRACK_ID]), *gpu;
	const int64_t *nvtx = index_find(&t->counters[COUNTERS_NVTX], track[TRACK_ID]);

	*ret = (struct counter_name){ .track = track[TRACK_ID], .unit = "" };
	if (!metric) {
		ret->text = timeline_text(t, nvtx ? nvtx[COUNTER_NAME] : track[TRACK_TEXT], NULL);
		return;
	}
	gpu = index_find(&t->q->index.cuda->gpus, metric[COUNTER_GPU]);
	ret->text = timeline_text(t, metric[COUNTER_NAME], NULL);
	ret->unit = timeline_text(t, metric[COUNTER_UNIT], NULL);
	ret->gpu = metric[COUNTER_GPU];
	ret->gpu_index = gpu ? gpu[GPU_INDEX] : 0;
}

int64_t timeline_sm_count(const struct timeline *t, const int64_t *stream)
{
	int64_t key[] = { stream[STREAM_PROCESS], stream[STREAM_DEVICE] };
	const int64_t *row = index_find_last(&t->devices, key, 2);

	return row ? row[DEVICE_SM_COUNT] : 0;
}

static int load_timeline_tables(struct timeline *t)
{
	static const uint8_t tracks[] = { COLUMN_TRACK_ID,     COLUMN_TRACK_KIND,  COLUMN_TRACK_PROCESS, COLUMN_TRACK_THREAD,
					  COLUMN_TRACK_DOMAIN, COLUMN_TRACK_DEPTH, COLUMN_TRACK_NAME };
	static const uint8_t devices[] = { COLUMN_CUDA_DEVICE_PROCESS, COLUMN_CUDA_DEVICE_ID, COLUMN_CUDA_DEVICE_GPU,
					   COLUMN_CUDA_DEVICE_SM_COUNT };
	static const uint8_t nvtx[] = { COLUMN_NVTX_COUNTER_TRACK, COLUMN_NVTX_COUNTER_NAME, COLUMN_NVTX_COUNTER_TRACK,
					COLUMN_NVTX_COUNTER_TRACK };
	static const uint8_t metrics[] = { COLUMN_GPU_METRIC_TRACK, COLUMN_GPU_METRIC_NAME, COLUMN_GPU_METRIC_UNIT, COLUMN_GPU_METRIC_GPU };
	const struct index_source tables[] = {
		{ &t->tracks, TABLE_TRACK, TIMELINE_TRACK_WIDTH, tracks, 1 },
		{ &t->devices, TABLE_CUDA_DEVICE, TIMELINE_DEVICE_WIDTH, devices, 0 },
		{ &t->counters[COUNTERS_NVTX], TABLE_NVTX_COUNTER, COUNTER_WIDTH, nvtx, 0 },
		{ &t->counters[COUNTERS_GPU], TABLE_GPU_METRIC, COUNTER_WIDTH, metrics, 0 },
	};

	return index_load_sorted(tables, COUNT_OF(tables), t->report);
}

int timeline_open(struct timeline *t, struct export *e, struct error *err)
{
	int r;

	*t = (struct timeline){ .e = e, .q = e->q, .report = query_report(e->q) };
	r = load_timeline_tables(t);
	if (r >= 0)
		r = load_links(t);
	if (r >= 0)
		r = load_args(t);
	return r < 0 ? error_set(err, ENOMEM, "Not enough memory to read the tracks of the report") : 0;
}

void timeline_close(struct timeline *t)
{
	free(t->tracks.rows);
	free(t->devices.rows);
	free(t->counters[COUNTERS_NVTX].rows);
	free(t->counters[COUNTERS_GPU].rows);
	release_links(t);
	release_args(t->args);
}
