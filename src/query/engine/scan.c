#include "query/engine/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "query/engine/call_values.h"
#include "query/payload/payload.h"
#include "query/engine/scope.h"
#include "query/engine/view_values.h"

void scan_init(struct scan *s, struct query *q, const struct mapped_table *table)
{
	memset(s, 0, sizeof(*s));
	s->q = q;
	s->table = table;
	s->payload_steps = payload_steps(q);
	scan_rewind(s);
}

void scan_release(struct scan *s)
{
	for (unsigned i = 0; i < TABLE_MAX_COLUMNS; i++) {
		free(s->raw[i].values);
		free(s->raw[i].nulls);
	}
	for (unsigned i = 0; i < MAPPED_MAX_COLUMNS; i++) {
		free(s->made[i].values);
		free(s->made[i].nulls);
	}
	free(s->counts);
	memset(s, 0, sizeof(*s));
}

void scan_rewind(struct scan *s)
{
	s->source = 0;
	s->group = SIZE_MAX; /* + 1 = 0 */
}

static int grow_scan_values(int64_t **values, uint8_t **nulls, size_t *cap, size_t rows)
{
	int64_t *v;
	uint8_t *n;

	if (*cap >= rows)
		return 0;
	v = realloc(*values, rows * sizeof(*v));
	if (!v)
		return -ENOMEM;
	*values = v;
	n = realloc(*nulls, rows);
	if (!n)
		return -ENOMEM;
	*nulls = n;
	*cap = rows;
	return 0;
}

int scan_grow(struct scan_vector *v, uint32_t rows)
{
	return grow_scan_values(&v->values, &v->nulls, &v->cap, rows);
}

static const struct mapped_source *current_source(const struct scan *s)
{
	return &s->table->sources[s->source];
}

int scan_raw(struct scan *s, unsigned column, struct scan_column **ret)
{
	const struct mapped_source *source = current_source(s);
	const struct report_group *group = report_group(s->q->report, source->table, s->group);
	struct scan_column *raw = &s->raw[column];

	CHECK(column < COUNT_OF(s->raw));
	*ret = raw;
	if (raw->loaded)
		return 0;
	TRY(grow_scan_values(&raw->values, &raw->nulls, &raw->cap, s->rows));
	raw->has_nulls = 1;
	if (group->present >> column & 1) {
		TRY(report_column(s->q->report, source->table, s->group, column, raw->values, raw->nulls));
		raw->has_nulls = memchr(raw->nulls, 1, s->rows) != NULL;
	} else {
		memset(raw->values, 0, s->rows * sizeof(*raw->values));
		memset(raw->nulls, 1, s->rows);
	}
	raw->loaded = 1;
	return 0;
}

static int is_constant(const struct mapped_cell *cell)
{
	return cell->convert <= CONVERT_NULL || cell->convert == CONVERT_CONSTANT || cell->convert >= CONVERT_TRACK;
}

int cell_is_constant(const struct mapped_cell *cell)
{
	return is_constant(cell);
}

static const int64_t *find_domain_row(const struct query *q, int64_t uid)
{
	return index_find_last(&q->index.domains, &uid, 1);
}

/* Null (returns 0) where the track or its domain is not known. */
static int constant_of(const struct scan *s, const struct mapped_cell *cell, int64_t *ret)
{
	const int64_t *t = s->track, *domain;

	*ret = cell->constant;
	if (cell->convert == CONVERT_CONSTANT)
		return 1;
	if (cell->convert <= CONVERT_NULL)
		return 0;
	if (cell->convert >= CONVERT_LABEL) {
		*ret += STRING_ID_MADE;
		return 1;
	}
	if (cell->convert == CONVERT_TRACK) {
		*ret = report_group(s->q->report, current_source(s)->table, s->group)->track;
		return 1;
	}
	if (!t)
		return 0;
	domain = find_domain_row(s->q, t[TRACK_DOMAIN]);
	switch ((enum convert)cell->convert) {
	case CONVERT_TRACK_TID:
		*ret = t[TRACK_THREAD] ? index_global_tid(&s->q->index, t[TRACK_THREAD]) : index_global_pid(&s->q->index, t[TRACK_PROCESS]);
		return 1;
	case CONVERT_TRACK_THREAD: *ret = t[TRACK_THREAD]; return 1;
	case CONVERT_TRACK_PROCESS: *ret = t[TRACK_PROCESS]; return 1;
	case CONVERT_TRACK_DEPTH: *ret = t[TRACK_DEPTH]; return 1;
	case CONVERT_TRACK_DOMAIN_ID: *ret = domain ? domain[DOMAIN_ID] : 0; return 1;
	case CONVERT_TRACK_DOMAIN_NAME: *ret = domain ? domain[DOMAIN_NAME] : 0; return *ret != 0;
	case CONVERT_TRACK_VIEW: return view_constant(s, cell, ret);
	default: return scan_cuda_constant(s, cell, ret);
	}
}

