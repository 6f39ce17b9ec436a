/* sonde kernel: hardware counters of kernels. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/output_path.h"
#include "cli/kernel/options.h"
#include "cli/kernel/output.h"
#include "kernel/pages/page.h"
#include "vendor/cuda/driver.h"
#include "vendor/cupti/pm.h"

bool next_piece(const struct option_texts *texts, size_t *at, const char **text, char *piece, size_t size)
{
	size_t len;

	do {
		while (!*text || !**text) {
			if (*at == texts->count)
				return false;
			*text = texts->items[(*at)++];
		}
		len = strcspn(*text, ",");
		snprintf(piece, size, "%.*s", (int)len, *text);
		*text += len + ((*text)[len] != '\0');
	} while (!*piece);
	return true;
}

bool kernel_load_cupti(struct cli *cli, struct cupti_host *ret)
{
	char why[512];

	if (cupti_host_load(ret, why, sizeof(why)) == 0)
		return true;
	command_fail(cli, &kernel_command, "%s", why);
	return false;
}

/* CUPTI must not be asked for a chip's name where there is no device. */
static size_t chips_here(char (*names)[CHIP_NAME_MAX], size_t capacity, char *why, size_t why_size)
{
	struct pm_initialize initialize = PM_PARAMETERS(pm_initialize, priv);
	struct pm_chip_name name = PM_PARAMETERS(pm_chip_name, chip);
	struct cuda_driver driver;
	struct cupti_pm pm;
	int count = 0;
	size_t found = 0;

	if (cuda_driver_load(&driver, why, why_size) < 0 || cupti_pm_load(&pm, why, why_size) < 0)
		return 0;
	snprintf(why, why_size, "the CUDA driver sees none");
	/* Without this, CUPTI 13.0 ends the process when it is asked for a chip's name. */
	if (driver.cuDeviceGetCount(&count) != 0 || pm.cuptiProfilerInitialize(&initialize) != 0)
		return 0;
	for (int i = 0; i < count && found < capacity; i++) {
		name.device = (size_t)i;
		if (pm.cuptiDeviceGetChipName(&name) != 0 || !name.chip)
			continue;
		snprintf(names[found], CHIP_NAME_MAX, "%s", name.chip);
		found++;
		for (size_t k = 0; k + 1 < found; k++) {
			if (strcmp(names[k], names[found - 1]) == 0) {
				found--;
				break;
			}
		}
	}
	return found;
}

size_t kernel_find_chips(const struct kernel_fields *fields, char (*names)[CHIP_NAME_MAX], size_t capacity, char *why, size_t why_size)
{
	const char *text = NULL;
	size_t at = 0, count = 0;

	while (count < capacity && next_piece(&fields->chips, &at, &text, names[count], CHIP_NAME_MAX))
		count++;
	return count ? count : chips_here(names, capacity, why, why_size);
}

bool kernel_is_only_chip(const char *chip)
{
	char names[2][CHIP_NAME_MAX], why[512];

	return chips_here(names, 2, why, sizeof(why)) == 1 && strcasecmp(names[0], chip) == 0;
}

#define MOST_CHIPS 64

bool kernel_chips(struct cli *cli, const struct kernel_fields *fields, char (**ret)[CHIP_NAME_MAX], size_t *ret_count)
{
	char(*names)[CHIP_NAME_MAX] = calloc(MOST_CHIPS, sizeof(*names)), why[512] = "";
	size_t count;

	if (!names) {
		command_fail(cli, &kernel_command, "Not enough memory");
		return false;
	}
	count = kernel_find_chips(fields, names, MOST_CHIPS, why, sizeof(why));
	if (!count) {
		command_fail(cli, &kernel_command,
			     "There is no GPU on this machine (%s); name a chip, for example --chips gh100 "
			     "(--list-chips lists the chips)",
			     why);
		free(names);
		return false;
	}
	*ret = names;
	*ret_count = count;
	return true;
}

extern const struct command view_command;

int kernel_view(struct cli *cli, const char *path)
{
	char *words[] = { (char *)path, NULL };

	return view_command.run(cli, 1, words);
}

FILE *kernel_reported(const struct cli *cli)
{
	return cli->reported ? cli->reported : cli->err;
}

void kernel_warn(struct cli *cli, const char *format, ...)
{
	FILE *to = kernel_reported(cli);
	va_list args;

	if (cli->role == CLI_NCU)
		fputs("==WARNING== ", to);
	else
		fprintf(to, "%s %s: ", cli_name(cli), kernel_command.name);
	va_start(args, format);
	vfprintf(to, format, args);
	va_end(args);
	fputc('\n', to);
}

/* Options that are understood and have nothing to act on, once each. */
static void report_unused(struct cli *cli, const struct options_parsed *parsed)
{
	for (size_t i = 0; i < parsed->use_count; i++) {
		const struct option_use *use = &parsed->uses[i];

		if (use->spec->state == OPTION_BUILT || option_use_is_off(use) || options_find_use(parsed, use->spec->name) != use)
			continue;
		if (use->spec->state == OPTION_PLANNED)
			kernel_warn(cli, "--%s is not supported yet; ignored", use->spec->name);
		else if (use->spec->state == OPTION_ELSEWHERE)
			kernel_warn(cli, "--%s is not supported on this platform; ignored", use->spec->name);
		else
			kernel_warn(cli, "--%s is obsolete; ignored. %s", use->spec->name, use->spec->help);
	}
}

