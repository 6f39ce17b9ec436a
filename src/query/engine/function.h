/* What table-valued functions share: arguments are hidden columns behind the results. Other virtual
 * tables are connected in the same way. */
#ifndef SONDE_QUERY_ENGINE_FUNCTION_H
#define SONDE_QUERY_ENGINE_FUNCTION_H

#include "fmt/nsys/columns.h"
#include "query/internal.h"

/* Columns called rangeStack have so many ranges, from the outermost in, and the innermost. */
#define RANGE_STACK_MOST 1000
#define RANGE_STACK_CUT ":..."

struct function_vtab {
	sqlite3_vtab base;
	struct query *q;
};

/* Declares a table and makes its object: `size` bytes, all zero. */
int vtab_connect(sqlite3 *db, const char *declaration, size_t size, sqlite3_vtab **ret);
int vtab_disconnect(sqlite3_vtab *base);

/* The module whose methods are called prefix_connect(), prefix_open() ...; several may plan alike. */
#define FUNCTION_MODULE(prefix, best_index) \
	{ \
		.iVersion = 1, .xConnect = prefix##_connect, .xBestIndex = (best_index), .xDisconnect = vtab_disconnect, \
		.xOpen = prefix##_open, .xClose = prefix##_close, .xFilter = prefix##_filter, .xNext = prefix##_next, \
		.xEof = prefix##_eof, .xColumn = prefix##_column, .xRowid = prefix##_rowid \
	}

/* A cursor goes over rows that were made when it was filtered; it begins with this. */
struct list_cursor {
	sqlite3_vtab_cursor base;
	size_t at;
	size_t count;
};

/* The same, for those: going on, the end and row ids are not its own. */
#define LIST_MODULE(prefix, best_index) \
	{ \
		.iVersion = 1, .xConnect = prefix##_connect, .xBestIndex = (best_index), .xDisconnect = vtab_disconnect, \
		.xOpen = prefix##_open, .xClose = prefix##_close, .xFilter = prefix##_filter, .xNext = list_next, .xEof = list_eof, \
		.xColumn = prefix##_column, .xRowid = list_rowid \
	}

int list_next(sqlite3_vtab_cursor *base);
int list_eof(sqlite3_vtab_cursor *base);
int list_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret);

/* `size` bytes, all zero, of which the first are the cursor's base. */
int cursor_open(sqlite3_vtab_cursor **ret, size_t size);

int function_connect(sqlite3 *db, struct query *q, const char *declaration, sqlite3_vtab **ret);

/* Of a table that takes no arguments. */
int plain_best_index(sqlite3_vtab *base, sqlite3_index_info *info);
/* Takes `column = value` for the hidden columns from `first` on as arguments; the
 * first `required` must be given. idxNum becomes the bit set of those given. */
int function_best_index(sqlite3_index_info *info, int first, int count, int required);
/* The argument of that number as text, NULL when it was not given or is null. */
const char *function_argument(int given, int number, int argc, sqlite3_value **argv);
/* What SQLite calls the result of a function of ours. */
int function_code(int r);
/* Makes the error's text that of the statement. */
int function_fail(sqlite3_vtab_cursor *cursor, int r, const struct error *err);

/* CREATE TABLE `name`(...) with the columns of that table of nsys's, to be freed by sqlite3_free(); NULL without memory. */
char *nsys_declaration(enum nsys_table_id id, const char *name);

#endif
