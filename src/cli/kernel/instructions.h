/* sonde kernel: what is asked for beyond hardware counters, and what is shown of it. */
#ifndef SONDE_CLI_KERNEL_INSTRUCTIONS_H
#define SONDE_CLI_KERNEL_INSTRUCTIONS_H

#include <stdio.h>

#include "cli/kernel/options.h"
#include "cli/arguments/string_list.h"
#include "fmt/kernel_request.h"
#include "kernel/pages/page.h"

struct kernel_source_run {
	bool sampling;            /* of PCs */
	int sampling_interval;    /* 2^(5+n) cycles; -1: CUPTI chooses */
	uint64_t sampling_buffer; /* bytes */
	int sampling_passes;
	bool sass;                 /* counts of instructions */
	bool no_warp_states;       /* are sampled over time */
	struct string_list series; /* metrics over time, without "pmsampling:" */
	uint64_t series_interval;  /* ns; 0: by the kernel's length */
	uint64_t series_buffer;
	uint64_t series_passes;
};

/* From the options; false after an error was printed. */
bool kernel_source_begin(struct cli *cli, const struct kernel_fields *fields, struct kernel_source_run *ret);
void kernel_source_end(struct kernel_source_run *source);
/* Whether a metric is none that the range profiler counts. */
bool kernel_source_is(const char *metric);
/* Takes it if it is. -ENOMEM. */
int kernel_source_take(struct kernel_source_run *source, const char *metric);
int kernel_source_take_selected(struct kernel_source_run *source, const struct choice *choice);
/* `code`: folder for cubins; NULL: none. */
void kernel_source_ask(struct kernel_request *ret, const struct kernel_source_run *source, const char *code);
/* Instructions are looked at: cubins are wanted. */
bool kernel_source_needs_code(const struct kernel_source_run *source);

/* --page source; -EINVAL after an error was printed. */
int kernel_source_print(struct cli *cli, const struct kernel_fields *fields, const struct kernel_results *results,
			const struct page_options *options);
/* After the recording: instructions and, where asked for, source files are put into the report. */
void kernel_source_complete(struct cli *cli, const struct kernel_fields *fields, const char *report);

#endif
