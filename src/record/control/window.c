#include "record/session/window.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/arch.h"
#include "base/system/monotonic.h"
#include "fmt/cuda_wire.h"
#include "record/control/attach.h"
#include "record/control/recorder.h"
#include "record/control/steering.h"

#define SECOND 1000000000ll
/* CUPTI gives its records late; the agent asks it for them when the window closes. */
#define SETTLE_NS (1 * SECOND)

void gate_set(struct ring_session *page, uint32_t gate)
{
	atomic_store(&page->gate, gate);
	syscall(SYS_futex, &page->gate, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void fill_text(char *to, uint32_t *size, const char *text, size_t room)
{
	*size = (uint32_t)strnlen(text, room);
	memcpy(to, text, *size);
}

void window_fill_page(struct ring_session *page, const struct profile_options *o)
{
	if (o->capture_range != CAPTURE_RANGE_NVTX && o->capture_range != CAPTURE_RANGE_SCHEDULE)
		return;
	page->nvtx_numbered = o->capture_range == CAPTURE_RANGE_SCHEDULE;
	fill_text(page->nvtx_range, &page->nvtx_range_size, o->nvtx_capture.range, sizeof(page->nvtx_range));
	fill_text(page->nvtx_domain, &page->nvtx_domain_size, o->nvtx_capture.domain, sizeof(page->nvtx_domain));
}

int window_prepare(struct recorder *r)
{
	int ends[2];

	/* A session's captures say each for itself what opens a window. */
	if (r->options->capture_range == CAPTURE_RANGE_NONE && !r->options->interactive)
		return 0;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	r->capture = (struct source){ SOURCE_CAPTURE, ends[0] };
	r->drain.session.capture_fd = ends[1];
	r->drain.session.page = r->page;
	return 0;
}

void window_release(struct recorder *r)
{
	free(r->spans);
	if (!r->drain.session.capture_fd)
		return;
	close(r->drain.session.capture_fd);
	close(r->capture.fd);
}

static int64_t time_now(const struct recorder *r)
{
	return recorder_raw_now() - r->drain.session.time.start;
}

static void begin_span(struct recorder *r)
{
	struct session *s = &r->drain.session;

	atomic_store(&s->window_before, atomic_load(&s->window_end));
	atomic_store(&s->window_start, recorder_raw_now());
	atomic_store(&s->window_end, 0);
	r->windows++;
	if (windows_so_far(r) == 1)
		r->span_count = 0;
	if (!r->spans)
		r->spans = calloc(WINDOW_SPANS, sizeof(*r->spans));
	if (r->spans && r->span_count < WINDOW_SPANS)
		r->spans[r->span_count++] = (struct window_span){ time_now(r), 0, r->cycle, r->steps ? r->steps - 1 : 0 };
}

static void end_span(struct recorder *r)
{
	if (atomic_load(&r->drain.session.window_start) && !atomic_load(&r->drain.session.window_end))
		atomic_store(&r->drain.session.window_end, recorder_raw_now());
	if (r->span_count && !r->spans[r->span_count - 1].end)
		r->spans[r->span_count - 1].end = time_now(r);
}

void window_next(struct recorder *r)
{
	end_span(r);
	begin_span(r);
}

/* Writers take another number of a window for a pause. */
void window_open(struct recorder *r)
{
	if ((atomic_load(&r->page->gate) & r->page->modules) == 0) {
		begin_span(r);
		atomic_store(&r->page->windows, r->windows);
		gate_set(r->page, ring_gate(r->page->modules, r->windows));
	}
	if (r->options->cpu.sample != SCOPE_NONE || r->options->cpu.switches != SCOPE_NONE)
		perf_window(&r->drain.perf, 1);
	window_start_duration(r);
}

void window_start_duration(struct recorder *r)
{
	int is_open = (atomic_load(&r->page->gate) & ~(uint32_t)RING_GATE_WARM) != 0;

	if (r->options->duration_ns && is_open && r->started && !r->stop_at && !attach_is_entering(r))
		r->stop_at = monotonic_ns() + r->options->duration_ns;
}

static uint32_t awaited_range(const struct profile_options *o)
{
	return RING_NVTX_ARMED | RING_NVTX_TELL | (o->nvtx_capture.any_domain ? RING_NVTX_ANY_DOMAIN : 0) |
	       (o->capture_end == CAPTURE_END_NONE ? RING_NVTX_KEEP_OPEN : 0) |
	       (o->capture_range == CAPTURE_RANGE_SCHEDULE ? RING_NVTX_STEPS : 0);
}

void window_begin(struct recorder *r)
{
	r->window_begun = 1;
	switch (r->options->capture_range) {
	case CAPTURE_RANGE_NONE: window_open(r); return;
	case CAPTURE_RANGE_CUDA_PROFILER: r->page->cuda_flags |= RING_CUDA_ARMED; return;
	case CAPTURE_RANGE_SCHEDULE:
		window_steps_begin(r);
		atomic_store(&r->page->nvtx_wait, awaited_range(r->options));
		return;
	case CAPTURE_RANGE_NVTX: atomic_store(&r->page->nvtx_wait, awaited_range(r->options)); return;
	case CAPTURE_RANGE_HOTKEY: r->hotkey_armed = 1; return;
	}
}

/* Of the clock that agents stamp their requests with. */
static uint64_t ticks_now(const struct recorder *r)
{
	return r->drain.session.time.use_tsc ? arch_cycles() : (uint64_t)recorder_raw_now();
}

void window_close(struct recorder *r)
{
	window_close_to(r, 0);
}

void window_close_to(struct recorder *r, uint32_t gate)
{
	r->closed_ticks = ticks_now(r);
	gate_set(r->page, gate);
	end_span(r);
	perf_window(&r->drain.perf, 0);
	r->settle_by = monotonic_ns() + SETTLE_NS;
}

void window_disarm(struct recorder *r)
{
	r->page->cuda_flags &= ~(uint32_t)RING_CUDA_ARMED;
	atomic_store(&r->page->nvtx_wait, 0);
	r->hotkey_armed = 0;
}

void window_end(struct recorder *r)
{
	window_disarm(r);
	window_close(r);
}

uint32_t windows_so_far(const struct recorder *r)
{
	return r->windows - (r->steering ? r->steering->windows_before : 0);
}

static void end_capture_window(struct recorder *r)
{
	const struct profile_options *o = r->options;
	int last = windows_so_far(r) >= o->capture_repeats;

	if (o->capture_end == CAPTURE_END_NONE || atomic_load(&r->page->gate) == 0)
		return;
	window_close(r);
	if (!last)
		return;
	window_disarm(r);
	/* A session's report is complete then in any case, and another can begin. */
	if (o->capture_end == CAPTURE_END_STOP_SHUTDOWN || (r->steering && !r->flight))
		r->recording_over = RECORDING_ENDED_BY_PROGRAM;
}

void window_toggle(struct recorder *r)
{
	if (!r->hotkey_armed)
		return;
	if (atomic_load(&r->page->gate) == 0)
		window_open(r);
	else
		end_capture_window(r);
}

static void cuda_request(struct recorder *r, const struct capture_message *message)
{
	if (!(r->page->cuda_flags & RING_CUDA_ARMED))
		return;
	if (message->request == CAPTURE_START)
		window_open(r);
	else
		end_capture_window(r);
}

/* The first range opens, and its own end closes. A request from before the end of a window has been answered by that
 * window: its thread is not waiting for another. */
static void nvtx_request(struct recorder *r, const struct capture_message *message)
{
	struct ring_session *page = r->page;

	if (message->request == CAPTURE_STOP) {
		/* A range may be ended by another thread than began it. */
		if (message->owner >> 32 == atomic_load(&page->window_owner) >> 32)
			end_capture_window(r);
		return;
	}
	if (!atomic_load(&page->nvtx_wait) || atomic_load(&page->gate) || message->ticks <= r->closed_ticks)
		return;
	atomic_fetch_and(&page->nvtx_wait, ~(uint32_t)RING_NVTX_TELL);
	atomic_store(&page->window_owner, message->owner);
	window_open(r);
}

void window_requests(struct recorder *r)
{
	struct capture_message message;

	while (read(r->capture.fd, &message, sizeof(message)) == (ssize_t)sizeof(message)) {
		if (message.source == CAPTURE_CUDA_PROFILER && r->options->capture_range == CAPTURE_RANGE_CUDA_PROFILER)
			cuda_request(r, &message);
		else if (message.source == CAPTURE_NVTX && r->options->capture_range == CAPTURE_RANGE_NVTX)
			nvtx_request(r, &message);
		else if (message.source == CAPTURE_NVTX && r->options->capture_range == CAPTURE_RANGE_SCHEDULE)
			window_step(r, &message);
	}
}

int window_is_settled(const struct recorder *r, int64_t now)
{
	return now >= r->settle_by || !atomic_load(&r->drain.session.unfinished);
}

void window_saw(struct window_seen *seen, const char *name, size_t size)
{
	char text[sizeof(seen->names[0])] = "";

	snprintf(text, sizeof(text), "%.*s", (int)(size < sizeof(text) ? size : sizeof(text)), name);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	for (uint32_t i = 0; i < seen->count; i++)
		if (strcmp(seen->names[i], text) == 0)
			return;
	if (seen->count < WINDOW_SEEN)
		memcpy(seen->names[seen->count++], text, sizeof(text));
	else
		seen->more = 1;
}

static void report_span(struct recorder *r, uint32_t number, const char *what, uint64_t value)
{
	char key[64];

	snprintf(key, sizeof(key), "window.%u.%s", number, what);
	session_fact(&r->drain.session, key, (int64_t)value);
}

void window_report_spans(struct recorder *r)
{
	for (uint32_t i = 0; i < r->span_count && windows_so_far(r); i++) {
		const struct window_span *span = &r->spans[i];

		report_span(r, i + 1, "start", (uint64_t)span->start);
		report_span(r, i + 1, "end", (uint64_t)(span->end ? span->end : r->drain.session.now));
		if (r->options->capture_range != CAPTURE_RANGE_SCHEDULE)
			continue;
		report_span(r, i + 1, "cycle", span->cycle);
		report_span(r, i + 1, "first_step", span->step);
	}
}
