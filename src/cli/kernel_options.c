#include "cli/kernel_options.h"

#include <string.h>

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct kernel_fields, field)
#define FLAG(field) FIELD(BOOL, field), .initial = "false", .bare = "true"

static const struct option_spec kernel_specs[] = {
	{ .name = "metrics", FIELD(TEXTS, metrics), .arg = "name[,name]", .tag = "choice",
	  .help = "Metrics, with or without rollup (sm__cycles_active.avg)." },
	{ .name = "list-chips", FLAG(list_chips), .tag = "lists", .help = "Chips that --chips takes." },
	{ .name = "query-metrics", FLAG(query), .tag = "lists", .help = "Metrics of this machine's GPUs, or of --chips." },
	{ .name = "query-metrics-mode", FIELD(CHOICE, query_mode), .values = "base|suffix|all", .initial = "base", .tag = "lists",
	  .help = "Names alone, what may follow the names of --metrics, or both together for every metric." },
	{ .name = "query-metrics-collection", FIELD(TEXT, collection), .initial = "profiling", .arg = "name", .tag = "lists",
	  .help = "Which metrics: profiling (counted by the hardware), pmsampling (sampled), and those that are not counted: device, groups, launch, numa, "
		  "nvlink, occupancy, source, stats, warpsampling." },
	{ .name = "chips", FIELD(TEXTS, chips), .arg = "chip[,chip]", .tag = "lists", .shown = "those of this machine",
	  .help = "Answer for these chips; no GPU is needed." },
	{ .name = "csv", FLAG(csv), .tag = "output", .help = "Write CSV." },
	{ .name = "export", .letter = 'o', FIELD(TEXT, output), .arg = "file", .tag = "output", .shown = "none is kept",
	  .help = "Keep the results in this report." },
	{ .name = "force-overwrite", .letter = 'f', FLAG(overwrite), .tag = "output", .help = "Replace a report that is there." },
	{ .name = "kernel-name", .letter = 'k', FIELD(TEXT, name), .arg = "name|regex:expression", .shown = "all", .tag = "filter",
	  .help = "Only kernels of this name." },
	{ .name = "kernel-name-base", FIELD(CHOICE, name_base), .values = "function|demangled|mangled", .initial = "function", .tag = "filter",
	  .help = "Which form of the name that is: without parameters and templates, with them, or as the linker has it." },
	{ .name = "launch-skip-before-match", FIELD(INTEGER, skip_before), .initial = "0", .min = 0, .max = INT64_MAX, .arg = "n", .tag = "filter",
	  .help = "Pass over so many launches first, whatever their names." },
	{ .name = "launch-skip", .letter = 's', FIELD(INTEGER, skip), .initial = "0", .min = 0, .max = INT64_MAX, .arg = "n", .tag = "filter",
	  .help = "Pass over so many launches that match." },
	{ .name = "launch-count", .letter = 'c', FIELD(INTEGER, count), .initial = "0", .min = 0, .max = INT64_MAX, .arg = "n", .shown = "all",
	  .tag = "filter", .help = "Read so many." },
	{ .name = "kill", FIELD(BOOL, kill), .initial = "false", .bare = "true", .tag = "filter", .help = "End the program when they were read." },
	{ .name = "cache-control", FIELD(CHOICE, cache_control), .values = "all|none", .initial = "all", .tag = "replay",
	  .help = "Empty the caches before each pass, or leave them as they are." },
};

const struct option_table kernel_options_table = OPTION_TABLE(kernel_specs);
