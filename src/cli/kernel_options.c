#include "cli/kernel_options.h"

#include <string.h>

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct kernel_fields, field)
#define FLAG(field) FIELD(BOOL, field), .initial = "false", .bare = "true"

static const struct option_spec kernel_specs[] = {
	{ .name = "set", FIELD(TEXTS, sets), .arg = "name[,name]", .shown = "basic", .tag = "choice",
	  .help = "Sections by the dozen: basic, detailed, full, roofline, source, nvlink or pmsampling." },
	{ .name = "section", FIELD(TEXTS, sections), .arg = "id|regex:expression", .tag = "choice",
	  .help = "A section; may be repeated." },
	{ .name = "metrics", FIELD(TEXTS, metrics), .arg = "name[,name]", .tag = "choice",
	  .help = "Metrics, with or without rollup (sm__cycles_active.avg); regex:EXPRESSION for all whose name matches, group:NAME, breakdown:THROUGHPUT "
		  "for what it is the largest of, pmsampling:NAME for one over time." },
	{ .name = "section-folder", FIELD(TEXTS, folders), .arg = "folder", .tag = "choice",
	  .help = "Also take sections (NAME.section), sets (NAME.set) and descriptions (NAME.txt) of this folder; they go before Sonde's own." },
	{ .name = "section-folder-recursive", FIELD(TEXTS, deep_folders), .arg = "folder", .tag = "choice",
	  .help = "The same with all folders below it." },
	{ .name = "disable-extra-suffixes", FLAG(only_named), .tag = "choice",
	  .help = "Only the rollups that sections show: not also the average, least, most and sum of each." },
	{ .name = "list-sets", FLAG(list_sets), .tag = "lists", .help = "Sets, with the metrics and passes they take on this GPU, or on --chips." },
	{ .name = "list-sections", FLAG(list_sections), .tag = "lists", .help = "Sections, and which of them the options choose." },
	{ .name = "list-metrics", FLAG(list_metrics), .tag = "lists", .help = "Metrics that the options choose, and the passes they take." },
	{ .name = "list-chips", FLAG(list_chips), .tag = "lists", .help = "Chips that --chips takes." },
	{ .name = "query-metrics", FLAG(query), .tag = "lists", .help = "Metrics of this machine's GPUs, or of --chips." },
	{ .name = "query-metrics-mode", FIELD(CHOICE, query_mode), .values = "base|suffix|all", .initial = "base", .tag = "lists",
	  .help = "Names alone, what may follow the names of --metrics, or both together for every metric." },
	{ .name = "query-metrics-collection", FIELD(TEXT, collection), .initial = "profiling", .arg = "name", .tag = "lists",
	  .help = "Which metrics: profiling (counted by the hardware), pmsampling (sampled), and those that are not counted: device, groups, launch, numa, "
		  "nvlink, occupancy, source, stats, warpsampling." },
	{ .name = "chips", FIELD(TEXTS, chips), .arg = "chip[,chip]", .tag = "lists", .shown = "those of this machine",
	  .help = "Answer for these chips; no GPU is needed." },
	{ .name = "csv", FLAG(csv), .tag = "output", .help = "Write CSV, in base units. With -o X.csv, that file gets a row for each kernel and a column for each metric." },
	{ .name = "json", FLAG(json), .tag = "output", .help = "Write JSON: all values in full." },
	{ .name = "export", .letter = 'o', FIELD(TEXT, output), .arg = "file", .tag = "output", .shown = "none is kept",
	  .help = "Keep the results in this report; nothing else is printed without --page. The name may have %h (host), %q{NAME} (environment variable), "
		  "%p (process id), %i (lowest free number) and %%." },
	{ .name = "import", .letter = 'i', FIELD(TEXT, import), .arg = "report", .tag = "output",
	  .help = "Print from a report, or from a table of 'ncu --csv', instead of running a program." },
	{ .name = "page", FIELD(CHOICE, page), .values = "details|raw|source|session", .initial = "details", .tag = "output",
	  .help = "Sections of each kernel, every metric, or what was recorded where." },
	{ .name = "print-summary", FIELD(CHOICE, summary), .values = "none|per-gpu|per-kernel|per-nvtx", .initial = "none", .tag = "output",
	  .help = "Least, greatest and mean over launches instead of each launch." },
	{ .name = "print-units", FIELD(CHOICE, units), .values = "auto|base", .initial = "auto", .tag = "output",
	  .help = "Larger units for large values, or those of the counters." },
	{ .name = "print-details", FIELD(CHOICE, details), .values = "header|body|all", .initial = "header", .tag = "output",
	  .help = "First table of each section, the others, or all." },
	{ .name = "print-metric-name", FIELD(CHOICE, metric_name), .values = "label|name|label-name", .initial = "label", .tag = "output",
	  .help = "What rows are called." },
	{ .name = "print-metric-instances", FIELD(CHOICE, instances), .values = "none|values|details", .initial = "none", .tag = "output",
	  .help = "Also the values that a value is made of, with or without what each is of." },
	{ .name = "print-kernel-base", FIELD(CHOICE, kernel_base), .values = "demangled|function|mangled", .initial = "demangled", .tag = "output",
	  .help = "Which form of a kernel's name is printed." },
	{ .name = "print-fp", FLAG(all_real), .tag = "output", .help = "Print whole numbers with decimals, too." },
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
	{ .name = "check-exit-code", FIELD(CHOICE, check_exit_code), .values = "yes|no", .initial = "yes", .tag = "replay",
	  .help = "End with the program's exit status, or with 0 whatever it is." },
	{ .name = "cache-control", FIELD(CHOICE, cache_control), .values = "all|none", .initial = "all", .tag = "replay",
	  .help = "Empty the caches before each pass, or leave them as they are." },
};

const struct option_table kernel_options_table = OPTION_TABLE(kernel_specs);
