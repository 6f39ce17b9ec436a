#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

const char *ask(struct query *q, const char *sql)
{
	static struct buf answer;
	sqlite3_stmt *statement;
	int step;

	buf_clear(&answer);
	if (sqlite3_prepare_v2(query_db(q), sql, -1, &statement, NULL) != SQLITE_OK) {
		buf_printf(&answer, "error: %s", sqlite3_errmsg(query_db(q)));
		return buf_cstr(&answer);
	}
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		if (answer.len)
			buf_puts(&answer, ";");
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *text = (const char *)sqlite3_column_text(statement, i);

			buf_printf(&answer, "%s%s", i ? "|" : "", text ? text : "");
		}
	}
	if (step != SQLITE_DONE)
		buf_printf(&answer, "error: %s", sqlite3_errmsg(query_db(q)));
	sqlite3_finalize(statement);
	return buf_cstr(&answer);
}

void make_folder(char *ret, size_t size)
{
	snprintf(ret, size, "query.XXXXXX");
	if (!mkdtemp(ret))
		abort();
}

void remove_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[1024];

	while (dir && (entry = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(folder);
}
