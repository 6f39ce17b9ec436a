/* An SQLite file: SQLite itself reads the report's tables and writes the file's, so that no value
 * passes through here. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "export/internal.h"

int export_sqlite_error(struct export *e, int code, struct error *err)
{
	int why = sqlite3_system_errno(e->db);

	switch (code & 0xff) {
	case SQLITE_INTERRUPT: return error_set(err, EINTR, "Interrupted");
	case SQLITE_NOMEM: return error_set(err, ENOMEM, "Not enough memory");
	case SQLITE_FULL: return error_set(err, ENOSPC, "'%s' cannot be written: the disk is full", e->place.path);
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		if (why)
			return error_set_errno(err, why, "'%s' cannot be written", e->place.path);
		break;
	}
	return error_set(err, EIO, "'%s' cannot be written: %s", e->place.path, sqlite3_errmsg(e->db));
}

int export_execute(struct export *e, struct error *err, const char *format, ...)
{
	va_list args;
	char *sql;
	int r;

	va_start(args, format);
	sql = sqlite3_vmprintf(format, args);
	va_end(args);
	r = sql ? sqlite3_exec(e->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return r == SQLITE_OK ? 0 : export_sqlite_error(e, r, err);
}

/* SQLite opens files by name: of this one a name that begins at the open folder, and a new file. */
#define VFS_NAME "sonde-export"

static int name_file(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
	const struct export *e = vfs->pAppData;

	return snprintf(ret, (size_t)size, "/proc/self/fd/%d/%s", e->place.folder, e->place.part) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int open_new(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *ret_flags)
{
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	return usual->xOpen(usual, name, file, flags | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE, ret_flags);
}

static int attach_sqlite_file(struct export *e, struct error *err)
{
	sqlite3_vfs *vfs = malloc(sizeof(*vfs));

	if (!vfs)
		return error_set(err, ENOMEM, "Not enough memory");
	*vfs = *sqlite3_vfs_find(NULL);
	vfs->zName = VFS_NAME;
	vfs->pAppData = e;
	vfs->xFullPathname = name_file;
	vfs->xOpen = open_new;
	sqlite3_vfs_register(vfs, 0);
	e->vfs = vfs;
	return export_execute(e, err, "ATTACH 'file:export?vfs=" VFS_NAME "' AS out");
}

/* The file is thrown away if anything fails: nothing is kept to undo it with. */
static int begin_sqlite_file(struct export *e, struct error *err)
{
	export_place_remove(e);
	TRY(attach_sqlite_file(e, err));
	return export_execute(e, err,
			      "PRAGMA out.page_size = 65536; PRAGMA out.journal_mode = OFF; "
			      "PRAGMA out.synchronous = OFF; PRAGMA out.locking_mode = EXCLUSIVE; "
			      "PRAGMA out.cache_size = -16384; BEGIN");
}

static int create_table(struct export *e, const struct export_table *t, struct error *err)
{
	struct buf sql = BUF_INIT;
	int r = buf_printf(&sql, "CREATE TABLE out.\"%s\" (", t->name);

	for (unsigned i = 0; r >= 0 && i < t->column_count; i++) {
		const struct export_column *c = &t->columns[i];

		r = buf_printf(&sql, "%s\n    \"%s\" %s%s%s", i ? "," : "", c->name, c->type, c->not_null ? " NOT NULL" : "",
			       c->is_key ? " PRIMARY KEY" : "");
	}
	if (r >= 0)
		r = buf_puts(&sql, "\n)");
	r = r < 0 ? error_set(err, ENOMEM, "Not enough memory") : export_execute(e, err, "%s", buf_cstr(&sql));
	buf_release(&sql);
	return r;
}

/* FAIL leaves the rows before the one that failed: there is no way back without a journal. */
static int copy_rows(struct export *e, const struct export_table *t, bool filled)
{
	struct buf sql = BUF_INIT;
	int r = buf_printf(&sql, "INSERT OR %s INTO out.\"%s\" ", filled ? "IGNORE" : "FAIL", t->name);

	if (r >= 0)
		r = export_select_text(e, t, filled, &sql);
	r = r < 0 ? SQLITE_NOMEM : sqlite3_exec(e->db, buf_cstr(&sql), NULL, NULL, NULL);
	buf_release(&sql);
	return r;
}

static int write_sqlite_table(struct export *e, const struct export_table *t, struct error *err)
{
	int r;

	TRY(create_table(e, t, err));
	r = copy_rows(e, t, false);
	/* Only a report that no recorder wrote has nulls where there are none, or an id twice. */
	if ((r & 0xff) == SQLITE_CONSTRAINT) {
		TRY(export_execute(e, err, "DELETE FROM out.\"%w\"", t->name));
		r = copy_rows(e, t, true);
	}
	if (r != SQLITE_OK)
		return export_sqlite_error(e, r, err);
	if (e->request->only_with_rows && e->request->times.given && sqlite3_changes64(e->db) == 0)
		return export_execute(e, err, "DROP TABLE out.\"%w\"", t->name);
	return 0;
}

static void remove_vfs(struct export *e)
{
	if (e->vfs)
		sqlite3_vfs_unregister(e->vfs);
	free(e->vfs);
	e->vfs = NULL;
}

static int end_sqlite_file(struct export *e, struct error *err)
{
	int r = export_execute(e, err, "COMMIT; DETACH out");

	if (r >= 0)
		remove_vfs(e);
	return r;
}

static void abandon_sqlite_file(struct export *e)
{
	sqlite3_exec(e->db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_exec(e->db, "DETACH out", NULL, NULL, NULL);
	remove_vfs(e);
}

/* clang-format off */
const struct export_format export_sqlite = {
	.name = "SQLite", .begin = begin_sqlite_file, .table = write_sqlite_table, .end = end_sqlite_file, .give_up = abandon_sqlite_file,
};
/* clang-format on */
