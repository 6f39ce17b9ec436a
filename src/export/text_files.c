/* Texts: JSON, an object per line, and a folder with a CSV file per table. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text/csv_guard.h"
#include "export/internal.h"
#include "export/json_text.h"

#define WRITE_SIZE (256 * 1024)

static void put_json_value(FILE *f, sqlite3_stmt *row, int column)
{
	switch (sqlite3_column_type(row, column)) {
	case SQLITE_INTEGER: json_put_integer(f, sqlite3_column_int64(row, column)); break;
	case SQLITE_FLOAT:
		if (isfinite(sqlite3_column_double(row, column)))
			json_put_real(f, sqlite3_column_double(row, column));
		else
			fputs_unlocked("null", f);
		break;
	case SQLITE_NULL: fputs_unlocked("null", f); break;
	default: {
		const unsigned char *text = sqlite3_column_text(row, column);

		json_put_text(f, (const char *)text, (size_t)sqlite3_column_bytes(row, column));
	}
	}
}

/* What stands before each value, the same in every row. */
struct json_keys {
	char texts[EXPORT_MAX_COLUMNS][128];
	size_t lengths[EXPORT_MAX_COLUMNS];
};

static void make_json_keys(const struct export_table *t, struct json_keys *ret)
{
	for (unsigned i = 0; i < t->column_count; i++)
		ret->lengths[i] = (size_t)snprintf(ret->texts[i], sizeof(ret->texts[i]), "%s%s%s,\"%s\":", i ? "" : "{\"table\":\"",
						   i ? "" : t->name, i ? "" : "\"", t->columns[i].name);
}

static void put_json_row(FILE *f, const struct export_table *t, const struct json_keys *keys, sqlite3_stmt *row)
{
	for (unsigned i = 0; i < t->column_count; i++) {
		fwrite_unlocked(keys->texts[i], 1, keys->lengths[i], f);
		put_json_value(f, row, (int)i);
	}
	fwrite_unlocked("}\n", 1, 2, f);
}

/* Quotes where a reader would go wrong without; an empty text has them too, null has not. */
static void put_csv_text(FILE *f, const char *text, size_t len)
{
	bool quoted = len == 0 || memchr(text, '\0', len) || strpbrk(text, ",\"\r\n") || text[0] == ' ' || text[len - 1] == ' ';

	if (quoted) {
		csv_put_quoted(f, text, len);
		return;
	}
	if (csv_needs_guard(text, len))
		fputs_unlocked(CSV_GUARD, f);
	fwrite_unlocked(text, 1, len, f);
}

static void put_csv_row(FILE *f, const struct export_table *t, sqlite3_stmt *row)
{
	for (unsigned i = 0; i < t->column_count; i++) {
		int type = sqlite3_column_type(row, (int)i);

		if (i)
			putc_unlocked(',', f);
		if (type == SQLITE_INTEGER)
			json_put_integer(f, sqlite3_column_int64(row, (int)i));
		else if (type == SQLITE_FLOAT)
			json_put_real(f, sqlite3_column_double(row, (int)i));
		else if (type != SQLITE_NULL) {
			const char *text = (const char *)sqlite3_column_text(row, (int)i);

			put_csv_text(f, text ? text : "", text ? (size_t)sqlite3_column_bytes(row, (int)i) : 0);
		}
	}
	putc_unlocked('\n', f);
}

static int prepare_rows(struct export *e, const struct export_table *t, sqlite3_stmt **ret, struct error *err)
{
	struct buf sql = BUF_INIT;
	int r = export_select_text(e, t, false, &sql);

	r = r < 0 ? SQLITE_NOMEM : sqlite3_prepare_v2(e->db, buf_cstr(&sql), -1, ret, NULL);
	buf_release(&sql);
	return r == SQLITE_OK ? 0 : export_sqlite_error(e, r, err);
}

static int jsonlines_table(struct export *e, const struct export_table *t, struct error *err)
{
	struct json_keys keys;
	sqlite3_stmt *row;
	int r;

	TRY(prepare_rows(e, t, &row, err));
	make_json_keys(t, &keys);
	while (sqlite3_step(row) == SQLITE_ROW && !ferror(e->stream))
		put_json_row(e->stream, t, &keys, row);
	r = sqlite3_finalize(row);
	if (r != SQLITE_OK)
		return export_sqlite_error(e, r, err);
	return ferror(e->stream) ? export_write_failed(e, err) : 0;
}

static int begin_csv(struct export *e, struct error *err)
{
	e->folder = export_place_make_folder(e);
	return e->folder < 0 ? error_set_errno(err, -e->folder, "'%s' cannot be written", e->place.path) : 0;
}

static int write_csv_file(struct export *e, const struct export_table *t, sqlite3_stmt *row, int step, struct error *err)
{
	char name[80];
	FILE *f;
	int fd, r;

	snprintf(name, sizeof(name), "%s.csv", t->name);
	fd = openat(e->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!f)
		return export_write_failed(e, err);
	setvbuf(f, NULL, _IOFBF, WRITE_SIZE);
	for (unsigned i = 0; i < t->column_count; i++)
		fprintf(f, "%s%s", i ? "," : "", t->columns[i].name);
	putc('\n', f);
	for (; step == SQLITE_ROW && !ferror(f); step = sqlite3_step(row))
		put_csv_row(f, t, row);
	r = ferror(f);
	return fclose(f) != 0 || r ? export_write_failed(e, err) : 0;
}

static int csv_table(struct export *e, const struct export_table *t, struct error *err)
{
	sqlite3_stmt *row;
	int r, step, written = 0;

	TRY(prepare_rows(e, t, &row, err));
	step = sqlite3_step(row);
	if (step == SQLITE_ROW || (step == SQLITE_DONE && !e->request->only_with_rows))
		written = write_csv_file(e, t, row, step, err);
	r = sqlite3_finalize(row);
	if (r != SQLITE_OK)
		return export_sqlite_error(e, r, err);
	return written;
}

static void give_up_csv(struct export *e)
{
	if (e->folder >= 0)
		close(e->folder);
	e->folder = -1;
}

static int end_csv(struct export *e, struct error *err)
{
	give_up_csv(e);
	return 0;
}

/* clang-format off */
const struct export_format export_jsonlines = {
	.name = "JsonLines", .streams = true, .begin = export_stream_begin,
	.table = jsonlines_table, .end = export_stream_end, .give_up = export_stream_give_up,
};

const struct export_format export_csv = {
	.name = "CSV", .is_folder = true, .begin = begin_csv, .table = csv_table, .end = end_csv,
	.give_up = give_up_csv,
};
/* clang-format on */
