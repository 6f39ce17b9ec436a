/* /api/stats: a report of `sonde stats` for a part of the recording, or the list of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "stats/has_data.h"
#include "stats/stats.h"
#include "view/request/routes.h"
#include "view/answers/csv_table.h"
#include "view/internal.h"
#include "view/events/event.h"
#include "view/answers/statistics.h"

#define INSTEAD_TABLES 2
#define SHORT_ROWS 5
#define SHORT_COLUMNS 4
/* As CSV. A page shows no more, and a report of single events may have as many lines as there were events. */
#define MOST_TEXT (16u << 20)

struct catalogue {
	struct stats_folders folders;
	struct report_files files;
};

static int catalogue_open(struct catalogue *c, struct error *err)
{
	memset(c, 0, sizeof(*c));
	TRY(stats_folders_find(&c->folders, NULL, 0, err));
	return report_files_load(&c->files, (const char *const *)c->folders.names, c->folders.count, err);
}

static void catalogue_close(struct catalogue *c)
{
	report_files_release(&c->files);
	stats_folders_release(&c->folders);
}

/* What is still being recorded may have later what it does not have yet. */
static bool may_have(struct view_report *r, struct query *q, const struct report_file *file)
{
	return report_file_has_data(file, q) || (report_is_partial(r->report) && !report_file_is_of_imports(file));
}

static int put_named_reports(struct view_report *r, const struct catalogue *c, struct buf *out, struct error *err)
{
	struct query *q;
	struct json_out j;

	TRY(query_open(&q, r->path, err));
	out_begin(&j, out);
	out_open(&j, '{');
	out_key(&j, "reports");
	out_open(&j, '[');
	for (size_t i = 0; i < c->files.count; i++) {
		out_open(&j, '{');
		out_put_text(&j, "name", c->files.files[i].name);
		out_put_text(&j, "title", c->files.files[i].title);
		out_put_integer(&j, "place", c->files.files[i].default_place);
		out_put_text(&j, "help", c->files.files[i].help);
		out_put_bool(&j, "available", may_have(r, q, &c->files.files[i]));
		out_close(&j, '}');
	}
	out_close(&j, ']');
	out_close(&j, '}');
	query_close(q);
	return j.r;
}

/* A text that ends where it has become too long. */
struct bounded {
	struct buf text;
	bool is_full;
};

static ssize_t take_some(void *context, const char *data, size_t size)
{
	struct bounded *b = context;

	b->is_full = b->is_full || b->text.len + size > MOST_TEXT;
	errno = b->is_full ? EFBIG : ENOMEM;
	return b->is_full || buf_append(&b->text, data, size) < 0 ? 0 : (ssize_t)size;
}

/* The report's rows as CSV. */
static int run_report(struct view_report *r, const struct catalogue *c, const char *name, const char *time, struct bounded *ret,
		      struct error *err)
{
	const char *format = "csv", *console = "-";
	/* clang-format off */
	struct stats_options options = {
		.reports = &name, .report_count = 1, .formats = &format, .format_count = 1, .outputs = &console, .output_count = 1,
		.quiet = 1, .folders = (const char *const *)c->folders.names, .folder_count = c->folders.count, .scope.time = time,
		.opened = r->path,
	};
	/* clang-format on */
	char *remarks_text = NULL;
	size_t remarks_size;
	FILE *out = fopencookie(ret, "w", (cookie_io_functions_t){ .write = take_some });
	FILE *remarks = open_memstream(&remarks_text, &remarks_size);
	int rc = out && remarks ? stats_run(&options, r->name, out, remarks, err) : -ENOMEM;

	if (out)
		fclose(out);
	if (remarks)
		fclose(remarks);
	free(remarks_text);
	return rc < 0 && ret->is_full ? 0 : rc;
}

/* The column that says what a row is about: the last, unless functions are told with where they are. */
static size_t name_column_of(const struct csv_table *t)
{
	for (size_t i = 0; i < t->columns; i++)
		if (strcmp(t->cells[i], "Symbol") == 0 || strcmp(t->cells[i], "Function") == 0)
			return i;
	return t->columns - 1;
}

/* Which columns are shown, in which order. A short form begins with the name. */
static size_t column_at(const struct csv_table *t, size_t i, bool is_short)
{
	if (!is_short)
		return i;
	return i == 0 ? name_column_of(t) : i - 1;
}

static size_t column_count(const struct csv_table *t, bool is_short)
{
	return is_short && t->columns > SHORT_COLUMNS ? SHORT_COLUMNS : t->columns;
}

static void put_stats_columns(struct json_out *j, const struct csv_table *t, bool is_short)
{
	out_key(j, "columns");
	out_open(j, '[');
	for (size_t i = 0; i < column_count(t, is_short); i++) {
		size_t c = column_at(t, i, is_short);

		out_open(j, '{');
		out_put_text(j, "name", t->cells[c]);
		out_put_bool(j, "number", csv_column_is_number(t, c));
		out_close(j, '}');
	}
	out_close(j, ']');
}