/* Where things are printed. As ncu does, the link writes all on standard output, but not between the rows of a table that a program
 * reads. *ret is a file to close. False after an error. */
static bool open_streams(struct cli *cli, const struct kernel_fields *fields, FILE **ret)
{
	const char *name = fields->log_file;
	char path[PATH_MAX];
	struct error err;

	*ret = NULL;
	cli->reported = cli->role == CLI_NCU && !fields->csv && !fields->json ? cli->out : cli->err;
	if (name && strcmp(name, "stderr") == 0) {
		cli->out = cli->reported = cli->err;
	} else if (name && strcmp(name, "stdout") == 0) {
		cli->reported = cli->out;
	} else if (name) {
		*ret = kernel_output_path(name, "", true, path, sizeof(path), &err) < 0 ? NULL : output_log_open(path, &err);
		if (!*ret) {
			command_fail(cli, &kernel_command, "--log-file: %s", err.text);
			return false;
		}
		cli->out = cli->reported = *ret;
	}
	return true;
}

static int answer_kernel_command(struct cli *cli, const struct kernel_fields *fields, const struct options_parsed *parsed)
{
	if (fields->list_chips)
		return kernel_list_chips(cli, fields);
	if (fields->query)
		return kernel_query(cli, fields);
	if (fields->list_sets)
		return kernel_list_sets(cli, fields);
	if (fields->list_sections)
		return kernel_list_sections(cli, fields);
	if (fields->list_metrics)
		return kernel_list_metrics(cli, fields);
	if (fields->list_rules)
		return kernel_list_rules(cli, fields);
	if (fields->list_kernels)
		return kernel_list_kernels(cli, fields, parsed);
	if (fields->explain)
		return kernel_explain(cli, fields);
	if (fields->import)
		return fields->open_in_ui ? kernel_view(cli, fields->import) : kernel_show(cli, fields, parsed);
	if (parsed->word_count)
		return kernel_count(cli, fields, parsed);
	return command_fail(cli, &kernel_command, "No action given; '%s%s --help' lists the options", cli_name(cli),
			    cli->role == CLI_NCU ? "" : " kernel");
}

/* Words of older releases. The name is the caller's to free. */
static char *take_old_words(struct kernel_fields *fields)
{
	char *name = NULL;

	if (fields->details_all)
		fields->details = DETAILS_ALL;
	if (fields->regex && !fields->name && asprintf(&name, "regex:%s", fields->regex) >= 0)
		fields->name = name;
	return name;
}

static int run_kernel(struct cli *cli, int argc, char **argv)
{
	struct kernel_fields fields = { 0 };
	struct options_parsed parsed;
	struct cli now = *cli;
	char *name;
	FILE *log;
	int status;

	if (!command_parse(cli, &kernel_command, argc, argv, &fields, &parsed, &status))
		return status;
	name = take_old_words(&fields);
	status = 1;
	if (open_streams(&now, &fields, &log)) {
		if (!fields.quiet)
			report_unused(&now, &parsed);
		status = answer_kernel_command(&now, &fields, &parsed);
		if (log && fclose(log) != 0)
			status = command_fail(cli, &kernel_command, "The log file '%s' cannot be written: %s", fields.log_file,
					      strerror(errno));
	}
	options_release(&parsed);
	free(name);
	return status;
}

/* clang-format off */
static const char *const kernel_examples[] = {
	"sonde kernel -k regex:gemm -c 3 --set full -o gemm ./program", "count three launches of kernels with this name, write "
		"gemm.sonde",
	"sonde kernel -i gemm.sonde --page raw --csv", "print all values, one row per launch",
	"sonde kernel --list-kernels ./program", "list the kernels of a program, with launches and times",
	"sonde kernel --nvtx-include step/ -c 5 ./program", "count five launches in the NVTX range 'step'",
	"sonde kernel --list-sets --chips gh100", "list sets of sections, and the passes they take on an H100",
	"sonde kernel --query-metrics --chips gh100", "list the metrics of an H100, on any machine with CUPTI",
	"sonde kernel --query-metrics-mode suffix --metrics dram__bytes --query-metrics --chips gh100", "list the suffixes of a "
		"metric",
	"sonde kernel --explain long_scoreboard", "explain the warp state and what to do about it",
	NULL,
};
/* clang-format on */

const struct command kernel_command = {
	.name = "kernel",
	.summary = "Read hardware counters of kernels",
	.synopsis = "[options] [PROGRAM [arguments]]",
	.description = "Runs a program, reads hardware counters of its kernels and prints them in sections; or prints the counters in a "
		       "report. The metrics of any chip can be listed without a GPU.",
	.examples = kernel_examples,
	.options = &kernel_options_table,
	.words = COMMAND_PROGRAM,
	.run = run_kernel,
};
