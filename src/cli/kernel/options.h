/* Options of `sonde kernel`, and what its parts share. */
#ifndef SONDE_CLI_KERNEL_OPTIONS_H
#define SONDE_CLI_KERNEL_OPTIONS_H

#include "cli/command.h"
#include "kernel/choice/choice.h"

/* Ways of saying yes and no, in turns. */
#define KERNEL_YES_NO "yes|no|on|off|true|false|1|0"
static inline bool kernel_says_yes(int choice)
{
	return choice % 2 == 0;
}

enum { REPLAY_KERNEL, REPLAY_APPLICATION, REPLAY_RANGE, REPLAY_APP_RANGE };
enum query_mode { QUERY_BASE, QUERY_SUFFIX, QUERY_ALL };

struct kernel_fields {
	bool list_chips;
	bool query;
	int query_mode;
	const char *collection;
	struct option_texts chips;
	struct option_texts metrics;
	struct option_texts sets;
	struct option_texts sections;
	struct option_texts folders;
	struct option_texts deep_folders;
	bool only_named;
	bool list_sets;
	bool list_sections;
	bool list_metrics;
	bool list_rules;
	const char *explain;
	bool csv;
	const char *output;
	bool overwrite;
	const char *name;
	int name_base;
	int64_t skip_before;
	int64_t skip;
	int64_t count;
	int kill;
	int cache_control;
	int replay_mode;
	int graphs;
	struct option_texts range_options;
	int clock_control;
	bool fast;
	const char *import;
	int page;
	bool json;
	int summary;
	int units;
	int details;
	int metric_name;
	int instances;
	int kernel_base;
	bool all_real;
	int check_exit_code;
	int store_environment;
	int apply_rules;
	struct option_texts rules;
	const char *log_file;
	bool quiet;
	bool rule_details;
	bool open_in_ui;
	bool details_all;
	bool null_stdin;
	const char *preload;
	const char *regex;
	int ignored;
	const char *ignored_text;
	const char *baseline;
	struct option_texts thresholds;
	int64_t variation;
	int64_t replay_timeout;
	const char *operators;
	struct option_texts ids;
	const char *devices;
	int filter_mode;
	const char *range_filter;
	int from_start;
	bool ignores_profiler;
	bool nvtx;
	int nvtx_scope;
	struct option_texts nvtx_include;
	struct option_texts nvtx_exclude;
	int nvtx_rename;
	int processes;
	struct option_texts process_filter;
	bool call_stack;
	struct option_texts call_stack_types;
	struct option_texts native_include;
	struct option_texts native_exclude;
	struct option_texts python_include;
	struct option_texts python_exclude;
	bool list_kernels;
	const char *sampling_interval;
	int64_t sampling_passes;
	int64_t sampling_buffer;
	int64_t series_interval;
	int64_t series_passes;
	int64_t series_buffer;
	bool no_warp_states;
	int import_source;
	int import_sass;
	struct option_texts source_folders;
	struct option_texts source_files;
	int print_source;
	int print_inlined;
	int rename;
	int rename_export;
	const char *rename_path;
};

extern const struct option_table kernel_options_table;
extern const struct command kernel_command;

/* Each piece of a list of comma lists, as "a,b" "c" -> a, b, c. *at and *text begin as 0 and NULL; false at the end. */
bool next_piece(const struct option_texts *texts, size_t *at, const char **text, char *piece, size_t size);

/* The library, or false and one line that says what to install. */
bool kernel_load_cupti(struct cli *cli, struct cupti_host *ret);
/* Those of --chips, or of the GPUs here; false after an error. The caller frees what is in it. */
bool kernel_chips(struct cli *cli, const struct kernel_fields *fields, char (**ret)[CHIP_NAME_MAX], size_t *ret_count);
/* The same without an error: 0 where there is no GPU and no --chips, with the reason in `why`. */
size_t kernel_find_chips(const struct kernel_fields *fields, char (*names)[CHIP_NAME_MAX], size_t capacity, char *why, size_t why_size);

