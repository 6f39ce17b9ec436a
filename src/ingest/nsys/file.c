/* Rows of an SQLite file that anybody may have made: nothing in it is run, no column has to be there, and a cell
 * may hold anything. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ingest/nsys/internal.h"

#define MOST_BYTES (256 << 20) /* in one row */

/* Only tables are read. Functions stand in views and generated columns: whoever uses one is refused. */
static int authorize(void *context, int action, const char *a, const char *b, const char *database, const char *from)
{
	if (action == SQLITE_SELECT || action == SQLITE_READ)
		return SQLITE_OK;
	return action == SQLITE_PRAGMA && strcmp(a, "table_info") == 0 ? SQLITE_OK : SQLITE_DENY;
}

static void restrict_file(sqlite3 *db, int is_cut)
{
	/* clang-format off */
	static const int limits[][2] = {
		{ SQLITE_LIMIT_LENGTH, MOST_BYTES }, { SQLITE_LIMIT_COLUMN, 1000 }, { SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 8 }, { SQLITE_LIMIT_ATTACHED, 0 }, { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_VDBE_OP, 100000 }, { SQLITE_LIMIT_WORKER_THREADS, 0 },
	};
	/* clang-format on */

	for (unsigned i = 0; i < COUNT_OF(limits); i++)
		sqlite3_limit(db, limits[i][0], limits[i][1]);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, !is_cut, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_exec(db, "PRAGMA cell_size_check = on; PRAGMA mmap_size = 0; PRAGMA cache_size = -16384", NULL, NULL, NULL);
	sqlite3_set_authorizer(db, authorize, NULL);
}

/* "file:" and the path as a URI; `immutable`: nobody writes it, so there is nothing to lock. */
static char *make_uri(const char *path, int immutable)
{
	struct buf uri = BUF_INIT;
	int r = buf_puts(&uri, "file:");

	for (; r >= 0 && *path; path++)
		r = strchr("%?#", *path) ? buf_printf(&uri, "%%%02x", (unsigned char)*path) : buf_append(&uri, path, 1);
	if (r >= 0)
		r = buf_puts(&uri, immutable ? "?mode=ro&immutable=1" : "?mode=ro");
	if (r >= 0 && buf_cstr(&uri))
		return uri.data;
	buf_release(&uri);
	return NULL;
}

static int has_journal(const char *path)
{
	struct buf name = BUF_INIT;
	int found = buf_printf(&name, "%s-wal", path) >= 0 && access(buf_cstr(&name), F_OK) == 0;

	buf_release(&name);
	return found;
}

