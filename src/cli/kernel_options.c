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
};

const struct option_table kernel_options_table = OPTION_TABLE(kernel_specs);
