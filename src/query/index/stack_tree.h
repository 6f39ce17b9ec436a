/* The report's stacks, as functions: loaded when first asked for. A report is untrusted: what
 * points nowhere is no caller, and a parent is always before its children, so every walk ends. */
#ifndef SONDE_QUERY_INDEX_STACK_TREE_H
#define SONDE_QUERY_INDEX_STACK_TREE_H

#include "base/buf.h"
#include "query/internal.h"

/* Deeper stacks lack their outermost callers; recorders store far fewer. */
#define STACK_MAX_DEPTH 4096

/* A function, or a place in code that has no name. */
struct code_function {
	int64_t name;   /* string id; 0 = no name is known */
	int64_t path;   /* of the module, string id; 0 = none */
	int64_t offset; /* in the module, where there is no name */
	int64_t kind;   /* enum module_kind; 0 = not known */
};

struct code_frame {
	uint32_t function;
	int64_t offset;
};

/* Stacks whose labels (functions, or modules) are the same from the root on are one here. Node 0
 * is the root of all and has no label of its own: samples without a stack are there. */
struct stack_fold {
	uint32_t count;    /* nodes are below this */
	uint32_t *parents; /* below the node itself */
	uint32_t *labels;
	uint32_t *depths;   /* callers above */
	uint8_t *outermost; /* no caller has the same label */
	uint32_t *of_stack; /* node of each stack id */
	uint32_t label_count;
};

/* Functions whose names differ in numbers only may be taken as one. */
enum stack_labels { STACK_FUNCTIONS, STACK_MODULES, STACK_SAME_NAME, STACK_LABELS_COUNT };

struct stack_tree {
	uint32_t stack_count; /* ids are below this; 0 = none */
	uint32_t *parents;    /* 0 at the root */
	uint32_t *frames;     /* 0 where it is not known */
	uint32_t frame_count;
	struct code_frame *code;
	uint32_t function_count; /* number 0 stands for what is not known */
	struct code_function *functions;
	uint32_t *modules; /* label of a function's module */
	uint32_t module_count;
	int64_t *module_paths; /* by label: string id */
	uint32_t *same;        /* the first function of the module whose name is the same but for numbers; NULL: not asked for */
	struct stack_fold folds[STACK_LABELS_COUNT];
};

/* The tree of the report, loaded once. -ENOMEM. */
int stack_tree_of(struct query *q, struct stack_tree **ret);
void stack_tree_release(struct stack_tree *tree);

/* -ENOMEM. */
int stack_fold_of(struct query *q, struct stack_tree *tree, enum stack_labels by, struct stack_fold **ret);
void stack_fold_release(struct stack_fold *fold);

/* The name of a function to show: "name", "file+0x12", "0x7f12". */
int code_function_text(struct query *q, const struct code_function *f, struct buf *ret);
int code_function_is_kernel(const struct code_function *f);
/* Places in code without a name have ids in StringIds, above all strings and blobs. */
#define STRING_ID_FRAME ((int64_t)1 << 50)
/* The id of a frame's name; of its module. */
int64_t code_frame_string(const struct stack_tree *tree, uint32_t frame);
int64_t code_frame_module_string(const struct stack_tree *tree, uint32_t frame);
/* The text of such an id. 0 when there is none. */
int code_string_text(struct query *q, const struct stack_tree *tree, int64_t id, struct buf *ret);

#endif
