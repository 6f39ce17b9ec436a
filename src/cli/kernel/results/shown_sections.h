/* Which sections and metrics of a report are shown: what the options ask for, or else what it was recorded with. */
#ifndef SONDE_CLI_KERNEL_RESULTS_SHOWN_H
#define SONDE_CLI_KERNEL_RESULTS_SHOWN_H

#include "cli/kernel/options.h"
#include "cli/arguments/string_list.h"
#include "kernel/results/metric_names.h"

struct kernel_shown {
	const struct section **sections; /* NULL: those that have values */
	size_t section_count;
	struct string_list metrics; /* words for them: names, or regex:EXPRESSION */
	struct metric_names named;  /* what they mean in the report */
	bool only_metrics;          /* of the raw page, too */
	bool is_recorded;           /* the options by which the report was made are known: */
	struct kernel_fields recorded;
	struct options_parsed uses; /* theirs */
	struct string_list words;
};

/* The options by which it was made. */
void kernel_shown_read(struct kernel_shown *s, struct report *report);
/* False after an error was printed: a set, section or metric that is not there. */
bool kernel_shown_choose(struct kernel_shown *s, struct cli *cli, const struct kernel_fields *fields, const struct kernel_texts *texts,
			 const struct kernel_results *results);
void kernel_shown_release(struct kernel_shown *s);

#endif
