/* Hardware counters of single kernels: a launch that is wanted is made several times, with other counters each time, on the same
 * memory and with caches as asked for; then the program goes on as if it had been made once.
 *
 * request.c: what is wanted. calls.c: which calls of the driver matter. launch_choice.c: is it this launch? names.c: by its name.
 * window.c: by what the program says of itself: cuProfilerStart and NVTX. batch.c: the passes of launches that follow each other.
 * replay.c: what a launch is, and one pass around the program's own. launch.c: made again. config.c: from names of metrics to
 * counters. counters.c: CUPTI's range profiler. memory.c: what the kernel wrote is taken back. caches.c: emptied between passes.
 * graph.c, graph_read.c: kernels of CUDA graphs. range.c, range_calls.c: ranges of many launches.
 * facts.c: what the driver tells of a launch. launch_origin.c, python.c: where it is made. result.c: records. trouble.c: what is in the way. timed.c: without counters. */
#ifndef SONDE_AGENT_KERNEL_KERNEL_H
#define SONDE_AGENT_KERNEL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "agent/cuda/cuda.h"
#include "fmt/kernel_request.h"
#include "fmt/kernel_wire.h"
#include "fmt/filter/nvtx_filter.h"
#include "vendor/cuda/launch.h"
#include "vendor/cupti/callbacks.h"
#include "vendor/cupti/range.h"
#include "vendor/nvidia/subdevice.h"

#define KERNEL_HIDDEN __attribute__((visibility("hidden")))
#define KERNEL_WHY_SIZE 240
#define KERNEL_NO_MEMORY "out of memory" /* where nothing else is said */
#define KERNEL_RANGE_NAME "range"
#define KERNEL_GRAPH_NAME "CUDA graph" /* what a graph that is read as a whole is called */

int kernel_request_load(struct kernel_request *ret, const char *path, char *why) KERNEL_HIDDEN;

/* calls.c */
enum kernel_call {
	KERNEL_CALL_NONE,
	KERNEL_CALL_KERNEL,       /* cuLaunchKernel */
	KERNEL_CALL_KERNEL_EX,    /* cuLaunchKernelEx */
	KERNEL_CALL_COOPERATIVE,  /* cuLaunchCooperativeKernel */
	KERNEL_CALL_GRAPH,        /* cuGraphLaunch */
	KERNEL_CALL_INSTANTIATE,  /* cuGraphInstantiate, in its forms */
	KERNEL_CALL_GRAPH_UPDATE, /* cuGraphExecUpdate */
	KERNEL_CALL_GRAPH_CHANGE, /* others that change an executable graph */
	KERNEL_CALL_GRAPH_END,    /* cuGraphExecDestroy */
	KERNEL_CALL_CAPTURE,      /* cuStreamBeginCapture, in its forms */
	KERNEL_CALL_CAPTURE_END,  /* cuStreamEndCapture */
	KERNEL_CALL_START,        /* cuProfilerStart */
	KERNEL_CALL_STOP,         /* cuProfilerStop */
	KERNEL_CALL_OTHER,        /* changes memory: must not run while another thread's kernel is replayed */
	KERNEL_CALL_SEES,         /* could see what launches before it did */
	KERNEL_CALL_ABOUT         /* is about a function, a kernel, a library or a module, and neither sees nor changes what launches do */
};
void kernel_calls_prepare(void) KERNEL_HIDDEN;
/* -1: CUPTI does not tell of launches. */
int kernel_calls_enable(int enable) KERNEL_HIDDEN;
enum kernel_call kernel_call(uint32_t id) KERNEL_HIDDEN;
/* Of KERNEL_CALL_ABOUT: it is the first about that one, and the driver may load it now. */
int kernel_call_may_load(uint32_t id, const void *parameters) KERNEL_HIDDEN;
/* Where it is cuProfilerStart or Stop, or the runtime's call of them: 1, and it has been taken note of. */
int kernel_profiler_call(int is_runtime, uint32_t id, int is_exit) KERNEL_HIDDEN;

