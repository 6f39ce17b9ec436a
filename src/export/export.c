#include "export/export.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/system/monotonic.h"
#include "base/text/path.h"
#include "export/internal.h"
#include "export/redact/redact.h"

/* Steps of SQLite between two looks at the clock and at signals: a few milliseconds. */
#define PROGRESS_STEPS 200000
#define REDACTED_ENDING ".redacted.sonde"

static const struct {
	const struct export_format *format;
	const char *ending;
} formats[EXPORT_TYPE_COUNT] = {
#define FORMAT(NAME, word, symbol, ending, help) { &export_##symbol, ending },
	EXPORT_FORMATS(FORMAT, FORMAT)
#undef FORMAT
};

static int choose_shift(struct export *e, struct error *err)
{
	sqlite3_stmt *statement;
	int64_t start = -1;

	e->shift = e->request->shift;
	if (!e->request->normalize)
		return 0;
	if (sqlite3_prepare_v2(e->db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", -1, &statement, NULL) == SQLITE_OK) {
		if (sqlite3_step(statement) == SQLITE_ROW)
			start = sqlite3_column_int64(statement, 0);
		sqlite3_finalize(statement);
	}
	if (start < 0)
		return error_set(err, ENODATA, "%s has no start time; --ts-normalize requires it", e->request->input);
	if (__builtin_add_overflow(e->shift, start, &e->shift))
		return error_set(err, ERANGE, "--ts-shift is too large");
	return 0;
}

static int add_fact(struct export *e, struct error *err, const char *name, const char *value)
{
	return export_execute(e, err, "INSERT INTO main.META_DATA_EXPORT VALUES(%Q, %Q)", name, value ? value : "");
}

static const char *true_or_false(bool value)
{
	return value ? "true" : "false";
}

static int add_machine(struct export *e, struct error *err)
{
	struct utsname machine;

	return uname(&machine) < 0 ? 0 : add_fact(e, err, "EXPORT_ARCH", strcmp(machine.machine, "x86_64") == 0 ? "x64" : machine.machine);
}

/* Where and by whom. */
static int add_host_facts(struct export *e, struct error *err)
{
	char host[256] = "", text[64];
	struct passwd *user = getpwuid(geteuid());
	time_t now = time(NULL);
	struct tm parts;

	gethostname(host, sizeof(host) - 1);
	TRY(add_fact(e, err, "EXPORT_HOST", host));
	TRY(add_fact(e, err, "EXPORT_USER", user ? user->pw_name : ""));
	if (gmtime_r(&now, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts))
		TRY(add_fact(e, err, "EXPORT_TIME_UTC", text));
	if (localtime_r(&now, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S %z %Z", &parts))
		TRY(add_fact(e, err, "EXPORT_TIME_LOCAL", text));
	return 0;
}

static const char *output_of(const struct export *e)
{
	return export_has_place(e) ? e->place.path : "-";
}

static int add_names(struct export *e, struct error *err)
{
	TRY(add_fact(e, err, "EXPORT_PARAM_INPUT_FILE", path_name(e->request->input)));
	return add_fact(e, err, "EXPORT_PARAM_OUTPUT_FILE", path_name(output_of(e)));
}

static int add_paths(struct export *e, struct error *err)
{
	const char *input = e->request->input, *output = output_of(e);
	char *absolute = realpath(input, NULL), folder[PATH_MAX];
	int r = add_fact(e, err, "EXPORT_PARAM_INPUT_PATH", input);

	if (r >= 0)
		r = add_fact(e, err, "EXPORT_PARAM_OUTPUT_PATH", output);
	if (r >= 0)
		r = add_fact(e, err, "EXPORT_PARAM_INPUT_PATH_ABS", absolute ? absolute : input);
	free(absolute);
	if (r >= 0 && output[0] == '/')
		r = add_fact(e, err, "EXPORT_PARAM_OUTPUT_PATH_ABS", output);
	else if (r >= 0 && export_has_place(e) && getcwd(folder, sizeof(folder)))
		r = export_execute(e, err,
				   "INSERT INTO main.META_DATA_EXPORT VALUES('EXPORT_PARAM_OUTPUT_PATH_ABS', "
				   "%Q || '/' || %Q)",
				   folder, output);
	return r;
}

static int add_parameters(struct export *e, const struct export_format *format, struct error *err)
{
	const struct export_request *request = e->request;
	struct buf tables = BUF_INIT;
	char shift[32], total[32];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < request->table_count; i++)
		r = buf_printf(&tables, "%s%s", i ? "," : "", request->tables[i]);
	snprintf(shift, sizeof(shift), "%lld", (long long)request->shift);
	snprintf(total, sizeof(total), "%lld", (long long)e->shift);
	const char *const facts[][2] = {
		{ "EXPORT_PARAM_EXPORT_TYPE", format->name },
		{ "EXPORT_PARAM_PROGRESS", true_or_false(request->progress != NULL) },
		{ "EXPORT_PARAM_OVERWRITE", true_or_false(request->overwrite) },
		{ "EXPORT_PARAM_APPEND", "false" },
		{ "EXPORT_PARAM_LAZY", true_or_false(request->only_with_rows) },
		{ "EXPORT_PARAM_INCLUDE_JSON", "true" },
		{ "EXPORT_PARAM_INCLUDE_BLOBS", "true" },
		{ "EXPORT_PARAM_TIME_NORMALIZE", true_or_false(request->normalize) },
		{ "EXPORT_PARAM_TIME_SHIFT", shift },
		{ "EXPORT_PARAM_TABLES_TO_EXPORT", tables.len ? buf_cstr(&tables) : "" },
		{ "EXPORT_PARAM_TIMES_TO_EXPORT", request->times_text },
		{ "EXPORT_CONFIG_TIME_SHIFT", total },
	};
	for (size_t i = 0; r >= 0 && i < COUNT_OF(facts); i++)
		r = add_fact(e, err, facts[i][0], facts[i][1]);
	buf_release(&tables);
	return r;
}

/* META_DATA_EXPORT is a table in memory: what is added to it is exported with the rest. */
static int add_facts(struct export *e, const struct export_format *format, struct error *err)
{
	TRY(export_execute(e, err, "DELETE FROM main.META_DATA_EXPORT WHERE name LIKE 'EXPORT\\_PARAM%%' ESCAPE '\\'"));
	TRY(add_machine(e, err));
	TRY(add_names(e, err));
	/* One that is to be handed on says nothing of who does that, either. */
	if (!is_redacted(query_report(e->q)))
		TRY(add_host_facts(e, err));
	if (!is_redacted(query_report(e->q)))
		TRY(add_paths(e, err));
	return add_parameters(e, format, err);
}

static int on_progress(void *arg)
{
	struct export *e = arg;

	return e->request->progress ? e->request->progress(e->request->progress_arg, e->now, e->done, e->count) : 0;
}

bool export_keeps(const struct export *e, int64_t start, int64_t end)
{
	const struct export_times *times = &e->request->times;

	return !times->given ||
	       ((times->start_overlaps ? end : start) >= times->start && (times->end_overlaps ? start : end) <= times->end);
}

int export_poll(struct export *e, const char *doing, struct error *err)
{
	e->now = doing;
	if (on_progress(e) != 0)
		return error_set(err, EINTR, "Interrupted");
	return ferror(e->stream) ? export_write_failed(e, err) : 0;
}

static int write_tables(struct export *e, const struct export_format *format, const struct export_names *names, struct error *err)
{
	int64_t begin = monotonic_ns();
	struct export_table table;
	char text[32];
	int r = 0;

	e->count = names->count;
	for (size_t i = 0; r >= 0 && i < names->count; i++) {
		e->now = names->items[i];
		e->done = i;
		if (strcmp(e->now, "META_DATA_EXPORT") == 0) {
			snprintf(text, sizeof(text), "%.2f sec", (double)(monotonic_ns() - begin) * 1e-9);
			r = add_fact(e, err, "EXPORT_TIME", text);
		}
		if (r >= 0 && on_progress(e) != 0)
			r = error_set(err, EINTR, "Interrupted");
		if (r >= 0)
			r = export_table_describe(e, e->now, &table, err);
		if (r >= 0)
			r = format->table(e, &table, err);
	}
	return r;
}

static int write_format_file(struct export *e, const struct export_format *format, const struct export_names *names, struct error *err)
{
	int r = format->begin(e, err);

	sqlite3_progress_handler(e->db, PROGRESS_STEPS, on_progress, e);
	if (r >= 0)
		r = format->whole ? format->whole(e, err) : write_tables(e, format, names, err);
	sqlite3_progress_handler(e->db, 0, NULL, NULL);
	if (r >= 0)
		r = format->end(e, err);
	if (r >= 0 && export_has_place(e))
		r = export_place_finish(e, format, err);
	if (r < 0) {
		format->give_up(e);
		if (export_has_place(e))
			export_place_remove(e);
	}
	return r;
}

int export_default_name(enum export_type type, const char *input, char *ret_path, size_t path_size)
{
	return export_name_beside(input, formats[type].ending, ret_path, path_size) < (int)path_size ? 0 : -ENAMETOOLONG;
}

/* An export has what the report has, paths and what the program printed among it: it is open to nobody who may not read that. */
static mode_t close_as_report(const char *report)
{
	mode_t before = umask(S_IRWXG | S_IRWXO), closed = 0;
	struct stat st;

	if (stat(report, &st) == 0) {
		closed |= st.st_mode & S_IRGRP ? 0 : S_IRWXG;
		closed |= st.st_mode & S_IROTH ? 0 : S_IRWXO;
	}
	umask(before | closed);
	return before;
}

static int write_closed(struct export *e, const struct export_format *format, const struct export_names *names, struct error *err)
{
	mode_t before = close_as_report(e->request->input);
	int r = write_format_file(e, format, names, err);

	umask(before);
	return r;
}

int export_run(struct query *q, const struct export_request *request, char *ret_path, size_t path_size, struct error *err)
{
	const struct export_format *format = request->redact ? &export_redacted : formats[request->type].format;
	/* clang-format off */
	struct export e = { .request = request, .q = q, .db = query_db(q), .count = 1, .folder = -1,
			    .ending = request->redact ? REDACTED_ENDING : formats[request->type].ending };
	/* clang-format on */
	struct export_names names = { NULL, 0 };
	int r = 0;

	if (query_make_all(q) != SQLITE_OK)
		return error_set(err, EIO, "The report's tables could not be set up: %s", sqlite3_errmsg(e.db));
	if (request->output && strcmp(request->output, "-") == 0) {
		if (!format->streams)
			return error_set(err, EINVAL, "%s cannot be written to standard output", format->name);
		snprintf(e.place.path, sizeof(e.place.path), "standard output");
	} else if (request->output && !format->streams && export_is_packed(request->output)) {
		return error_set(err, EINVAL, "%s cannot be compressed; choose a name without .gz", format->name);
	} else {
		r = export_place_choose(&e, format, err);
	}
	if (r >= 0)
		r = choose_shift(&e, err);
	if (r >= 0 && format->whole && request->table_count > 0)
		r = error_set(err, EINVAL, "--tables is only supported with -t sqlite, jsonlines and csv");
	if (r >= 0 && !format->whole)
		r = add_facts(&e, format, err);
	if (r >= 0 && !format->whole)
		r = export_imported_load(&e, err);
	if (r >= 0 && !format->whole)
		r = export_names_load(&e, &names, err);
	if (r >= 0 && !format->whole && names.count == 0)
		r = error_set(err, ENOENT, "%s has no table that --tables names", request->input);
	if (r >= 0)
		r = write_closed(&e, format, &names, err);
	free(names.items);
	if (r >= 0 && !format->whole && request->note && export_imported_note(&e, request->note) < 0)
		r = error_set(err, ENOMEM, "Not enough memory");
	if (export_has_place(&e))
		export_place_release(&e);
	if (request->left_out)
		*request->left_out = e.left_out;
	snprintf(ret_path, path_size, "%s", e.place.path);
	return r;
}
