#include "query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "query/engine/lookup.h"
#include "query/engine/call_values.h"
#include "query/nvtx/projection.h"
#include "query/engine/scan.h"
#include "query/engine/scope.h"
#include "query/index/stack_tree.h"
#include "query/torch/ops.h"
#include "query/engine/view_values.h"

static const char *const function_names[] = {
#define TABLE_FUNCTION(name, module) #name,
#define MAPPED_FUNCTION(name) #name,
#include "query/functions.def"
};

static const struct {
	const char *name;
	const sqlite3_module *module;
} modules[] = {
#define TABLE_FUNCTION(name, module) { #name, &module },
#define MODULE(name, module) { #name, &module },
#include "query/functions.def"
};

static const struct {
	const char *name;
	int arguments;
	void (*function)(sqlite3_context *, int, sqlite3_value **);
	void (*step)(sqlite3_context *, int, sqlite3_value **);
	void (*final)(sqlite3_context *);
} functions[] = {
#define FUNCTION(name, arguments, function) { #name, arguments, function, NULL, NULL },
#define AGGREGATE(name, arguments, step, final) { #name, arguments, NULL, step, final },
#include "query/functions.def"
};

sqlite3 *query_db(struct query *q)
{
	return q->db;
}

struct report *query_report(struct query *q)
{
	return q->report;
}

uint64_t query_damaged(const struct query *q)
{
	uint64_t groups = atomic_load(&((struct query *)q)->damaged);

	return groups ? groups : (uint64_t)report_is_damaged(q->report);
}

static const struct mapped_table *with_more(const struct query *q, const struct mapped_table *t)
{
	for (unsigned i = 0; i < q->natives.more_count; i++)
		if (q->natives.more[i].of == t)
			return &q->natives.more[i].table;
	return t;
}

const struct mapped_table *query_table(const struct query *q, const char *name)
{
	for (unsigned i = 0; i < mapped_table_count; i++)
		if (sqlite3_stricmp(mapped_tables[i].name, name) == 0)
			return with_more(q, &mapped_tables[i]);
	for (unsigned i = 0; i < q->natives.count; i++)
		if (sqlite3_stricmp(q->natives.tables[i].name, name) == 0)
			return &q->natives.tables[i].table;
	for (unsigned i = 0; i < call_table_count; i++)
		if (sqlite3_stricmp(call_tables[i]->name, name) == 0)
			return call_tables[i];
	for (unsigned i = 0; i < view_table_count; i++)
		if (sqlite3_stricmp(view_tables[i]->name, name) == 0)
			return view_tables[i];
	return NULL;
}

int mapped_column_find(const struct mapped_table *t, const char *name)
{
	for (unsigned i = 0; i < t->column_count; i++)
		if (sqlite3_stricmp(t->columns[i].name, name) == 0 ||
		    (t->columns[i].short_name && sqlite3_stricmp(t->columns[i].short_name, name) == 0))
			return (int)i;
	return -1;
}

int mapped_table_has_rows(struct query *q, const struct mapped_table *t)
{
	struct scan s;
	int found = 0;

	scan_init(&s, q, t);
	while (!found && scan_next_group(&s) > 0)
		for (uint32_t row = s.first; !found && row < s.limit; row++)
			found = scan_row_visible(&s, row);
	scan_release(&s);
	return found;
}

static int register_all(struct query *q)
{
	int r = native_tables_register(q);

	for (size_t i = 0; i < COUNT_OF(modules) && r == SQLITE_OK; i++)
		r = sqlite3_create_module_v2(q->db, modules[i].name, modules[i].module, q, NULL);
	for (size_t i = 0; i < COUNT_OF(functions) && r == SQLITE_OK; i++)
		r = sqlite3_create_function_v2(q->db, functions[i].name, functions[i].arguments,
					       SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL, functions[i].function,
					       functions[i].step, functions[i].final, NULL);
	return r;
}

static int open_database(struct query *q, struct error *err)
{
	/* A connection belongs to one thread: no locks. Exports attach their file by a URI. */
	int r = sqlite3_open_v2(":memory:", &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
				NULL);

	/* Sorts go through files in runs of 8 MiB, page by page: less makes too many runs, more does not fit a CPU's cache. */
	if (r == SQLITE_OK)
		r = sqlite3_exec(q->db, "PRAGMA page_size = 16384; PRAGMA cache_size = -8192", NULL, NULL, NULL);
	if (r == SQLITE_OK)
		r = register_all(q);
	if (r != SQLITE_OK)
		return error_set(err, r == SQLITE_NOMEM ? ENOMEM : EIO, "The report's tables could not be set up: %s",
				 q->db ? sqlite3_errmsg(q->db) : sqlite3_errstr(r));
	return 0;
}

int query_open(struct query **ret, const char *path, struct error *err)
{
	struct query *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return error_set(err, ENOMEM, "Not enough memory to open %s", path);
	pthread_mutex_init(&q->loading, NULL);
	r = report_open(&q->report, path, err);
	if (r >= 0)
		r = report_check_whole(q->report, path, err);
	if (r >= 0)
		r = query_index_load(&q->index, q->report, err);
	if (r >= 0 && native_tables_make(&q->natives) < 0)
		r = error_set(err, ENOMEM, "Not enough memory to open %s", path);
	if (r >= 0 && nsys_others_load(q) < 0)
		r = error_set(err, ENOMEM, "Not enough memory to open %s", path);
	if (r >= 0)
		r = open_database(q, err);
	if (r < 0) {
		query_close(q);
		return r;
	}
	*ret = q;
	return 0;
}

void query_close(struct query *q)
{
	if (!q)
		return;
	sqlite3_close(q->db);
	query_index_release(&q->index);
	first_texts_release(&q->first_texts);
	stack_tree_release(q->stacks);
	torch_ops_release(q->torch);
	lookups_free(q->lookups);
	nvtx_projections_release(q->projections);
	nvtx_ranges_release(q->ranges);
	cuda_calls_release(q->calls);
	scope_free(q->scope);
	pthread_mutex_destroy(&q->loading);
	native_tables_release(&q->natives);
	nsys_others_release(&q->others);
	if (q->report)
		report_close(q->report);
	free(q);
}

const char *query_native_name(const struct query *q, unsigned i)
{
	if (i < view_table_count)
		return view_tables[i]->name;
	i -= view_table_count;
	if (i < q->natives.count)
		return q->natives.tables[i].name;
	i -= q->natives.count;
	return i < COUNT_OF(function_names) ? function_names[i] : NULL;
}
