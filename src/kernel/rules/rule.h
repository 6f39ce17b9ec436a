/* Rules: what the values of a kernel say, in sentences, with how much could be gained. They are text files (rules/rule_file.h). A value
 * that is missing is not a number, and a rule that lacks what it needs says nothing. */
#ifndef SONDE_KERNEL_RULES_RULE_H
#define SONDE_KERNEL_RULES_RULE_H

#include <stddef.h>

enum rule_tag { RULE_OPTIMIZE, RULE_INFORM, RULE_WARN };

/* Of what an estimate is a share: of nothing, of the unit's own work, of the kernel's time. */
enum rule_gain { RULE_NO_GAIN, RULE_LOCAL, RULE_GLOBAL };

struct rule_result {
	const char *rule; /* its id */
	enum rule_tag tag;
	enum rule_gain gain;
	double percent; /* of the estimate */
	char title[96];
	char text[900];
};

#define RULE_RESULTS 64
#define RULE_HANDED_ON 32

/* A source line, or an instruction of which none is known. */
struct rule_line {
	char place[200]; /* "file.cu:12", or "0x00c0 LDG.E R4 ..." */
	double more, less;
	const char *stall; /* what warps waited for there mostly; NULL: no samples */
	double stall_share;
};

typedef double rule_value_of(void *context, const char *metric);
/* The places with the largest `more` - `less` (NULL: 0), the worst first; how many were found. */
typedef size_t rule_lines_of(void *context, const char *more, const char *less, struct rule_line *ret, size_t room);

/* What a rule hands to those after it: rule__compute, say. */
struct rule_handed_on {
	const char *name;
	double value;
};

struct rule_run {
	rule_value_of *value;
	rule_lines_of *lines; /* NULL: there are none */
	void *context;
	struct rule_handed_on handed_on[RULE_HANDED_ON];
	size_t handed_on_count;
	char verdict[64]; /* what limits the kernel; "": not known */
	struct rule_result results[RULE_RESULTS];
	size_t count;
};

/* Nothing is said yet. */
void rules_begin(struct rule_run *run, rule_value_of *value, rule_lines_of *lines, void *context);
/* The name must outlast the run. A value that is not known is not handed on. */
void rule_hand_on(struct rule_run *run, const char *name, double value);

#endif
