/* The beginning, and what CUPTI calls back for. While a kernel is read no other thread launches anything or touches memory: calls
 * that could are counted while they last, and wait before they begin. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/cuda/records/decode.h"
#include "agent/cuda/life/life.h"
#include "agent/cuda/kernel/kernel.h"

struct kernel_agent kernel_agent;

static _Atomic uint32_t reading;              /* 1: a kernel is; a futex */
static _Atomic(void *) reader;                /* the thread that does it: where its errno is */
static _Atomic uint32_t others;               /* calls under way; a futex */
enum { KEPT_COUNTED = 1, KEPT_CAPTURED = 2 }; /* of a call, between its ends */
#define OVER (1u << 31)                       /* in it: all were read, and ends of calls are told no more */
static _Atomic uint32_t captures;             /* streams that are captured: nothing may be waited for meanwhile, which would end them */
static _Atomic int is_child;                  /* of a fork: CUDA does not work here, and the parent's calls never end */
static int left_open;                         /* reader's: its launch is the last pass, */
static int is_meeting;                        /* or one that PC sampling has to see */

static void wait_once(const _Atomic uint32_t *word, uint32_t value)
{
	raw_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}

void kernel_wait_while(const _Atomic uint32_t *word, uint32_t value)
{
	while (atomic_load(word) == value)
		wait_once(word, value);
}

