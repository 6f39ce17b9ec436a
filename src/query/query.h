/* SQL over a report: its columns as SQLite virtual tables named and shaped as in
 * nsys's export, tables of the report under their own names (sonde_*), and
 * table-valued functions that loop over columns directly. */
#ifndef SONDE_QUERY_QUERY_H
#define SONDE_QUERY_QUERY_H

#include <sqlite3.h>

#include "base/error.h"
#include "report/reader.h"

struct query;

int query_open(struct query **ret, const char *path, struct error *err);
void query_close(struct query *q);

sqlite3 *query_db(struct query *q);
struct report *query_report(struct query *q);

/* sqlite3_prepare_v2(), with what the report knows better than a virtual table can say; tables that the statement names
 * are made before it. What is prepared in another way finds those made so far. */
int query_prepare(struct query *q, const char *text, sqlite3_stmt **ret, const char **ret_rest);

/* Parts that could not be read so far: their rows or names are missing in the answers. */
uint64_t query_damaged(const struct query *q);

/* Makes all tables: sqlite_master lists those for which the report has something, sqlite_temp_master the empty ones
 * (and sonde_note). An SQLite result code. */
int query_make_all(struct query *q);
/* Whether sqlite_master lists the table: the report has something for it. */
int query_has_table(struct query *q, const char *name);

/* What can be queried besides what sqlite_master lists: the readable tables, the report's own, then
 * the table-valued functions. NULL behind the last. */
const char *query_native_name(const struct query *q, unsigned i);

#endif
