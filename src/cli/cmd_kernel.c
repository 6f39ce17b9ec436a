/* sonde kernel: hardware counters of kernels. */
#include <stdlib.h>
#include <string.h>

#include "cli/kernel_options.h"
#include "vendor/cuda_driver.h"
#include "vendor/cupti_pm.h"

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
		command_fail(cli, &kernel_command, "There is no GPU here (%s): name a chip, as in --chips gh100 (--list-chips lists them)", why);
		free(names);
		return false;
	}
	*ret = names;
	*ret_count = count;
	return true;
}

static int answer(struct cli *cli, const struct kernel_fields *fields, const struct options_parsed *parsed)
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
	if (fields->import)
		return kernel_show(cli, fields, parsed);
	if (fields->explain)
		return kernel_explain(cli, fields);
	if (parsed->word_count)
		return kernel_count(cli, fields, parsed);
	return command_fail(cli, &kernel_command, "What is to be done? 'sonde kernel --help' says what there is");
}

static int run_kernel(struct cli *cli, int argc, char **argv)
{
	struct kernel_fields fields = { 0 };
	struct options_parsed parsed;
	int status;

	if (!command_parse(cli, &kernel_command, argc, argv, &fields, &parsed, &status))
		return status;
	status = answer(cli, &fields, &parsed);
	options_release(&parsed);
	return status;
}

static const char *const kernel_examples[] = {
	"sonde kernel -k regex:gemm -c 3 --set full -o gemm ./program", "three launches of kernels called so, kept in gemm.sonde",
	"sonde kernel -i gemm.sonde --page raw --csv", "all values of them, a row for each launch",
	"sonde kernel --list-kernels ./program", "kernels of a program, with their launches and times",
	"sonde kernel --nvtx-include step/ -c 5 ./program", "five launches in the NVTX range 'step'",
	"sonde kernel --list-sets --chips gh100", "sets of sections, and the passes they take on an H100",
	"sonde kernel --query-metrics --chips gh100", "metrics of an H100, on any machine with CUPTI",
	"sonde kernel --query-metrics-mode suffix --metrics dram__bytes --query-metrics --chips gh100", "what may follow a name",
	"sonde kernel --explain long_scoreboard", "what the warp state means and what to do about it",
	NULL,
};

const struct command kernel_command = {
	.name = "kernel",
	.summary = "Count in hardware what kernels do",
	.synopsis = "[options] [PROGRAM [arguments]]",
	.description = "Runs a program, reads hardware counters of its kernels and prints them in sections, or prints what a report has of them. "
		       "Lists of what the hardware can count are there for any chip and without a GPU.",
	.examples = kernel_examples,
	.options = &kernel_options_table,
	.words = COMMAND_PROGRAM,
	.run = run_kernel,
};
