/* A driver, a CUPTI and a checkpoint library that count: kernels are functions of the program on memory that is real, so that what
 * reading their counters does to a program can be seen. They find each other by name. */
#ifndef SONDE_TESTS_COUNTED_H
#define SONDE_TESTS_COUNTED_H

#include <stddef.h>
#include <stdint.h>

/* Call numbers of the driver, and their names. */
/* clang-format off */
enum counted_call {
	COUNTED_ALLOC = 10, COUNTED_FREE, COUNTED_SET, COUNTED_COPY, COUNTED_LAUNCH, COUNTED_LAUNCH_EX, COUNTED_COOPERATIVE,
	COUNTED_START, COUNTED_STOP, COUNTED_SYNC, COUNTED_GRAPH, COUNTED_RESET,
	COUNTED_INSTANTIATE, COUNTED_EXEC_UPDATE, COUNTED_EXEC_CHANGE, COUNTED_EXEC_DESTROY, COUNTED_COPY_3D, COUNTED_SET_2D,
	COUNTED_BEGIN_CAPTURE, COUNTED_END_CAPTURE, COUNTED_KERNEL_FUNCTION, COUNTED_CALLS
};
/* clang-format on */

/* A kernel: what it is called, and what it does to the memory it is given. */
struct counted_kernel {
	const char *symbol;
	void (*run)(void **parameters);
};

/* A graph, and what it is made into. A copy goes from one address to the other, a set writes sevens. */
#define COUNTED_NODES 32
struct counted_node {
	int type; /* of enum cuda_node */
	const struct counted_kernel *kernel;
	uint64_t memory; /* that the kernel gets, or a copy or set goes to */
	uint64_t from;   /* of a copy */
	size_t size;
	int from_host, to_host;
	void (*call)(void); /* of the host */
	struct counted_graph *child;
	void *parameters[1];
};

struct counted_graph {
	struct counted_node nodes[COUNTED_NODES];
	int count;
	int edges[COUNTED_NODES][2];
	int edge_count;
};

/* What a graph's launch is called where all of it is one range. */
#define COUNTED_GRAPH_NAME "whole_graph"

struct counted_event {
	enum counted_call call;
	int leaving;
	const void *parameters;
	const char *symbol;
	int *result;
	uint64_t *kept;
	uint32_t correlation;
	int device;     /* of the calling thread; each has one context, whose number is one higher */
	int is_runtime; /* the runtime's call of that name, not the driver's */
};

/* Around each call of the driver. */
struct counted_call_state {
	struct counted_event event;
	int result;
	uint64_t kept;
};
void counted_enter(struct counted_call_state *c, enum counted_call call, const void *parameters, const char *symbol);
int counted_leave(struct counted_call_state *c, int result);
/* It has run: one range. */
void counted_ran(const char *symbol);

#define COUNTED_DEVICES 4
/* From now on this thread launches there. */
void counted_use(int device);
/* Of the calling thread; and the context of a device, and back. */
int counted_device(void);
void *counted_context(int device);
int counted_device_of(const void *context);
/* What the runtime would call. */
int counted_runtime_start(void);
int counted_runtime_stop(void);

/* The driver tells whoever listens of each call, on its thread; and of each kernel that runs. */
void counted_listen(void (*event)(const struct counted_event *), void (*ran)(const char *symbol));
/* Allocations, for the checkpoint. Returns how many. */
size_t counted_allocations(void **addresses, size_t *sizes, size_t room);
/* The context ends, and all its memory with it; the next one has the same address. */
void counted_on_reset(void (*reset)(void));
/* A module is loaded. */
void counted_on_load(void (*load)(void));
/* COUNTED_LOG gets a line. */
void counted_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* COUNTED_FAIL=function:nth:result: the nth call of a function (from 1) gives that; nth 0: all do. Returns 0 where it is not this one. */
int counted_fails(const char *function);

/* COUNTED_FAULT=function:nth:result: the nth call of it that Sonde makes (from 1; 0: each) does nothing and gives that. COUNTED_CALLS: a file that
 * gets a line for each of Sonde's calls. COUNTED_END: one that gets what failed, and what is left at the end. */
int counted_fault(const char *function, void *caller);
void counted_left(const char *what, int number);
#define COUNTED_FUNCTION(name, parameters, arguments) \
	static int do_##name parameters; \
	__attribute__((visibility("default"))) int name parameters \
	{ \
		int fault = counted_fault(#name, __builtin_return_address(0)); \
\
		return fault ? fault : do_##name arguments; \
	} \
	static int do_##name parameters

#endif
