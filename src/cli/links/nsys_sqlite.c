#include "cli/links/nsys_sqlite.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macros.h"
#include "base/text/ending.h"
#include "cli/reports/open_report.h"
#include "export/export.h"
#include "query/query.h"

/* As `export` names it: in place of the report's ending, or behind the name. */
static void sibling_name(const char *report, char *ret, size_t size)
{
	static const char *const endings[] = { ".nsys-rep", ".sonde" };
	size_t len = strlen(report);

	for (size_t i = 0; i < COUNT_OF(endings); i++)
		if (text_has_ending(report, endings[i])) {
			len -= strlen(endings[i]);
			break;
		}
	snprintf(ret, size, "%.*s.sqlite", (int)len, report);
}

static bool is_asked_for(const struct options_parsed *parsed, const char *name)
{
	const struct option_use *use = options_find_use(parsed, name);

	return use && !option_use_is_off(use);
}

/* Tables for programs have standard output to themselves. */
static FILE *choose_message_stream(struct cli *cli, const struct options_parsed *parsed)
{
	return is_asked_for(parsed, "format") || is_asked_for(parsed, "output") ? cli->err : cli->out;
}

static bool is_older(const char *path, const char *report)
{
	struct stat a, b;

	if (stat(path, &a) < 0 || stat(report, &b) < 0)
		return false;
	return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec < b.st_mtim.tv_sec : a.st_mtim.tv_nsec < b.st_mtim.tv_nsec;
}

static void say_existing(FILE *out, const char *path, const char *report)
{
	if (is_older(path, report))
		fprintf(out,
			"WARNING: Existing SQLite export found: %s\n         It is older than %s, from which the "
			"tables are read.\n         --force-export=true replaces it.\n\n",
			path, report);
	else
		fprintf(out,
			"NOTICE: Existing SQLite export found: %s\n        It is assumed to be of: %s\n        "
			"--force-export=true replaces it.\n\n",
			path, report);
}

static void write_export(struct cli *cli, const char *report, const char *path)
{
	struct export_request request = {
		.type = EXPORT_SQLITE, .input = report, .output = path, .stream = cli->out, .overwrite = true, .only_with_rows = true
	};
	struct query *q = NULL;
	struct error err = { "" };
	char written[PATH_MAX];
	int r = query_open(&q, report, &err);

	/* What is wrong with the report itself is for the command to say. */
	if (r < 0)
		return;
	/* --sqlite may name anything, and a recording cannot be made again. */
	if (is_report_file(path))
		r = error_set(&err, EEXIST, "'%s' is a report; it is not replaced", path);
	else
		r = export_run(q, &request, written, sizeof(written), &err);
	if (r < 0)
		fprintf(cli->err, "nsys stats: %s; the tables are read from the report\n", err.text);
	query_close(q);
}

bool nsys_stats_sqlite(struct cli *cli, const struct options_parsed *parsed, const char *report, char *ret_shown, size_t shown_size)
{
	const struct option_use *named = options_find_use(parsed, "sqlite");
	FILE *out = choose_message_stream(cli, parsed);
	struct stat st;

	if (cli->role != CLI_NSYS || !is_report_file(report))
		return false;
	if (named)
		snprintf(ret_shown, shown_size, "%s", named->value);
	else
		sibling_name(report, ret_shown, shown_size);
	if (stat(ret_shown, &st) == 0 && !is_asked_for(parsed, "force-export")) {
		if (!is_asked_for(parsed, "quiet"))
			say_existing(out, ret_shown, report);
		return true;
	}
	if (!is_asked_for(parsed, "quiet"))
		fprintf(out, "Generating SQLite file %s from %s\n", ret_shown, report);
	fflush(out);
	write_export(cli, report, ret_shown);
	return true;
}