/* Every GPU here is of this chip, and there is one. */
bool kernel_is_only_chip(const char *chip);

/* Lines on how far a run is go there. */
FILE *kernel_reported(const struct cli *cli);
void kernel_warn(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3), nonnull(2)));
/* The report in a browser. */
int kernel_view(struct cli *cli, const char *path);

/* Text files of all folders. */
struct kernel_texts {
	struct sections sections;
	struct glossary glossary;
};

/* False after an error was printed. */
bool kernel_load_texts(struct cli *cli, const struct kernel_fields *fields, struct kernel_texts *ret);
void kernel_release_texts(struct kernel_texts *texts);

/* What the options choose for one chip; false after an error was printed. Notes go to the error stream. */
struct kernel_selected {
	struct catalog counted, sampled;
	char kept[1024]; /* folder of schedules */
	struct choice choice;
};
bool kernel_choose(struct cli *cli, const struct kernel_fields *fields, const struct kernel_texts *texts, const struct cupti_host *cupti,
		   const char *chip, struct kernel_selected *ret);
void kernel_release_selected(struct kernel_selected *choice);
/* The metrics that --metrics alone means on that chip, by the names under which results have them. */
struct string_list;
int kernel_list_asked(const struct kernel_fields *fields, const struct kernel_texts *texts, struct kernel_selected *selected,
		      struct string_list *ret, struct error *err);

/* --list-sets, --list-sections and --list-metrics. */
int kernel_list_sets(struct cli *cli, const struct kernel_fields *fields);
int kernel_list_sections(struct cli *cli, const struct kernel_fields *fields);
int kernel_list_metrics(struct cli *cli, const struct kernel_fields *fields);
/* --list-kernels: of a program, which is run. */
int kernel_list_kernels(struct cli *cli, const struct kernel_fields *fields, const struct options_parsed *parsed);
/* --list-rules and --explain. */
int kernel_list_rules(struct cli *cli, const struct kernel_fields *fields);
int kernel_explain(struct cli *cli, const struct kernel_fields *fields);

/* A program is run and its kernels are read, or results of a report are shown. */
int kernel_count(struct cli *cli, const struct kernel_fields *fields, const struct options_parsed *parsed);
/* -i with -o: the report under another name, or some kernels of it. */
int kernel_copy(struct cli *cli, const struct kernel_fields *fields);
/* Of a report that was just recorded, what is chosen by the native stacks: nothing else is left in it. */
int kernel_choose_by_stacks(struct cli *cli, const struct kernel_fields *fields, const char *path);
int kernel_show(struct cli *cli, const struct kernel_fields *fields, const struct options_parsed *parsed);
/* --rule, before anything is done; false after an error. */
bool kernel_check_rules(struct cli *cli, const struct kernel_fields *fields);
struct kernel_results;
void kernel_keep_rules(const struct kernel_fields *fields, struct kernel_results *results);
/* Pieces between commas, of all times the option was given. */
int kernel_split(const struct option_texts *texts, struct string_list *ret);
/* --threshold and --baseline, before anything is done; false after an error. */
bool kernel_check_baseline(struct cli *cli, const struct kernel_fields *fields);
/* What --baseline and --operators name can be read; false after an error. A program that ran in vain would be a pity. */
bool kernel_check_reports(struct cli *cli, const struct kernel_fields *fields);
/* The page that the options ask for, of the report at `path`; `csv_path` also gets the raw page, NULL: nothing does. */
int kernel_print_pages(struct cli *cli, const struct kernel_fields *fields, const char *path, bool print, const char *csv_path);

/* --list-chips and --query-metrics: the exit status. */
int kernel_list_chips(struct cli *cli, const struct kernel_fields *fields);
int kernel_query(struct cli *cli, const struct kernel_fields *fields);

#endif