/* A launch as the program makes it. */
struct kernel_launch {
	enum kernel_call call;
	const void *parameters; /* of the call */
	void *function;
	void *stream;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t cluster[3];
	uint32_t shared;
	const char *name; /* mangled */
	void *context;
	uint32_t context_id;
	uint32_t correlation;
	uint32_t launches; /* that it stands for: of a range, or a graph; 0: it is one itself */
};

/* launch.c: a launch with arguments of its own. */
#define KERNEL_LAUNCH_ATTRIBUTES 32u

struct kernel_copy {
	struct kernel_launch launch;
	struct cuda_launch_kernel kernel;
	struct cuda_launch_kernel_ex ex;
	struct cuda_launch_config config;
	struct cuda_launch_graph graph;
	struct cuda_launch_attribute attributes[KERNEL_LAUNCH_ATTRIBUTES];
	void **arguments;
};

/* It is not moved. -1: its arguments cannot be copied. */
int kernel_launch_copy(struct kernel_copy *ret, const struct kernel_launch *l) KERNEL_HIDDEN;
void kernel_launch_forget(struct kernel_copy *copy) KERNEL_HIDDEN;
int kernel_launch_start(const struct kernel_launch *l) KERNEL_HIDDEN;
/* And waits for its end. */
int kernel_launch_again(const struct kernel_launch *l, char *why) KERNEL_HIDDEN;
void *kernel_launch_function(const struct kernel_launch *l) KERNEL_HIDDEN;

/* launch_choice.c: counts the launch, and says whether it is to be read. All wanted ones were: kernel_choose_done(). */
int kernel_choose_prepare(const struct kernel_request *request, char *why) KERNEL_HIDDEN;
int kernel_choose(const struct kernel_launch *launch) KERNEL_HIDDEN;
/* Now or later: by its name. */
int kernel_choose_could(const struct kernel_launch *launch) KERNEL_HIDDEN;
int kernel_choose_done(void) KERNEL_HIDDEN;
/* The same of a range: by its number alone. */
int kernel_choose_range(const struct kernel_launch *launch) KERNEL_HIDDEN;

/* names.c: names of kernels, as -k and --kernel-id mean them. Only while alone. */
struct kernel_name {
	const char *name; /* mangled; where CUPTI keeps it */
	uint64_t hash;
	uint64_t base_hash; /* of the form that is compared */
	uint64_t ids;       /* bits: those of --kernel-id whose name matches */
	int matches;        /* -k */
	int is_reported;    /* the report has it */
};
struct kernel_id;
int kernel_names_prepare(const struct kernel_request *request, const struct kernel_id *ids, char *why) KERNEL_HIDDEN;
struct kernel_name *kernel_name_of(const char *name) KERNEL_HIDDEN;

/* window.c: whether launches are wanted now, by cuProfilerStart and Stop and by the NVTX ranges of this thread. */
int kernel_window_prepare(const struct kernel_request *request, char *why) KERNEL_HIDDEN;
void kernel_window_start(void) KERNEL_HIDDEN;
void kernel_window_stop(void) KERNEL_HIDDEN;
int kernel_window_is_open(void) KERNEL_HIDDEN;
/* The range that this thread is in, of those that --replay-mode range means; 0: none. */
uint64_t kernel_window_range(void) KERNEL_HIDDEN;
/* The numbers of the ranges it is in, from 1: between cuProfilerStart and Stop, and of NVTX ranges that are included. 0: in none. */
void kernel_window_numbers(uint32_t *profiler, uint32_t *nvtx) KERNEL_HIDDEN;
/* NVTX ranges that this thread is in. */
size_t kernel_open_ranges(struct nvtx_open_range *ret, size_t room) KERNEL_HIDDEN;
/* Of a context or a stream, by NVTX; NULL: none. */
const char *kernel_given_name(const void *handle) KERNEL_HIDDEN;

/* caches.c */
struct kernel_caches {
	int is_prepared;
	struct nvidia_subdevice gpu; /* whose driver empties them; fd -1: it does not, and a kernel reads them full */
	void *module;                /* that has it; NULL: not loaded yet */
	void *function;
	uint64_t memory;
	uint64_t size;
};

