#include "record/window.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fmt/cuda_wire.h"
#include "record/recorder.h"

#define SECOND 1000000000ll
/* CUPTI gives its records late; the agent asks it for them when the window closes. */
#define SETTLE_NS (1 * SECOND)

void gate_set(struct ring_session *page, uint32_t gate)
{
	atomic_store(&page->gate, gate);
	syscall(SYS_futex, &page->gate, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int window_prepare(struct recorder *r)
{
	int ends[2];

	if (r->options->capture_range == CAPTURE_RANGE_NONE)
		return 0;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	r->capture = (struct source){ SOURCE_CAPTURE, ends[0] };
	r->drain.session.capture_fd = ends[1];
	return 0;
}

void window_release(struct recorder *r)
{
	if (!r->drain.session.capture_fd)
		return;
	close(r->drain.session.capture_fd);
	close(r->capture.fd);
}

/* A window that is open stays the same one: writers take another number for a pause. */
static void window_open(struct recorder *r)
{
	if (atomic_load(&r->page->gate) == 0)
		gate_set(r->page, ring_gate(r->page->modules, ++r->windows));
	perf_window(&r->drain.perf, 1);
	if (r->options->duration_ns && r->started && !r->stop_at)
		r->stop_at = recorder_now() + r->options->duration_ns;
}

void window_begin(struct recorder *r)
{
	if (r->options->capture_range == CAPTURE_RANGE_NONE)
		window_open(r);
	else
		r->page->cuda_flags |= RING_CUDA_ARMED;
}

void window_close(struct recorder *r)
{
	gate_set(r->page, 0);
	perf_window(&r->drain.perf, 0);
	r->settle_by = recorder_now() + SETTLE_NS;
}

/* There will be no other window: the calls that would open one cost nothing any more. */
static void disarm(struct recorder *r)
{
	r->page->cuda_flags &= ~(uint32_t)RING_CUDA_ARMED;
}

static void stop(struct recorder *r)
{
	const struct profile_options *o = r->options;

	if (o->capture_end == CAPTURE_END_NONE || atomic_load(&r->page->gate) == 0)
		return;
	window_close(r);
	if (o->capture_end == CAPTURE_END_STOP_SHUTDOWN && r->windows >= o->capture_repeats) {
		disarm(r);
		r->recording_over = RECORDING_ENDED_BY_PROGRAM;
	} else if (o->capture_end == CAPTURE_END_STOP && r->windows >= o->capture_repeats) {
		disarm(r);
	}
}

void window_requests(struct recorder *r)
{
	struct capture_message message;

	while (read(r->capture.fd, &message, sizeof(message)) == (ssize_t)sizeof(message)) {
		if (!(r->page->cuda_flags & RING_CUDA_ARMED) ||
		    message.source != CAPTURE_CUDA_PROFILER)
			continue;
		if (message.request == CAPTURE_START)
			window_open(r);
		else
			stop(r);
	}
}

int window_is_settled(const struct recorder *r, int64_t now)
{
	return now >= r->settle_by || !atomic_load(&r->drain.session.unfinished);
}

void window_explain(struct recorder *r)
{
	static const char why[] = "Nothing was recorded: the program did not call cudaProfilerStart, "
				  "as --capture-range=cudaProfilerApi waits for.";

	if (r->options->capture_range == CAPTURE_RANGE_NONE || r->windows)
		return;
	recorder_note(r, "%s", why);
	session_diagnose(&r->drain.session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0, "%s", why);
}
