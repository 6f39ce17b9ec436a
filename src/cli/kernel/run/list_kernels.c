/* --list-kernels: a program is run without counters, and its kernels are listed. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/json_text.h"
#include "base/macros.h"
#include "cli/kernel/filter.h"
#include "cli/kernel/options.h"
#include "cli/kernel/output.h"
#include "cli/profile/setup.h"
#include "fmt/filter/name_pattern.h"
#include "kernel/pages/text.h"
#include "query/query.h"
#include "record/record.h"
#include "symbol/demangle.h"

#define SHOWN_SIZES 3 /* of each kernel, for people */
#define SHOWN_COMMANDS 3

extern const struct command profile_command;

struct kernel_line {
	char *name;
	char *sizes; /* "(4, 1, 1)x(64, 1, 1)" with "; " between, the one that took longest first */
	int64_t launches, total, least, most, size_count;
};

struct kernel_list {
	struct kernel_line *items;
	size_t count;
	int64_t total;
};

/* The timeline, and nothing else of the program. */
static int trace(struct cli *cli, char *output, const struct options_parsed *program, struct record_result *result)
{
	static const char *const fixed[] = { "--trace=cuda", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true", "--output" };
	size_t first = COUNT_OF(fixed);
	char **words = calloc(first + (size_t)program->word_count + 2, sizeof(*words));
	struct options_parsed parsed = OPTIONS_PARSED_INIT;
	struct profile_setup setup = { .style = OUTPUT_SONDE };
	struct profile_fields fields = { 0 };
	struct error err = { "" };
	int status = 1;

	if (!words)
		return command_fail(cli, &kernel_command, "Not enough memory");
	for (size_t i = 0; i < first; i++)
		words[i] = (char *)fixed[i];
	words[first++] = output;
	for (int i = 0; i < program->word_count; i++)
		words[first++] = program->words[i];
	if (command_parse(cli, &profile_command, (int)first, words, &fields, &parsed, &status)) {
		setup.options.command_line = cli->command_line;
		if (profile_setup_fill(&setup, &fields, &parsed, parsed.words, &err) == 0) {
			record_run(&setup.options, result, &err);
			fputs(result->notes, cli->err);
			status = result->started ? result->exit_status : 1;
		}
		if (err.text[0])
			status = command_fail(cli, &kernel_command, "%s", err.text);
		profile_setup_release(&setup);
		options_release(&parsed);
	}
	free(words);
	return status;
}

/* As -k compares it. */
static char *make_compared_name(const struct kernel_fields *f, sqlite3_stmt *s)
{
	const char *name = (const char *)sqlite3_column_text(s, 0);
	char *shown = name && f->name_base == 1 ? demangle_cuda(name) : NULL;

	return shown ? shown : name ? strdup(name) : NULL;
}

/* Takes the name. */
static int add_kernel_line(struct kernel_list *list, sqlite3_stmt *s, char *name)
{
	struct kernel_line *line;

	if (!LIST_ROOM(list->items, list->count)) {
		free(name);
		return -1;
	}
	line = &list->items[list->count++];
	*line = (struct kernel_line){ .name = name,
				      .launches = sqlite3_column_int64(s, 1),
				      .total = sqlite3_column_int64(s, 2),
				      .least = sqlite3_column_int64(s, 3),
				      .most = sqlite3_column_int64(s, 4),
				      .size_count = sqlite3_column_int64(s, 5),
				      .sizes = strdup((const char *)sqlite3_column_text(s, 6)) };
	list->total += line->total;
	return line->sizes ? 0 : -1;
}

static int take_kernel_line(struct kernel_list *list, const struct kernel_fields *f, const struct name_pattern *pattern, sqlite3_stmt *s)
{
	char *name = make_compared_name(f, s);

	if (!name || !sqlite3_column_text(s, 6) || (f->name && !name_pattern_matches(pattern, name))) {
		free(name);
		return 0;
	}
	return add_kernel_line(list, s, name);
}

/* Names in the form that -k compares. */
static bool read_kernels(struct cli *cli, const struct kernel_fields *f, const char *path, struct kernel_list *ret)
{
	static const char *const columns[] = { "shortName", "mangledName", "mangledName" };
	struct name_pattern pattern = { 0 };
	sqlite3_stmt *statement = NULL;
	struct query *q = NULL;
	char text[1200], why[200];
	struct error err;
	int r = SQLITE_DONE;

	snprintf(
		text, sizeof(text),
		"WITH sizes AS (SELECT s.value AS name, gridX, gridY, gridZ, blockX, blockY, blockZ, count(*) AS n, sum(end - start) AS total,"
		" min(end - start) AS least, max(end - start) AS most FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = coalesce(k.%s, k.demangledName)"
		" GROUP BY s.value, gridX, gridY, gridZ, blockX, blockY, blockZ ORDER BY total DESC)"
		" SELECT name, sum(n), sum(total), min(least), max(most), count(*),"
		" group_concat(printf('(%%d, %%d, %%d)x(%%d, %%d, %%d)', gridX, gridY, gridZ, blockX, blockY, blockZ), '; ')"
		" FROM sizes GROUP BY name ORDER BY 3 DESC, 1",
		columns[f->name_base]);
	if (query_open(&q, path, &err) < 0) {
		command_fail(cli, &kernel_command, "%s", err.text);
		return false;
	}
	if (f->name && name_pattern_parse(&pattern, f->name, why, sizeof(why)) < 0)
		r = SQLITE_ERROR;
	else if (query_has_table(q, "CUPTI_ACTIVITY_KIND_KERNEL"))
		r = query_prepare(q, text, &statement, NULL);
	while (statement && (r = sqlite3_step(statement)) == SQLITE_ROW)
		if (take_kernel_line(ret, f, &pattern, statement) < 0) {
			r = SQLITE_NOMEM;
			break;
		}
	if (r != SQLITE_DONE)
		command_fail(cli, &kernel_command, "The kernels cannot be listed: %s", sqlite3_errmsg(query_db(q)));
	sqlite3_finalize(statement);
	name_pattern_release(&pattern);
	query_close(q);
	return r == SQLITE_DONE;
}

/* The first few, and how many others. */
static void print_sizes(FILE *out, const struct kernel_line *line)
{
	const char *end = line->sizes;

	for (int i = 0; i < SHOWN_SIZES && end; i++) {
		end = strstr(end, "; ");
		end = end ? end + 2 : NULL;
	}
	if (end)
		fprintf(out, "%.*s; and %" PRId64 " more", (int)(end - 2 - line->sizes), line->sizes, line->size_count - SHOWN_SIZES);
	else
		fputs(line->sizes, out);
}

static void print_quoted(FILE *out, const char *word)
{
	if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-") == strlen(word)) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

/* What to type to read their counters. */
static void print_commands(FILE *out, const struct kernel_list *list, const struct kernel_fields *f, const struct options_parsed *program)
{
	static const char *const bases[] = { "", "--kernel-name-base demangled ", "--kernel-name-base mangled " };

	fputs("\nTo read counters of one launch of a kernel:\n", out);
	for (size_t i = 0; i < list->count && i < SHOWN_COMMANDS; i++) {
		fprintf(out, "  sonde kernel %s-k ", bases[f->name_base]);
		print_quoted(out, list->items[i].name);
		fputs(" -c 1", out);
		for (int k = 0; k < program->word_count; k++) {
			fputc(' ', out);
			print_quoted(out, program->words[k]);
		}
		fputc('\n', out);
	}
}

static void print_text(FILE *out, const struct kernel_list *list)
{
	fprintf(out, "%8s %14s %9s %12s %12s %12s  %s\n", "Time [%]", "Total [us]", "Launches", "Mean [us]", "Min [us]", "Max [us]",
		"Kernel, grids and blocks");
	for (size_t i = 0; i < list->count; i++) {
		const struct kernel_line *line = &list->items[i];

		fprintf(out, "%8.1f %14.3f %9" PRId64 " %12.3f %12.3f %12.3f  %s\n",
			list->total ? 100.0 * (double)line->total / (double)list->total : 0, (double)line->total / 1e3, line->launches,
			(double)line->total / 1e3 / (double)line->launches, (double)line->least / 1e3, (double)line->most / 1e3,
			line->name);
		fprintf(out, "%73s  ", "");
		print_sizes(out, line);
		fputc('\n', out);
	}
}

static void print_csv(FILE *out, const struct kernel_list *list)
{
	fputs("\"Kernel Name\",\"Launches\",\"Total Time [ns]\",\"Mean [ns]\",\"Min [ns]\",\"Max [ns]\",\"Grids and Blocks\"\n", out);
	for (size_t i = 0; i < list->count; i++) {
		const struct kernel_line *line = &list->items[i];

		csv_cell(out, line->name, true);
		fprintf(out, ",\"%" PRId64 "\",\"%" PRId64 "\",\"%.1f\",\"%" PRId64 "\",\"%" PRId64 "\",", line->launches, line->total,
			(double)line->total / (double)line->launches, line->least, line->most);
		csv_cell(out, line->sizes, true);
		fputc('\n', out);
	}
}

static void print_json(FILE *out, const struct kernel_list *list)
{
	fputs("{\"kernels\": [", out);
	for (size_t i = 0; i < list->count; i++) {
		const struct kernel_line *line = &list->items[i];

		fputs(i ? ",\n  {\"name\": " : "\n  {\"name\": ", out);
		json_put_string(out, line->name);
		fprintf(out,
			", \"launches\": %" PRId64 ", \"total_ns\": %" PRId64 ", \"mean_ns\": %.17g, \"min_ns\": %" PRId64
			", \"max_ns\": %" PRId64,
			line->launches, line->total, (double)line->total / (double)line->launches, line->least, line->most);
		fputs(", \"sizes\": ", out);
		json_put_string(out, line->sizes);
		fputc('}', out);
	}
	fputs("]}\n", out);
}

static void print(struct cli *cli, const struct kernel_fields *f, const struct kernel_list *list, const struct options_parsed *program)
{
	if (f->json) {
		print_json(cli->out, list);
	} else if (f->csv) {
		print_csv(cli->out, list);
	} else if (list->count) {
		print_text(cli->out, list);
		print_commands(cli->out, list, f, program);
	}
	if (!list->count)
		fprintf(cli->err, "==WARNING== %s\n", f->name ? "No kernel of that name was launched." : "No kernels were launched.");
}

static void release_kernel_list(struct kernel_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].name);
		free(list->items[i].sizes);
	}
	free(list->items);
}

int kernel_list_kernels(struct cli *cli, const struct kernel_fields *fields, const struct options_parsed *parsed)
{
	struct record_result *result = calloc(1, sizeof(*result));
	struct kernel_filter filter;
	bool filters = kernel_filter_make(cli, fields, &filter);
	char folder[PATH_MAX] = "", output[PATH_MAX];
	struct kernel_list list = { 0 };
	struct error err;
	int status = 1;

	if (!parsed->word_count)
		command_fail(cli, &kernel_command, "--list-kernels: no program given");
	else if (result && filters && kernel_output_folder(folder, sizeof(folder) - 32, &err) < 0)
		command_fail(cli, &kernel_command, "%s", err.text);
	else if (result && filters) {
		snprintf(output, sizeof(output), "%.*s/kernels.sonde", PATH_MAX - 32, folder);
		status = trace(cli, output, parsed, result);
		if (result->finished && read_kernels(cli, fields, result->path, &list))
			print(cli, fields, &list, parsed);
		else if (!status)
			status = 1;
	}
	if (folder[0])
		kernel_output_remove(folder);
	release_kernel_list(&list);
	kernel_filter_release(&filter);
	free(result);
	return status;
}
