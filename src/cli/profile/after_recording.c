#include "cli/profile/after_recording.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/text/path.h"
#include "cli/reports/export_answers.h"
#include "cli/arguments/string_list.h"
#include "export/export.h"
#include "query/query.h"

/* What `nsys profile --stats=true` prints, in its order. */
static const char *const shown_by_nsys[] = {
	"nvtx_sum", "osrt_sum", "cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum",
};
#define SHOWN_BY_NSYS COUNT_OF(shown_by_nsys)

/* The steps after a recording, and the files they made. */
struct after {
	struct cli *cli;
	const struct record_result *result;
	bool types[EXPORT_TYPE_COUNT];
	bool overwrite;
	bool stats;
	bool sqlite_asked;    /* not only as the source of nsys's statistics */
	unsigned step, steps; /* nsys numbers them */
	struct string_list files;
	int failed;
};

int profile_export_type(const char *name, size_t len)
{
	if (len == 4 && memcmp(name, "json", 4) == 0) /* as nsys once called it */
		return EXPORT_JSONLINES;
	return option_match(EXPORT_TYPE_NAMES, name, len);
}

uint64_t profile_exports(const struct options_parsed *parsed)
{
	const char *text;
	uint64_t bits = 0;
	size_t i, len;

	for (i = 0; i < parsed->use_count; i++) {
		if (strcmp(parsed->uses[i].spec->name, "export") != 0)
			continue;
		for (text = parsed->uses[i].value; *text; text += len + (text[len] == ',')) {
			len = strcspn(text, ",");
			bits |= (uint64_t)1 << option_match(EXPORT_VALUES, text, len);
		}
	}
	return bits;
}

static void read_types(bool types[EXPORT_TYPE_COUNT], uint64_t exports)
{
	const char *list = EXPORT_VALUES, *name;
	size_t len;
	int type;

	for (; (len = option_next_value(&list, &name)); exports >>= 1) {
		type = exports & 1 ? profile_export_type(name, len) : -1;
		if (type >= 0)
			types[type] = true;
	}
}

int profile_check_exports(const struct profile_fields *fields, enum output_style style, struct error *err)
{
	bool types[EXPORT_TYPE_COUNT] = { false };
	char report[PATH_MAX], path[PATH_MAX];

	/* A number or a pid is chosen later. */
	if (!fields->exports || fields->force_overwrite || output_name_path(fields->output, style, 0, 1, report, sizeof(report), NULL) != 0)
		return 0;
	read_types(types, fields->exports);
	for (unsigned type = 0; type < EXPORT_TYPE_COUNT; type++)
		if (types[type] && export_default_name((enum export_type)type, report, path, sizeof(path)) == 0 && access(path, F_OK) == 0)
			return error_set(err, EEXIST, "--export: '%s' already exists; -f replaces it.", path);
	return 0;
}

static void say_step(struct after *after, const char *path)
{
	after->step++;
	if (cli_is_link(after->cli))
		fprintf(after->cli->out, "[%u/%u] [========================100%%] %s\n", after->step, after->steps, path_name(path));
}

static void export_as(struct after *after, struct query *q, enum export_type type)
{
	/* clang-format off */
	struct export_request request = { .type = type, .input = after->result->path, .stream = after->cli->out,
					  .overwrite = after->overwrite, .only_with_rows = true,
					  .most_bytes = EXPORT_PAGE_BYTES, .answers = export_answers, .made = export_made };
	/* clang-format on */
	struct error err = { "" };
	char path[PATH_MAX];

	if (export_run(q, &request, path, sizeof(path), &err) < 0) {
		fprintf(after->cli->err, "%s: --export: %s\n", cli_name(after->cli), err.text);
		if (type != EXPORT_SQLITE || after->sqlite_asked)
			after->failed = -EIO;
		return;
	}
	say_step(after, path);
	string_list_add(&after->files, path, strlen(path));
}

static void export_all(struct after *after)
{
	struct query *q = NULL;
	struct error err = { "" };
	unsigned type, wanted = 0;

	for (type = 0; type < EXPORT_TYPE_COUNT; type++)
		wanted += after->types[type];
	if (!wanted)
		return;
	if (query_open(&q, after->result->path, &err) < 0) {
		fprintf(after->cli->err, "%s: --export: %s\n", cli_name(after->cli), err.text);
		after->failed = -EIO;
		return;
	}
	for (type = 0; type < EXPORT_TYPE_COUNT; type++)
		if (after->types[type])
			export_as(after, q, (enum export_type)type);
	query_close(q);
}

