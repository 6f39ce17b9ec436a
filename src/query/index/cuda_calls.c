#include "query/index/cuda_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sort.h"
#include "query/index/parallel.h"

/* A bit for each number may take this many times the memory of a list. */
#define BITS_FACTOR 2
#define BITS_ALWAYS 65536
#define RANK_BITS 64u

static const uint8_t call_columns[CALL_COLUMNS] = {
	[CALL_COLUMN_START] = COLUMN_CUDA_API_START,
	[CALL_COLUMN_END] = COLUMN_CUDA_API_END,
	[CALL_COLUMN_NAME] = COLUMN_CUDA_API_NAME,
};

/* What a group of work needs of its process. */
struct work_group {
	enum table_id table;
	uint8_t correlation; /* the column */
	size_t group;
	int64_t process;
	uint32_t least;
	uint32_t largest;
	size_t rows; /* with a correlation */
};

struct loading {
	struct query *q;
	struct cuda_calls *calls;
	struct work_group *work_groups;
	size_t work_group_count;
	unsigned column;      /* CALL_COLUMN_* */
	_Atomic int too_wide; /* some number does not fit into half */
	_Atomic size_t next;
};

static int is_correlation(int64_t value)
{
	return value > 0 && value < UINT32_MAX;
}

static int list_groups(struct loading *l, enum table_id table)
{
	size_t groups = report_group_count(l->q->report, table);
	struct work_group *work_groups = reallocarray(l->work_groups, l->work_group_count + groups + 1, sizeof(*work_groups));

	if (!work_groups)
		return -ENOMEM;
	l->work_groups = work_groups;
	for (size_t g = 0; g < groups; g++) {
		const int64_t *track = index_find(&l->q->index.tracks, report_group(l->q->report, table, g)->track);

		if (track && track[TRACK_KIND] == table_tracks(table)->kind)
			l->work_groups[l->work_group_count++] = (struct work_group){ .table = table,
										     .group = g,
										     .correlation = (uint8_t)table_column(table, ROLE_WORK),
										     .process = track[TRACK_PROCESS],
										     .least = UINT32_MAX };
	}
	return 0;
}

static int list_work(struct loading *l)
{
	int r = 0;

	for (unsigned table = 0; r >= 0 && table < TABLE_ID_LIMIT; table++)
		if (table_is_work(table) && table_column(table, ROLE_WORK) >= 0)
			r = list_groups(l, (enum table_id)table);
	return r;
}

/* The correlations of a group. Whoever shows its rows tells of damage. */
static int64_t *group_numbers(const struct loading *l, const struct work_group *p, uint32_t *ret_rows, int *ret)
{
	uint32_t rows = report_group(l->q->report, p->table, p->group)->rows;
	int64_t *values = malloc((rows + 1) * sizeof(*values));

	*ret_rows = rows;
	*ret = values ? report_column(l->q->report, p->table, p->group, p->correlation, values, NULL) : -ENOMEM;
	if (*ret == -EBADMSG)
		*ret = *ret_rows = 0;
	return values;
}

static int measure_group(const struct loading *l, struct work_group *p)
{
	uint32_t rows;
	int r;
	int64_t *values = group_numbers(l, p, &rows, &r);

	for (uint32_t i = 0; r >= 0 && i < rows; i++) {
		if (!is_correlation(values[i]))
			continue;
		p->rows++;
		p->least = values[i] < p->least ? (uint32_t)values[i] : p->least;
		p->largest = values[i] > p->largest ? (uint32_t)values[i] : p->largest;
	}
	free(values);
	return r;
}

static int measure_groups(void *context, unsigned worker)
{
	struct loading *l = context;
	size_t work_group;

	while ((work_group = atomic_fetch_add(&l->next, 1)) < l->work_group_count)
		TRY(measure_group(l, &l->work_groups[work_group]));
	return 0;
}

