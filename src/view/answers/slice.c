/* /api/slice: everything about one event. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "fmt/gpu_enums.h"
#include "view/answers/same_name.h"
#include "view/request/routes.h"
#include "view/internal.h"
#include "view/report/event_names.h"
#include "view/answers/stacks.h"

#define MAX_PARENTS 64
/* Statistics of more events than this are asked for by themselves. */
#define ALIKE_AT_ONCE (8u << 20)

static void put_pair(struct json_out *j, const char *key, const char *value)
{
	out_open(j, '[');
	out_string(j, key);
	out_string(j, value);
	out_close(j, ']');
}

static void put_pair_text(struct json_out *j, struct view_report *r, const char *key, int64_t id)
{
	size_t len;
	const char *text = view_report_text(r, (uint64_t)id, &len);

	out_open(j, '[');
	out_string(j, key);
	out_text(j, text ? text : "", len);
	out_close(j, ']');
}

static void put_pair_number(struct json_out *j, const char *key, int64_t value)
{
	out_open(j, '[');
	out_string(j, key);
	out_exact(j, value);
	out_close(j, ']');
}

static void put_pair_real(struct json_out *j, const char *key, int64_t bits)
{
	double real;

	memcpy(&real, &bits, sizeof(real));
	out_open(j, '[');
	out_string(j, key);
	out_real(j, real);
	out_close(j, ']');
}

static void put_shape(struct json_out *j, const char *key, const int64_t *of)
{
	char text[96];

	snprintf(text, sizeof(text), "%lld x %lld x %lld", (long long)of[0], (long long)of[1], (long long)of[2]);
	put_pair(j, key, text);
}

static void put_launch_columns(struct json_out *j, struct view_report *r, int64_t id)
{
	static const uint8_t shown[] = { COLUMN_CUDA_LAUNCH_REGISTERS,        COLUMN_CUDA_LAUNCH_STATIC_SHARED,
					 COLUMN_CUDA_LAUNCH_DYNAMIC_SHARED,   COLUMN_CUDA_LAUNCH_SHARED_EXECUTED,
					 COLUMN_CUDA_LAUNCH_LOCAL_PER_THREAD, COLUMN_CUDA_LAUNCH_LOCAL_TOTAL,
					 COLUMN_CUDA_LAUNCH_PRIORITY };
	const struct table_schema *schema = table_schema(TABLE_CUDA_LAUNCH);
	const int64_t *l = cuda_launch(r->index.cuda, id);

	if (!l)
		return;
	put_pair_text(j, r, "full name", l[LAUNCH_NAME]);
	put_shape(j, "grid", &l[COLUMN_CUDA_LAUNCH_GRID_X]);
	put_shape(j, "block", &l[COLUMN_CUDA_LAUNCH_BLOCK_X]);
	for (size_t i = 0; i < sizeof(shown); i++)
		if (l[LAUNCH_PRESENT] >> shown[i] & 1)
			put_pair_number(j, schema->columns[shown[i]].name, l[shown[i]]);
}

static void put_column_value(struct json_out *j, struct view_report *r, const struct column_schema *column, int64_t value)
{
	if (column->roles & ROLE_MEMORY)
		put_pair(j, column->name, gpu_memory_kind(value)->word);
	else if (column->type == COLUMN_TYPE_STR)
		put_pair_text(j, r, column->name, value);
	else if (column->type == COLUMN_TYPE_REAL)
		put_pair_real(j, column->name, value);
	else
		put_pair_number(j, column->name, value);
}

static void put_bandwidth(struct json_out *j, const struct event_ref *p, int64_t bytes)
{
	if (bytes <= 0 || p->end <= p->start)
		return;
	out_open(j, '[');
	out_string(j, "bytes per second");
	out_real(j, (double)bytes * 1e9 / ((double)p->end - (double)p->start));
	out_close(j, ']');
}

/* Rows of the arg table that belong to a set. */
static void put_args(struct json_out *j, struct view_report *r, int64_t set)
{
	static const uint8_t columns[] = { COLUMN_ARG_SET, COLUMN_ARG_KEY, COLUMN_ARG_INTEGER, COLUMN_ARG_REAL, COLUMN_ARG_TEXT };
	enum { COLUMNS = sizeof(columns) };

	for (size_t g = 0; g < report_group_count(r->report, TABLE_ARG); g++) {
		uint32_t rows = report_group(r->report, TABLE_ARG, g)->rows;
		int64_t *values = malloc(rows * COLUMNS * sizeof(*values) + 1);
		uint8_t *nulls = malloc(rows * COLUMNS + 1u);
		int rc = values && nulls ? 0 : -ENOMEM;
		size_t len;

		for (unsigned c = 0; c < COLUMNS && rc >= 0; c++)
			rc = report_column(r->report, TABLE_ARG, g, columns[c], values + (size_t)c * rows, nulls + (size_t)c * rows);
		for (uint32_t i = 0; rc >= 0 && i < rows; i++) {
			const char *key = values[i] == set ? view_report_text(r, (uint64_t)values[rows + (size_t)i], &len) : NULL;
			size_t integer = 2 * (size_t)rows + i, real = integer + rows, text = real + rows;

			if (!key)
				continue;
			if (!nulls[text])
				put_pair_text(j, r, key, values[text]);
			else if (!nulls[real])
				put_pair_real(j, key, values[real]);
			else if (!nulls[integer])
				put_pair_number(j, key, values[integer]);
		}
		free(values);
		free(nulls);
	}
}

