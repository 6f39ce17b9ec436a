/* Options of `sonde kernel`, and what its parts share. */
#ifndef SONDE_CLI_KERNEL_OPTIONS_H
#define SONDE_CLI_KERNEL_OPTIONS_H

#include "cli/command.h"
#include "kernel/catalog.h"

enum query_mode { QUERY_BASE, QUERY_SUFFIX, QUERY_ALL };

struct kernel_fields {
	bool list_chips;
	bool query;
	int query_mode;
	const char *collection;
	struct option_texts chips;
	struct option_texts metrics;
	bool csv;
	const char *output;
	bool overwrite;
	const char *name;
	int name_base;
	int64_t skip_before;
	int64_t skip;
	int64_t count;
	bool kill;
	int cache_control;
};

extern const struct option_table kernel_options_table;
extern const struct command kernel_command;

/* Each piece of a list of comma lists, as "a,b" "c" -> a, b, c. *at and *text begin as 0 and NULL; false at the end. */
bool next_piece(const struct option_texts *texts, size_t *at, const char **text, char *piece, size_t size);

/* The library, or false and one line that says what to install. */
bool kernel_load_cupti(struct cli *cli, struct cupti_host *ret);
/* Those of --chips, or of the GPUs here; false after an error. The caller frees what is in it. */
bool kernel_chips(struct cli *cli, const struct kernel_fields *fields, char (**ret)[CHIP_NAME_MAX], size_t *ret_count);

/* --list-chips and --query-metrics: the exit status. */
int kernel_list_chips(struct cli *cli, const struct kernel_fields *fields);
int kernel_query(struct cli *cli, const struct kernel_fields *fields);

#endif
