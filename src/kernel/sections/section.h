/* Sections: what is shown of a kernel, as text files NAME.section that users can add to (docs/how-to-add/section.md).
 *
 *   title = GPU Speed Of Light Throughput
 *   sets = basic, detailed, full
 *   about = How near the kernel comes to what the hardware can do.
 *
 *   [rows]
 *   Compute (SM) Throughput = sm__throughput.avg.pct_of_peak_sustained_elapsed [%]
 *   @9.0- Cluster Size = launch__cluster_size          only from compute capability 9.0 on
 *
 *   [bars Pipe Utilization]
 *   ALU = sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed [%]
 */
#ifndef SONDE_KERNEL_SECTIONS_SECTION_H
#define SONDE_KERNEL_SECTIONS_SECTION_H

#include <stdio.h>

#include "base/error.h"
#include "kernel/metrics/formula.h"
#include "kernel/rules/rule_file.h"

/* Compute capabilities, as ten times major plus minor; without ranges any. */
#define CC_RANGES 8
struct cc_set {
	unsigned count;
	struct {
		unsigned from, to;
	} ranges[CC_RANGES];
};

enum section_block_kind {
	BLOCK_ROWS,      /* the table that every output shows */
	BLOCK_DETAILS,   /* rows that are shown on demand */
	BLOCK_COLLECT,   /* not shown: what rules need */
	BLOCK_BARS,      /* a bar for each row */
	BLOCK_TABLE,     /* rows of several cells */
	BLOCK_BREAKDOWN, /* rows are throughputs: what each is the largest of */
	BLOCK_ROOFLINE,  /* rows "work NAME" and "traffic NAME": peak | achieved, in units of a second */
	BLOCK_TIMELINE,  /* rows are sampled over time */
	BLOCK_GRAPH,     /* rows "A > B" are links, others are values of the node they name */
	BLOCK_CURVES,    /* rows are metrics with a value for each step of something */
	BLOCK_SOURCE,    /* rows are columns beside each instruction */
	BLOCK_KINDS
};

struct section_row {
	struct cc_set cc;
	char *label;
	char *unit;            /* "" where none is said */
	struct formula *cells; /* one, or a table's columns; without steps where there is nothing */
	size_t cell_count;
	unsigned line;
};

struct section_column {
	char *title;
	char *unit;
};

struct section_block {
	enum section_block_kind kind;
	char *title; /* "" for rows, details and collect */
	struct cc_set cc;
	char *group;                    /* its metrics are also group:NAME; "" for none */
	struct section_column *columns; /* of a table */
	size_t column_count;
	struct section_row *rows;
	size_t row_count;
};

struct section {
	char *id; /* the file's name */
	char *path;
	char *title;
	char *about;
	char **sets;
	size_t set_count;
	unsigned order;
	struct cc_set cc;
	struct section_block *blocks;
	size_t block_count;
};

struct section_set {
	char *name;
	char *about;
	char **aliases;
	size_t alias_count;
	unsigned order;
};

struct sections {
	struct section *items; /* by order, then id */
	size_t count;
	struct section_set *sets;
	size_t set_count;
	struct written_rule *rules; /* in the order in which they are applied */
	size_t rule_count;
};

/* Text of a file called `path`; -EINVAL with "path:line: what". */
int section_parse(struct section *ret, const char *path, const char *text, size_t size, struct error *err);
void section_release(struct section *s);
int section_set_parse(struct section_set *ret, const char *path, const char *text, size_t size, struct error *err);
void section_set_release(struct section_set *s);

/* All files of these folders; of two with the same name the one in the earlier folder is taken. A file that cannot be read is an error. */
int sections_load(struct sections *ret, const char *const *folders, size_t folder_count, struct error *err);
void sections_release(struct sections *s);
const struct section *sections_find(const struct sections *s, const char *id);
/* By name or alias. */
const struct section_set *sections_find_set(const struct sections *s, const char *name);
int section_in_set(const struct section *s, const char *set);

/* A comma list of "9.0", "9.0-", "-8.9" and "8.0-8.9"; 0, or -EINVAL. */
int cc_parse(struct cc_set *ret, const char *text, size_t len);
int cc_fits(const struct cc_set *set, unsigned cc);

#endif
