/* What libsonde.so gives to further agent libraries of ours in the same process (libsonde-cuda.so),
 * so that they write into the same rings. They are built together and check the version all the
 * same: a process may carry libraries of two installations. */
#ifndef SONDE_AGENT_CORE_INTERFACE_H
#define SONDE_AGENT_CORE_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#include "fmt/filter/nvtx_filter.h"
#include "fmt/record.h"
#include "ring/ring_layout.h"

#define AGENT_INTERFACE_VERSION 7u

/* The program uses CUPTI itself. `used` is called before its call goes on, on its thread;
 * `released` behind a call by which it may have let go of CUPTI. */
struct agent_cupti_listener {
	void (*used)(const char *function, const char *library);
	void (*released)(void);
};

/* Calls of the CUDA driver, on the thread that makes them: behind cuProfilerStart, before cuProfilerStop, and before a context, a
 * stream, a module, a graph or managed memory is made. */
struct agent_driver_listener {
	void (*start)(void);
	void (*stop)(void);
	void (*making)(void);
};

/* The program is attached to, again: a recording begins, or is about to end. Never at the same time. `ready` follows on the
 * beginning, also of the first one, where the driver may have been initialised long ago. */
struct agent_attach_listener {
	void (*enter)(void);
	void (*leave)(void);
	void (*ready)(void);
};

/* NVTX ranges that are open now (RING_CUDA_NVTX): those that the calling thread has pushed, outermost first, then all that were started.
 * Names are to be copied, not kept. And names of contexts and streams; NULL: none was given. */
struct agent_nvtx_view {
	size_t (*ranges)(struct nvtx_open_range *ret, size_t room);
	const char *(*name_of)(const void *handle);
};

struct agent_interface {
	uint32_t version;
	uint32_t size;
	const struct ring_session *session;
	/* Attaches if that has not happened; 0 when this process is recorded. */
	int (*start)(void);
	int (*attached)(void);
	int (*on)(unsigned module);
	uint64_t (*now)(void);
	/* As agent_begin(), agent_begin_definition() and agent_end(). */
	void *(*begin)(uint32_t size);
	void *(*begin_definition)(uint32_t size);
	void (*end)(void *record, uint64_t head, uint32_t size);
	/* As begin(), for threads that are not the program's: waits while the pool is full, as long
	 * as the recorder goes on taking records out, and not once it has been seen to have
	 * stopped. */
	void *(*begin_patiently)(uint32_t size);
	/* Writes the calling thread's stack as RECORD_STACK records with this time. `size`: bytes
	 * at most. */
	void (*stack)(uint64_t time, uint32_t size);
	void (*diagnose)(enum diagnostic_severity severity, const char *text);
	void *(*permanent)(size_t size);
	/* A thread of ours, which the program's threads do not see begin: signals blocked, small
	 * stack. Returns an errno. */
	int (*start_thread)(void *(*routine)(void *), void *argument);
	/* Wakes the recorder now. */
	void (*ring_doorbell)(void);
	/* Counts on while the recorder reads. */
	uint32_t (*recorder_rounds)(void);
	/* Tells the recorder at once: enum ring_cuda_agent. */
	void (*cuda_is)(uint32_t how);
	/* `leaving` is called in a process that is about to end or to become another program
	 * (_exit, exec*), never in a forked child of it. One for each library. */
	int (*on_leaving)(void (*leaving)(void));
	void (*on_cupti_use)(const struct agent_cupti_listener *listener);
	/* Returns whether such calls are seen in this process: not all ways to the driver lead past us. */
	int (*on_driver_calls)(const struct agent_driver_listener *listener);
	/* As agent_ask_window(). */
	int (*ask_window)(uint32_t request, uint32_t source);
	/* `follow` is called when a window has opened or closed at the program's request, on the thread that asked
	 * and before it goes on. */
	void (*on_window)(void (*follow)(void));
	void (*on_attach)(const struct agent_attach_listener *listener);
	/* NULL while the program has not used NVTX, or nobody wants to know. */
	const struct agent_nvtx_view *(*nvtx)(void);
	/* `begun` is called behind each beginning of an NVTX range, on its thread; what it returns is kept with the range. */
	void (*on_nvtx_begin)(uint32_t (*begun)(void));
	/* `ended` is called behind each end of one, on the thread that ended it. */
	void (*on_nvtx_end)(void (*ended)(void));
	/* As agent_got_replace(). */
	void (*replace_import)(const void *inside, const char *name, void *function);
};

/* interface.c: for the NVTX module. */
void agent_provide_nvtx(const struct agent_nvtx_view *view) __attribute__((visibility("hidden")));
uint32_t agent_nvtx_begun(void) __attribute__((visibility("hidden")));
void agent_nvtx_ended(void) __attribute__((visibility("hidden")));

/* capture.c */
void agent_on_window(void (*follow)(void)) __attribute__((visibility("hidden")));

/* attach_cuda.c */
void agent_on_attach(const struct agent_attach_listener *listener) __attribute__((visibility("hidden")));

/* cupti_use.c */
void agent_on_cupti_use(const struct agent_cupti_listener *listener) __attribute__((visibility("hidden")));

/* driver_calls.c */
int agent_on_driver_calls(const struct agent_driver_listener *listener) __attribute__((visibility("hidden")));

/* Exported by libsonde.so: NULL when it has another version. */
const struct agent_interface *sonde_agent_interface(uint32_t version);

#endif
