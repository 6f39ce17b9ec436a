/* SELECT count(*) FROM table: the report knows how many rows it has, while SQLite asks a virtual table for each. */
#include <ctype.h>
#include <string.h>

#include "query/internal.h"
#include "query/engine/scan.h"

/* Parts of such a statement. */
struct count_statement {
	const char *heading; /* count(*) as it was typed: the column's name */
	int heading_len;
	char table[64];
};

static const char *skip_sql_space(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* Behind the word, or NULL where something else stands. */
static const char *skip_word(const char *at, const char *word)
{
	size_t len = strlen(word);

	at = skip_sql_space(at);
	return sqlite3_strnicmp(at, word, (int)len) == 0 ? at + len : NULL;
}

static const char *skip_words(const char *at, const char *const *words, unsigned count)
{
	for (unsigned i = 0; i < count && at; i++)
		at = skip_word(at, words[i]);
	return at;
}

/* Nothing else may be in it; what is written in another way is left to SQLite. */
static int read_statement(const char *text, const char *end, struct count_statement *ret)
{
	static const char *const counting[] = { "count", "(", "*", ")" };
	const char *at = skip_word(text, "SELECT"), *behind;
	size_t len;

	if (!at || !isspace((unsigned char)*at))
		return 0;
	ret->heading = skip_sql_space(at);
	behind = skip_words(at, counting, 4);
	at = behind ? skip_word(behind, "FROM") : NULL;
	if (!at || !isspace((unsigned char)*at))
		return 0;
	ret->heading_len = (int)(behind - ret->heading);
	at = skip_sql_space(at);
	for (len = 0; isalnum((unsigned char)at[len]) || at[len] == '_'; len++)
		;
	if (len == 0 || len >= sizeof(ret->table))
		return 0;
	memcpy(ret->table, at, len);
	ret->table[len] = '\0';
	at = skip_sql_space(at + len);
	return at == end || (*at == ';' && at + 1 == end);
}

/* A user may have made something else of that name. */
static int is_shadowed(struct query *q, const char *name)
{
	sqlite3_stmt *statement;
	int found = 1;

	if (sqlite3_db_name(q->db, 2) ||
	    sqlite3_prepare_v2(q->db,
			       "SELECT 1 FROM (SELECT name, sql FROM sqlite_master UNION ALL SELECT name, sql FROM "
			       "sqlite_temp_master) WHERE name = ? COLLATE NOCASE AND sql NOT LIKE 'CREATE VIRTUAL %'",
			       -1, &statement, NULL) != SQLITE_OK)
		return 1;
	if (sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK)
		found = sqlite3_step(statement) != SQLITE_DONE;
	sqlite3_finalize(statement);
	return found;
}

static int count_rows(struct query *q, const struct mapped_table *table, sqlite3_int64 *ret)
{
	struct scan s;
	int r;

	*ret = 0;
	scan_init(&s, q, table);
	while ((r = scan_next_group(&s)) > 0) {
		if (table->sources[s.source].filter == FILTER_NONE && !q->scope) {
			*ret += s.limit - s.first;
			continue;
		}
		for (uint32_t row = s.first; row < s.limit; row++)
			*ret += scan_row_visible(&s, row);
	}
	scan_release(&s);
	return r;
}

/* The statement that says the number; NULL where it has to be asked for in the ordinary way. */
static sqlite3_stmt *prepare_count(struct query *q, const char *text, const char *end)
{
	struct count_statement parts;
	const struct mapped_table *table = read_statement(text, end, &parts) ? query_table(q, parts.table) : NULL;
	sqlite3_stmt *statement = NULL;
	sqlite3_int64 rows;
	char *heading, *sql;

	if (!table || is_shadowed(q, parts.table) || count_rows(q, table, &rows) < 0)
		return NULL;
	heading = sqlite3_mprintf("%.*s", parts.heading_len, parts.heading);
	sql = heading ? sqlite3_mprintf("SELECT %lld AS \"%w\"", rows, heading) : NULL;
	if (sql)
		sqlite3_prepare_v2(q->db, sql, -1, &statement, NULL);
	sqlite3_free(heading);
	sqlite3_free(sql);
	return statement;
}

/* SQLite says where the statement ends, unless it fails; if it needs tables that are not there yet, it is tried again. */
static int prepare_with_tables(struct query *q, const char *text, sqlite3_stmt **ret, const char **ret_rest)
{
	int r = sqlite3_prepare_v2(q->db, text, -1, ret, ret_rest), any;
	int made = listed_make_named(q, text, r == SQLITE_OK ? *ret_rest : text + strlen(text), &any);

	if (r == SQLITE_OK && made == SQLITE_OK && !any)
		return r;
	sqlite3_finalize(*ret); /* an error is told anew: others came between */
	return sqlite3_prepare_v2(q->db, text, -1, ret, ret_rest);
}

int query_prepare(struct query *q, const char *text, sqlite3_stmt **ret, const char **ret_rest)
{
	const char *rest;
	/* Prepared in any case: SQLite says whether the statement is right. */
	int r = prepare_with_tables(q, text, ret, &rest);
	sqlite3_stmt *count = r == SQLITE_OK && *ret ? prepare_count(q, text, rest) : NULL;

	if (count) {
		sqlite3_finalize(*ret);
		*ret = count;
	}
	if (ret_rest)
		*ret_rest = rest;
	return r;
}
