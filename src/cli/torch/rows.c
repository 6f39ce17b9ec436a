#include "cli/torch/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

static int prepare_statement(struct query *q, const char *sql, sqlite3_stmt **ret, struct error *err)
{
	if (query_prepare(q, sql, ret, NULL) == SQLITE_OK)
		return 0;
	return error_set(err, EINVAL, "%s", sqlite3_errmsg(query_db(q)));
}

static char *take_text(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return strdup(text ? text : "");
}

static int add_row(struct torch_rows *rows, size_t *cap, sqlite3_stmt *s)
{
	struct torch_row *row;

	if (!ARRAY_ROOM(rows->rows, rows->count, *cap, 1))
		return -ENOMEM;
	row = &rows->rows[rows->count++];
	*row = (struct torch_row){ .name = take_text(s, 0),
				   .shapes = take_text(s, 1),
				   .stack = take_text(s, 2),
				   .on_device = sqlite3_column_int(s, 3),
				   .is_annotation = sqlite3_column_int(s, 4),
				   .is_nested = sqlite3_column_int(s, 5),
				   .is_async = sqlite3_column_int(s, 6),
				   .count = sqlite3_column_int64(s, 7),
				   .cpu = sqlite3_column_int64(s, 8),
				   .self_cpu = sqlite3_column_int64(s, 9),
				   .device = sqlite3_column_int64(s, 10),
				   .self_device = sqlite3_column_int64(s, 11),
				   .cpu_memory = sqlite3_column_int64(s, 12),
				   .self_cpu_memory = sqlite3_column_int64(s, 13),
				   .device_memory = sqlite3_column_int64(s, 14),
				   .self_device_memory = sqlite3_column_int64(s, 15),
				   .flops = sqlite3_column_int64(s, 16),
				   .first = sqlite3_column_int64(s, 17) };
	rows->has_memory |= sqlite3_column_type(s, 12) != SQLITE_NULL;
	return row->name && row->shapes && row->stack ? 0 : -ENOMEM;
}

/* What a statement of one row gives; zeroes without a row. */
static int read_numbers(struct query *q, const char *sql, int64_t *ret, int count, struct error *err)
{
	sqlite3_stmt *statement;
	int step;

	memset(ret, 0, (size_t)count * sizeof(*ret));
	TRY(prepare_statement(q, sql, &statement, err));
	step = sqlite3_step(statement);
	for (int i = 0; step == SQLITE_ROW && i < count; i++)
		ret[i] = sqlite3_column_int64(statement, i);
	sqlite3_finalize(statement);
	return step == SQLITE_ROW || step == SQLITE_DONE ? 0 : error_set(err, EIO, "%s", sqlite3_errmsg(query_db(q)));
}

static int read_facts(struct torch_rows *rows, struct query *q, struct error *err)
{
	int64_t facts[2], flops;

	TRY(read_numbers(q,
			 "SELECT sum(deviceTime), sum(deviceTime) FILTER (WHERE op IS NULL) FROM torch_op_stats('kernel') "
			 "WHERE kind <> 'sync'",
			 facts, 2, err));
	TRY(read_numbers(q, "SELECT max(number) FROM sonde_meta WHERE key = 'trace.with_flops'", &flops, 1, err));
	rows->device_work = facts[0];
	rows->device_unowned = facts[1];
	rows->has_flops = flops != 0;
	return 0;
}

static int read_rows(struct torch_rows *rows, sqlite3_stmt *statement, struct query *q, struct error *err)
{
	size_t cap = 0;
	int step, r = 0;

	while (r >= 0 && (step = sqlite3_step(statement)) == SQLITE_ROW)
		r = add_row(rows, &cap, statement);
	if (r < 0)
		return error_set(err, ENOMEM, "Not enough memory");
	return step == SQLITE_DONE ? 0 : error_set(err, EINVAL, "%s", sqlite3_errmsg(query_db(q)));
}

int torch_rows_load(struct torch_rows *ret, struct query *q, const struct torch_asked *asked, struct error *err)
{
	const char *sort = asked->sort;
	sqlite3_stmt *statement;
	char by[64];
	int r;

	*ret = (struct torch_rows){ 0 };
	TRY(read_facts(ret, q, err));
	TRY(prepare_statement(q,
			      "SELECT name, inputShapes, stack, onDevice, isAnnotation, isNested, isAsync, count, cpuTime, selfCpuTime, "
			      "deviceTime, selfDeviceTime, cpuMemory, selfCpuMemory, deviceMemory, selfDeviceMemory, flops, first "
			      "FROM torch_op_stats(?1, ?2) ORDER BY sortKey DESC, first",
			      &statement, err));
	if (!sort)
		sort = ret->device_work ? "cuda_time_total" : "cpu_time_total";
	snprintf(by, sizeof(by), "name%s,stack=%lld", asked->by_shapes ? ",shapes" : "", (long long)asked->stack);
	r = sqlite3_bind_text(statement, 1, by, -1, SQLITE_STATIC);
	if (r == SQLITE_OK)
		r = sqlite3_bind_text(statement, 2, strcmp(sort, "none") == 0 ? "" : sort, -1, SQLITE_STATIC);
	r = r == SQLITE_OK ? read_rows(ret, statement, q, err) : error_set(err, ENOMEM, "Not enough memory");
	sqlite3_finalize(statement);
	if (r < 0)
		torch_rows_release(ret);
	return r;
}

void torch_rows_release(struct torch_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->rows[i].name);
		free(rows->rows[i].shapes);
		free(rows->rows[i].stack);
	}
	free(rows->rows);
	*rows = (struct torch_rows){ 0 };
}
