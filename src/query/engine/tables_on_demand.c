#include "query/engine/tables_on_demand.h"

#include <ctype.h>
#include <string.h>

#include "base/macros.h"
#include "query/internal.h"

static const struct listed_family *const families[] = {
	&string_family, &mapped_family, &callchain_family, &fact_family,
	&enum_family,   &note_family,   &other_family, /* names of imported files: after all of our own */
};
#define FAMILIES COUNT_OF(families)

struct word {
	const char *text; /* NULL: any */
	size_t len;
};

static int has_sql_table(struct query *q, const char *schema, const char *name)
{
	return sqlite3_table_column_metadata(q->db, schema, name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

const char *listed_schema(int has_rows)
{
	return has_rows ? "main" : "temp";
}

int listed_create(struct query *q, int has_rows, const char *name, const char *module)
{
	char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE %s.\"%w\" USING %s", listed_schema(has_rows), name, module);
	int r = sql ? sqlite3_exec(q->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return r;
}

static int is_named(const char *name, const struct word *word)
{
	return !word->text || (sqlite3_strnicmp(name, word->text, (int)word->len) == 0 && name[word->len] == '\0');
}

static int make_in_family(struct query *q, const struct listed_family *family, const struct word *word, int *ret_any)
{
	const char *name;
	int r = SQLITE_OK;

	for (unsigned i = 0; r == SQLITE_OK && (name = family->name(q, i)) != NULL; i++)
		if (is_named(name, word) && !has_sql_table(q, "main", name) && !has_sql_table(q, "temp", name)) {
			r = family->make(q, i);
			*ret_any = 1;
		}
	return r;
}

static int create_named_tables(struct query *q, const struct word *word, int *ret_any)
{
	struct scope *scope = q->scope;
	int r = SQLITE_OK;

	/* Whether there is a table does not depend on what is to be shown of it. */
	q->scope = NULL;
	for (unsigned i = 0; r == SQLITE_OK && i < FAMILIES; i++)
		r = make_in_family(q, families[i], word, ret_any);
	q->scope = scope;
	return r;
}

int query_make_all(struct query *q)
{
	const struct word any = { NULL, 0 };
	int ignored, r = SQLITE_OK;
	int outer = !sqlite3_get_autocommit(q->db);

	/* One transaction: each of its own would copy pages for a rollback. */
	if (!outer)
		r = sqlite3_exec(q->db, "BEGIN", NULL, NULL, NULL);
	if (r == SQLITE_OK)
		r = create_named_tables(q, &any, &ignored);
	if (r == SQLITE_OK && !outer)
		r = sqlite3_exec(q->db, "COMMIT", NULL, NULL, NULL);
	return r;
}

/* sqlite_master, sqlite_schema, PRAGMA table_list, pragma_table_info() ... */
static int lists_tables(const struct word *word)
{
	return sqlite3_strnicmp(word->text, "sqlite_", 7) == 0 || sqlite3_strnicmp(word->text, "pragma", 6) == 0;
}

static int is_sql_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Words in texts and comments count as well: what is made without need does no harm. */
int listed_make_named(struct query *q, const char *text, const char *end, int *ret_any)
{
	struct word word;
	int r = SQLITE_OK;

	*ret_any = 0;
	for (; r == SQLITE_OK && text < end; text += word.len ? word.len : 1) {
		word = (struct word){ text, 0 };
		while (text + word.len < end && is_sql_word_char(text[word.len]))
			word.len++;
		if (word.len == 0)
			continue;
		if (lists_tables(&word)) {
			*ret_any = 1;
			return query_make_all(q);
		}
		r = create_named_tables(q, &word, ret_any);
	}
	return r;
}

int query_has_table(struct query *q, const char *name)
{
	int ignored;

	return listed_make_named(q, name, name + strlen(name), &ignored) == SQLITE_OK && has_sql_table(q, "main", name);
}
