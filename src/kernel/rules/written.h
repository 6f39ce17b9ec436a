/* Rules that users write: text files NAME.rule (docs/how-to-add/rule.md).
 *
 *   title = NVLink
 *   section = Nvlink
 *   about = Links that are full, or full of overhead.
 *
 *   [optimize NVLink Throughput]
 *   when = nvlrx__bytes.sum.pct_of_peak_sustained_elapsed >= 60
 *   text = NVLink receives {nvlrx__bytes.sum.pct_of_peak_sustained_elapsed|0} % of what it can.
 *   gain = local 0.3
 */
#ifndef SONDE_KERNEL_RULES_WRITTEN_H
#define SONDE_KERNEL_RULES_WRITTEN_H

#include "base/error.h"
#include "kernel/formula.h"
#include "kernel/rules/rule.h"

enum written_comparison { WRITTEN_AT_LEAST, WRITTEN_MORE, WRITTEN_AT_MOST, WRITTEN_LESS };

struct written_condition {
	struct formula left, right;
	enum written_comparison comparison;
};

/* Text, or a value with so many decimals. */
struct written_piece {
	char *text;              /* NULL: a value */
	struct formula value;
	int decimals;
};

struct written_case {
	enum rule_tag tag;
	char *title;
	struct written_condition *conditions; /* all must hold; a value that is not there holds in none */
	size_t condition_count;
	struct written_piece *pieces;
	size_t piece_count;
	enum rule_gain gain;
	struct formula share;    /* of 1 */
};

struct written_rule {
	char *id;                /* the file's name */
	char *title;
	char *section;
	char *about;
	struct written_case *cases;
	size_t case_count;
};

/* Text of a file called `path`; -EINVAL with "path:line: what". */
int written_rule_parse(struct written_rule *ret, const char *path, const char *text, size_t size, struct error *err);
void written_rule_release(struct written_rule *rule);
/* Behind Sonde's own, whose results are in `run`. */
void written_rule_apply(const struct written_rule *rule, struct rule_run *run);

#endif
