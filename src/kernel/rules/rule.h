/* Rules: what the values of a kernel say, in sentences, with how much could be gained. Each is a pure function of metric values;
 * one that is missing is not a number, and a rule that lacks what it needs says nothing. */
#ifndef SONDE_KERNEL_RULES_RULE_H
#define SONDE_KERNEL_RULES_RULE_H

#include <stdbool.h>
#include <stddef.h>

enum rule_tag { RULE_OPTIMIZE, RULE_INFORM, RULE_WARN };

/* Of what an estimate is a share: of nothing, of the unit's own work, of the kernel's time. */
enum rule_gain { RULE_NO_GAIN, RULE_LOCAL, RULE_GLOBAL };

struct rule_result {
	const char *rule; /* its id */
	enum rule_tag tag;
	enum rule_gain gain;
	double percent;   /* of the estimate */
	char title[96];
	char text[900];
};

#define RULE_RESULTS 64

/* A source line, or an instruction of which none is known. */
struct rule_line {
	char place[200];  /* "file.cu:12", or "0x00c0 LDG.E R4 ..." */
	double more, less;
	const char *stall; /* what warps waited for there mostly; NULL: no samples */
	double stall_share;
};

struct rule_run {
	double (*value)(void *context, const char *metric);
	void *context;
	/* The places with the largest `more` - `less` (NULL: 0), the worst first; how many were found. NULL: there are none. */
	size_t (*lines)(void *context, const char *more, const char *less, struct rule_line *ret, size_t room);
	/* What rules hand to those after them, as shares of 1; not a number before that. */
	double compute, memory, most;
	double issue; /* what better issuing could gain */
	const char *rule;
	struct rule_result results[RULE_RESULTS];
	size_t count;
};

struct rule {
	const char *id;
	const char *title;
	const char *section; /* it is applied where this was counted */
	const char *about;
	void (*apply)(struct rule_run *run);
};

/* In the order in which they are applied: those that hand something on first. */
const struct rule *rules(size_t *ret_count);
/* Applies those whose section `has` (NULL: all). The results are in `run`. */
void rules_apply_lines(struct rule_run *run, double (*value)(void *context, const char *metric), void *context,
		       bool (*has)(void *context, const char *section),
		       size_t (*lines)(void *context, const char *more, const char *less, struct rule_line *ret, size_t room));
void rules_apply(struct rule_run *run, double (*value)(void *context, const char *metric), void *context,
		 bool (*has)(void *context, const char *section));

enum kernel_verdict { VERDICT_UNKNOWN, VERDICT_LAUNCH, VERDICT_LATENCY, VERDICT_COMPUTE, VERDICT_MEMORY, VERDICT_BALANCED };
/* What the kernel is limited by, from speed of light and launch. */
enum kernel_verdict rules_verdict(double (*value)(void *context, const char *metric), void *context);
const char *rules_verdict_text(enum kernel_verdict verdict);

/* For rules themselves. */
double rule_value(const struct rule_run *run, const char *metric);
/* A result with a title; the text is appended by rule_say(). NULL when there are too many. */
struct rule_result *rule_result(struct rule_run *run, enum rule_tag tag, const char *title);
void rule_say(struct rule_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The share is one of 1; less than nothing is nothing, and more than all is all. */
void rule_gain(struct rule_result *result, enum rule_gain gain, double share);

void rule_speed_of_light(struct rule_run *run);
void rule_high_pipe(struct rule_run *run);
void rule_slow_pipe(struct rule_run *run);
void rule_issue_slots(struct rule_run *run);
void rule_stalls(struct rule_run *run);
void rule_theoretical_occupancy(struct rule_run *run);
void rule_achieved_occupancy(struct rule_run *run);
void rule_divergence(struct rule_run *run);
void rule_imbalance(struct rule_run *run);
void rule_launch(struct rule_run *run);
void rule_roofline(struct rule_run *run);
void rule_tensor_unused(struct rule_run *run);
void rule_access_pattern(struct rule_run *run);
void rule_shared_conflicts(struct rule_run *run);
void rule_aperture(struct rule_run *run);
void rule_uncoalesced_global(struct rule_run *run);
void rule_uncoalesced_shared(struct rule_run *run);
void rule_sampled_lines(struct rule_run *run);
void rule_fused(struct rule_run *run);
void rule_compression(struct rule_run *run);

#endif
