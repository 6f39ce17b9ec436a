#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text/path.h"
#include "base/sort.h"
#include "stats/has_data.h"
#include "stats/output.h"
#include "stats/stats.h"

/* A comma list given in reports, flattened. */
struct list {
	char **items;
	size_t count;
};

struct asked_report {
	const struct report_file *file;
	const char *text; /* name and options as given */
	int of_set;
};

struct run {
	const struct stats_options *options;
	const char *path;
	FILE *out;
	FILE *remarks;
	struct query *query;
	struct report_files files;
	enum time_unit unit;
	struct list reports, formats, outputs;
	struct asked_report *asked;
	size_t asked_count;
};

static int list_add(struct list *list, const char *text, size_t len)
{
	if (!LIST_ROOM(list->items, list->count))
		return -ENOMEM;
	list->items[list->count] = strndup(text, len);
	if (!list->items[list->count])
		return -ENOMEM;
	list->count++;
	return 0;
}

static int list_split(struct list *list, const char *const *texts, size_t count)
{
	const char *text;
	size_t len;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		for (text = texts[i]; r >= 0 && *text; text += len + (text[len] != '\0')) {
			len = strcspn(text, ",");
			r = len ? list_add(list, text, len) : 0;
		}
	return r;
}

static void list_release(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
}

static const char *list_at(const struct list *list, size_t i, const char *otherwise)
{
	if (list->count == 0)
		return otherwise;
	return list->items[i < list->count ? i : list->count - 1];
}

struct shown_report {
	const struct report_file *file;
	const char *asked; /* name and options as given */
	int of_set;        /* not asked for by its own name: skipped without a word */
	int shown;
	struct format_spec format;
	const char *target;
};

/* Parameters cannot have the dashes of options: _ stands for either. */
static const char *parameter_value(const struct shown_report *shown_report, const char *name, size_t *ret_len)
{
	const char *value = report_option_value(shown_report->file, shown_report->asked, name, ret_len);
	char dashed[64];

	if (value || strlen(name) >= sizeof(dashed))
		return value;
	for (size_t i = 0; i <= strlen(name); i++)
		dashed[i] = name[i] == '_' ? '-' : name[i];
	return report_option_value(shown_report->file, shown_report->asked, dashed, ret_len);
}

/* Options of the report are parameters of its statements. */
static int bind_options(const struct shown_report *shown_report, sqlite3_stmt *statement)
{
	const char *name, *value;
	char text[64], *whole, *end;
	size_t len;
	int r = SQLITE_OK;

	for (int i = 1; r == SQLITE_OK && i <= sqlite3_bind_parameter_count(statement); i++) {
		name = sqlite3_bind_parameter_name(statement, i);
		value = name ? parameter_value(shown_report, name + 1, &len) : NULL;
		if (!value)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : sizeof(text) - 1), value);
		strtoll(text, &whole, 10);
		strtod(text, &end);
		if (*text && !*whole)
			r = sqlite3_bind_int64(statement, i, strtoll(text, NULL, 10));
		else if (*text && !*end)
			r = sqlite3_bind_double(statement, i, strtod(text, NULL));
		else
			r = sqlite3_bind_text(statement, i, text, -1, SQLITE_TRANSIENT);
	}
	return r;
}

/* Where SQLite says at what place of the statement, the line of the file is told. */
static int sql_error(struct run *run, const struct shown_report *shown_report, const char *sql, struct error *err)
{
	const struct report_file *file = shown_report->file;
	unsigned line = sql == file->note ? file->note_line : file->sql_line;
	int offset = sqlite3_error_offset(query_db(run->query));

	if (offset < 0)
		return error_set(err, EINVAL, "%s: %s", file->path, sqlite3_errmsg(query_db(run->query)));
	for (int i = 0; i < offset && sql[i]; i++)
		line += sql[i] == '\n';
	return error_set(err, EINVAL, "%s line %u: %s", file->path, line, sqlite3_errmsg(query_db(run->query)));
}