/* The report's table under nsys's line for it, without the lines that name files. */
static void print_plain(FILE *out, const char *text)
{
	size_t len;

	for (; *text; text += len) {
		len = strcspn(text, "\n");
		len += text[len] == '\n';
		if (strncmp(text, "Processing [", 12) == 0 || strncmp(text, " ** ", 4) == 0)
			len += text[len] == '\n';
		else
			fwrite(text, 1, len, out);
	}
}

static void run_stats(struct cli *cli, const char *report, const char *path)
{
	const struct command *stats = command_find("stats");
	struct cli inner = *cli;
	char *argv[] = { strdup("-r"), report ? strdup(report) : NULL, strdup(path), NULL };
	char **words = report ? argv : argv + 2;

	inner.may_confine = false;
	if (argv[0] && argv[2] && (argv[1] || !report))
		stats->run(&inner, report ? 3 : 1, words);
	free(argv[0]);
	free(argv[1]);
	free(argv[2]);
}

static void print_nsys_stats(struct after *after)
{
	struct cli inner = *after->cli;
	char *text;
	size_t i, size;

	inner.role = CLI_SONDE;
	for (i = 0; i < SHOWN_BY_NSYS; i++) {
		fprintf(after->cli->out, "[%u/%u] Executing '%s' stats report\n", ++after->step, after->steps, shown_by_nsys[i]);
		text = NULL;
		inner.out = open_memstream(&text, &size);
		if (!inner.out)
			return;
		run_stats(&inner, shown_by_nsys[i], after->result->path);
		fclose(inner.out);
		print_plain(after->cli->out, text);
		free(text);
	}
}

static void print_size(FILE *out, uint64_t bytes)
{
	if (bytes < 1000000)
		fprintf(out, "%.1f kB", (double)bytes / 1e3);
	else
		fprintf(out, "%.1f MB", (double)bytes / 1e6);
}

/* What recording cost the program: the agent times its own push and pop where it runs. */
static void print_cost(FILE *out, const struct record_result *result)
{
	double pair_ns = result->cost_pair_ps / 1e3;
	double all_ms = pair_ns * (double)result->events / 2 / 1e6;

	if (!result->events || pair_ns <= 0)
		return;
	fprintf(out, "; recording cost %.1f ns per range", pair_ns);
	if (all_ms >= 1)
		fprintf(out, ", about %.0f ms in all", all_ms);
}

static void print_files(const struct after *after, FILE *out)
{
	size_t i;

	fprintf(out, "Generated:\n    %s\n", after->result->path);
	for (i = 0; i < after->files.count; i++)
		fprintf(out, "    %s\n", after->files.items[i]);
	fflush(out);
}

static void print_summary(const struct after *after, const char *indent)
{
	FILE *err = after->cli->err;

	fprintf(err, "%s%" PRIu64 " events, %" PRIu64 " dropped, ", indent, after->result->events, after->result->dropped);
	if (after->result->gpu_lost)
		fprintf(err, "%" PRIu64 " GPU samples lost, ", after->result->gpu_lost);
	print_size(err, after->result->bytes);
	print_cost(err, after->result);
	fputc('\n', err);
}

static void after_as_sonde(struct after *after)
{
	export_all(after);
	print_files(after, after->cli->err);
	print_summary(after, "    ");
	if (after->stats)
		run_stats(after->cli, NULL, after->result->path);
}

static void after_as_nsys(struct after *after)
{
	unsigned type;

	/* nsys computes its statistics from an export, which scripts then find. */
	after->types[EXPORT_SQLITE] |= after->stats;
	after->steps = 1 + (after->stats ? SHOWN_BY_NSYS : 0);
	for (type = 0; type < EXPORT_TYPE_COUNT; type++)
		after->steps += after->types[type];
	/* Not behind "Generated:", where what is indented is a file. */
	print_summary(after, "");
	fprintf(after->cli->out, "Generating '%s'\n", after->result->path);
	say_step(after, after->result->path);
	export_all(after);
	if (after->stats)
		print_nsys_stats(after);
	print_files(after, after->cli->out);
}

int profile_after(struct cli *cli, const struct profile_fields *fields, const struct record_result *result)
{
	struct after after = { .cli = cli, .result = result, .overwrite = fields->force_overwrite, .stats = fields->stats };

	read_types(after.types, fields->exports);
	after.sqlite_asked = after.types[EXPORT_SQLITE];
	if (cli_is_link(cli))
		after_as_nsys(&after);
	else
		after_as_sonde(&after);
	string_list_release(&after.files);
	return after.failed;
}