void kernel_wake(const _Atomic uint32_t *word)
{
	raw_syscall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

static void enter_other_launch(void)
{
	for (;;) {
		kernel_wait_while(&reading, 1);
		atomic_fetch_add(&others, 1);
		if (!atomic_load(&reading))
			return;
		atomic_fetch_sub(&others, 1);
		kernel_wake(&others);
	}
}

static void leave_other_launch(void)
{
	atomic_fetch_sub(&others, 1);
	if (atomic_load(&reading))
		kernel_wake(&others);
}

/* Our own call is one of them. */
static void begin_alone(void)
{
	uint32_t none = 0, count;

	leave_other_launch(); /* one who is alone already may wait for just this */
	while (!atomic_compare_exchange_strong(&reading, &none, 1)) {
		none = 0;
		kernel_wait_while(&reading, 1);
	}
	atomic_store(&reader, (void *)&errno);
	while ((count = atomic_load(&others)) != 0 && !(count & OVER))
		wait_once(&others, count);
}

static void end_alone(void)
{
	atomic_store(&reader, NULL);
	atomic_fetch_add(&others, 1);
	atomic_store(&reading, 0);
	kernel_wake(&reading);
}

void kernel_begin_alone(void)
{
	enter_other_launch();
	begin_alone();
}

void kernel_end_alone(void)
{
	end_alone();
	leave_other_launch();
}

int kernel_is_alone(void)
{
	return atomic_load(&reader) == (void *)&errno;
}

static void from_kernel(struct kernel_launch *l, const struct cuda_launch_kernel *p)
{
	l->function = p->function;
	l->stream = p->stream;
	l->shared = p->shared;
	memcpy(l->grid, p->grid, sizeof(l->grid));
	memcpy(l->block, p->block, sizeof(l->block));
}

static void from_config(struct kernel_launch *l, const struct cuda_launch_kernel_ex *p)
{
	const struct cuda_launch_config *c = p->config;

	l->function = p->function;
	l->stream = c->stream;
	l->shared = c->shared;
	memcpy(l->grid, c->grid, sizeof(l->grid));
	memcpy(l->block, c->block, sizeof(l->block));
	for (uint32_t i = 0; c->attributes && i < c->attribute_count; i++)
		if (c->attributes[i].id == CUDA_LAUNCH_CLUSTER)
			memcpy(l->cluster, c->attributes[i].value, sizeof(l->cluster));
}

int kernel_describe_call(struct kernel_launch *l, enum kernel_call call, const struct cupti_call_data *data)
{
	const struct cuda_launch_kernel_ex *ex = data->parameters;

	*l = (struct kernel_launch){ .call = call,
				     .parameters = data->parameters,
				     .name = data->symbol,
				     .context = data->context,
				     .context_id = data->context_id,
				     .correlation = data->correlation };
	if (call == KERNEL_CALL_KERNEL_EX && !ex->config)
		return -1;
	if (call == KERNEL_CALL_KERNEL_EX)
		from_config(l, ex);
	else
		from_kernel(l, data->parameters);
	return 0;
}

static int is_captured(void *stream)
{
	int status = CUDA_CAPTURE_NONE;

	return kernel_agent.driver.cuStreamIsCapturing && kernel_agent.driver.cuStreamIsCapturing(stream, &status) == 0 &&
	       status != CUDA_CAPTURE_NONE;
}

/* Pages of results need to know the devices; the driver answers by the time of a launch. Only while alone. */
static void report_devices(void)
{
	static int reported;

	if (!reported)
		reported = cuda_devices_look();
}

static const char captured[] = "a stream was being captured, and Sonde cannot wait during a capture";

static void launch(enum kernel_call call, const struct cupti_call_data *data)
{
	int is_capturing = atomic_load(&captures) != 0;
	struct kernel_launch l;

	if (kernel_choose_done() || kernel_describe_call(&l, call, data) < 0 || is_captured(l.stream))
		return;
	begin_alone();
	if (atomic_load(&others) & OVER) {
		end_alone();
		return;
	}
	if (!kernel_batch_is_loaded(&l))
		kernel_batch_close();
	if (kernel_choose(&l)) {
		report_devices();
		left_open = is_capturing ? kernel_replay_refuse(&kernel_agent.replay, &l, captured) :
					   kernel_replay_enter(&kernel_agent.replay, &l, &kernel_agent.request);
	} else {
		kernel_batch_pass_over(&l);
	}
	if (!left_open && !is_capturing && kernel_source_is_new(&l, &kernel_agent.request))
		left_open = is_meeting = kernel_batch_meet(&l, &kernel_agent.request);
	if (!left_open)
		end_alone();
}

/* A call that could see what launches did: before it, they are read. */
static void close_batch(void)
{
	if (!kernel_batch_is_open())
		return;
	begin_alone();
	kernel_batch_close();
	end_alone();
}

/* It may wait for long: it is not one that others wait for. */
static void can_see_launches(void)
{
	if (!kernel_batch_is_open())
		return;
	enter_other_launch();
	close_batch();
	leave_other_launch();
}

/* Of a graph's launch: its kernels one by one, or all of it. */
static void launch_graph(const struct cupti_call_data *data)
{
	const struct cuda_launch_graph *p = data->parameters;
	struct kernel_launch l = { .call = KERNEL_CALL_GRAPH,
				   .parameters = p,
				   .stream = p->stream,
				   .grid = { 1, 1, 1 },
				   .block = { 1, 1, 1 },
				   .name = KERNEL_GRAPH_NAME,
				   .context = data->context,
				   .context_id = data->context_id,
				   .correlation = data->correlation };

	if (kernel_choose_done() || is_captured(l.stream))
		return;
	begin_alone();
	kernel_batch_close();
	report_devices();
	if (atomic_load(&captures))
		kernel_report_left_alone(captured);
	else
		left_open = kernel_graph_launch(&l, &kernel_agent.request);
	if (!left_open)
		end_alone();
}

/* Executable graphs, as they are made, changed and destroyed. */
static void graph_call(enum kernel_call call, const struct cupti_call_data *data)
{
	void *const *p = data->parameters;
	int is_exit = data->site == CUPTI_SITE_EXIT, failed = is_exit && data->result && *(const int *)data->result != 0;

	begin_alone();
	if (call == KERNEL_CALL_INSTANTIATE && is_exit && !failed)
		kernel_graph_made(**(void *const *const *)p, p[1]);
	else if (call == KERNEL_CALL_GRAPH_UPDATE && is_exit && !failed)
		kernel_graph_made(p[0], p[1]);
	else if (call == KERNEL_CALL_GRAPH_CHANGE && is_exit)
		kernel_graph_changed(p[0]);
	else if (call == KERNEL_CALL_GRAPH_END && !is_exit)
		kernel_graph_forget(p[0]);
	end_alone();
}

/* A capture begins where no kernel is read, and ends with a call that is another's or fails only where the stream goes on being captured. */
static void capture_call(enum kernel_call call, const struct cupti_call_data *data)
{
	void *stream = *(void *const *)data->parameters;
	int is_exit = data->site == CUPTI_SITE_EXIT;

	if (call == KERNEL_CALL_CAPTURE && is_exit && (!data->result || *(const int *)data->result == 0))
		atomic_fetch_add(&captures, 1);
	else if (call == KERNEL_CALL_CAPTURE_END && !is_exit && is_captured(stream))
		*data->kept |= KEPT_CAPTURED;
	else if (call == KERNEL_CALL_CAPTURE_END && is_exit && *data->kept & KEPT_CAPTURED && !is_captured(stream) &&
		 atomic_load(&captures))
		atomic_fetch_sub(&captures, 1);
}

static int is_capture_call(enum kernel_call call)
{
	return call == KERNEL_CALL_CAPTURE || call == KERNEL_CALL_CAPTURE_END;
}

int kernel_is_capturing(void)
{
	return atomic_load(&captures) != 0;
}

static int is_graph_call(enum kernel_call call)
{
	return call == KERNEL_CALL_INSTANTIATE || call == KERNEL_CALL_GRAPH_UPDATE || call == KERNEL_CALL_GRAPH_CHANGE ||
	       call == KERNEL_CALL_GRAPH_END;
}

static void launch_failed(const struct cupti_call_data *data)
{
	if (!kernel_batch_is_open())
		return;
	begin_alone();
	kernel_batch_launch_failed(data->correlation, *(const int *)data->result);
	end_alone();
}

static void note_launch(const struct cupti_call_data *data)
{
	left_open = 0;
	if (is_meeting)
		kernel_batch_met();
	else
		kernel_replay_leave(&kernel_agent.replay, data->result ? *(const int *)data->result : 0);
	is_meeting = 0;
	end_alone();
}

static void look_for_end(void)
{
	if (!kernel_choose_done() || atomic_load(&others) & OVER)
		return;
	close_batch();
	/* Who waits for calls under way is woken: ends that were not told of would be waited for in vain. */
	atomic_fetch_or(&others, OVER);
	kernel_wake(&others);
	kernel_calls_enable(0);
	if (kernel_agent.request.kill)
		raw_syscall(SYS_kill, raw_getpid(), 15, 0, 0, 0, 0);
}

void kernel_look_for_end(void)
{
	look_for_end();
}

/* Ranges: calls are counted while they last, as others are; what they begin and end comes before. */
static void range_callback(enum kernel_call call, const struct cupti_call_data *data)
{
	int lasts = call != KERNEL_CALL_SEES && call != KERNEL_CALL_START && call != KERNEL_CALL_STOP;

	if (data->site == CUPTI_SITE_ENTER && !kernel_is_alone()) {
		kernel_range_call(call, data);
		if (lasts)
			enter_other_launch();
		*data->kept = lasts ? KEPT_COUNTED : 0;
		if (is_capture_call(call))
			capture_call(call, data);
	} else if (data->site == CUPTI_SITE_EXIT && *data->kept) {
		if (is_capture_call(call))
			capture_call(call, data);
		leave_other_launch();
		*data->kept = 0;
	}
}

void kernel_callback(uint32_t id, const struct cupti_call_data *data)
{
	enum kernel_call call = kernel_call(id);
	int is_launch = call == KERNEL_CALL_KERNEL || call == KERNEL_CALL_KERNEL_EX || call == KERNEL_CALL_COOPERATIVE;
	int ours = atomic_load(&reader) == (void *)&errno;

	if (call == KERNEL_CALL_ABOUT) {
		if (data->site == CUPTI_SITE_ENTER && !ours && kernel_call_may_load(id, data->parameters))
			can_see_launches();
		return;
	}
	if (call == KERNEL_CALL_NONE || kernel_profiler_call(0, id, data->site == CUPTI_SITE_EXIT)) {
		kernel_range_look();
		return;
	}
	if (kernel_agent.request.ranges) {
		range_callback(call, data);
		return;
	}
	if (call == KERNEL_CALL_SEES) {
		if (data->site == CUPTI_SITE_ENTER && !ours)
			can_see_launches();
		return;
	}
	if (data->site == CUPTI_SITE_ENTER && !ours) {
		enter_other_launch();
		*data->kept = KEPT_COUNTED;
		if (is_launch)
			launch(call, data);
		else if (call == KERNEL_CALL_GRAPH)
			launch_graph(data);
		else
			close_batch();
		if (is_graph_call(call))
			graph_call(call, data);
		else if (is_capture_call(call))
			capture_call(call, data);
	} else if (data->site == CUPTI_SITE_EXIT && *data->kept) {
		if (ours && left_open)
			note_launch(data);
		if ((is_launch || call == KERNEL_CALL_GRAPH) && data->result && *(const int *)data->result != 0)
			launch_failed(data);
		if (is_graph_call(call))
			graph_call(call, data);
		else if (is_capture_call(call))
			capture_call(call, data);
		if (is_launch || call == KERNEL_CALL_GRAPH)
			look_for_end();
		leave_other_launch();
		*data->kept = 0;
	}
}

/* Calls that end contexts have waited until no kernel is read. One that is not among them must not wait here: the driver may hold locks. */
void kernel_context_ends(const void *context)
{
	if (!atomic_load(&reading)) {
		kernel_range_context_ends(context);
		kernel_batch_context_ends(context);
		kernel_counters_forget(context);
	}
}

static void forked(void)
{
	atomic_store(&is_child, 1);
}

int kernel_is_child(void)
{
	return atomic_load(&is_child);
}

/* Launches that nothing came after; not while another thread is within a call that may never return. */
static void at_exit(void)
{
	if (!kernel_is_child() && !atomic_load(&others) && !atomic_load(&reading)) {
		kernel_range_end();
		can_see_launches();
	}
}

/* _exit and exec. The program may be in the middle of anything: its kernels are not read any more, which is said. */
static void leaving(void)
{
	if (!kernel_is_child() && !atomic_load(&reading))
		kernel_batch_give_up("the program ended by itself before it was read");
}

static void remember_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash && (size_t)(slash - path) < sizeof(kernel_agent.folder))
		snprintf(kernel_agent.folder, sizeof(kernel_agent.folder), "%.*s", (int)(slash - path), path);
}