static int prepare_report_query(struct run *run, const struct shown_report *shown_report, const char *sql, sqlite3_stmt **ret,
				struct error *err)
{
	if (query_prepare(run->query, sql, ret, NULL) != SQLITE_OK)
		return sql_error(run, shown_report, sql, err);
	if (bind_options(shown_report, *ret) != SQLITE_OK) {
		sqlite3_finalize(*ret);
		return error_set(err, ENOMEM, "Not enough memory");
	}
	return 0;
}

static FILE *remark_stream(struct run *run, const struct shown_report *shown_report)
{
	return stats_output_is_console(shown_report->target) && format_is_for_people(shown_report->format.kind) ? run->out : run->remarks;
}

static int is_filtered(const struct run *run)
{
	const struct scope_request *scope = &run->options->scope;

	return scope->time || scope->nvtx || scope->steps;
}

static void say_skipped(struct run *run, const struct shown_report *shown_report)
{
	if (!run->options->quiet)
		fprintf(remark_stream(run, shown_report), "SKIPPED: %s does not contain %s%s.\n\n", path_name(run->path),
			shown_report->file->skipped ? shown_report->file->skipped : "the data this report shows",
			is_filtered(run) ? " that the filter lets through" : "");
}

static void say_processing(struct run *run, const struct shown_report *shown_report, const struct stats_output *output)
{
	if (run->options->quiet)
		return;
	fprintf(remark_stream(run, shown_report), "Processing [%s] with [%s]", run->path, shown_report->file->path);
	if (output->path[0])
		fprintf(remark_stream(run, shown_report), " to [%s]", output->path);
	else if (!output->is_console)
		fprintf(remark_stream(run, shown_report), " to [%s]", shown_report->target + 1);
	fputs("...\n\n", remark_stream(run, shown_report));
}

/* Columns that the options leave out have no title. */
static struct table_column *shown_columns(const struct shown_report *shown_report)
{
	struct table_column *columns = calloc(shown_report->file->column_count + 1, sizeof(*columns));

	for (size_t i = 0; columns && i < shown_report->file->column_count; i++) {
		columns[i] = shown_report->file->columns[i];
		if (!report_column_shown(shown_report->file, shown_report->asked, i))
			columns[i].title = NULL;
	}
	return columns;
}

static void replace_all(char *text, const char *these, char with)
{
	for (text += strcspn(text, these); *text; text += strcspn(text, these))
		*text = with;
}

/* As part of a file's name: report_option_other=5_nvtx=step-3. */
static void name_with_options(const struct run *run, const struct shown_report *shown_report, char *ret, size_t size)
{
	const struct scope_request *scope = &run->options->scope;
	int len = snprintf(ret, size, "%s%s", shown_report->file->name, shown_report->asked + strcspn(shown_report->asked, ":"));
	char filters[256];

	replace_all(ret, ":/", '_');
	snprintf(filters, sizeof(filters), "%s%s%s%s%s%s", scope->time ? "_time=" : "", scope->time ? scope->time : "",
		 scope->nvtx ? "_nvtx=" : "", scope->nvtx ? scope->nvtx : "", scope->steps ? "_steps=" : "",
		 scope->steps ? scope->steps : "");
	replace_all(filters, "/", '-');
	if (len >= 0 && (size_t)len < size)
		snprintf(ret + len, size - (size_t)len, "%s", filters);
}

static int write_stats_table(struct run *run, const struct shown_report *shown_report, sqlite3_stmt *statement, struct error *err)
{
	char name[512];
	struct stats_output_path place = {
		shown_report->target, run->path, name, shown_report->format.kind, run->options->overwrite, run->out, run->options->starter
	};
	struct format_target target = { NULL, run->unit, shown_report->file->title };
	struct table_column *columns = shown_columns(shown_report);
	struct stats_output output;
	struct error ignored;
	int heading, closed, r;

	name_with_options(run, shown_report, name, sizeof(name));
	r = columns ? stats_output_open(&output, &place, err) : error_set(err, ENOMEM, "Not enough memory");
	if (r < 0) {
		free(columns);
		return r;
	}
	target.out = output.stream;
	heading = output.is_console && format_is_for_people(shown_report->format.kind);
	say_processing(run, shown_report, &output);
	if (heading)
		fprintf(run->out, " ** %s (%s):\n\n", shown_report->file->title, shown_report->file->name);
	r = stats_write_rows(statement, SQLITE_ROW, &shown_report->format, &target, columns, shown_report->file->column_count, NULL, err);
	free(columns);
	if (heading)
		fputs("\n", run->out);
	/* A command may stop reading when it has enough; whether it failed is its exit status. */
	if (r == -EPIPE && !output.is_console)
		r = 0;
	closed = stats_output_close(&output, r >= 0, r < 0 ? &ignored : err);
	return r < 0 ? r : closed;
}