/* What it is, where it leads to and its arguments are told elsewhere. */
static bool is_event_column_shown(const struct column_schema *column)
{
	return column->type != COLUMN_TYPE_BLOB && !(column->roles & (ROLE_NAME | ROLE_CORRELATION | ROLE_STACK | ROLE_ARGS | ROLE_HIDDEN));
}

static void put_event_columns(struct json_out *j, struct view_report *r, const struct event_ref *p)
{
	enum table_id table = r->tracks[p->track].table;
	const struct table_schema *schema = table_schema(table);
	int64_t value;

	out_key(j, "arguments");
	out_open(j, '[');
	if (r->tracks[p->track].derived) {
		out_close(j, ']');
		return;
	}
	if (table == TABLE_GPU_KERNEL && event_value(r, p, COLUMN_GPU_KERNEL_LAUNCH, &value))
		put_launch_columns(j, r, value);
	for (unsigned c = schema->kind == TABLE_KIND_SPAN ? 2 : 1; c < schema->column_count; c++) {
		if (!event_value(r, p, c, &value))
			continue;
		if (schema->columns[c].roles & ROLE_ARGS)
			put_args(j, r, value);
		if (!is_event_column_shown(&schema->columns[c]))
			continue;
		put_column_value(j, r, &schema->columns[c], value);
		if (schema->columns[c].roles & ROLE_BYTES)
			put_bandwidth(j, p, value);
	}
	out_close(j, ']');
}

static void put_linked(struct json_out *j, struct view_report *r, const struct event_ref *p, const char *role)
{
	out_open(j, '{');
	event_put_keys(j, r, p);
	out_put_text(j, "role", role);
	out_close(j, '}');
}

/* The call of a work, or the work of a call. Returns the call. */
static bool put_links(struct json_out *j, struct view_report *r, const struct event_ref *p, struct event_ref *ret_call)
{
	enum table_id table = r->tracks[p->track].table;
	int column = correlation_column(table);
	struct event_ref found;
	int64_t correlation, process = track_process(r, p->track);
	bool has_call = false;

	out_key(j, "linked");
	out_open(j, '[');
	if (event_origin(r, p, &found))
		put_linked(j, r, &found, "source");
	if (column >= 0 && event_value(r, p, (unsigned)column, &correlation) && correlation) {
		if (table != TABLE_CUDA_API) {
			has_call = event_correlated(r, TABLE_CUDA_API, process, correlation, ret_call);
			if (has_call)
				put_linked(j, r, ret_call, "caller");
		}
		for (unsigned work = 0; table == TABLE_CUDA_API && work < TABLE_ID_LIMIT; work++)
			if (table_column(work, ROLE_WORK) >= 0 && event_correlated(r, (enum table_id)work, process, correlation, &found))
				put_linked(j, r, &found, "work");
	}
	out_close(j, ']');
	return has_call;
}

static int compare_call_starts(const void *a, const void *b)
{
	const struct event_ref *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

/* The innermost first: ranges of the thread that are around the event. */
static void put_parents(struct json_out *j, struct view_report *r, const struct event_ref *p, bool with_itself)
{
	const int64_t *track_row = view_report_track_row(r, r->tracks[p->track].id);
	int64_t thread = track_row ? track_row[TRACK_THREAD] : 0;
	struct event_ref parents[MAX_PARENTS];
	size_t count = 0;

	for (size_t i = 0; thread && i < r->row_count; i++) {
		const struct row *row = &r->rows[i];

		if (row->uid != thread || row->draw != DRAW_SLICES ||
		    (row->kind != ROW_NVTX && row->kind != ROW_GENERIC && row->kind != ROW_CUDA_API))
			continue;
		for (uint32_t k = 0; k < row->track_count && count < MAX_PARENTS; k++) {
			struct event_ref *at = &parents[count];

			if (!event_at(r, row->tracks[k], p->start, at) || at->end < p->end)
				continue;
			count += with_itself || at->track != p->track || at->index != p->index;
		}
	}
	sort_items(parents, count, sizeof(parents[0]), compare_call_starts);
	out_key(j, "parents");
	out_open(j, '[');
	while (count)
		event_put(j, r, &parents[--count]);
	out_close(j, ']');
}

static int put_event_details(struct json_out *j, struct view_report *r, const struct event_ref *p, bool brief)
{
	enum table_id table = r->tracks[p->track].table;
	struct event_ref call;
	int stack_column = table_column(table, ROLE_STACK);
	int64_t stack;
	bool has_call;

	out_open(j, '{');
	event_put_keys(j, r, p);
	out_put_text(j, "kind", row_kind_names[r->rows[r->tracks[p->track].row].kind]);
	out_put_text(j, "table", table_schema(table)->name);
	out_put_integer(j, "class", (int64_t)name_class(r, table, p->name));
	put_event_columns(j, r, p);
	has_call = put_links(j, r, p, &call);
	put_parents(j, r, has_call ? &call : p, has_call);
	if (stack_column >= 0 && event_value(r, p, (unsigned)stack_column, &stack))
		TRY(stack_put(j, r, stack));
	if (!brief)
		TRY(same_name_put(j, r, p, ALIKE_AT_ONCE));
	out_close(j, '}');
	return j->r;
}

int answer_slice(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	struct view_report *report;
	struct event_ref event;
	struct json_out j;
	int64_t brief = 0;

	TRY(params_integer_or(p, "brief", 0, 1, 0, &brief, err));
	TRY(params_event(v, p, &report, &event, err));
	out_begin(&j, &a->body);
	return put_event_details(&j, report, &event, brief);
}