/* A file shorter than it says is refused by SQLite unless its schema could be changed; it is open for reading only. */
static int try_open(sqlite3 **ret, const char *path, int immutable, int is_cut)
{
	char *uri = make_uri(path, immutable);
	int r = uri ? sqlite3_open_v2(uri, ret, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL) : SQLITE_NOMEM;

	free(uri);
	if (r == SQLITE_OK && is_cut)
		r = sqlite3_exec(*ret, "PRAGMA writable_schema = on", NULL, NULL, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_exec(*ret, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
	return r;
}

int nsys_file_open(sqlite3 **ret, const char *path, int *ret_is_cut, struct error *err)
{
	int waits = has_journal(path), r;

	*ret = NULL;
	*ret_is_cut = 0;
	r = try_open(ret, path, !waits, 0);
	if (r != SQLITE_OK && waits) {
		sqlite3_close(*ret);
		r = try_open(ret, path, 1, 0);
	}
	if (r == SQLITE_CORRUPT) {
		*ret_is_cut = 1;
		sqlite3_close(*ret);
		r = try_open(ret, path, 1, 1);
	}
	if (r != SQLITE_OK) {
		r = error_set(err, r == SQLITE_NOMEM ? ENOMEM : EBADMSG, "'%s' cannot be read as an SQLite file: %s", path,
			      *ret ? sqlite3_errmsg(*ret) : sqlite3_errstr(r));
		sqlite3_close(*ret);
		*ret = NULL;
		return r;
	}
	restrict_file(*ret, *ret_is_cut);
	return 0;
}

int nsys_has_table(struct nsys *n, const char *table)
{
	sqlite3_stmt *statement;
	int found = 0;

	if (sqlite3_prepare_v2(n->db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE", -1, &statement,
			       NULL) == SQLITE_OK) {
		sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
		found = sqlite3_step(statement) == SQLITE_ROW;
	}
	sqlite3_finalize(statement);
	return found;
}

static void note_trouble(const struct nsys_rows *rows, const char *what)
{
	struct nsys *n = rows->n;
	char text[400];

	snprintf(text, sizeof(text), "Table %.100s could not be read%s: %.200s", rows->table, rows->read ? " to its end" : "", what);
	sink_diagnose(&n->sink, 3, "%s. %llu rows of it are in this report.", text, (unsigned long long)rows->read);
	if (!n->result->trouble[0])
		snprintf(n->result->trouble, sizeof(n->result->trouble), "%s", text);
}

/* Known columns by their place, each missing one as NULL; then the others. */
static int list_columns(struct nsys_rows *rows, struct buf *sql)
{
	sqlite3_stmt *statement;
	const char *name;
	char *text = sqlite3_mprintf("PRAGMA table_info(%Q)", rows->table), *quoted;
	int r = text ? sqlite3_prepare_v2(rows->n->db, text, -1, &statement, NULL) : SQLITE_NOMEM;
	unsigned i;

	sqlite3_free(text);
	if (r != SQLITE_OK)
		return -EBADMSG;
	while (sqlite3_step(statement) == SQLITE_ROW) {
		name = (const char *)sqlite3_column_text(statement, 1);
		for (i = 0; name && i < rows->count && (rows->columns[i].kind == NSYS_LEFT || strcasecmp(rows->columns[i].name, name) != 0);
		     i++)
			;
		if (name && i < rows->count)
			rows->there |= UINT64_C(1) << i;
		else if (name && rows->extra_count < NSYS_MAX_EXTRAS)
			rows->extra_count += (rows->extras[rows->extra_count] = strdup(name)) != NULL;
	}
	sqlite3_finalize(statement);
	for (i = 0; i < rows->count; i++)
		rows->there |= (uint64_t)(strcmp(rows->columns[i].name, "rowid") == 0) << i;
	r = buf_puts(sql, "SELECT ");
	for (i = 0; r >= 0 && i < rows->count + rows->extra_count; i++) {
		name = i < rows->count ? rows->columns[i].name : rows->extras[i - rows->count];
		quoted = sqlite3_mprintf("%s\"%w\"", i ? "," : "", name);
		r = i < rows->count && !(rows->there >> i & 1) ? buf_puts(sql, i ? ",NULL" : "NULL") :
		    quoted                                     ? buf_puts(sql, quoted) :
								 -ENOMEM;
		sqlite3_free(quoted);
	}
	return r;
}

static int prepare_nsys_query(struct nsys_rows *rows, const unsigned *by, unsigned count)
{
	struct buf sql = BUF_INIT;
	char *rest = sqlite3_mprintf(" FROM \"%w\"", rows->table);
	int r = rest ? list_columns(rows, &sql) : -ENOMEM;

	if (r >= 0)
		r = buf_puts(&sql, rest);
	for (unsigned i = 0; r >= 0 && i < count; i++)
		r = buf_printf(&sql, "%s%s", i ? ", " : " ORDER BY ", rows->columns[by[i]].name);
	if (r >= 0 && sqlite3_prepare_v2(rows->n->db, buf_cstr(&sql), -1, &rows->statement, NULL) != SQLITE_OK)
		r = -EBADMSG;
	sqlite3_free(rest);
	buf_release(&sql);
	return r;
}

int nsys_rows_open(struct nsys_rows *ret, struct nsys *n, const struct nsys_table *table)
{
	return nsys_rows_open_sorted(ret, n, table, NULL, 0);
}

int nsys_rows_open_sorted(struct nsys_rows *ret, struct nsys *n, const struct nsys_table *table, const unsigned *by, unsigned count)
{
	*ret = (struct nsys_rows){ .n = n, .table = table->name, .columns = table->columns, .count = table->count };
	for (unsigned i = 0; i < NSYS_TABLE_COUNT; i++)
		n->has_reader[i] |= table->name == nsys_tables[i].name;
	if (n->sink.result || !nsys_has_table(n, table->name))
		return 0;
	if (prepare_nsys_query(ret, by, count) < 0) {
		note_trouble(ret, sqlite3_errmsg(n->db));
		nsys_rows_close(ret);
		return 0;
	}
	return 1;
}

int nsys_rows_next(struct nsys_rows *rows)
{
	int step = rows->n->sink.result ? SQLITE_DONE : sqlite3_step(rows->statement);

	if (step == SQLITE_ROW) {
		rows->read++;
		rows->n->result->rows++;
		return 1;
	}
	if (step != SQLITE_DONE)
		note_trouble(rows, sqlite3_errmsg(rows->n->db));
	return 0;
}

void nsys_rows_close(struct nsys_rows *rows)
{
	sqlite3_finalize(rows->statement);
	rows->statement = NULL;
	for (unsigned i = 0; i < rows->extra_count; i++)
		free(rows->extras[i]);
	rows->extra_count = 0;
}

void nsys_read_tables(struct nsys *n, const struct nsys_reading *readings, unsigned count)
{
	struct nsys_rows rows;

	for (unsigned i = 0; i < count; i++) {
		if (!nsys_rows_open(&rows, n, &nsys_tables[readings[i].table]))
			continue;
		while (nsys_rows_next(&rows))
			readings[i].take(&rows);
		nsys_rows_close(&rows);
	}
}

static int number_of_text(sqlite3_value *value, int64_t *ret)
{
	const char *text = (const char *)sqlite3_value_text(value);
	char *end;

	if (!text || !*text)
		return 0;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return !*end && errno == 0;
}

static int value_number(sqlite3_value *value, int64_t *ret)
{
	double real;

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER: *ret = sqlite3_value_int64(value); return 1;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		*ret = real > -9e18 && real < 9e18 ? (int64_t)real : 0;
		return (double)*ret == real;
	case SQLITE_TEXT: return number_of_text(value, ret);
	default: return 0;
	}
}

int nsys_number(const struct nsys_rows *rows, unsigned column, int64_t *ret)
{
	sqlite3_value *value = sqlite3_column_value(rows->statement, (int)column);

	if (sqlite3_value_type(value) == SQLITE_NULL)
		return 0;
	if (value_number(value, ret))
		return 1;
	rows->n->odd++;
	return 0;
}

int64_t nsys_number_or(const struct nsys_rows *rows, unsigned column, int64_t otherwise)
{
	int64_t number;

	return nsys_number(rows, column, &number) ? number : otherwise;
}

int nsys_real(const struct nsys_rows *rows, unsigned column, double *ret)
{
	int type = sqlite3_column_type(rows->statement, (int)column);

	*ret = sqlite3_column_double(rows->statement, (int)column);
	return type == SQLITE_FLOAT || type == SQLITE_INTEGER;
}

const char *nsys_cell_text(const struct nsys_rows *rows, unsigned column, size_t *ret_len)
{
	const char *text = (const char *)sqlite3_column_text(rows->statement, (int)column);

	*ret_len = text ? (size_t)sqlite3_column_bytes(rows->statement, (int)column) : 0;
	return text;
}

uint64_t nsys_text(const struct nsys_rows *rows, unsigned column)
{
	size_t len;
	const char *text = nsys_cell_text(rows, column, &len);

	return text ? report_string(rows->n->sink.writer, text, len) : 0;
}

/* A name that is not among the strings is still told apart from others. */
uint64_t nsys_string_of(struct nsys *n, int64_t id)
{
	uint64_t known = nsys_map_find(&n->strings, id);
	char text[40];

	if (known)
		return known;
	n->nameless++;
	snprintf(text, sizeof(text), "[string %lld]", (long long)id);
	return sink_text(&n->sink, text);
}

uint64_t nsys_string(const struct nsys_rows *rows, unsigned column)
{
	int64_t id;

	return nsys_number(rows, column, &id) ? nsys_string_of(rows->n, id) : 0;
}

sqlite3_stmt *nsys_string_row(struct nsys *n, int64_t id)
{
	const struct nsys_table *t = &nsys_tables[NSYS_StringIds];
	sqlite3_stmt *statement;
	char sql[80];

	snprintf(sql, sizeof(sql), "SELECT %s FROM %s WHERE %s = ?", t->columns[NSYS_AT(StringIds, value)].name, t->name,
		 t->columns[NSYS_AT(StringIds, id)].name);
	if (sqlite3_prepare_v2(n->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_int64(statement, 1, id);
	if (sqlite3_step(statement) == SQLITE_ROW)
		return statement;
	sqlite3_finalize(statement);
	return NULL;
}

void nsys_put(const struct nsys_rows *rows, unsigned from, int64_t *values, uint32_t *present, unsigned column)
{
	if (nsys_number(rows, from, &values[column]))
		*present |= SINK_BIT(column);
}

void nsys_fill(const struct nsys_rows *rows, int64_t *values, uint32_t *present)
{
	for (unsigned i = 0; i < rows->count; i++) {
		const struct nsys_column *c = &rows->columns[i];
		int64_t value = 0;
		int is_there = 0;

		if (c->kind == NSYS_NUMBER)
			is_there = nsys_number(rows, i, &value);
		else if (c->kind == NSYS_STRING)
			is_there = (value = (int64_t)nsys_string(rows, i)) != 0;
		else if (c->kind == NSYS_TEXT)
			is_there = (value = (int64_t)nsys_text(rows, i)) != 0;
		if (!is_there)
			continue;
		values[c->target] = (int64_t)((uint64_t)value + (uint64_t)(int64_t)c->plus);
		*present |= SINK_BIT(c->target);
	}
}

int nsys_time(const struct nsys_rows *rows, unsigned column, int64_t *ret)
{
	return nsys_number(rows, column, ret) && *ret > -NSYS_TIME_LIMIT && *ret < NSYS_TIME_LIMIT;
}

int64_t nsys_call_flags(const struct nsys *n, int64_t end)
{
	return n->is_ours && n->duration >= 0 && end == n->duration ? SLICE_OPEN : 0;
}

int nsys_times(const struct nsys_rows *rows, int64_t *values, uint32_t *present)
{
	if (!nsys_time(rows, 0, &values[0])) {
		rows->n->untimed++;
		return 0;
	}
	*present = 3;
	if (sqlite3_column_type(rows->statement, 1) == SQLITE_NULL) {
		values[1] = values[0];
	} else if (!nsys_time(rows, 1, &values[1]) || values[1] < values[0]) {
		values[1] = values[0];
		rows->n->backwards++;
	}
	return 1;
}

void nsys_arg(struct nsys *n, uint64_t *set, const char *key, sqlite3_value *value)
{
	uint32_t present = SINK_BIT(COLUMN_ARG_SET) | SINK_BIT(COLUMN_ARG_KEY);
	int64_t v[TABLE_MAX_COLUMNS];
	double real;

	if (!*set)
		*set = ++n->sink.next_set;
	v[COLUMN_ARG_SET] = (int64_t)*set;
	v[COLUMN_ARG_KEY] = (int64_t)sink_text(&n->sink, key);
	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		v[COLUMN_ARG_INTEGER] = sqlite3_value_int64(value);
		present |= SINK_BIT(COLUMN_ARG_INTEGER);
		break;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		memcpy(&v[COLUMN_ARG_REAL], &real, sizeof(real));
		present |= SINK_BIT(COLUMN_ARG_REAL);
		break;
	case SQLITE_BLOB:
		v[COLUMN_ARG_BLOB] = (int64_t)report_blob(n->sink.writer, sqlite3_value_blob(value), (size_t)sqlite3_value_bytes(value));
		present |= SINK_BIT(COLUMN_ARG_BLOB);
		break;
	case SQLITE_NULL: break;
	default:
		v[COLUMN_ARG_TEXT] = (int64_t)report_string(n->sink.writer, (const char *)sqlite3_value_text(value),
							    (size_t)sqlite3_value_bytes(value));
		present |= SINK_BIT(COLUMN_ARG_TEXT);
	}
	sink_row(&n->sink, TABLE_ARG, v, present);
}

void nsys_arg_number(struct nsys *n, uint64_t *set, const char *key, int64_t number)
{
	int64_t v[TABLE_MAX_COLUMNS];

	if (!*set)
		*set = ++n->sink.next_set;
	v[COLUMN_ARG_SET] = (int64_t)*set;
	v[COLUMN_ARG_KEY] = (int64_t)sink_text(&n->sink, key);
	v[COLUMN_ARG_INTEGER] = number;
	sink_row(&n->sink, TABLE_ARG, v, SINK_BIT(COLUMN_ARG_SET) | SINK_BIT(COLUMN_ARG_KEY) | SINK_BIT(COLUMN_ARG_INTEGER));
}

uint64_t nsys_extras(struct nsys_rows *rows)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < rows->extra_count; i++) {
		sqlite3_value *value = sqlite3_column_value(rows->statement, (int)(rows->count + i));

		if (sqlite3_value_type(value) != SQLITE_NULL)
			nsys_arg(rows->n, &set, rows->extras[i], value);
	}
	return set;
}
