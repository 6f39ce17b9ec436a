/* Commands of nsys that are not built yet. Their options are checked and one line says what does not happen and what does
 * nearly the same. The status is 1: a script would go on to read what was not written. */
#include <string.h>

#include "base/macros.h"
#include "cli/command.h"

#define PLANNED(type_) .type = OPTION_##type_, .state = OPTION_PLANNED

/* Commands without fields of their own: options are only checked. */
static bool parse_only(struct cli *cli, const struct command *command, int argc, char **argv, struct options_parsed *ret, int *ret_status)
{
	char no_fields;

	return command_parse(cli, command, argc, argv, &no_fields, ret, ret_status);
}

/* analyze and recipe. */

extern const struct command analyze_command, recipe_command;

static const char *input_of(const struct options_parsed *parsed)
{
	return parsed->word_count ? parsed->words[0] : "REPORT";
}

static int run_analyze(struct cli *cli, int argc, char **argv)
{
	struct options_parsed parsed;
	int status;

	if (!parse_only(cli, &analyze_command, argc, argv, &parsed, &status))
		return status;
	status = command_fail(cli, &analyze_command,
			      "Rules are not supported yet; nothing was checked. '%s stats %s' shows the tables, 'sonde view %s' what "
			      "took the time",
			      cli_name(cli), input_of(&parsed), input_of(&parsed));
	options_release(&parsed);
	return status;
}

/* Recipes that compute what a report of stats has. */
static bool is_in_stats(const char *recipe)
{
	/* clang-format off */
	static const char *const names[] = { "cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_size_sum", "cuda_gpu_mem_time_sum",
					     "file_access_sum", "nvtx_gpu_proj_sum", "nvtx_gpu_proj_trace", "nvtx_sum", "osrt_sum" };
	/* clang-format on */

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (strcmp(names[i], recipe) == 0)
			return true;
	return false;
}

static int run_recipe(struct cli *cli, int argc, char **argv)
{
	struct options_parsed parsed;
	int status;

	if (!parse_only(cli, &recipe_command, argc, argv, &parsed, &status))
		return status;
	if (parsed.word_count && is_in_stats(parsed.words[0]))
		status = command_fail(cli, &recipe_command,
				      "Recipes are not supported yet: nothing was written. '%s stats -r %s -f csv -o - REPORT' prints "
				      "the table for one report",
				      cli_name(cli), parsed.words[0]);
	else
		status = command_fail(cli, &recipe_command,
				      "Recipes are not supported yet: nothing was written. '%s stats REPORT' shows the tables of one "
				      "report, 'sonde sql REPORT' answers questions",
				      cli_name(cli));
	options_release(&parsed);
	return status;
}

/* clang-format off */
static const struct option_spec analyze_specs[] = {
	{ .name = "rule", .letter = 'r', PLANNED(TEXTS), .arg = "name[:argument][,name]", .tag = "rules",
	  .shown = "all", .help = "Apply these rules." },
	{ .name = "help-rules", PLANNED(TEXT), .values = "ALL|TEXT", .bare = "ALL", .arg = "name|ALL", .tag = "rules",
	  .help = "Describe a rule." },
	{ .name = "report-dir", PLANNED(TEXTS), .arg = "folder", .tag = "rules", .help = "Look in this folder for rules first." },
	{ .name = "input", PLANNED(TEXT), .arg = "file", .tag = "rules", .help = "The recording." },
	{ .name = "sqlite", PLANNED(TEXT), .arg = "file", .tag = "rules", .help = "The recording's export." },
	{ .name = "force-export", PLANNED(BOOL), .tag = "rules", .help = "Export the report again." },
	{ .name = "filter-time", PLANNED(TEXT), .arg = "[start]/[end]", .tag = "rules",
	  .help = "Use only events between two times." },
	{ .name = "filter-nvtx", PLANNED(TEXT), .arg = "range[@domain][/index]", .tag = "rules",
	  .help = "Use only events inside an NVTX range." },
	{ .name = "format", .letter = 'f', PLANNED(TEXTS), .arg = "format", .tag = "output", .help = "Set the format of tables." },
	{ .name = "output", .letter = 'o', PLANNED(TEXTS), .arg = "base|-|@command|.", .tag = "output",
	  .help = "Write tables there." },
	{ .name = "timeunit", PLANNED(TEXT), .arg = "unit", .tag = "output", .help = "Set the unit of times." },
	{ .name = "quiet", .letter = 'q', PLANNED(BOOL), .tag = "output", .help = "Tables only." },
	{ .name = "force-overwrite", PLANNED(BOOL), .tag = "output", .help = "Replace files that exist." },
};
/* clang-format on */
static const struct option_spec recipe_specs[] = {
	{ .name = "quiet", .letter = 'q', PLANNED(BOOL), .tag = "output", .help = "Print errors only." },
};
static const struct option_table analyze_options = OPTION_TABLE(analyze_specs);
static const struct option_table recipe_options = OPTION_TABLE(recipe_specs);

const struct command analyze_command = {
	.name = "analyze",
	.summary = "Analyse a report: what is slow, and why",
	.synopsis = "[options] FILE.sonde",
	.description = "The rules are not supported yet: nothing is looked for.",
	.options = &analyze_options,
	.words = COMMAND_FILES,
	.planned = true,
	.run = run_analyze,
};

const struct command recipe_command = {
	.name = "recipe",
	.summary = "Analyse several reports together",
	.synopsis = "[options] name [arguments]",
	.description = "Recipes are not supported yet: nothing is computed.",
	.options = &recipe_options,
	.words = COMMAND_PROGRAM,
	.planned = true,
	.run = run_recipe,
};