/* config.c: a part of what is asked for, as the chip of a context has it. */
#define KERNEL_HOSTS 4u
#define KERNEL_SHARE 64u /* metrics that are worth a thread */
struct kernel_part {
	size_t number;             /* in the request */
	void *hosts[KERNEL_HOSTS]; /* CUPTI's; the first made the configuration, all evaluate */
	size_t host_count;
	uint8_t *config;
	size_t config_size;
	size_t passes;
	size_t metric_count; /* those that this chip has */
	const char **metrics;
	uint32_t *numbers; /* of each, in the request */
	double *values;
	uint8_t *image; /* of counters */
	uint8_t *empty_image;
	size_t image_size;
	size_t ranges; /* that it has room for */
};

/* Without the images. A part whose metrics the chip has none of has a count of 0. */
int kernel_part_make(struct kernel_part *p, void *context, const char *chip, const struct kernel_request *request, size_t number,
		     char *why) KERNEL_HIDDEN;
void kernel_part_release(struct kernel_part *p) KERNEL_HIDDEN;

/* trouble.c: a sentence for a result of CUPTI; -1 where it is no success. */
int kernel_failed(int result, const char *what, char *why) KERNEL_HIDDEN;
/* Whether counters of the device can be read at all; -1: `why` says what is in the way. */
int kernel_device_fits(int device, char *why) KERNEL_HIDDEN;

/* counters.c: one for each context. */
struct kernel_counters {
	void *context;
	int device;
	int hopeless;
	void *profiler;
	struct kernel_part parts[KERNEL_REQUEST_PARTS];
	size_t part_count;
	size_t passes;      /* of all parts */
	size_t most_ranges; /* that an image has room for: kernels, and each emptying of the caches */
	struct kernel_part *configured;
	int by_hand; /* ranges are pushed and popped by us; otherwise each kernel is one */
	struct kernel_caches caches;
};

/* It has been said why there are none: kernels of this context are only timed. */
int kernel_counters_hopeless(const void *context) KERNEL_HIDDEN;
/* The context is current, and not hopeless. NULL: `why` says what is in the way. */
struct kernel_counters *kernel_counters_of(void *context, const struct kernel_request *request, char *why) KERNEL_HIDDEN;
/* The context is about to end; another one may have its address. */
void kernel_counters_forget(const void *context) KERNEL_HIDDEN;
int kernel_counters_configure(struct kernel_counters *c, struct kernel_part *p, size_t ranges, char *why) KERNEL_HIDDEN;
/* One pass of many: `p->image` has what was counted in others. */
int kernel_counters_continue(struct kernel_counters *c, struct kernel_part *p, size_t pass, char *why) KERNEL_HIDDEN;
/* An image that nothing was counted in. */
int kernel_counters_clear(struct kernel_counters *c, struct kernel_part *p, char *why) KERNEL_HIDDEN;
/* The same whether or not all passes were made. */
int kernel_counters_decode_pass(struct kernel_counters *c, char *why) KERNEL_HIDDEN;
/* After passes that were not completed, and where others need the hardware. The next to be configured takes it again. */
void kernel_counters_let_go(struct kernel_counters *c) KERNEL_HIDDEN;
int kernel_counters_start(struct kernel_counters *c, char *why) KERNEL_HIDDEN;
/* Of what is not single kernels, ranges are made by hand: CUPTI's own fail where a graph is launched. Takes effect with the next configuration. */
void kernel_counters_make_ranges(struct kernel_counters *c, int by_hand) KERNEL_HIDDEN;
int kernel_counters_push(struct kernel_counters *c, const char *name, char *why) KERNEL_HIDDEN;
int kernel_counters_pop(struct kernel_counters *c, char *why) KERNEL_HIDDEN;
int kernel_counters_stop(struct kernel_counters *c, char *why) KERNEL_HIDDEN;
/* After all passes of a part, and before another is configured. */
int kernel_counters_decode(struct kernel_counters *c, struct kernel_part *p, size_t ranges, char *why) KERNEL_HIDDEN;
/* evaluate.c: fills p->values. */
int kernel_counters_evaluate(struct kernel_part *p, size_t range, char *why) KERNEL_HIDDEN;