int scan_constant(const struct scan *s, unsigned column, int64_t *ret)
{
	return constant_of(s, mapped_cell(s->table, s->source, column), ret);
}

static int is_text_cell(const struct mapped_cell *cell)
{
	return cell->convert == CONVERT_TRACK_DOMAIN_NAME || cell->convert == CONVERT_LABEL_TEXT ||
	       (cell->convert == CONVERT_TRACK_VIEW && (cell->other == VIEW_TRACK_PROCESS || cell->other == VIEW_TRACK_THREAD));
}

static void make_constant(struct scan *s, struct scan_vector *v, const struct mapped_cell *cell)
{
	int present = constant_of(s, cell, &v->one);

	v->one_null = !present;
	v->vector.kind = !present ? VECTOR_NULL : is_text_cell(cell) ? VECTOR_STRING : VECTOR_NUMBER;
	v->vector.constant = 1;
	v->vector.values = &v->one;
	v->vector.nulls = present ? NULL : &v->one_null;
}

/* Conversions that show the report's column as it is. */
static int direct_kind(enum convert convert)
{
	switch (convert) {
	case CONVERT_NUMBER:
	case CONVERT_STRING_ID: return VECTOR_NUMBER;
	case CONVERT_REAL: return VECTOR_REAL;
	case CONVERT_TEXT: return VECTOR_STRING;
	case CONVERT_BLOB: return VECTOR_BLOB;
	case CONVERT_JSON: return VECTOR_JSON;
	case CONVERT_HEX: return VECTOR_HEX;
	default: return -1;
	}
}

