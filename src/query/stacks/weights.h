/* How often, and how long, a report's stacks were met: samples, calls of the OS runtime, or
 * the time threads were off the CPU, by stack and by who it was. */
#ifndef SONDE_QUERY_STACKS_WEIGHTS_H
#define SONDE_QUERY_STACKS_WEIGHTS_H

#include "query/functions/request.h"
#include "query/index/stack_tree.h"

enum stack_owner { OWNER_ALL, OWNER_THREAD, OWNER_PROCESS };

struct stack_weight {
	uint32_t owner; /* number of the owner */
	uint32_t stack; /* id; 0 = none was recorded */
	uint32_t call;  /* string id of the function or system call that was made there; 0 = none */
	uint64_t count;
	uint64_t weight;
};

struct stack_weights {
	struct stack_weight *rows; /* by owner, then stack, then call */
	size_t count;
	int64_t *owners; /* uid of thread or process, by number */
	uint32_t owner_count;
	/* What one unit of weight is in nanoseconds; 0: count times `sample_ns` instead, where that is
	 * known. */
	double unit_ns;
	double sample_ns;
};

/* source: samples, osrt or offcpu. filter: as request_parse() has it, over the table
 * that the source reads (COMPOSITE_EVENTS, OSRT_API, sonde_run). -EINVAL with a sentence, -ENOMEM. */
int stack_weights_collect(struct stack_weights *ret, struct query *q, const char *source, enum stack_owner owner, const char *filter,
			  struct error *err);
void stack_weights_release(struct stack_weights *w);

/* After owners were changed. */
void stack_weights_sort(struct stack_weights *w);
/* The rows of an owner begin where those of the one before end. */
size_t stack_weights_end(const struct stack_weights *w, size_t begin);
/* The time that is meant; 0 when it cannot be known. */
int stack_weights_time(const struct stack_weights *w, uint64_t count, uint64_t weight, int64_t *ret);

/* What statistics are made of: the stacks by function or by module, and below those in which a call was made
 * (osrt, offcpu) the call, as if it were a function. */
struct stack_view {
	struct stack_tree *tree;
	enum stack_labels by;
	struct stack_fold fold;
	int owned;             /* the fold's arrays are the view's own */
	uint32_t frame_labels; /* labels from here on are calls */
	uint32_t *calls;       /* string ids of the calls, in order */
	uint32_t call_count;
	uint32_t *nodes; /* by row of the weights */
};

int stack_view_open(struct stack_view *v, struct query *q, enum stack_labels by, struct stack_weights *w);
void stack_view_release(struct stack_view *v);
/* The label of a node; node 0, what has no stack, has one behind all others. */
uint32_t stack_view_label(const struct stack_view *v, uint32_t node);
/* The function of a label; NULL where it is no function of the program. */
const struct code_function *stack_view_function(const struct stack_view *v, uint32_t label);
int stack_view_text(struct query *q, const struct stack_view *v, uint32_t label, struct buf *ret);
/* The place of each label of these nodes in the order of their texts, by label; to be freed. -ENOMEM. */
int stack_view_ranks(struct query *q, const struct stack_view *v, const uint32_t *nodes, size_t count, uint32_t **ret);

/* What came together at each node of a fold, for one owner. */
struct stack_sum {
	uint64_t count;
	uint64_t weight;
};

struct stack_sums {
	const struct stack_fold *fold;
	struct stack_sum *self;  /* by node */
	struct stack_sum *total; /* with what was called from it */
	uint64_t *touched;       /* a bit for each node that has any */
	size_t touched_words;
};

int stack_sums_init(struct stack_sums *s, const struct stack_fold *fold);
void stack_sums_release(struct stack_sums *s);
/* Forgets what was there and adds up rows [begin, end); nodes as in the view. */
void stack_sums_add(struct stack_sums *s, const struct stack_weights *w, const uint32_t *nodes, size_t begin, size_t end);
/* The next node at or behind `node` that has anything; fold->count at the end. */
uint32_t stack_sums_next(const struct stack_sums *s, uint32_t node);

#endif