/* Lines of text the report has to tell beside its table. */
static int write_notes(struct run *run, const struct shown_report *shown_report, struct error *err)
{
	const struct report_file *file = shown_report->file;
	FILE *out = remark_stream(run, shown_report);
	sqlite3_stmt *statement;
	const char *text;
	int r = 0, step, any = 0;

	if (!file->note || run->options->quiet)
		return 0;
	TRY(prepare_report_query(run, shown_report, file->note, &statement, err));
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		text = (const char *)sqlite3_column_text(statement, 0);
		if (text)
			any = fprintf(out, "NOTE: %s\n", text) > 0;
	}
	if (any && out == run->out)
		fputs("\n", out);
	if (step != SQLITE_DONE)
		r = sql_error(run, shown_report, file->note, err);
	sqlite3_finalize(statement);
	return r;
}

/* The first row is looked at before anything is written: a report without rows is skipped. */
static int run_shown_report(struct run *run, struct shown_report *shown_report, struct error *err)
{
	sqlite3_stmt *statement;
	int r = 0, step;

	if (!report_file_has_data(shown_report->file, run->query)) {
		if (!shown_report->of_set)
			say_skipped(run, shown_report);
		return 0;
	}
	TRY(prepare_report_query(run, shown_report, shown_report->file->sql, &statement, err));
	if ((size_t)sqlite3_column_count(statement) != shown_report->file->column_count) {
		r = error_set(err, EINVAL, "%s line %u: the statement gives %d columns, %zu are declared", shown_report->file->path,
			      shown_report->file->sql_line, sqlite3_column_count(statement), shown_report->file->column_count);
		sqlite3_finalize(statement);
		return r;
	}
	step = sqlite3_step(statement);
	if (step == SQLITE_ROW) {
		shown_report->shown = 1;
		r = write_stats_table(run, shown_report, statement, err);
	} else if (step != SQLITE_DONE) {
		r = sql_error(run, shown_report, shown_report->file->sql, err);
	} else if (!shown_report->of_set) {
		say_skipped(run, shown_report);
	}
	sqlite3_finalize(statement);
	TRY(r);
	return write_notes(run, shown_report, err);
}

static int make_shown_report(struct run *run, size_t i, struct shown_report *ret, struct error *err)
{
	const struct asked_report *asked = &run->asked[i < run->asked_count ? i : run->asked_count - 1];
	const char *format;

	*ret = (struct shown_report){ .file = asked->file, .asked = asked->text, .of_set = asked->of_set };
	ret->target = list_at(&run->outputs, i, "-");
	format = list_at(&run->formats, i, stats_output_is_console(ret->target) ? "column" : "csv");
	return format_parse(&ret->format, format, err);
}

/* The default set shows what has data; where nothing has, it says so. */
static void say_all_skipped(struct run *run, const struct shown_report *reports, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (reports[i].shown)
			return;
	for (size_t i = 0; i < count; i++)
		if (reports[i].of_set)
			say_skipped(run, &reports[i]);
}

/* Every format and output is checked before the first table is written. */
static int run_asked_reports(struct run *run, struct error *err)
{
	size_t count = run->asked_count;
	struct shown_report *reports;
	int r = 0;

	if (run->outputs.count > count)
		count = run->outputs.count;
	if (run->formats.count > count)
		count = run->formats.count;
	reports = calloc(count + 1, sizeof(*reports));
	if (!reports)
		return error_set(err, ENOMEM, "Not enough memory");
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = make_shown_report(run, i, &reports[i], err);
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = run_shown_report(run, &reports[i], err);
	if (r >= 0)
		say_all_skipped(run, reports, count);
	free(reports);
	return r;
}