static void look_out(void)
{
	kernel_report_process();
	if (kernel_agent.request.ranges)
		cuda_agent.core->on_nvtx_end(kernel_range_look);
	pthread_atfork(NULL, NULL, forked);
	cuda_agent.core->on_leaving(leaving);
	atexit(at_exit);
}

static int ask_for_calls(char *why)
{
	kernel_calls_prepare();
	if (kernel_calls_enable(1) == 0)
		return 0;
	kernel_calls_enable(0);
	snprintf(why, KERNEL_WHY_SIZE, "CUPTI does not report launches");
	return -1;
}

int kernel_begin(void)
{
	const char *path = getenv("SONDE_KERNEL_REQUEST");
	char why[KERNEL_WHY_SIZE] = "no request was passed to the agent", text[KERNEL_WHY_SIZE + 60];

	remember_folder(cuda_agent.cupti.path);
	if (path && kernel_request_load(&kernel_agent.request, path, why) == 0 &&
	    cupti_range_fill(&kernel_agent.range, cuda_agent.cupti.library, cuda_agent.cupti.path, why, sizeof(why)) == 0 &&
	    cuda_launcher_fill(&kernel_agent.driver, why, sizeof(why)) == 0 && kernel_choose_prepare(&kernel_agent.request, why) == 0) {
		if (!kernel_process_is_meant(&kernel_agent.request))
			return 0;
		if (ask_for_calls(why) == 0) {
			look_out();
			return 0;
		}
	}
	snprintf(text, sizeof(text), "CUDA is not counted: %s.", why);
	cuda_agent.core->diagnose(DIAGNOSTIC_ERROR, text);
	return -1;
}