static size_t process_place(const struct cuda_calls *c, int64_t uid)
{
	size_t low = 0, high = c->process_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (c->processes[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct cuda_process *cuda_calls_process(const struct cuda_calls *c, int64_t uid)
{
	size_t at = process_place(c, uid);

	return at < c->process_count && c->processes[at].uid == uid ? &c->processes[at] : NULL;
}

static int add_to_process(struct cuda_calls *c, const struct work_group *work_group)
{
	size_t at = process_place(c, work_group->process);
	struct cuda_process *p;

	if (at == c->process_count || c->processes[at].uid != work_group->process) {
		if (!LIST_ROOM(c->processes, c->process_count))
			return -ENOMEM;
		memmove(c->processes + at + 1, c->processes + at, (c->process_count++ - at) * sizeof(*c->processes));
		c->processes[at] = (struct cuda_process){ .uid = work_group->process, .least = UINT32_MAX };
	}
	p = &c->processes[at];
	p->work += work_group->rows;
	p->least = work_group->least < p->least ? work_group->least : p->least;
	p->largest = work_group->largest > p->largest ? work_group->largest : p->largest;
	return 0;
}

static size_t word_count(const struct cuda_process *p)
{
	return (size_t)(p->largest - p->least) / RANK_BITS + 1;
}

static int make_sets(struct cuda_calls *c)
{
	for (size_t i = 0; i < c->process_count; i++) {
		struct cuda_process *p = &c->processes[i];
		size_t span = p->work ? (size_t)(p->largest - p->least) + 1 : 0;

		if (!p->work)
			p->least = p->largest = 0;
		if (span <= BITS_ALWAYS || span / 8 <= BITS_FACTOR * p->work * sizeof(*p->sorted))
			p->bits = calloc(word_count(p) + 1, sizeof(*p->bits));
		else
			p->sorted = malloc(p->work * sizeof(*p->sorted));
		if (!p->bits && !p->sorted)
			return -ENOMEM;
		p->work = 0;
	}
	return 0;
}

/* Threads share the bits, not the lists. */
static int fill_group(struct loading *l, const struct work_group *work_group, int lists)
{
	struct cuda_process *p = &l->calls->processes[process_place(l->calls, work_group->process)];
	int64_t *values;
	uint32_t rows, number;
	int r;

	if (work_group->rows == 0 || lists == (p->bits != NULL))
		return 0;
	values = group_numbers(l, work_group, &rows, &r);
	for (uint32_t i = 0; r >= 0 && i < rows; i++) {
		if (!is_correlation(values[i]))
			continue;
		number = (uint32_t)values[i] - p->least;
		if (p->bits)
			__atomic_fetch_or(&p->bits[number / RANK_BITS], 1ull << number % RANK_BITS, __ATOMIC_RELAXED);
		else
			p->sorted[p->work++] = (uint32_t)values[i];
	}
	free(values);
	return r;
}

static int fill_groups(void *context, unsigned worker)
{
	struct loading *l = context;
	size_t work_group;

	while ((work_group = atomic_fetch_add(&l->next, 1)) < l->work_group_count)
		TRY(fill_group(l, &l->work_groups[work_group], 0));
	return 0;
}

static void sort_list(struct cuda_process *p)
{
	size_t kept = 0;

	sort_items(p->sorted, p->work, sizeof(*p->sorted), compare_uint32);
	for (size_t i = 0; i < p->work; i++)
		if (kept == 0 || p->sorted[kept - 1] != p->sorted[i])
			p->sorted[kept++] = p->sorted[i];
	p->work = kept;
}

/* Bits set before each word; returns how many there are. */
static int rank_bits(struct cuda_process *p, uint64_t *ret)
{
	*ret = 0;
	p->ranks = malloc((word_count(p) + 1) * sizeof(*p->ranks));
	if (!p->ranks)
		return -ENOMEM;
	for (size_t i = 0; i < word_count(p); i++) {
		p->ranks[i] = (uint32_t)*ret;
		*ret += (unsigned)__builtin_popcountll(p->bits[i]);
	}
	return 0;
}

static int number_calls(struct cuda_calls *c)
{
	uint64_t all = 0, own;

	for (size_t i = 0; i < c->process_count; i++) {
		struct cuda_process *p = &c->processes[i];

		p->first = (uint32_t)all;
		if (p->bits) {
			TRY(rank_bits(p, &own));
		} else {
			sort_list(p);
			own = p->work;
		}
		all += own;
		if (all >= CUDA_NO_CALL)
			return -ENOMEM;
	}
	c->count = (uint32_t)all;
	return 0;
}

/* The number of the call of that correlation, recorded or not. */
static uint32_t call_number(const struct cuda_process *p, int64_t correlation)
{
	size_t low = 0, high, middle;
	uint32_t number;
	uint64_t word;

	if (!p || correlation < (int64_t)p->least || correlation > (int64_t)p->largest)
		return CUDA_NO_CALL;
	if (p->bits) {
		number = (uint32_t)correlation - p->least;
		word = p->bits[number / RANK_BITS];
		if (!(word >> number % RANK_BITS & 1))
			return CUDA_NO_CALL;
		word &= (1ull << number % RANK_BITS) - 1;
		return p->first + p->ranks[number / RANK_BITS] + (uint32_t)__builtin_popcountll(word);
	}
	for (high = p->work; low < high;) {
		middle = low + (high - low) / 2;
		if ((int64_t)p->sorted[middle] < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->work && (int64_t)p->sorted[low] == correlation ? p->first + (uint32_t)low : CUDA_NO_CALL;
}

uint32_t cuda_call_find(const struct cuda_calls *c, const struct cuda_process *p, int64_t correlation)
{
	uint32_t call = call_number(p, correlation);

	return call != CUDA_NO_CALL && atomic_load_explicit(&c->rows[call], memory_order_relaxed) == CUDA_NO_CALL ? CUDA_NO_CALL : call;
}

static int find_work(struct loading *l)
{
	TRY(list_work(l));
	TRY(parallel_run(measure_groups, l, parallel_width(l->work_group_count)));
	for (size_t i = 0; i < l->work_group_count; i++)
		TRY(add_to_process(l->calls, &l->work_groups[i]));
	TRY(make_sets(l->calls));
	for (size_t i = 0; i < l->work_group_count; i++)
		TRY(fill_group(l, &l->work_groups[i], 1));
	atomic_store(&l->next, 0);
	TRY(parallel_run(fill_groups, l, parallel_width(l->work_group_count)));
	return number_calls(l->calls);
}

static const int64_t *api_track(struct query *q, uint32_t track)
{
	const int64_t *row = index_find(&q->index.tracks, track);

	return row && row[TRACK_KIND] == TRACK_CUDA_API ? row : NULL;
}

static int allocate_rows(struct cuda_calls *c, struct query *q)
{
	size_t groups = report_group_count(q->report, TABLE_CUDA_API);
	uint64_t rows = 0;

	c->group_first = calloc(groups + 1, sizeof(*c->group_first));
	c->group_tracks = calloc(groups + 1, sizeof(*c->group_tracks));
	c->rows = malloc(((size_t)c->count + 1) * sizeof(*c->rows));
	if (!c->group_first || !c->group_tracks || !c->rows)
		return -ENOMEM;
	memset((void *)c->rows, 0xff, c->count * sizeof(*c->rows));
	for (size_t i = 0; i < groups; i++) {
		const struct report_group *group = report_group(q->report, TABLE_CUDA_API, i);

		if (rows + group->rows >= CUDA_NO_CALL)
			break;
		c->group_first[i] = (uint32_t)rows;
		c->group_tracks[i] = api_track(q, group->track);
		rows += group->rows;
		c->group_count = i + 1;
	}
	c->group_first[c->group_count] = (uint32_t)rows;
	return 0;
}

static uint32_t group_rows(const struct cuda_calls *c, size_t group)
{
	return c->group_first[group + 1] - c->group_first[group];
}

/* Of calls with the same number the first in the file counts. */
static void claim(struct cuda_calls *c, uint32_t call, uint32_t row)
{
	uint32_t before = atomic_load_explicit(&c->rows[call], memory_order_relaxed);

	while (row < before &&
	       !atomic_compare_exchange_weak_explicit(&c->rows[call], &before, row, memory_order_relaxed, memory_order_relaxed))
		;
}

static int claim_group(const struct loading *l, size_t group)
{
	struct cuda_calls *c = l->calls;
	const struct cuda_process *p = c->group_tracks[group] ? cuda_calls_process(c, c->group_tracks[group][TRACK_PROCESS]) : NULL;
	uint32_t rows = group_rows(c, group), call;
	int64_t *values = p ? malloc((rows + 1) * sizeof(*values)) : NULL;
	int r = !p ? 0 : values ? 0 : -ENOMEM;

	if (!p || r < 0)
		return r;
	r = report_column(l->q->report, TABLE_CUDA_API, group, COLUMN_CUDA_API_CORRELATION, values, NULL);
	for (uint32_t i = 0; r >= 0 && i < rows; i++) {
		call = is_correlation(values[i]) ? call_number(p, values[i]) : CUDA_NO_CALL;
		if (call != CUDA_NO_CALL)
			claim(c, call, c->group_first[group] + i);
	}
	free(values);
	if (r != -EBADMSG)
		return r;
	/* Nobody finds the calls of a damaged group. */
	atomic_fetch_add(&l->q->damaged, 1);
	return 0;
}

static int claim_groups(void *context, unsigned worker)
{
	struct loading *l = context;
	size_t group;

	while ((group = atomic_fetch_add(&l->next, 1)) < l->calls->group_count)
		TRY(claim_group(l, group));
	return 0;
}

int cuda_group_calls(struct query *q, const struct cuda_calls *c, size_t group, uint32_t *ret)
{
	const struct cuda_process *p = c->group_tracks[group] ? cuda_calls_process(c, c->group_tracks[group][TRACK_PROCESS]) : NULL;
	uint32_t rows = group_rows(c, group);
	int64_t *values = malloc((rows + 1) * sizeof(*values));
	int r = values ? report_column(q->report, TABLE_CUDA_API, group, COLUMN_CUDA_API_CORRELATION, values, NULL) : -ENOMEM;

	for (uint32_t i = 0; r >= 0 && i < rows; i++) {
		ret[i] = p && is_correlation(values[i]) ? call_number(p, values[i]) : CUDA_NO_CALL;
		if (ret[i] != CUDA_NO_CALL && atomic_load_explicit(&c->rows[ret[i]], memory_order_relaxed) != c->group_first[group] + i)
			ret[i] = CUDA_NO_CALL;
	}
	free(values);
	return r;
}

static void keep_value(struct loading *l, struct call_column *column, uint32_t call, int64_t value)
{
	_Atomic int64_t *base;
	int64_t from = 0, distance;

	if (column->wide) {
		column->wide[call] = value;
		return;
	}
	base = &column->bases[call >> CALL_BLOCK_SHIFT];
	if (!atomic_compare_exchange_strong_explicit(base, &from, value ? value : 1, memory_order_relaxed, memory_order_relaxed))
		distance = (int64_t)((uint64_t)value - (uint64_t)from);
	else
		distance = value ? 0 : -1;
	column->narrow[call] = (int32_t)distance;
	if (column->narrow[call] != distance)
		atomic_store_explicit(&l->too_wide, 1, memory_order_relaxed);
}

static int keep_group(struct loading *l, size_t group, int64_t *values, uint32_t *calls)
{
	struct call_column *column = &l->calls->columns[l->column];
	uint32_t rows = group_rows(l->calls, group);
	int r = cuda_group_calls(l->q, l->calls, group, calls);

	if (r < 0)
		return r == -EBADMSG ? 0 : r; /* nobody finds them */
	r = report_column(l->q->report, TABLE_CUDA_API, group, call_columns[l->column], values, NULL);
	for (uint32_t i = 0; i < rows; i++) {
		if (calls[i] == CUDA_NO_CALL)
			continue;
		if (r >= 0)
			keep_value(l, column, calls[i], values[i]);
		else
			atomic_store(&l->calls->rows[calls[i]], CUDA_NO_CALL);
	}
	if (r != -EBADMSG)
		return r;
	atomic_fetch_add(&l->q->damaged, 1);
	return 0;
}

static int keep_groups(void *context, unsigned worker)
{
	struct loading *l = context;
	size_t group;
	int r = 0;

	while (r >= 0 && (group = atomic_fetch_add(&l->next, 1)) < l->calls->group_count) {
		uint32_t rows = group_rows(l->calls, group);
		int64_t *values = malloc((rows + 1) * sizeof(*values));
		uint32_t *calls = malloc((rows + 1) * sizeof(*calls));

		if (!values || !calls)
			r = -ENOMEM;
		else if (l->calls->group_tracks[group])
			r = keep_group(l, group, values, calls);
		free(values);
		free(calls);
	}
	return r;
}

static void release_column(struct call_column *column)
{
	free(column->narrow);
	free((void *)column->bases);
	free(column->wide);
	*column = (struct call_column){ 0 };
}

static int fill_column(struct loading *l)
{
	atomic_store(&l->next, 0);
	return parallel_run(keep_groups, l, parallel_width(l->calls->group_count));
}

static int load_call_column(struct loading *l)
{
	struct call_column *column = &l->calls->columns[l->column];
	size_t count = (size_t)l->calls->count + 1;
	int r;

	column->narrow = calloc(count, sizeof(*column->narrow));
	column->bases = calloc((count >> CALL_BLOCK_SHIFT) + 1, sizeof(*column->bases));
	r = column->narrow && column->bases ? fill_column(l) : -ENOMEM;
	if (r >= 0 && atomic_load(&l->too_wide)) {
		release_column(column);
		column->wide = calloc(count, sizeof(*column->wide));
		r = column->wide ? fill_column(l) : -ENOMEM;
		atomic_store(&l->too_wide, 0);
	}
	if (r < 0)
		release_column(column);
	return r;
}

static int load_calls(struct query *q, struct cuda_calls **ret)
{
	struct loading l = { .q = q, .calls = calloc(1, sizeof(*l.calls)) };
	int r = l.calls ? find_work(&l) : -ENOMEM;

	free(l.work_groups);
	if (r >= 0)
		r = allocate_rows(l.calls, q);
	atomic_store(&l.next, 0);
	if (r >= 0)
		r = parallel_run(claim_groups, &l, parallel_width(l.calls->group_count));
	if (r < 0)
		cuda_calls_release(l.calls);
	else
		*ret = l.calls;
	return r;
}

static int load_parts(struct query *q, unsigned parts)
{
	struct loading l = { .q = q, .calls = q->calls };
	int r = 0;

	for (; r >= 0 && l.column < CALL_COLUMNS; l.column++)
		if ((parts & ~q->calls->parts) >> l.column & 1) {
			r = load_call_column(&l);
			q->calls->parts |= r < 0 ? 0 : 1u << l.column;
		}
	return r;
}

int cuda_calls_of(struct query *q, unsigned parts, struct cuda_calls **ret)
{
	int r = 0;

	pthread_mutex_lock(&q->loading);
	if (!q->calls)
		r = load_calls(q, &q->calls);
	if (r >= 0)
		r = load_parts(q, parts);
	*ret = q->calls;
	pthread_mutex_unlock(&q->loading);
	return r;
}

void cuda_calls_release(struct cuda_calls *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->process_count; i++) {
		free(c->processes[i].bits);
		free(c->processes[i].ranks);
		free(c->processes[i].sorted);
	}
	for (unsigned i = 0; i < CALL_COLUMNS; i++)
		release_column(&c->columns[i]);
	free(c->processes);
	free((void *)c->rows);
	free(c->group_first);
	free(c->group_tracks);
	free(c);
}

const int64_t *cuda_call_track(const struct cuda_calls *c, uint32_t call, size_t *hint)
{
	uint32_t row = atomic_load_explicit(&c->rows[call], memory_order_relaxed);
	size_t low = 0, high = c->group_count, middle;

	if (*hint < c->group_count && c->group_first[*hint] <= row && row < c->group_first[*hint + 1])
		return c->group_tracks[*hint];
	while (low < high) {
		middle = low + (high - low) / 2;
		if (c->group_first[middle + 1] <= row)
			low = middle + 1;
		else
			high = middle;
	}
	*hint = low;
	return low < c->group_count ? c->group_tracks[low] : NULL;
}