static int ask_report(struct run *run, const struct report_file *file, const char *text, int of_set, struct error *err)
{
	if (!LIST_ROOM(run->asked, run->asked_count))
		return error_set(err, ENOMEM, "Not enough memory");
	run->asked[run->asked_count++] = (struct asked_report){ file, text, of_set };
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	return ((const struct asked_report *)a)->file->default_place - ((const struct asked_report *)b)->file->default_place;
}

static int ask_default(struct run *run, struct error *err)
{
	size_t first = run->asked_count;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < run->files.count; i++)
		if (run->files.files[i].default_place)
			r = ask_report(run, &run->files.files[i], run->files.files[i].name, 1, err);
	if (r >= 0 && run->asked_count == first)
		return report_files_find(&run->files, "", err) ? 0 : -EINVAL;
	if (r >= 0)
		sort_items(run->asked + first, run->asked_count - first, sizeof(*run->asked), compare_places);
	return r;
}

static int ask_named(struct run *run, const char *text, struct error *err)
{
	static const char *const memop[] = { "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum" };
	const struct report_file *file;
	int r = 0;

	if (strcmp(text, "summary") == 0)
		return ask_default(run, err);
	if (strcmp(text, "memop") == 0) {
		for (size_t i = 0; r >= 0 && i < 2; i++)
			r = ask_named(run, memop[i], err);
		return r;
	}
	file = report_files_find(&run->files, text, err);
	return file ? ask_report(run, file, text, 0, err) : -EINVAL;
}

static int check_damage(struct run *run, struct error *err)
{
	if (!query_damaged(run->query))
		return 0;
	return error_set(err, EBADMSG, "%s is damaged: parts that cannot be read are missing above", run->path);
}

/* What the reader had to leave out concerns every table. */
static void say_notes(struct run *run)
{
	struct report *report = query_report(run->query);

	if (run->options->quiet)
		return;
	if (query_scope_note(run->query))
		fprintf(run->remarks, "NOTE: %s: %s.\n", path_name(run->path), query_scope_note(run->query));
	for (size_t i = 0; i < report_note_count(report); i++)
		fprintf(run->remarks, "NOTE: %s: %s\n", path_name(run->path), report_note(report, i));
	if (report_is_partial(report))
		fprintf(run->remarks, "NOTE: %s: the recording was not finished; the tables have everything recorded until then.\n",
			path_name(run->path));
}

static int open_stats_inputs(struct run *run, struct error *err)
{
	const struct stats_options *o = run->options;

	if (list_split(&run->reports, o->reports, o->report_count) < 0 || list_split(&run->formats, o->formats, o->format_count) < 0 ||
	    list_split(&run->outputs, o->outputs, o->output_count) < 0)
		return error_set(err, ENOMEM, "Not enough memory");
	TRY(o->time_unit ? time_unit_parse(o->time_unit, &run->unit, err) : 0);
	TRY(report_files_load(&run->files, o->folders, o->folder_count, err));
	/* Names are checked before a large report is opened. */
	for (size_t i = 0; i < run->reports.count; i++)
		TRY(ask_named(run, run->reports.items[i], err));
	if (run->reports.count == 0)
		TRY(ask_default(run, err));
	TRY(query_open(&run->query, run->options->opened ? run->options->opened : run->path, err));
	return query_set_scope(run->query, &o->scope, err);
}

int stats_run(const struct stats_options *options, const char *path, FILE *out, FILE *remarks, struct error *err)
{
	struct run run = { .options = options, .path = path, .out = out, .remarks = remarks, .unit = TIME_NSEC };
	int r = open_stats_inputs(&run, err);

	if (r >= 0)
		r = run_asked_reports(&run, err);
	if (r >= 0)
		r = check_damage(&run, err);
	if (r >= 0)
		say_notes(&run);
	query_close(run.query);
	free(run.asked);
	report_files_release(&run.files);
	list_release(&run.reports);
	list_release(&run.formats);
	list_release(&run.outputs);
	return r;
}
