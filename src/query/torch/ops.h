/* What torch.profiler saw, in the way its key_averages() does: operators and annotations with the calls of CUDA they made, who is
 * within whom, and the work of GPUs they started. Only imported traces have it. docs/torch.md has the definitions. */
#ifndef SONDE_QUERY_TORCH_OPS_H
#define SONDE_QUERY_TORCH_OPS_H

#include "base/keymap.h"
#include "query/internal.h"

enum torch_kind {
	TORCH_OPERATOR,
	TORCH_ANNOTATION,
	TORCH_CALL,     /* of CUDA's runtime or driver */
	TORCH_OVERHEAD, /* of the profiler, and what else happened on a CPU */
	TORCH_MEMORY,   /* an allocation in no operator, or one that failed */
	TORCH_KERNEL,   /* from here on: on a device */
	TORCH_COPY,
	TORCH_SET,
	TORCH_SYNC,
	TORCH_GPU_ANNOTATION
};

enum torch_flag {
	TORCH_ASYNC = 1,  /* ends somewhere else: in no tree, without times of its own */
	TORCH_MERGED = 2, /* stands in the row of its parent, which has the same name */
	TORCH_OUTSIDE = 4 /* does not count: query/engine/scope.h */
};

enum torch_recorded {
	TORCH_IMPORTED,
	TORCH_FROM_TABLE, /* row in torch_op, from 1 */
	TORCH_FROM_NVTX   /* string id of the range's name */
};

/* Names and shapes are string ids, one for each text; those below 0 are of `texts`. */
struct torch_event {
	int64_t start;
	int64_t end;
	int64_t external; /* the id that calls and kernels name their operator by; 0: none */
	int64_t children_time;
	int64_t device_self;
	int64_t device_total;
	int32_t name;
	int32_t shapes;  /* 0: none told */
	uint32_t parent; /* place + 1; of work of a device: who started it. 0: none */
	uint32_t children;
	uint32_t args;
	uint32_t thread; /* uid */
	uint32_t inputs; /* string id of the values of inputs that are no tensors; 0: not told */
	uint16_t depth;  /* of its track */
	uint8_t kind;
	uint8_t flags;
};

/* What few ask about. */
struct torch_detail {
	int64_t sequence;        /* links forward and backward operators; -1: none */
	uint32_t forward_thread; /* torch's own number, of a backward operator; 0: none */
	uint32_t stack;          /* string id of what Python called; 0: not told */
};

/* Bytes allocated less those released. */
struct torch_memory {
	int64_t host;
	int64_t device;
	int64_t children_host;
	int64_t children_device;
};

/* Those on CPUs come first, by thread and start, the outer of two that begin together first. */
struct torch_ops {
	struct query *q;
	struct torch_event *events;
	uint32_t count;
	uint32_t cap;
	uint32_t host_count;
	struct torch_memory *memory;  /* of those on CPUs; NULL: the trace tells of no memory */
	struct torch_detail *details; /* of all; NULL until asked for */
	uint32_t *forward;            /* of all: place + 1 of the forward operator; NULL until asked for (forward.c) */
	struct torch_frames *frames;  /* Python's functions; NULL until asked for (frames.h) */
	struct keymap texts;
	int has_text_stacks; /* the details have stacks of Python's functions as text */
	int32_t no_shapes;   /* as torch prints it: [] */
	uint8_t recorded;    /* enum torch_recorded: whether Sonde recorded them, and what an event's `args` is then */
	uint32_t stopper;    /* thread that stopped the profiler, 0: not known */
};

/* Made once for a report; empty where no operator was recorded. */
int torch_ops_of(struct query *q, struct torch_ops **ret);
void torch_ops_release(struct torch_ops *t);

/* ns and bytes of one event; those without "self" hold what is within it, too. */
struct torch_figures {
	int64_t cpu, self_cpu;
	int64_t device, self_device;
	int64_t cpu_memory, self_cpu_memory;
	int64_t device_memory, self_device_memory;
};

void torch_figures(const struct torch_ops *t, uint32_t place, struct torch_figures *ret);

/* "op", "kernel" ... */
const char *torch_kind_name(unsigned kind);

const char *torch_text(const struct torch_ops *t, int32_t id);
/* Figures of a hostile trace may wrap. */
/* An id that is too large is none. */
static inline uint32_t torch_narrow_id(int64_t id)
{
	return id > 0 && id < UINT32_MAX ? (uint32_t)id : 0;
}

static inline int64_t torch_sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t torch_difference(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Null where there is no text. */
void torch_result_text(sqlite3_context *context, const struct torch_ops *t, int32_t id);
static inline int torch_is_shown(const struct torch_event *e)
{
	return !(e->flags & (TORCH_MERGED | TORCH_OUTSIDE));
}

static inline int torch_on_device(const struct torch_event *e)
{
	return e->kind >= TORCH_KERNEL;
}

/* texts.c: an id below 0, the same for equal texts. 0: no memory. */
int32_t torch_made_text(struct keymap *texts, const char *text);
/* The same for JSON text of "Input Dims", written as torch prints shapes. */
int32_t torch_shapes_text(struct keymap *texts, const char *json);
void torch_texts_release(struct keymap *texts);

/* flops.c */
enum torch_formula { TORCH_NO_FORMULA, TORCH_CONV2D, TORCH_MM, TORCH_ADDMM, TORCH_ELEMENTS };
enum torch_formula torch_formula_of(const char *name);
/* `shapes` as torch prints them, `inputs` as the trace has them (NULL: not told). 0 where it cannot be said. */
int64_t torch_flops(enum torch_formula formula, const char *shapes, const char *inputs);

/* load.c */
struct torch_allocation {
	int64_t time;
	int64_t bytes;
	uint32_t args;
	uint32_t thread;
	int32_t device_type; /* -1: not told */
	uint8_t flags;       /* as of events */
};

struct torch_loading {
	struct torch_ops *ops;
	struct torch_allocation *allocations;
	uint32_t allocation_count;
	uint32_t allocation_cap;
	uint32_t operator_count;
};

int torch_load(struct torch_loading *l);
struct torch_event *torch_add_event(struct torch_ops *t);

/* recorded.c: calls and kernels get the operators they belong to; what few ask about. */
enum torch_recorded torch_who_recorded(struct query *q);
int torch_own_recorded(struct torch_ops *t);
int torch_recorded_details(struct torch_ops *t);

/* nvtx_text.c: the name of a range of emit_nvtx. False: it is no operator's. */
struct torch_nvtx_text {
	size_t name_len;
	int64_t sequence;  /* -1: none */
	const char *sizes; /* NULL: none */
	size_t sizes_len;
};
bool torch_parse_nvtx(const char *text, struct torch_nvtx_text *ret);

/* args.c: what the events' arguments tell; the second also when all is loaded. */
int torch_load_args(struct torch_loading *l);
int torch_load_details(struct torch_ops *t);

/* forward.c: fills `forward`. */
int torch_load_forwards(struct torch_ops *t);

/* tree.c */
int torch_link(struct torch_loading *l);

#endif
