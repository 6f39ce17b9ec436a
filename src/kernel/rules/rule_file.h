/* Rules are text files NAME.rule (docs/how-to-add/rule.md).
 *
 *   title = NVLink
 *   section = Nvlink
 *   about = Links that are full, or full of overhead.
 *   let received = nvlrx__bytes.sum.pct_of_peak_sustained_elapsed
 *
 *   [optimize NVLink Throughput]
 *   when = received >= 60
 *   text = NVLink receives {received|0} % of what it can.
 *   gain = local 0.3
 */
#ifndef SONDE_KERNEL_RULES_RULE_FILE_H
#define SONDE_KERNEL_RULES_RULE_FILE_H

#include <stdbool.h>

#include "base/error.h"
#include "kernel/metrics/formula.h"
#include "kernel/rules/rule.h"

#define WRITTEN_MOST_CASES 64
#define WRITTEN_MOST_LISTS 8
#define WRITTEN_MOST_ROWS 32
#define WRITTEN_MOST_COLUMNS 9
#define WRITTEN_MOST_NAMES 64 /* of values, in a case with those of all cases */
#define WRITTEN_MOST_LINES 3  /* of source code that are told of */
#define WRITTEN_MOST_DEPTH 4  /* of braces */

enum written_comparison { WRITTEN_AT_LEAST, WRITTEN_MORE, WRITTEN_AT_MOST, WRITTEN_LESS };

struct written_condition {
	struct formula left, right;
	enum written_comparison comparison;
};

/* All must hold; a value that is not there holds in none. */
struct written_conditions {
	struct written_condition *items;
	size_t count;
};

/* What is done before something is said, in the file's order. */
enum written_deed { WRITTEN_LET, WRITTEN_SET, WRITTEN_WHEN };

struct written_step {
	enum written_deed deed;
	char *name; /* of let and set */
	struct formula value;
	struct written_conditions conditions;
};

struct written_steps {
	struct written_step *items;
	size_t count;
};

enum written_kind { WRITTEN_WORDS, WRITTEN_VALUE, WRITTEN_COLUMN, WRITTEN_BLOCK };

struct written_text {
	struct written_part *parts;
	size_t count;
};

/* Of which rows of a list something is said. */
enum written_pick { WRITTEN_NO_LIST, WRITTEN_EACH, WRITTEN_LARGEST, WRITTEN_LEAST };

/* {when CONDITIONS: text}, {each LIST when CONDITIONS: text} */
struct written_block {
	enum written_pick pick;
	size_t list;
	struct written_conditions conditions;
	struct written_text text;
};

struct written_part {
	enum written_kind kind;
	char *words;
	struct formula value;
	int decimals;
	size_t column; /* from 0 */
	struct written_block *block;
};

struct written_gain {
	enum rule_gain gain;
	struct formula share; /* of 1 */
};

struct written_case {
	bool is_verdict; /* its title is what limits the kernel */
	enum rule_tag tag;
	enum written_pick pick; /* of one list, or of none: WRITTEN_EACH, WRITTEN_NO_LIST */
	size_t list;
	struct written_text title;
	struct written_steps steps;
	struct written_text *lines; /* a blank between them */
	size_t line_count;
	struct written_gain *gains; /* the first that is known */
	size_t gain_count;
};

struct written_row {
	char *columns[WRITTEN_MOST_COLUMNS];
};

/* Rows that are written, or the source lines with most of something. */
struct written_list {
	char *name;
	bool is_lines;
	char *more, *less;    /* of source lines */
	struct formula value; /* of a row */
	struct written_row *rows;
	size_t row_count, column_count;
};

struct written_rule {
	char *id; /* the file's name */
	char *title;
	char *section;
	char *about;
	unsigned order;             /* those that hand something on come first */
	bool only_first;            /* of the cases that hold */
	struct written_steps steps; /* before all cases */
	struct written_list *lists;
	size_t list_count;
	struct written_case *cases;
	size_t case_count;
};

/* Text of a file called `path`; -EINVAL with "path:line: what". */
int written_rule_parse(struct written_rule *ret, const char *path, const char *text, size_t size, struct error *err);
void written_rule_release(struct written_rule *rule);
/* What it says is added to `run`. */
void written_rule_apply(const struct written_rule *rule, struct rule_run *run);

#endif
