#include "support.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "support/text_report.h"

static char golden_folder[64], text_folder[64];

const char *ask(struct query *q, const char *sql)
{
	static struct buf answer;
	sqlite3_stmt *statement;
	int step;

	buf_clear(&answer);
	if (query_prepare(q, sql, &statement, NULL) != SQLITE_OK) {
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

int golden_set_up(void **state, const char *name)
{
	char text[512], path[128];
	struct query *q;
	struct error err;

	make_folder(golden_folder, sizeof(golden_folder));
	snprintf(text, sizeof(text), GOLDEN_FOLDER "/%s", name);
	snprintf(path, sizeof(path), "%s/run.sonde", golden_folder);
	if (text_report_write(text, path, &err) < 0 || query_open(&q, path, &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	*state = q;
	return 0;
}

int golden_tear_down(void **state)
{
	query_close(*state);
	remove_folder(golden_folder);
	return 0;
}

struct query *open_text(const char *lines)
{
	char text[128], path[128];
	struct error err = { "" };
	struct query *q = NULL;
	FILE *f;

	make_folder(text_folder, sizeof(text_folder));
	snprintf(text, sizeof(text), "%s/lines.txt", text_folder);
	snprintf(path, sizeof(path), "%s/run.sonde", text_folder);
	f = fopen(text, "w");
	assert_non_null(f);
	fputs(lines, f);
	fclose(f);
	if (text_report_write(text, path, &err) < 0 || query_open(&q, path, &err) < 0)
		fail_msg("%s", err.text);
	return q;
}

void close_text(struct query *q)
{
	query_close(q);
	remove_folder(text_folder);
}