/* memory.c: what device memory, and memory that the device reaches, holds now. */
enum kernel_memory { KERNEL_MEMORY_BEFORE, KERNEL_MEMORY_AFTER, KERNEL_MEMORY_LAUNCH, KERNEL_MEMORY_GRAPH, KERNEL_MEMORIES };
/* Whether the GPU has room for so many copies. What does not fit goes to the host's memory, which takes a thousand times as long. */
int kernel_memory_fits(size_t copies) KERNEL_HIDDEN;
int kernel_memory_save(enum kernel_memory which, void *context, char *why) KERNEL_HIDDEN;
int kernel_memory_restore(enum kernel_memory which, char *why) KERNEL_HIDDEN;
/* The same of what the program goes on with. -1: `why` says what that means. */
int kernel_memory_put_back(enum kernel_memory which, char *why) KERNEL_HIDDEN;
void kernel_memory_forget(enum kernel_memory which) KERNEL_HIDDEN;

/* caches.c: the context is current, and idle. What it takes is allocated by prepare(), which is to come before memory is kept. */
int kernel_caches_prepare(struct kernel_caches *c, int device, char *why) KERNEL_HIDDEN;
int kernel_caches_flush(struct kernel_caches *c, char *why) KERNEL_HIDDEN;
/* That emptying them makes: its kernel is one. */
size_t kernel_caches_ranges(const struct kernel_caches *c) KERNEL_HIDDEN;
void kernel_caches_release(struct kernel_caches *c) KERNEL_HIDDEN;

/* batch.c: only while alone. */
int kernel_batch_is_open(void) KERNEL_HIDDEN;
int kernel_batch_is_of(const void *context) KERNEL_HIDDEN;
/* What launching the kernel takes is allocated already. To be asked at every launch. */
int kernel_batch_is_loaded(const struct kernel_launch *l) KERNEL_HIDDEN;
/* A launch that is read, and one that is not. The context is current. */
int kernel_batch_add(struct kernel_counters *c, const struct kernel_launch *l, const struct record_kernel *record,
		     const struct kernel_request *request, char *why) KERNEL_HIDDEN;
/* The program is about to launch what was added last for the first time, or what was not added (then none is open), and has done so. */
int kernel_batch_meet(const struct kernel_launch *l, const struct kernel_request *request) KERNEL_HIDDEN;
void kernel_batch_met(void) KERNEL_HIDDEN;
void kernel_batch_pass_over(const struct kernel_launch *l) KERNEL_HIDDEN;
/* Reads those that are open. */
void kernel_batch_close(void) KERNEL_HIDDEN;
/* What was added last, if it is this call. */
void kernel_batch_launch_failed(uint32_t correlation, int result) KERNEL_HIDDEN;
/* Those that are open are not read. Memory is left alone. */
void kernel_batch_give_up(const char *why) KERNEL_HIDDEN;
void kernel_batch_context_ends(const void *context) KERNEL_HIDDEN;
void kernel_batch_module_loaded(void) KERNEL_HIDDEN;
/* Launches that are not the program's own: read now, from memory as it is, which then is as it was. add() says whether there was
 * room; the launch's parameters stay. `record` NULL: it is made, but not read. The last that is added is read. */
int kernel_batch_open_now(struct kernel_counters *c, const struct kernel_request *request, char *why) KERNEL_HIDDEN;
int kernel_batch_add_now(const struct kernel_launch *l, const struct record_kernel *record) KERNEL_HIDDEN;
void kernel_batch_read_now(void) KERNEL_HIDDEN;

/* What is being done with a launch; of the one before, counters stay. */
struct kernel_replay {
	struct kernel_counters *counters;
	struct record_kernel record;
	uint64_t begun;
	size_t range; /* of the launch, after the emptying of caches */
	int timed;    /* no counters can be read */
	uint32_t number;
	char why[KERNEL_WHY_SIZE];
};

/* replay.c: around the program's own call. enter() returns whether leave() is to be called. */
int kernel_replay_enter(struct kernel_replay *replay, const struct kernel_launch *launch,
			const struct kernel_request *request) KERNEL_HIDDEN;
