/* Shared by the files of this folder only. */
#ifndef SONDE_QUERY_INTERNAL_H
#define SONDE_QUERY_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "query/index/same_text.h"
#include "query/index/cuda_index.h"
#include "query/index/index.h"
#include "query/engine/tables_on_demand.h"
#include "query/engine/mapping.h"
#include "query/nsys/unrecorded.h"
#include "query/query.h"

struct query {
	struct report *report;
	sqlite3 *db;
	struct query_index index;
	struct first_texts first_texts;
	struct native_tables natives;
	struct nsys_others others;
	struct stack_tree *stacks;     /* NULL until asked for */
	struct torch_ops *torch;       /* the same */
	struct column_lookup *lookups; /* indexes that joins asked for */
	/* The same, by whichever thread comes first. */
	pthread_mutex_t loading;
	struct cuda_calls *calls;
	struct nvtx_ranges *ranges;
	struct nvtx_projections *projections;
	struct scope *scope; /* NULL: everything counts */
	/* Groups that turned out to be damaged when they were read; their rows are missing
	 * in what was answered. */
	_Atomic uint64_t damaged;
};

/* The table of that name, NULL when there is none. */
const struct mapped_table *query_table(const struct query *q, const char *name);
int mapped_column_find(const struct mapped_table *t, const char *name);
/* True when some source of the table has a row to show. */
int mapped_table_has_rows(struct query *q, const struct mapped_table *t);

/* What functions.def names. */
#define TABLE_FUNCTION(name, module) extern const sqlite3_module module;
#define MODULE(name, module) extern const sqlite3_module module;
#define FUNCTION(name, arguments, function) void function(sqlite3_context *context, int argc, sqlite3_value **argv);
#define AGGREGATE(name, arguments, step, final) \
	void step(sqlite3_context *context, int argc, sqlite3_value **argv); \
	void final(sqlite3_context *context);
#include "query/functions.def"
/* Tables that are always there; an SQLite result code. */
int native_tables_register(struct query *q);

/* The text of a string id, those of texts that the reader made too; NULL when there is none. */
const char *query_text(struct query *q, int64_t id, size_t *ret_len);
/* Writes a string of the report as the result; null for ids without text. */
void result_text(sqlite3_context *context, struct query *q, int64_t id);

#endif
