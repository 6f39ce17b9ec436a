/* --replay-mode application and app-range: the program is run once for each pass. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kernel/options.h"
#include "cli/kernel/output.h"
#include "cli/kernel/run/run.h"

static size_t count_passes(const struct kernel_run *run)
{
	size_t passes = 0;

	for (size_t i = 0; i < run->request.part_count; i++)
		passes += run->request.parts[i].metrics.count ? run->request.parts[i].passes : 0;
	return passes;
}

/* A run whose report nobody sees. */
static int run_earlier(struct cli *cli, const struct kernel_run *run)
{
	struct record_result *result = calloc(1, sizeof(*result));
	char report[PATH_MAX + 16];
	struct kernel_run one = *run;
	int status = 1;

	snprintf(report, sizeof(report), "%s/run", run->request.application_folder);
	one.output = report;
	one.quiet = true;
	if (result)
		status = kernel_run(cli, &one, result);
	free(result);
	return status;
}

static int run_application_passes(struct cli *cli, struct kernel_run *run, size_t passes, struct record_result *result)
{
	struct kernel_request *r = &run->request;
	size_t made = 0;
	int status = 0;

	for (size_t i = 0; i < r->part_count && status == 0; i++) {
		for (size_t pass = 0; r->parts[i].metrics.count && pass < r->parts[i].passes && status == 0; pass++) {
			r->application_part = i;
			r->application_pass = pass;
			r->application_is_last = ++made == passes;
			if (!run->quiet)
				fprintf(kernel_reported(cli), "==PROF== Run %zu of %zu\n", made, passes);
			status = r->application_is_last ? kernel_run(cli, run, result) : run_earlier(cli, run);
		}
	}
	return status;
}

int kernel_run_passes(struct cli *cli, const struct kernel_run *run, struct record_result *result)
{
	size_t passes = count_passes(run);
	struct kernel_run one = *run;
	char folder[PATH_MAX];
	struct error err;
	int status;

	/* Launches, and what is known of them without counters. */
	if (!run->metric_count)
		return kernel_run(cli, run, result);
	if (!passes)
		return command_fail(
			cli, &kernel_command,
			"Running the program once for each pass requires the number of passes: install CUPTI, and name the chip "
			"(--chips)");
	if (kernel_output_folder(folder, sizeof(folder), &err) < 0)
		return command_fail(cli, &kernel_command, "%s", err.text);
	one.request.application_folder = folder;
	status = run_application_passes(cli, &one, passes, result);
	kernel_output_remove(folder);
	return status;
}