void kernel_replay_leave(struct kernel_replay *replay, int result) KERNEL_HIDDEN;
/* It is not read, for this reason. */
int kernel_replay_refuse(struct kernel_replay *replay, const struct kernel_launch *launch, const char *why) KERNEL_HIDDEN;
/* For launches that are not the program's own: what there is to say of one; the counters of their context, or NULL and `why`. */
void kernel_replay_describe(struct kernel_replay *replay, const struct kernel_launch *launch, struct record_kernel *ret) KERNEL_HIDDEN;
struct kernel_counters *kernel_replay_prepare(struct kernel_replay *replay, const struct kernel_launch *launch,
					      const struct record_kernel *record, const struct kernel_request *request,
					      char *why) KERNEL_HIDDEN;

/* known_objects.c */
#define KERNEL_SEEN 8192u
struct kernel_seen {
	void *slots[KERNEL_SEEN];
};
int kernel_was_seen(struct kernel_seen *seen, const void *what) KERNEL_HIDDEN;
void kernel_see(struct kernel_seen *seen, void *what) KERNEL_HIDDEN;

/* begin.c: no other thread launches anything between them; not within a call that is counted. */
void kernel_begin_alone(void) KERNEL_HIDDEN;
void kernel_end_alone(void) KERNEL_HIDDEN;
int kernel_is_alone(void) KERNEL_HIDDEN;
int kernel_is_capturing(void) KERNEL_HIDDEN;
/* A futex. */
void kernel_wait_while(const _Atomic uint32_t *word, uint32_t value) KERNEL_HIDDEN;
void kernel_wake(const _Atomic uint32_t *word) KERNEL_HIDDEN;
/* A launch out of the parameters of its call; -1: they are wrong. */
int kernel_describe_call(struct kernel_launch *l, enum kernel_call call, const struct cupti_call_data *data) KERNEL_HIDDEN;
void kernel_look_for_end(void) KERNEL_HIDDEN;

/* range.c: before each call of the driver, where ranges are read; has the range of this thread ended? The last: whatever it is. */
void kernel_range_call(enum kernel_call call, const struct cupti_call_data *data) KERNEL_HIDDEN;
void kernel_range_look(void) KERNEL_HIDDEN;
void kernel_range_end(void) KERNEL_HIDDEN;
void kernel_range_context_ends(const void *context) KERNEL_HIDDEN;

void kernel_range_module_loaded(void) KERNEL_HIDDEN;

/* range_calls.c: calls that are remembered, and made again. Only while alone. -1: `why` names one that cannot be. */
int kernel_calls_remember(enum kernel_call call, const struct cupti_call_data *data, char *why) KERNEL_HIDDEN;
int kernel_calls_make(char *why) KERNEL_HIDDEN;
void kernel_calls_forget(void) KERNEL_HIDDEN;

/* graph.c: what an executable graph does, in an order in which it may be done. Only while alone. */
#define KERNEL_STEP_ATTRIBUTES 3u

struct kernel_step {
	enum cuda_node type; /* a kernel, a copy or a set */
	struct kernel_launch launch;
	struct cuda_launch_kernel_ex ex;
	struct cuda_launch_config config;
	struct cuda_launch_attribute attributes[KERNEL_STEP_ATTRIBUTES];
	struct cuda_copy copy;
	struct cuda_node_set set;
};

struct kernel_graph {
	void *exec;      /* NULL: this place is free */
	void *graph;     /* a copy of what it was made of */
	const char *why; /* it cannot be done step by step; NULL: it can */
	int copies_out;  /* to memory of the host that nobody puts back */
	struct kernel_step *steps;
	size_t step_count;
	size_t room;
};

void kernel_graph_made(void *exec, void *graph) KERNEL_HIDDEN;
void kernel_graph_changed(const void *exec) KERNEL_HIDDEN;
void kernel_graph_forget(const void *exec) KERNEL_HIDDEN;
/* NULL: `why` says what is in the way. */
struct kernel_graph *kernel_graph_of(const void *exec, const char **why) KERNEL_HIDDEN;
int kernel_step_make(const struct kernel_step *step, char *why) KERNEL_HIDDEN;

/* graph_read.c: before the program's own launch of a graph. returns whether leave() is to be called. Only while alone. */
int kernel_graph_launch(const struct kernel_launch *launch, const struct kernel_request *request) KERNEL_HIDDEN;

