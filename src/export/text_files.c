/* Texts: JSON, an object per line, and a folder with a CSV file per table. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "export/internal.h"

#define WRITE_SIZE (256 * 1024)

static int write_failed(struct export *e, struct error *err)
{
	return error_set_errno(err, errno ? errno : EIO, "'%s' cannot be written", e->path);
}

/* How many bytes of valid UTF-8 begin here; 0 for none. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (len == 0 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static void put_json_control(FILE *f, unsigned char c)
{
	static const char named[] = "\bb\tt\nn\ff\rr";
	const char *found = c ? strchr(named, c) : NULL;

	if (found)
		fprintf(f, "\\%c", found[1]);
	else
		fprintf(f, "\\u%04x", c);
}

/* Bytes that are no text become U+FFFD: JSON cannot hold them. */
static void put_json_text(FILE *f, const unsigned char *text, size_t len)
{
	size_t plain = 0, step;

	putc_unlocked('"', f);
	for (size_t i = 0; i < len; i += step ? step : 1) {
		step = utf8_length(text + i, len - i);
		if (step && text[i] >= 0x20 && text[i] != '"' && text[i] != '\\') {
			plain += step;
			continue;
		}
		fwrite_unlocked(text + i - plain, 1, plain, f);
		plain = 0;
		if (step == 0)
			fputs("\xef\xbf\xbd", f);
		else if (text[i] < 0x20)
			put_json_control(f, text[i]);
		else
			fprintf(f, "\\%c", text[i]);
	}
	fwrite_unlocked(text + len - plain, 1, plain, f);
	putc_unlocked('"', f);
}

static void put_integer(FILE *f, int64_t value)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[24], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + left % 10);
	while ((left /= 10) != 0);
	if (value < 0)
		*--at = '-';
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), f);
}

/* As few digits as give the same number again. */
static void put_real(FILE *f, double value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.15g", value);
	if (strtod(digits, NULL) != value)
		snprintf(digits, sizeof(digits), "%.17g", value);
	fputs(digits, f);
	if (!strpbrk(digits, ".eE"))
		fputs(".0", f);
}

static void put_json_value(FILE *f, sqlite3_stmt *row, int column)
{
	switch (sqlite3_column_type(row, column)) {
	case SQLITE_INTEGER:
		put_integer(f, sqlite3_column_int64(row, column));
		break;
	case SQLITE_FLOAT:
		if (isfinite(sqlite3_column_double(row, column)))
			put_real(f, sqlite3_column_double(row, column));
		else
			fputs_unlocked("null", f);
		break;
	case SQLITE_NULL:
		fputs_unlocked("null", f);
		break;
	default: {
		const unsigned char *text = sqlite3_column_text(row, column);

		put_json_text(f, text, (size_t)sqlite3_column_bytes(row, column));
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
	const char *quote;
	bool quoted = len == 0 || memchr(text, '\0', len) || strpbrk(text, ",\"\r\n") || text[0] == ' ' ||
		      text[len - 1] == ' ';

	if (!quoted) {
		fwrite_unlocked(text, 1, len, f);
		return;
	}
	putc_unlocked('"', f);
	while ((quote = memchr(text, '"', len)) != NULL) {
		fwrite_unlocked(text, 1, (size_t)(quote - text) + 1, f);
		putc_unlocked('"', f);
		len -= (size_t)(quote - text) + 1;
		text = quote + 1;
	}
	fwrite_unlocked(text, 1, len, f);
	putc_unlocked('"', f);
}

static void put_csv_row(FILE *f, const struct export_table *t, sqlite3_stmt *row)
{
	for (unsigned i = 0; i < t->column_count; i++) {
		int type = sqlite3_column_type(row, (int)i);

		if (i)
			putc_unlocked(',', f);
		if (type == SQLITE_INTEGER)
			put_integer(f, sqlite3_column_int64(row, (int)i));
		else if (type == SQLITE_FLOAT)
			put_real(f, sqlite3_column_double(row, (int)i));
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

static int begin_jsonlines(struct export *e, struct error *err)
{
	e->stream = e->part_path[0] ? fopen(e->part_path, "we") : e->request->stream;
	if (e->stream && e->part_path[0])
		setvbuf(e->stream, NULL, _IOFBF, WRITE_SIZE);
	return e->stream ? 0 : write_failed(e, err);
}

static int jsonlines_table(struct export *e, const struct export_table *t, struct error *err)
{
	struct json_keys keys;
	sqlite3_stmt *row;
	int r = prepare_rows(e, t, &row, err);

	if (r < 0)
		return r;
	make_json_keys(t, &keys);
	while (sqlite3_step(row) == SQLITE_ROW && !ferror(e->stream))
		put_json_row(e->stream, t, &keys, row);
	r = sqlite3_finalize(row);
	if (r != SQLITE_OK)
		return export_sqlite_error(e, r, err);
	return ferror(e->stream) ? write_failed(e, err) : 0;
}

static int end_jsonlines(struct export *e, struct error *err)
{
	int r = e->part_path[0] ? fclose(e->stream) : fflush(e->stream);

	e->stream = NULL;
	return r == 0 ? 0 : write_failed(e, err);
}

static void give_up_jsonlines(struct export *e)
{
	if (e->part_path[0] && e->stream)
		fclose(e->stream);
}

static int begin_csv(struct export *e, struct error *err)
{
	return mkdir(e->part_path, 0777) < 0 ? write_failed(e, err) : 0;
}

static int write_csv(struct export *e, const struct export_table *t, sqlite3_stmt *row, int step, struct error *err)
{
	char path[PATH_MAX + 80];
	FILE *f;
	int r;

	snprintf(path, sizeof(path), "%s/%s.csv", e->part_path, t->name);
	f = fopen(path, "we");
	if (!f)
		return write_failed(e, err);
	setvbuf(f, NULL, _IOFBF, WRITE_SIZE);
	for (unsigned i = 0; i < t->column_count; i++)
		fprintf(f, "%s%s", i ? "," : "", t->columns[i].name);
	putc('\n', f);
	for (; step == SQLITE_ROW && !ferror(f); step = sqlite3_step(row))
		put_csv_row(f, t, row);
	r = ferror(f);
	return fclose(f) != 0 || r ? write_failed(e, err) : 0;
}

static int csv_table(struct export *e, const struct export_table *t, struct error *err)
{
	sqlite3_stmt *row;
	int r = prepare_rows(e, t, &row, err), step, written = 0;

	if (r < 0)
		return r;
	step = sqlite3_step(row);
	if (step == SQLITE_ROW || (step == SQLITE_DONE && !e->request->only_with_rows))
		written = write_csv(e, t, row, step, err);
	r = sqlite3_finalize(row);
	if (r != SQLITE_OK)
		return export_sqlite_error(e, r, err);
	return written;
}

static int end_csv(struct export *e, struct error *err)
{
	return 0;
}

static void give_up_csv(struct export *e)
{
}

const struct export_format export_jsonlines = {
	.name = "JsonLines", .ending = ".jsonl", .begin = begin_jsonlines, .table = jsonlines_table,
	.end = end_jsonlines, .give_up = give_up_jsonlines,
};

const struct export_format export_csv = {
	.name = "CSV", .ending = "_csv", .is_folder = true, .begin = begin_csv, .table = csv_table, .end = end_csv,
	.give_up = give_up_csv,
};
