#include "cli/kernel_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

bool kernel_source_begin(struct cli *cli, const struct kernel_fields *fields, struct kernel_source_run *ret)
{
	const char *text = fields->sampling_interval;
	char *end;
	long interval = strtol(text, &end, 10);

	*ret = (struct kernel_source_run){ .sampling_interval = -1,
					   .sampling_buffer = (uint64_t)fields->sampling_buffer,
					   .sampling_passes = (uint32_t)fields->sampling_passes,
					   .series = STRING_LIST_INIT,
					   .series_interval = (uint64_t)fields->series_interval,
					   .series_buffer = (uint64_t)fields->series_buffer };
	if (strcmp(text, "auto") == 0)
		return true;
	if (*end || end == text || interval < 0 || interval > 31) {
		command_fail(cli, &kernel_command, "--warp-sampling-interval '%s': auto, or 0 to 31", text);
		return false;
	}
	ret->sampling_interval = (int)interval;
	return true;
}

void kernel_source_end(struct kernel_source_run *source)
{
	string_list_release(&source->series);
}

/* By their names: those of sampling, those of instructions, and those with "pmsampling:". */
int kernel_source_take(struct kernel_source_run *source, const char *metric)
{
	static const char *const counted[] = { "inst_executed", "thread_inst_executed", "thread_inst_executed_true", "memory_",
					       "smsp__branch_targets_threads_divergent", "sass__" };

	if (begins(metric, "pmsampling:"))
		return string_list_addf(&source->series, "%s", metric + strlen("pmsampling:")) < 0 ? -ENOMEM : 1;
	if (begins(metric, "smsp__pcsamp_") || begins(metric, "group:smsp__pcsamp_")) {
		source->sampling = true;
		return 1;
	}
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		size_t len = strlen(counted[i]);

		if (begins(metric, counted[i]) && (counted[i][len - 1] == '_' || !metric[len])) {
			source->sass = true;
			return 1;
		}
	}
	return 0;
}

int kernel_source_take_chosen(struct kernel_source_run *source, const struct choice *choice)
{
	int r = 0;

	for (size_t i = 0; i < choice->count && r >= 0; i++) {
		const struct chosen_metric *m = &choice->metrics[i];

		if (m->origin == METRIC_SAMPLED)
			r = string_list_addf(&source->series, "%s", m->name);
		else if (m->origin == METRIC_OWN)
			r = kernel_source_take(source, m->name);
	}
	return r < 0 ? -ENOMEM : 0;
}

bool kernel_source_needs_code(const struct kernel_source_run *source)
{
	return source->sampling || source->sass;
}

void kernel_source_write(FILE *file, const struct kernel_source_run *s, const char *code)
{
	if (s->sampling && s->sampling_interval < 0)
		fprintf(file, "sampling auto\n");
	else if (s->sampling)
		fprintf(file, "sampling %d\n", s->sampling_interval);
	if (s->sampling)
		fprintf(file, "sampling-buffer %llu\nsampling-passes %u\n", (unsigned long long)s->sampling_buffer, s->sampling_passes);
	if (s->sass)
		fprintf(file, "sass 1\n");
	for (size_t i = 0; i < s->series.count; i++)
		fprintf(file, "series %s\n", s->series.items[i]);
	if (s->series.count)
		fprintf(file, "series-interval %llu\nseries-buffer %llu\n", (unsigned long long)s->series_interval,
			(unsigned long long)s->series_buffer);
	if (code)
		fprintf(file, "code %s\n", code);
}