/* timed.c: one launch is timed by CUPTI's records of activities. The context is idle at the end; ns, 0: not known. */
void kernel_timed_begin(uint32_t correlation) KERNEL_HIDDEN;
uint64_t kernel_timed_end(void) KERNEL_HIDDEN;
/* application.c: the same in a run for one pass; leave() says whether `why` tells of trouble. */
int kernel_application_enter(struct kernel_counters *c, const struct record_kernel *record, const struct kernel_request *request,
			     char *why) KERNEL_HIDDEN;
int kernel_application_leave(struct kernel_counters *c, const struct record_kernel *record, const struct kernel_request *request,
			     char *why) KERNEL_HIDDEN;

/* facts.c: attributes and limits that a launch has; those of its device, once. */
void kernel_facts_ask(struct record_kernel *r, const struct kernel_launch *launch, void *function) KERNEL_HIDDEN;
void kernel_facts_report_device(const struct record_kernel *r) KERNEL_HIDDEN;
/* python.c: functions of Python that the calling thread is in, innermost first, until `take` returns other than 0, which is returned. Only while alone. */
#define KERNEL_PYTHON_TEXT 1024u
struct kernel_python_frame {
	char function[512];
	char file[KERNEL_PYTHON_TEXT];
	int line;
};
int kernel_python_each(int (*take)(void *context, const struct kernel_python_frame *frame), void *context) KERNEL_HIDDEN;

/* launch_origin.c: where a kernel is launched: by the thread that does it, then. And the process, once, if it is one of those that are meant. */
void kernel_report_place(const struct record_kernel *kernel) KERNEL_HIDDEN;
int kernel_process_is_meant(const struct kernel_request *request) KERNEL_HIDDEN;
void kernel_report_process(void) KERNEL_HIDDEN;
/* A graph is launched, and left alone. */
void kernel_report_left_alone(const char *why) KERNEL_HIDDEN;

/* result.c */
void kernel_report_some(enum kernel_values what, uint32_t number, uint64_t time, uint32_t first, const double *values,
			uint32_t count) KERNEL_HIDDEN;
void kernel_report(const struct record_kernel *record, enum kernel_state state, const char *text) KERNEL_HIDDEN;
/* `first`: added to the numbers of the metrics. */
void kernel_report_values(const struct kernel_part *p, const double *values, uint32_t first, uint32_t number, uint64_t time) KERNEL_HIDDEN;

/* instructions/passes.c: passes beyond those of the counters, of launches that follow each other. Memory before them is kept (KERNEL_MEMORY_BEFORE). What fails is told, and
 * is no reason to give a kernel up. */
struct kernel_source_launch {
	const struct kernel_launch *launch;
	struct record_kernel *record; /* its passes are added to */
	int is_wanted;                /* the others only run */
	int is_sampled;               /* already, in the program's own launch */
	uint64_t run_time;            /* instructions/passes.c's own */
};
int kernel_source_wanted(const struct kernel_request *request) KERNEL_HIDDEN;
/* PC sampling has to see this launch: meet() before it, met() after it, if that returned 1. */
int kernel_source_is_new(const struct kernel_launch *launch, const struct kernel_request *request) KERNEL_HIDDEN;
/* With a record, its samples are taken then; met() says whether they were. */
int kernel_source_meet(const struct kernel_launch *launch, const struct kernel_request *request, const struct record_kernel *record,
		       struct kernel_caches *caches) KERNEL_HIDDEN;
int kernel_source_met(void) KERNEL_HIDDEN;
/* Of another one that is made in between. */
void kernel_source_note_met(const struct kernel_launch *launch) KERNEL_HIDDEN;
/* What could not be found out is told of each launch; memory is what the last of them left. */
void kernel_source_collect(struct kernel_source_launch *launches, size_t count, const struct kernel_request *request,
			   struct kernel_caches *caches) KERNEL_HIDDEN;

struct kernel_agent {
	struct kernel_request request;
	struct cupti_range range;
	struct cuda_launcher driver;
	struct kernel_replay replay; /* only while alone */
	char folder[512];            /* of CUPTI: what belongs to it lies beside it */
};
extern struct kernel_agent kernel_agent KERNEL_HIDDEN;

#endif
