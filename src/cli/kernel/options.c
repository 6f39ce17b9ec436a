#include "cli/kernel/options.h"

#include <string.h>

#include "base/text/secrets.h"

#define FIELD(type_, field) .type = OPTION_##type_, .offset = offsetof(struct kernel_fields, field)
/* Checked, and told of where it is used. */
#define NO_EFFECT(type_, state_) .type = OPTION_##type_, .state = OPTION_##state_
#define FLAG(field) FIELD(BOOL, field), .initial = "false", .bare = "true"

/* clang-format off */
static const struct option_spec kernel_specs[] = {
	{ .name = "set", FIELD(TEXTS, sets), .arg = "name[,name]", .shown = "basic", .tag = "choice",
	  .help = "Print a set of sections: basic, detailed, full, roofline, source, nvlink or pmsampling." },
	{ .name = "section", FIELD(TEXTS, sections), .arg = "id|regex:expression", .tag = "choice",
	  .help = "Print this section; can be repeated." },
	{ .name = "metrics", FIELD(TEXTS, metrics), .arg = "name[,name]", .tag = "choice",
	  .help = "Count these metrics, with or without rollup (sm__cycles_active.avg). regex:EXPRESSION takes all whose name "
		  "matches; group:NAME a group; breakdown:THROUGHPUT the metrics that it is the largest of; pmsampling:NAME a "
		  "metric over time." },
	{ .name = "section-folder", FIELD(TEXTS, folders), .arg = "folder", .tag = "choice",
	  .help = "Also use sections (NAME.section), sets (NAME.set) and descriptions (NAME.txt) of this folder. They override "
		  "Sonde's own." },
	{ .name = "section-folder-recursive", FIELD(TEXTS, deep_folders), .arg = "folder", .tag = "choice",
	  .help = "The same, including all subfolders." },
	{ .name = "disable-extra-suffixes", FLAG(only_named), .tag = "choice",
	  .help = "Count only the rollups that sections show, not also the average, least, most and sum of each." },
	{ .name = "list-sets", FLAG(list_sets), .tag = "lists", .help = "List the sets, with the metrics and passes they take on this "
		"GPU, or on --chips." },
	{ .name = "list-sections", FLAG(list_sections), .tag = "lists", .help = "List the sections, and which of them the options "
		"select." },
	{ .name = "list-rules", FLAG(list_rules), .tag = "lists", .help = "List the rules that explain values, and the section that "
		"each needs." },
	{ .name = "list-metrics", FLAG(list_metrics), .tag = "lists", .help = "List the metrics that the options select, and the "
		"passes they take." },
	{ .name = "list-chips", FLAG(list_chips), .tag = "lists", .help = "List the chips that --chips takes." },
	{ .name = "query-metrics", FLAG(query), .tag = "lists", .help = "List the metrics of this machine's GPUs, or of --chips." },
	{ .name = "query-metrics-mode", FIELD(CHOICE, query_mode), .values = "base|suffix|all", .initial = "base", .tag = "lists",
	  .help = "List names only, the suffixes of the names of --metrics, or both for every metric." },
	{ .name = "query-metrics-collection", FIELD(TEXT, collection), .initial = "profiling", .arg = "name", .tag = "lists",
	  .help = "List these metrics: profiling (counted by the hardware), pmsampling (sampled), or those that are not counted: "
		  "device, groups, launch, numa, nvlink, occupancy, source, stats, warpsampling." },
	{ .name = "chips", FIELD(TEXTS, chips), .arg = "chip[,chip]", .tag = "lists", .shown = "those of this machine",
	  .help = "List for these chips; no GPU is needed." },
	{ .name = "explain", FIELD(TEXT, explain), .arg = "name", .tag = "lists",
	  .help = "Explain a metric, a unit (sm, lts, sector), a pipeline (alu, xu), a warp state (long_scoreboard), a section or a "
		  "row." },
	{ .name = "rule", FIELD(TEXTS, rules), .arg = "id|regex:expression", .tag = "output", .shown = "all",
	  .help = "Apply only this rule; can be repeated." },
	{ .name = "log-file", FIELD(TEXT, log_file), .arg = "file|stdout|stderr", .tag = "output",
	  .help = "Write the output to this file. The name can have the macros of --export." },
	{ .name = "quiet", FLAG(quiet), .tag = "output", .help = "Print results only, no progress." },
	{ .name = "verbose", NO_EFFECT(BOOL, OBSOLETE), .bare = "true", .tag = "output", .help = "Print more. Everything is printed "
		"without this option." },
	{ .name = "open-in-ui", FLAG(open_in_ui), .tag = "output", .help = "Show the report in the browser instead of printing it." },
	{ .name = "details-all", FLAG(details_all), .tag = "output", .help = "Older spelling of --print-details all." },
	{ .name = "kernel-regex", FIELD(TEXT, regex), .arg = "expression", .tag = "filter", .help = "Older spelling of --kernel-name regex:EXPRESSION." },
	{ .name = "null-stdin", FLAG(null_stdin), .tag = "replay", .help = "Give the program no standard input." },
	{ .name = "preload-library", FIELD(TEXT, preload), .arg = "file", .tag = "replay", .help = "Load this library into the program, too." },
	/* Options of ncu that have nothing to act on here: one line says so, and the run goes on. */
	{ .name = "mode", NO_EFFECT(CHOICE, PLANNED), .values = "launch-and-attach|launch|attach", .off = "launch-and-attach", .tag = "ncu",
	  .help = "Set the mode; kernels are always read by the process that starts the program." },
	{ .name = "port", .letter = 'p', NO_EFFECT(INTEGER, OBSOLETE), .tag = "ncu", .help = "Nothing is sent over a network." },
	{ .name = "max-connections", NO_EFFECT(INTEGER, OBSOLETE), .tag = "ncu", .help = "Nothing is sent over a network." },
	{ .name = "hostname", NO_EFFECT(TEXT, OBSOLETE), .tag = "ncu", .help = "Nothing is sent over a network." },
	{ .name = "process-id", NO_EFFECT(INTEGER, PLANNED), .tag = "ncu", .help = "Read kernels of a running program." },
	{ .name = "config-file", FIELD(CHOICE, ignored), .values = KERNEL_YES_NO, .initial = "on", .arg = "on|off", .tag = "ncu",
	  .help = "Called as ncu: also take options of config.ncu-cfg, in this folder or in $HOME/.config/NVIDIA Corporation." },
	{ .name = "config-file-path", FIELD(TEXT, ignored_text), .arg = "file", .tag = "ncu", .help = "Called as ncu: take them of this file." },
	{ .name = "forward-signals", NO_EFFECT(BOOL, OBSOLETE), .bare = "true", .tag = "ncu", .help = "Signals that end Sonde reach the program in any case." },
	{ .name = "injection-path-32", NO_EFFECT(TEXT, OBSOLETE), .tag = "ncu", .help = "The libraries lie beside the program." },
	{ .name = "injection-path-64", NO_EFFECT(TEXT, OBSOLETE), .tag = "ncu", .help = "The libraries lie beside the program." },
	{ .name = "support-32bit", NO_EFFECT(BOOL, ELSEWHERE), .bare = "true", .tag = "ncu", .help = "Programs of 32 bits." },
	{ .name = "communicator", NO_EFFECT(CHOICE, PLANNED), .values = "none|tcp|shmem", .off = "none", .tag = "ncu",
	  .help = "Several processes run their passes in step." },
	{ .name = "communicator-tcp-num-peers", NO_EFFECT(INTEGER, PLANNED), .tag = "ncu", .help = "Of --communicator tcp." },
	{ .name = "communicator-tcp-hostname", NO_EFFECT(TEXT, PLANNED), .tag = "ncu", .help = "Of --communicator tcp." },
	{ .name = "communicator-tcp-port", NO_EFFECT(INTEGER, PLANNED), .tag = "ncu", .help = "Of --communicator tcp." },
	{ .name = "communicator-shmem-num-peers", NO_EFFECT(INTEGER, PLANNED), .tag = "ncu", .help = "Of --communicator shmem." },
	{ .name = "lockstep-kernel-launch", NO_EFFECT(BOOL, PLANNED), .bare = "true", .tag = "ncu", .help = "Launches of several processes in step." },
	{ .name = "lockstep-nvtx-include", NO_EFFECT(TEXTS, PLANNED), .tag = "ncu", .help = "Select these launches." },
	{ .name = "lockstep-nvtx-exclude", NO_EFFECT(TEXTS, PLANNED), .tag = "ncu", .help = "Exclude these launches." },
	{ .name = "mps", NO_EFFECT(CHOICE, PLANNED), .values = "none|client|control|primary-client", .off = "none", .tag = "ncu", .help = "Clients of an MPS server." },
	{ .name = "mps-num-clients", NO_EFFECT(INTEGER, PLANNED), .tag = "ncu", .help = "Of --mps." },
	{ .name = "mps-timeout", NO_EFFECT(INTEGER, PLANNED), .tag = "ncu", .help = "Of --mps." },
	{ .name = "rename-kernels", FIELD(CHOICE, rename), .values = KERNEL_YES_NO, .initial = "on", .bare = "on", .arg = "on|off", .tag = "output",
	  .help = "Rename kernels as in ncu-kernel-renames.yaml, in this folder or in $HOME/.config/NVIDIA Corporation." },
	{ .name = "rename-kernels-export", FIELD(CHOICE, rename_export), .values = KERNEL_YES_NO, .initial = "off", .bare = "on", .arg = "on|off", .tag = "output",
	  .help = "Write a file with the kernels' names, to edit it for --rename-kernels." },
	{ .name = "rename-kernels-path", FIELD(TEXT, rename_path), .arg = "file", .tag = "output", .help = "Read or write this file "
		"instead." },
	{ .name = "pipeline-boost-state", NO_EFFECT(CHOICE, PLANNED), .values = "stable|dynamic", .off = "dynamic", .tag = "ncu",
	  .help = "Keep tensor pipelines at one power state." },
	{ .name = "section-folder-restore", NO_EFFECT(BOOL, OBSOLETE), .bare = "true", .tag = "ncu", .help = "Sonde's own files are never copied." },
	{ .name = "metric-distribution-groups", NO_EFFECT(INTEGER, PLANNED), .tag = "ncu", .help = "Spread metrics over several GPUs." },
	{ .name = "print-metric-attribution", NO_EFFECT(BOOL, PLANNED), .bare = "true", .tag = "ncu", .help = "Print the context of a "
		"value." },
	{ .name = "warp-samples-per-interval", NO_EFFECT(INTEGER, PLANNED), .tag = "ncu", .help = "Set the number of warp samples in "
		"each interval of PM sampling." },
	{ .name = "print-rule-details", FLAG(rule_details), .tag = "output", .help = "Print below each rule the metrics that it read; "
		"not in CSV." },
	{ .name = "csv", FLAG(csv), .tag = "output", .help = "Write CSV, in base units (called ncu: as --print-units says). With -o X.csv, that file gets a row for each kernel and a column for each metric." },
	{ .name = "json", FLAG(json), .tag = "output", .help = "Write JSON: all values in full." },
	{ .name = "export", .letter = 'o', FIELD(TEXT, output), .arg = "file", .tag = "output", .shown = "none is kept",
	  .help = "Write the results to this report; without --page nothing else is printed. The name can have %h (host), %q{NAME} "
		  "(environment variable), %p (process id), %i (lowest free number) and %%." },
	{ .name = "import", .letter = 'i', FIELD(TEXT, import), .arg = "report", .tag = "output",
	  .help = "Print from a report, or from a table of 'ncu --csv', instead of running a program." },
	{ .name = "page", FIELD(CHOICE, page), .values = "details|raw|source|session", .initial = "details", .tag = "output",
	  .help = "Print the sections of each kernel, every metric, or what was recorded and where." },
	{ .name = "print-summary", .aliases = "summary", FIELD(CHOICE, summary), .values = "none|per-gpu|per-kernel|per-nvtx|per-operator", .initial = "none", .tag = "output",
	  .help = "Print least, greatest and mean over launches, not each launch: per kernel with one grid and block, GPU, NVTX "
		  "range, or PyTorch operator." },
	{ .name = "print-units", .aliases = "units", FIELD(CHOICE, units), .values = "auto|base", .initial = "auto", .tag = "output",
	  .help = "Print larger units for large values, or the units of the counters. A column of a CSV table has the unit of its "
		  "largest value." },
	{ .name = "print-details", FIELD(CHOICE, details), .values = "header|body|all", .initial = "header", .tag = "output",
	  .help = "Print the first table of each section, the others, or all." },
	{ .name = "print-metric-name", FIELD(CHOICE, metric_name), .values = "label|name|label-name", .initial = "label", .tag = "output",
	  .help = "Choose the names of rows." },
	{ .name = "print-metric-instances", FIELD(CHOICE, instances), .values = "none|values|details", .initial = "none", .tag = "output",
	  .help = "Also print the values that a value is computed from, with or without their instances." },
	{ .name = "print-kernel-base", .aliases = "kernel-base", FIELD(CHOICE, kernel_base), .values = "demangled|function|mangled", .initial = "demangled", .tag = "output",
	  .help = "Choose the form of a kernel's name that is printed." },
	{ .name = "apply-rules", FIELD(CHOICE, apply_rules), .values = KERNEL_YES_NO, .initial = "yes", .arg = "yes|no", .tag = "output",
	  .help = "Also explain the values." },
	{ .name = "baseline", FIELD(TEXT, baseline), .arg = "report", .tag = "output",
	  .help = "Compare with the same kernels in this report (or table of 'ncu --csv'): print by how many percent each value "
		  "changed." },
	{ .name = "threshold", FIELD(TEXTS, thresholds), .arg = "metric=percent[,...]", .tag = "output",
	  .help = "Exit with status 4 if a metric changed by more than this percentage of the baseline; with + only if it grew, with "
		  "- if it shrank." },
	{ .name = "operators", FIELD(TEXT, operators), .arg = "trace", .tag = "output",
	  .help = "For --print-summary per-operator: take the PyTorch operators that started the kernels from this trace of the same "
		  "program (torch.profiler's JSON, or the report that 'sonde import' made of it)." },
	{ .name = "variation", FIELD(INTEGER, variation), .initial = "10", .min = 0, .max = 1000000, .arg = "percent", .tag = "output",
	  .help = "Report values that differ by more than this between launches of the same kernel, and launches that are not "
		  "typical; 0 turns it off." },
	{ .name = "print-fp", .aliases = "fp", FLAG(all_real), .tag = "output", .help = "Print whole numbers with decimals, too." },
	{ .name = "force-overwrite", .letter = 'f', FLAG(overwrite), .tag = "output", .help = "Replace an existing report." },
	{ .name = "kernel-name", .letter = 'k', FIELD(TEXT, name), .arg = "name|regex:expression", .shown = "all", .tag = "filter",
	  .help = "Read only kernels of this name." },
	{ .name = "kernel-name-base", .aliases = "kernel-regex-base", FIELD(CHOICE, name_base), .values = "function|demangled|mangled", .initial = "function", .tag = "filter",
	  .help = "Choose the form of that name: without parameters and templates, with them, or mangled." },
	{ .name = "launch-skip-before-match", FIELD(INTEGER, skip_before), .initial = "0", .min = 0, .max = INT64_MAX, .arg = "n", .tag = "filter",
	  .help = "Skip this many launches first, whatever their names." },
	{ .name = "launch-skip", .letter = 's', FIELD(INTEGER, skip), .initial = "0", .min = 0, .max = INT64_MAX, .arg = "n", .tag = "filter",
	  .help = "Skip this many launches that match." },
	{ .name = "launch-count", .letter = 'c', FIELD(INTEGER, count), .initial = "0", .min = 0, .max = INT64_MAX, .arg = "n", .shown = "all",
	  .tag = "filter", .help = "Read so many." },
	{ .name = "kernel-id", FIELD(TEXTS, ids), .arg = "context:stream:[regex:]name:invocation", .tag = "filter",
	  .help = "Read only these launches; each part can be empty. Context and stream are numbers, or an expression for the number "
		  "or the NVTX name. Invocations are counted from 1, by name, and can be an expression, too. Can be repeated." },
	{ .name = "filter-mode", FIELD(CHOICE, filter_mode), .values = "global|per-gpu|per-launch-config", .initial = "global", .tag = "filter",
	  .help = "For -s, -c and --kernel-id: count all launches, those of each GPU, or those of each grid, block and shared memory." },
	{ .name = "devices", FIELD(TEXT, devices), .arg = "number[,number]", .shown = "all", .tag = "filter", .help = "Read only "
		"launches on these GPUs." },
	{ .name = "profile-from-start", FIELD(CHOICE, from_start), .values = "yes|no|on|off|1|0", .initial = "yes", .tag = "filter",
	  .help = "Read from the beginning, or only after cudaProfilerStart()." },
	{ .name = "disable-profiler-start-stop", FLAG(ignores_profiler), .tag = "filter",
	  .help = "Ignore cudaProfilerStart() and cudaProfilerStop()." },
	{ .name = "range-filter", FIELD(TEXT, range_filter), .arg = "[yes|no]:[numbers]:[numbers]", .tag = "filter",
	  .help = "Read only in these ranges between cudaProfilerStart() and cudaProfilerStop(), and in these NVTX ranges of "
		  "--nvtx-include: 2, 2|3 or [2-4]. With yes, NVTX ranges are counted again from 1 in each of the former." },
	{ .name = "nvtx", FLAG(nvtx), .tag = "filter", .help = "Keep the NVTX ranges around each launch." },
	{ .name = "nvtx-include", FIELD(TEXTS, nvtx_include), .arg = "expression", .tag = "filter",
	  .help = "Read only launches in these NVTX ranges: A/ (pushed), A/B (B directly in A), [A (outermost), A] (innermost), "
		  "A/*/B, A/+/B, A (started), A,B (both); D@... in domain D; regex:... names are expressions. Can be "
		  "repeated: one match is enough." },
	{ .name = "nvtx-exclude", FIELD(TEXTS, nvtx_exclude), .arg = "expression", .tag = "filter", .help = "Skip launches in these "
		"ranges; takes precedence." },
	{ .name = "nvtx-push-pop-scope", FIELD(CHOICE, nvtx_scope), .values = "thread|process", .initial = "thread", .tag = "filter",
	  .help = "Match pushed ranges of the thread, or of all threads together." },
	{ .name = "target-processes", FIELD(CHOICE, processes), .values = "all|application-only", .initial = "all", .tag = "filter",
	  .help = "Also read processes that the program starts, or the program alone." },
	{ .name = "target-processes-filter", FIELD(TEXTS, process_filter), .arg = "name|regex:expression|exclude:name|exclude-tree:name[,...]",
	  .tag = "filter", .help = "Read only processes of these programs; the first expression that matches decides." },
	{ .name = "list-kernels", FLAG(list_kernels), .tag = "lists",
	  .help = "Run the program without counters and list its kernels: launches, time, sizes, and the options that select them." },
	{ .name = "call-stack", FLAG(call_stack), .tag = "output", .help = "Also record where in the program each launch was made." },
	{ .name = "call-stack-type", FIELD(TEXTS, call_stack_types), .arg = "native|python|all", .shown = "native", .tag = "output",
	  .help = "Keep the call stack of each launch: functions of the program, those of Python (3.9 to 3.13), or both. Can be "
		  "repeated." },
	{ .name = "native-include", FIELD(TEXTS, native_include), .arg = "module@@function", .tag = "filter",
	  .help = "Read only launches below functions of this name, or of this library; either can be empty, or regex:EXPRESSION. "
		  "They are selected after -s and -c. Can be repeated: one match is enough." },
	{ .name = "native-exclude", FIELD(TEXTS, native_exclude), .arg = "module@@function", .tag = "filter", .help = "Not those; goes first." },
	{ .name = "python-include", FIELD(TEXTS, python_include), .arg = "module@file@function", .tag = "filter",
	  .help = "Read only launches below these functions of Python; parts can be empty, or regex:EXPRESSION. Can be repeated: one "
		  "match is enough." },
	{ .name = "python-exclude", FIELD(TEXTS, python_exclude), .arg = "module@file@function", .tag = "filter", .help = "Not those; goes first." },
	{ .name = "print-nvtx-rename", FIELD(CHOICE, nvtx_rename), .values = "none|kernel", .initial = "none", .tag = "output",
	  .help = "Name kernels after the innermost NVTX range around their launch." },
	{ .name = "kill", FIELD(CHOICE, kill), .values = KERNEL_YES_NO, .initial = "no", .bare = "yes", .arg = "yes|no", .tag = "filter", .help = "End "
		"the program after the last requested launch." },
	{ .name = "warp-sampling-interval", .aliases = "sampling-interval", FIELD(TEXT, sampling_interval), .initial = "auto", .arg = "auto|0..31", .tag = "source",
	  .help = "Sample warps every 2^(5+n) cycles." },
	{ .name = "warp-sampling-max-passes", .aliases = "sampling-max-passes", FIELD(INTEGER, sampling_passes), .initial = "5", .min = 1, .max = 100, .arg = "n",
	  .tag = "source", .help = "Repeat the sampling of a kernel with a larger buffer at most this many times, if the buffer was "
		  "too small." },
	{ .name = "warp-sampling-buffer-size", .aliases = "sampling-buffer-size", FIELD(INTEGER, sampling_buffer), .initial = "33554432", .min = 4096,
	  .max = INT64_C(1) << 34, .arg = "bytes", .tag = "source", .help = "Set the size of the buffer for warp samples, on the GPU." },
	{ .name = "pm-sampling-interval", FIELD(INTEGER, series_interval), .initial = "0", .min = 0, .max = INT64_C(1) << 30, .arg = "ns", .shown = "by the kernel's length",
	  .tag = "source", .help = "Set the time between samples of metrics over time; at least 1000." },
	{ .name = "pm-sampling-max-passes", FIELD(INTEGER, series_passes), .initial = "0", .min = 0, .max = 1000, .arg = "n", .shown = "as "
		"many as needed",
	  .tag = "source", .help = "Sample metrics over time in at most this many runs of the kernel." },
	{ .name = "pm-sampling-buffer-size", FIELD(INTEGER, series_buffer), .initial = "0", .min = 0, .max = INT64_C(1) << 34, .arg = "bytes", .shown = "32 MB",
	  .tag = "source", .help = "Set the size of the buffer for samples over time, on the GPU." },
	{ .name = "disable-pm-warp-sampling", FLAG(no_warp_states), .tag = "source", .help = "Sample metrics over time without the "
		"warp states." },
	{ .name = "import-source", FIELD(CHOICE, import_source), .values = KERNEL_YES_NO, .initial = "no", .bare = "yes", .arg = "yes|no", .tag = "source",
	  .help = "Keep source files of profiled kernels in the report." },
	{ .name = "source-folders", .aliases = "source-folder", FIELD(TEXTS, source_folders), .arg = "folder[,folder]", .tag = "source",
	  .help = "Look for source files in these folders, too." },
	{ .name = "resolve-source-file", FIELD(TEXTS, source_files), .arg = "file[,file]", .tag = "source",
	  .help = "Use these files as the source files of the same name." },
	{ .name = "import-sass", FIELD(CHOICE, import_sass), .values = KERNEL_YES_NO, .initial = "yes", .arg = "yes|no", .tag = "source",
	  .help = "Keep the disassembled instructions of profiled kernels in the report." },
	{ .name = "print-source", FIELD(CHOICE, print_source), .values = "sass|ptx|cuda|cuda,sass", .initial = "sass", .tag = "output",
	  .help = "Choose what --page source lists: instructions, lines of the PTX or of the CUDA source, or each line with its "
		  "instructions." },
	{ .name = "print-inlined", FIELD(CHOICE, print_inlined), .values = "innermost|outermost", .initial = "innermost", .tag = "output",
	  .help = "Count inlined code for its own line, or for the line of the kernel that called it." },
	{ .name = "check-exit-code", FIELD(CHOICE, check_exit_code), .values = KERNEL_YES_NO, .initial = "yes", .arg = "yes|no", .tag = "replay",
	  .help = "Exit with the program's exit status, or always with 0." },
	{ .name = "store-environment", FIELD(CHOICE, store_environment), .values = STORE_ENVIRONMENT_NAMES, .initial = "safe", .tag = "output",
	  .help = "Store nothing of the environment, the variables that say how the program ran, or all. Unless it is 'all', values "
		  "and arguments that look like secrets are replaced." },
	{ .name = "replay-timeout", FIELD(INTEGER, replay_timeout), .initial = "0", .min = 0, .max = 86400, .arg = "seconds", .shown = "never", .tag = "replay",
	  .help = "End the program when a replayed kernel takes longer than this, as collectives can; earlier results are kept." },
	{ .name = "cache-control", FIELD(CHOICE, cache_control), .values = "all|none|both", .initial = "all", .tag = "replay",
	  .help = "Empty the caches before each pass, do not change them, or count everything both ways: NAME with emptied caches, "
		  "NAME.warm with warm ones." },
	{ .name = "replay-mode", FIELD(CHOICE, replay_mode), .values = "kernel|application|range|app-range", .initial = "kernel", .tag = "replay",
	  .help = "Choose how several passes are counted: replay each kernel with the same memory, or run the whole program once for "
		  "each pass. range and app-range read ranges of many launches, between cudaProfilerStart() and "
		  "cudaProfilerStop() or those of --nvtx-include: by repeating their calls, or by running the program again." },
	{ .name = "clock-control", FIELD(CHOICE, clock_control), .values = "none|base|boost|force-boost|reset", .initial = "none", .tag = "replay",
	  .help = "Do not change the clocks of the GPUs; lock them while the program runs, to the base clock or to the highest "
		  "(force-boost is the same); or undo the lock of another tool. This affects everybody on the machine. The "
		  "default is base if called ncu." },
	{ .name = "graph-profiling", FIELD(CHOICE, graphs), .values = "node|graph", .initial = "node", .tag = "replay",
	  .help = "Read kernels of CUDA graphs one by one, or each launch of a graph as a whole." },
	{ .name = "app-replay-buffer", NO_EFFECT(CHOICE, OBSOLETE), .values = "file|memory", .off = "file", .tag = "ncu",
	  .help = "Choose where results are kept between runs: files." },
	{ .name = "app-replay-match", NO_EFFECT(CHOICE, PLANNED), .values = "grid|name|all", .off = "grid", .tag = "ncu",
	  .help = "Choose which launches of several runs are the same: the n-th, of the same name and grid." },
	{ .name = "app-replay-mode", NO_EFFECT(CHOICE, PLANNED), .values = "balanced|strict|relaxed", .off = "balanced", .tag = "ncu",
	  .help = "Choose what is done with launches that are not in all runs: they have no values." },
	{ .name = "range-replay-options", FIELD(TEXTS, range_options), .arg = "enable-greedy-sync|disable-host-restore[,...]", .tag = "replay",
	  .help = "For --replay-mode range: wait where calls that free memory wait, which is always done; do not restore host memory "
		  "that the device writes, which is always restored." },
	{ .name = "fast", FLAG(fast), .tag = "replay",
	  .help = "Count only what fits in one pass, while the program runs normally: nothing is replayed, and caches are warm." },
};
/* clang-format on */

const struct option_table kernel_options_table = OPTION_TABLE(kernel_specs);