static void put_rows(struct json_out *j, const struct csv_table *t, bool is_short)
{
	out_key(j, "rows");
	out_open(j, '[');
	for (size_t i = 0; i < t->rows && (!is_short || i < SHORT_ROWS); i++) {
		out_open(j, '[');
		for (size_t k = 0; k < column_count(t, is_short); k++) {
			size_t c = column_at(t, k, is_short);
			const char *cell = csv_cell(t, i, c);

			if (csv_is_number(cell) && csv_column_is_number(t, c))
				out_raw(j, cell, strlen(cell));
			else
				out_string(j, *cell ? cell : NULL);
		}
		out_close(j, ']');
	}
	out_close(j, ']');
}

static void put_table(struct json_out *j, const struct report_file *file, const struct csv_table *t, bool is_short, bool is_cut)
{
	char why[512];

	out_open(j, '{');
	out_put_text(j, "name", file->name);
	out_put_text(j, "title", file->title);
	put_stats_columns(j, t, is_short);
	put_rows(j, t, is_short);
	snprintf(why, sizeof(why), "The report has no %s.", file->skipped ? file->skipped : "data for it");
	out_put_text(j, "skipped", t->columns ? NULL : why);
	out_put_bool(j, "cut", is_cut);
	out_close(j, '}');
}

/* With ret_has_rows: in short, and only if there are any. */
static int put_named_report(struct json_out *j, struct view_report *r, const struct catalogue *c, const struct report_file *file,
			    const char *asked, const char *time, bool *ret_has_rows, struct error *err)
{
	struct csv_table t = { 0 };
	struct bounded b = { .text = BUF_INIT };
	int rc = run_report(r, c, asked, time, &b, err);

	if (rc >= 0 && b.text.len)
		rc = csv_table_read(&t, (char *)(uintptr_t)buf_cstr(&b.text));
	/* The last line may be half of one. */
	t.rows -= b.is_full && t.rows;
	if (rc >= 0 && (!ret_has_rows || t.rows))
		put_table(j, file, &t, ret_has_rows != NULL, b.is_full);
	if (ret_has_rows)
		*ret_has_rows = t.rows > 0;
	csv_table_release(&t);
	buf_release(&b.text);
	TRY(rc);
	return j->r;
}

/* As --filter-time takes it; NULL: all of the recording. */
static const char *time_filter(int64_t from, int64_t to, char *room, size_t size)
{
	if (from == INT64_MIN && to == INT64_MAX)
		return NULL;
	snprintf(room, size, "%lldns/%lldns", (long long)(from < 0 ? 0 : from), (long long)(to < 0 ? 0 : to));
	return room;
}

int stats_put_instead(struct json_out *j, struct view_report *r, int64_t from, int64_t to, struct error *err)
{
	static const char *const names[] = { "cuda_gpu_kern_sum", "nvtx_sum", "cpu_sample_sum", "cuda_api_sum", "osrt_sum" };
	const struct report_file *file;
	struct catalogue c;
	unsigned shown = 0;
	bool has_rows;
	char room[64];
	const char *time = time_filter(from, to, room, sizeof(room));
	int rc = catalogue_open(&c, err);

	out_key(j, "instead");
	out_open(j, '[');
	for (size_t i = 0; rc >= 0 && i < COUNT_OF(names) && shown < INSTEAD_TABLES; i++) {
		file = report_files_find(&c.files, names[i], NULL);
		if (!file)
			continue;
		has_rows = false;
		rc = put_named_report(j, r, &c, file, names[i], time, &has_rows, err);
		shown += has_rows;
	}
	out_close(j, ']');
	catalogue_close(&c);
	return rc == -ENOMEM ? rc : 0;
}

static int put_one(struct view_report *r, const struct catalogue *c, const char *name, const char *time, struct buf *out, struct error *err)
{
	const struct report_file *file = report_files_find(&c->files, name, err);
	struct json_out j;

	if (!file)
		return -EINVAL;
	out_begin(&j, out);
	return put_named_report(&j, r, c, file, name, time, NULL, err);
}

int answer_stats(struct view *v, struct params *p, struct answer *a, struct error *err)
{
	const char *name = params_text(p, "name");
	struct view_report *report;
	struct catalogue c;
	int64_t from, to;
	char time[64];
	int r;

	TRY(view_asked_report(v, p, &report, err));
	TRY(param_times(p, report, &from, &to, err));
	TRY(params_all_used(p, err));
	if (name && (strchr(name, ',') || !*name))
		return error_set(err, EINVAL, "name is not the name of one report");
	r = catalogue_open(&c, err);
	if (r >= 0 && name)
		r = put_one(report, &c, name, time_filter(from, to, time, sizeof(time)), &a->body, err);
	else if (r >= 0)
		r = put_named_reports(report, &c, &a->body, err);
	catalogue_close(&c);
	return r;
}