static int64_t double_to_bits(double value)
{
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static int64_t payload_of(const struct mapped_cell *cell, int64_t bits)
{
	float single;
	uint32_t low = (uint32_t)bits;

	if (cell->convert == CONVERT_PAYLOAD_FLOAT) {
		memcpy(&single, &low, sizeof(single));
		return double_to_bits((double)single);
	}
	if (cell->constant == 4) /* NVTX_PAYLOAD_UINT32 */
		return (int64_t)low;
	if (cell->constant == 5) /* NVTX_PAYLOAD_INT32 */
		return (int32_t)low;
	return bits;
}

static int64_t first_row_id(const struct scan *s)
{
	return (int64_t)report_group(s->q->report, current_source(s)->table, s->group)->first_row + 1;
}

/* The value of one row; 0 when it is null. */
static int convert_row(const struct scan *s, const struct mapped_cell *cell, uint32_t row, int64_t *ret)
{
	const struct query_index *index = &s->q->index;
	int64_t value = s->raw[cell->column].values[row];
	int64_t other = cell->other < TABLE_MAX_COLUMNS && s->raw[cell->other].loaded ? s->raw[cell->other].values[row] : 0;
	int present = !s->raw[cell->column].nulls[row];
	const int64_t *found;

	*ret = value;
	switch ((enum convert)cell->convert) {
	case CONVERT_NUMBER_OR_NULL: return present && value != 0;
	case CONVERT_NUMBER_OR: *ret = present ? value : cell->constant; return 1;
	case CONVERT_PLUS: *ret = (int64_t)((uint64_t)value + (uint64_t)cell->constant); return present;
	case CONVERT_IF: return present && other == cell->constant;
	case CONVERT_ROW_ID: *ret = first_row_id(s) + row; return 1;
	case CONVERT_FILE_CALL: *ret = index_file_call(index, value); return 1;
	case CONVERT_BLOB_STRING_ID: *ret = (int64_t)report_string_limit(s->q->report) + value; return present;
	case CONVERT_GLOBAL_PID: *ret = index_global_pid(index, value); return present && value != 0;
	case CONVERT_GLOBAL_TID: *ret = index_global_tid(index, value); return present && value != 0;
	case CONVERT_NAMED_TID: *ret = index_process_tid(index, value, s->raw[cell->column + 1].values[row]); return present;
	case CONVERT_PRESENT: *ret = present; return 1;
	case CONVERT_ABSENT: *ret = !present; return 1;
	case CONVERT_DOMAIN_ID:
		found = find_domain_row(s->q, value);
		*ret = found ? found[DOMAIN_ID] : 0;
		return 1;
	case CONVERT_DOMAIN_NAME:
		found = find_domain_row(s->q, value);
		*ret = found ? found[DOMAIN_NAME] : 0;
		return *ret != 0;
	case CONVERT_THREAD_NAME_ID: *ret = index_thread_name(index, value); return *ret != 0;
	case CONVERT_OPEN: *ret = value & SLICE_OPEN; return 1;
	case CONVERT_PAYLOAD:
	case CONVERT_PAYLOAD_REAL:
	case CONVERT_PAYLOAD_FLOAT: *ret = payload_of(cell, value); return present && other == cell->constant;
	default: return 0;
	}
}

static enum vector_kind converted_kind(enum convert convert)
{
	switch (convert) {
	case CONVERT_PAYLOAD_REAL:
	case CONVERT_AS_REAL:
	case CONVERT_PAYLOAD_FLOAT: return VECTOR_REAL;
	case CONVERT_FREE_TEXT:
	case CONVERT_LAUNCH_TEXT:
	case CONVERT_API_TEXT:
	case CONVERT_DOMAIN_NAME: return VECTOR_STRING;
	default: return VECTOR_NUMBER;
	}
}

/* Durations are what statistics are made of: no call per row. */
static void convert_durations(const struct scan *s, const struct mapped_cell *cell, struct scan_vector *v)
{
	const int64_t *start = s->raw[0].values, *end = s->raw[cell->column].values;
	const uint8_t *end_null = s->raw[cell->column].nulls;
	const struct scan_column *flags = cell->other < TABLE_MAX_COLUMNS ? &s->raw[cell->other] : NULL;

	for (uint32_t i = 0; i < s->rows; i++)
		v->values[i] = (int64_t)((uint64_t)end[i] - (uint64_t)start[i]);
	if (flags)
		for (uint32_t i = 0; i < s->rows; i++)
			v->nulls[i] = end_null[i] | (flags->values[i] & SLICE_OPEN);
	else
		memcpy(v->nulls, end_null, s->rows);
}

/* Values that flags (column `other`) make null: no call per row, and no copy. */
static int convert_by_flags(const struct scan *s, const struct mapped_cell *cell, struct scan_vector *v)
{
	static const struct {
		uint8_t convert;
		int64_t mask;
		int64_t wanted;
	} rules[] = {
		{ CONVERT_END, SLICE_OPEN, 0 },
		{ CONVERT_FREE_TEXT, SLICE_REGISTERED, 0 },
		{ CONVERT_REGISTERED_ID, SLICE_REGISTERED, SLICE_REGISTERED },
		{ CONVERT_COLOR, SLICE_HAS_COLOR, SLICE_HAS_COLOR },
	};
	const struct scan_column *raw = &s->raw[cell->column];
	const struct scan_column *flags = cell->other < TABLE_MAX_COLUMNS ? &s->raw[cell->other] : NULL;
	unsigned rule = 0;

	while (rule < COUNT_OF(rules) && rules[rule].convert != cell->convert)
		rule++;
	if (rule == COUNT_OF(rules))
		return 0;
	for (uint32_t i = 0; i < s->rows; i++)
		v->nulls[i] = raw->nulls[i] | (((flags ? flags->values[i] : 0) & rules[rule].mask) != rules[rule].wanted);
	v->vector.values = raw->values;
	return 1;
}

/* Decodes what the conversion reads besides its own column. */
static int load_companions(struct scan *s, const struct mapped_cell *cell)
{
	struct scan_column *ignored;
	int r = 0;

	if (cell->convert == CONVERT_NAMED_TID)
		r = scan_raw(s, cell->column + 1u, &ignored);
	if (cell->convert == CONVERT_DURATION)
		r = scan_raw(s, 0, &ignored);
	if (cell->convert == CONVERT_JSON)
		r = scan_raw(s, (unsigned)cell->constant, &ignored);
	if (r >= 0 && (cell->convert == CONVERT_JSON || cell->convert == CONVERT_HEX))
		r = scan_raw(s, cell->other, &ignored);
	if (r >= 0 && cell->convert >= CONVERT_END && cell->convert <= CONVERT_PAYLOAD_FLOAT && cell->convert != CONVERT_OPEN &&
	    cell->other < TABLE_MAX_COLUMNS)
		r = scan_raw(s, cell->other, &ignored);
	return r;
}

static int make_converted(struct scan *s, struct scan_vector *v, const struct mapped_cell *cell)
{
	int r = 0;

	TRY(load_companions(s, cell));
	TRY(grow_scan_values(&v->values, &v->nulls, &v->cap, s->rows));
	v->vector.values = v->values;
	if (cell->convert >= CONVERT_LAUNCH)
		r = scan_cuda_rows(s, cell, v);
	else if (cell->convert == CONVERT_DURATION)
		convert_durations(s, cell, v);
	else if (!convert_by_flags(s, cell, v))
		for (uint32_t i = 0; i < s->rows; i++)
			v->nulls[i] = !convert_row(s, cell, i, &v->values[i]);
	v->vector = (struct vector){ converted_kind((enum convert)cell->convert), 0, v->vector.values,
				     memchr(v->nulls, 1, s->rows) ? v->nulls : NULL };
	return r;
}

int scan_vector(struct scan *s, unsigned column, const struct vector **ret)
{
	const struct mapped_cell *cell = mapped_cell(s->table, s->source, column);
	struct scan_vector *v = &s->made[column];
	struct scan_column *raw;
	int r = 0, kind;

	CHECK(column < COUNT_OF(s->made));
	*ret = &v->vector;
	if (v->made)
		return 0;
	if (is_constant(cell)) {
		make_constant(s, v, cell);
		v->made = 1;
		return 0;
	}
	if (cell->convert == CONVERT_CALL || cell->convert == CONVERT_VIEW) {
		r = cell->convert == CONVERT_CALL ? call_vector(s, cell, v) : view_vector(s, cell, v);
		v->made = r >= 0;
		return r;
	}
	TRY(scan_raw(s, cell->column, &raw));
	kind = direct_kind((enum convert)cell->convert);
	if (cell->convert == CONVERT_NUMBER_OR && !raw->has_nulls)
		kind = VECTOR_NUMBER;
	if (kind == VECTOR_JSON || kind == VECTOR_HEX)
		r = load_companions(s, cell);
	if (kind >= 0)
		v->vector = (struct vector){ (enum vector_kind)kind, 0, raw->values, raw->has_nulls ? raw->nulls : NULL };
	else
		r = make_converted(s, v, cell);
	v->made = r >= 0;
	return r;
}

static enum table_kind get_origin_kind(const struct mapped_source *source)
{
	return table_schema(source->table)->kind;
}

int cell_time_edge(const struct mapped_source *source, const struct mapped_cell *cell)
{
	enum table_kind kind = get_origin_kind(source);

	if (kind == TABLE_KIND_PLAIN || cell->column > (kind == TABLE_KIND_SPAN))
		return -1;
	if (cell->convert == CONVERT_NUMBER || cell->convert == CONVERT_END)
		return cell->column;
	return -1;
}

/* False only when none of the values from least to largest can meet the condition. */
static int span_may_match(const struct condition *c, int64_t least, int64_t largest)
{
	switch ((enum comparison)c->comparison) {
	case COMPARE_EQ: return least <= c->value && c->value <= largest;
	case COMPARE_LT: return least < c->value;
	case COMPARE_LE: return least <= c->value;
	case COMPARE_GT: return largest > c->value;
	case COMPARE_GE: return largest >= c->value;
	case COMPARE_NE: break;
	}
	return 1;
}

/* False only when no row of the group can meet the condition. */
static int group_may_match(const struct scan *s, const struct report_group *group, const struct condition *c)
{
	const struct mapped_source *source = current_source(s);
	const struct mapped_cell *cell = mapped_cell(s->table, s->source, c->column);
	int64_t value;

	if (is_constant(cell) && !is_text_cell(cell))
		return constant_of(s, cell, &value) && condition_holds(c, value);
	if (cell->convert == CONVERT_ROW_ID)
		return span_may_match(c, first_row_id(s), first_row_id(s) + group->rows - 1);
	if (cell_time_edge(source, cell) < 0)
		return 1;
	return span_may_match(c, group->time_min, group->time_max);
}

/* False only where all rows are null in a column that must not be. */
static int filter_may_match(const struct mapped_source *source, const struct report_group *group)
{
	return source->filter != FILTER_NOT_EQUAL || source->filter_value != 0 || group->present >> source->filter_column & 1;
}

/* Rows are sorted by start, and by end: the first that is not below (or, `past`, above) the value. */
static uint32_t find_bound(const int64_t *values, uint32_t rows, int64_t value, int past)
{
	uint32_t low = 0, high = rows, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (values[middle] < value || (past && values[middle] == value))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A row asked for by its number is the only one. */
static void narrow_to_row(struct scan *s, int64_t id)
{
	uint32_t row = (uint32_t)(id - first_row_id(s));

	if (s->first < row)
		s->first = row;
	if (s->limit > row + 1)
		s->limit = row + 1;
}

static int narrow_rows(struct scan *s, const struct condition *c)
{
	const struct mapped_source *source = current_source(s);
	struct scan_column *times;
	uint32_t at;
	int edge;

	if (mapped_cell(s->table, s->source, c->column)->convert == CONVERT_ROW_ID && c->comparison == COMPARE_EQ) {
		narrow_to_row(s, c->value);
		return 0;
	}

	edge = cell_time_edge(source, mapped_cell(s->table, s->source, c->column));
	if (edge < 0 || c->comparison == COMPARE_NE)
		return 0;
	TRY(scan_raw(s, (unsigned)edge, &times));
	at = find_bound(times->values, s->rows, c->value, c->comparison == COMPARE_LE || c->comparison == COMPARE_GT);
	if ((c->comparison == COMPARE_LT || c->comparison == COMPARE_LE) && at < s->limit)
		s->limit = at;
	if ((c->comparison == COMPARE_GT || c->comparison == COMPARE_GE || c->comparison == COMPARE_EQ) && at > s->first)
		s->first = at;
	return 0;
}

static void forget_columns(struct scan *s)
{
	for (unsigned i = 0; i < TABLE_MAX_COLUMNS; i++)
		s->raw[i].loaded = 0;
	for (unsigned i = 0; i < s->table->column_count; i++)
		s->made[i].made = 0;
	s->counted = 0;
}

int scan_may_enter(struct scan *s, unsigned source, size_t group)
{
	const struct report_group *g = report_group(s->q->report, s->table->sources[source].table, group);

	s->source = source;
	s->group = group;
	s->rows = s->limit = g->rows;
	s->first = 0;
	s->track = g->track ? index_find(&s->q->index.tracks, g->track) : NULL;
	if (current_source(s)->track_kind && (!s->track || s->track[TRACK_KIND] != current_source(s)->track_kind))
		return 0;
	if (!filter_may_match(current_source(s), g) || (s->q->scope && !scope_may_enter(s)))
		return 0;
	for (unsigned i = 0; i < s->condition_count; i++)
		if (!group_may_match(s, g, &s->conditions[i]))
			return 0;
	return 1;
}

int scan_enter(struct scan *s, unsigned source, size_t group)
{
	int r;

	if (!s->entered || s->entered_source != source || s->entered_group != group)
		forget_columns(s);
	s->entered = 1;
	s->entered_source = source;
	s->entered_group = group;
	r = scan_may_enter(s, source, group);
	if (r == 0)
		return 0;
	for (unsigned i = 0; r >= 0 && i < s->condition_count; i++)
		r = narrow_rows(s, &s->conditions[i]);
	if (r < 0)
		return r;
	CHECK(s->limit <= s->rows);
	return s->first < s->limit;
}

int scan_next_group(struct scan *s)
{
	int r;

	for (s->group++; s->source < s->table->source_count; s->source++, s->group = 0)
		for (; s->group < report_group_count(s->q->report, current_source(s)->table); s->group++) {
			r = scan_enter(s, s->source, s->group);
			if (r == -EBADMSG) {
				atomic_fetch_add(&s->q->damaged, 1);
				continue;
			}
			if (r != 0)
				return r;
		}
	return 0;
}

/* A thread may be named several times: the last one counts. */
static int is_last_given_name(const struct scan *s, int64_t process, int64_t tid, uint32_t row)
{
	int64_t key[] = { process, tid };
	const int64_t *last = index_find_last(&s->q->index.given_names, key, 2);
	uint64_t first = report_group(s->q->report, current_source(s)->table, s->group)->first_row;

	return last && (uint64_t)last[GIVEN_ORDER] == first + row;
}

static int in_scope(struct scan *s, uint32_t row)
{
	uint8_t *grown;

	if (s->counted)
		return s->counts[row];
	if (s->counts_cap < s->rows) {
		grown = realloc(s->counts, s->rows);
		if (!grown)
			return 0;
		s->counts = grown;
		s->counts_cap = s->rows;
	}
	if (scope_mark_rows(s, s->counts) < 0) {
		atomic_fetch_add(&s->q->damaged, 1);
		memset(s->counts, 0, s->rows);
	}
	s->counted = 1;
	return s->counts[row];
}

int scan_row_visible(struct scan *s, uint32_t row)
{
	const struct mapped_source *source = current_source(s);
	const struct query_index *index = &s->q->index;
	struct scan_column *column, *tid;
	const int64_t *last;
	int64_t key;

	if (s->q->scope && !in_scope(s, row))
		return 0;
	if (source->filter == FILTER_NONE)
		return 1;
	if (source->unless && (scan_raw(s, source->unless, &column) < 0 || column->values[row] != 0))
		return 0;
	if (scan_raw(s, source->filter_column, &column) < 0)
		return 0;
	switch ((enum row_filter)source->filter) {
	case FILTER_EQUAL: return column->values[row] == source->filter_value;
	case FILTER_NOT_EQUAL: return column->values[row] != source->filter_value;
	case FILTER_BETWEEN: return column->values[row] >= source->filter_value && column->values[row] <= source->filter_last;
	case FILTER_LAST_PROCESS:
		key = index_global_pid(index, column->values[row]);
		last = index_find_last(&index->pids, &key, 1);
		return last && last[LIFE_UID] == column->values[row];
	case FILTER_LAST_THREAD:
		key = index_global_tid(index, column->values[row]);
		last = index_find_last(&index->tids, &key, 1);
		return last && last[LIFE_UID] == column->values[row] && index_thread_name(index, column->values[row]) != 0;
	case FILTER_UNSEEN_THREAD:
		if (scan_raw(s, source->filter_column + 1u, &tid) < 0)
			return 0;
		key = index_process_tid(index, column->values[row], tid->values[row]);
		return !index_find_last(&index->tids, &key, 1) && is_last_given_name(s, column->values[row], tid->values[row], row);
	case FILTER_UNLISTED_GPU: return cuda_stands_for_gpu(index->cuda, column->values[row]);
	case FILTER_NONE: break;
	}
	return 1;
}

int scan_checks(struct scan *s, struct row_check *ret, unsigned *ret_count)
{
	const struct mapped_source *source = current_source(s);
	const struct mapped_cell *cell;
	int r = 0;

	*ret_count = 0;
	for (unsigned i = 0; r >= 0 && i < s->condition_count; i++) {
		cell = mapped_cell(s->table, s->source, s->conditions[i].column);
		if (is_constant(cell) || cell_time_edge(source, cell) >= 0)
			continue;
		ret[*ret_count].condition = &s->conditions[i];
		r = scan_vector(s, s->conditions[i].column, &ret[*ret_count].vector);
		(*ret_count)++;
	}
	return r;
}

int scan_row_matches(struct scan *s, uint32_t row)
{
	const struct vector *v;

	for (unsigned i = 0; i < s->condition_count; i++)
		if (scan_vector(s, s->conditions[i].column, &v) < 0 || vector_is_null(v, row) ||
		    !condition_holds(&s->conditions[i], vector_value(v, row)))
			return 0;
	return 1;
}
