#include "query/engine/function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int vtab_connect(sqlite3 *db, const char *declaration, size_t size, sqlite3_vtab **ret)
{
	sqlite3_vtab *v;
	int r = sqlite3_declare_vtab(db, declaration);

	if (r != SQLITE_OK)
		return r;
	v = sqlite3_malloc64(size);
	if (!v)
		return SQLITE_NOMEM;
	memset(v, 0, size);
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	*ret = v;
	return SQLITE_OK;
}

int vtab_disconnect(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

int function_connect(sqlite3 *db, struct query *q, const char *declaration, sqlite3_vtab **ret)
{
	int r = vtab_connect(db, declaration, sizeof(struct function_vtab), ret);

	if (r == SQLITE_OK)
		((struct function_vtab *)*ret)->q = q;
	return r;
}

int function_best_index(sqlite3_index_info *info, int first, int count, int required)
{
	int place[8], given = 0, next = 0;

	for (int i = 0; i < count; i++)
		place[i] = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		int argument = info->aConstraint[i].iColumn - first;

		if (argument < 0 || argument >= count || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!info->aConstraint[i].usable)
			return SQLITE_CONSTRAINT; /* another order of joins will make it usable */
		place[argument] = i;
	}
	for (int i = 0; i < count; i++) {
		if (place[i] < 0 && i < required)
			return SQLITE_CONSTRAINT;
		if (place[i] < 0)
			continue;
		info->aConstraintUsage[place[i]].argvIndex = ++next;
		info->aConstraintUsage[place[i]].omit = 1;
		given |= 1 << i;
	}
	info->idxNum = given;
	info->estimatedCost = 1e6;
	info->estimatedRows = 1000;
	return SQLITE_OK;
}

const char *function_argument(int given, int number, int argc, sqlite3_value **argv)
{
	int at = 0;

	if (!(given >> number & 1))
		return NULL;
	for (int i = 0; i < number; i++)
		at += given >> i & 1;
	return at < argc ? (const char *)sqlite3_value_text(argv[at]) : NULL;
}

int function_fail(sqlite3_vtab_cursor *cursor, int r, const struct error *err)
{
	if (r == -ENOMEM)
		return SQLITE_NOMEM;
	sqlite3_free(cursor->pVtab->zErrMsg);
	cursor->pVtab->zErrMsg = sqlite3_mprintf("%s", err->text);
	return SQLITE_ERROR;
}

int cursor_open(sqlite3_vtab_cursor **ret, size_t size)
{
	*ret = calloc(1, size);
	return *ret ? SQLITE_OK : SQLITE_NOMEM;
}

int list_next(sqlite3_vtab_cursor *base)
{
	((struct list_cursor *)base)->at++;
	return SQLITE_OK;
}

int list_eof(sqlite3_vtab_cursor *base)
{
	const struct list_cursor *c = (const struct list_cursor *)base;

	return c->at >= c->count;
}

int list_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)((struct list_cursor *)base)->at + 1;
	return SQLITE_OK;
}

int function_code(int r)
{
	return r >= 0 ? SQLITE_OK : r == -ENOMEM ? SQLITE_NOMEM : SQLITE_CORRUPT;
}

int plain_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	info->estimatedCost = 1e7;
	return SQLITE_OK;
}

char *nsys_declaration(enum nsys_table_id id, const char *name)
{
	const struct nsys_declared_table *t = &nsys_declared[id];
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendf(sql, "CREATE TABLE %s(", name);
	for (unsigned i = 0; i < t->count; i++)
		sqlite3_str_appendf(sql, "%s%s %s", i ? ", " : "", t->columns[i].name, t->columns[i].type);
	sqlite3_str_appendall(sql, ")");
	return sqlite3_str_finish(sql);
}
