/* One capture of a session: from parked to a report and back. The report is completed by a copy of the process, in
 * which everything ends as if the recording did; the original goes on with all it knows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/monotonic.h"
#include "record/control/cuda_page.h"
#include "record/control/finish.h"
#include "record/control/flight.h"
#include "record/control/steering.h"
#include "record/session/window.h"

static void start_counting(struct recorder *r)
{
	struct session *s = &r->drain.session;

	s->events = s->dropped = s->gpu_lost = s->unwritten = 0;
	memset(s->unreported, 0, sizeof(s->unreported));
	s->full = 0;
	r->drain.full = 0;
	r->steering->windows_before = r->windows;
}

static void take_options(struct recorder *r, const struct steer_request *request)
{
	struct steering *st = r->steering;

	snprintf(st->output, sizeof(st->output), "%s", request->output);
	st->options = *st->launched;
	st->options.output = st->output;
	st->options.force_overwrite = request->flags & STEER_OVERWRITE;
	if (request->flags & STEER_UNNAMED && st->launched->output) {
		st->options.output = st->launched->output;
		st->options.force_overwrite |= st->launched->force_overwrite;
	}
	steer_capture_apply(&request->capture, &st->options);
	st->after = request->capture.after;
	r->options = &st->options;
}

/* What was not arranged for before the program began. */
static void name_missing(struct recorder *r, const struct steer_request *request)
{
	const struct steer_capture *c = &request->capture;
	const struct profile_options *o = r->options, *launched = r->steering->launched;

	if (o->capture_range == CAPTURE_RANGE_CUDA_PROFILER && !(r->page->cuda_flags & RING_CUDA_PROFILER_API))
		recorder_note(r, "The program's calls of cudaProfilerStart are not recorded: it was launched without -t cuda.");
	if ((c->given & STEER_GIVEN(STEER_sample) && o->cpu.sample != SCOPE_NONE && o->cpu.sample != launched->cpu.sample) ||
	    (c->given & STEER_GIVEN(STEER_switches) && o->cpu.switches != SCOPE_NONE && o->cpu.switches != launched->cpu.switches))
		recorder_note(r, "The options of 'launch' for CPU samples and switches apply, not those of 'start'.");
	else if (launched->cpu.sample != SCOPE_NONE && o->cpu.sample == SCOPE_NONE && o->cpu.switches != SCOPE_NONE)
		recorder_note(r, "CPU samples are taken together with switches; --cpuctxsw=none turns both off.");
}

/* Agents look at what they wait for only while a window can open. */
static void fill_page(struct recorder *r)
{
	window_fill_page(r->page, r->options);
	cuda_page_window(r->page, r->options);
	if (r->options->capture_range == CAPTURE_RANGE_NVTX || r->options->capture_range == CAPTURE_RANGE_SCHEDULE)
		r->page->modules |= RING_GATE_NVTX;
	/* Steps count from this capture on. */
	window_steps_begin(r);
}

/* Before the program runs the time has not begun. */
static void begin_window(struct recorder *r)
{
	r->recording_over = RECORDING_GOES_ON;
	r->window_begun = 0;
	r->stop_at = 0;
	r->start_at = r->options->delay_ns && r->started ? monotonic_ns() + r->options->delay_ns : 0;
	if (!r->options->delay_ns)
		window_begin(r);
}

int capture_begin(struct recorder *r, const struct steer_request *request, struct error *err)
{
	int result;

	take_options(r, request);
	drain_hold(&r->drain);
	drain_forget_open(&r->drain);
	result = recorder_open_output(r, (pid_t)r->target_pid, err);
	if (result == 0)
		start_counting(r);
	drain_let_go(&r->drain);
	if (result < 0) {
		r->options = r->steering->launched;
		return result;
	}
	name_missing(r, request);
	fill_page(r);
	begin_window(r);
	return 0;
}

static int park(struct recorder *r, struct error *err)
{
	int result = report_writer_park(r->drain.session.writer, err);

	buf_clear(&r->notes);
	r->path[0] = '\0';
	r->options = r->steering->launched;
	return result;
}

int capture_drop(struct recorder *r, struct error *err)
{
	int result;

	drain_hold(&r->drain);
	report_writer_flush(r->drain.session.writer);
	report_writer_remove(r->drain.session.writer);
	result = park(r, err);
	drain_let_go(&r->drain);
	return result;
}

/* Of the time before the window closed; the program's last records may have come later. */
static int cut(struct recorder *r, struct error *err)
{
	struct session *s = &r->drain.session;
	int64_t end = timebase_convert(&s->time, r->closed_ticks), begins = 0;
	int result;

	end = end < s->now ? end : s->now;
	result = report_writer_cut(s->writer, NULL, 0, end - r->steering->keep_ns, &begins, err);
	if (result == 0)
		s->events = flight_events(s);
	return result;
}

static void complete_in_copy(struct recorder *r, int to)
{
	struct control_message *message = calloc(1, sizeof(*message));

	prctl(PR_SET_NAME, "sonde-report");
	if (!message)
		_exit(1);
	message->value = r->steering->keep_ns ? cut(r, &message->error) : 0;
	if (message->value == 0) {
		drain_finish_copy(&r->drain);
		recorder_write_report(r, message);
	}
	send(to, message, sizeof(*message), MSG_NOSIGNAL);
	_exit(0);
}

static int fork_copy(struct recorder *r, struct error *err)
{
	struct steering *st = r->steering;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, errno, "cannot make a socket");
	st->copy_pid = fork();
	if (st->copy_pid == 0) {
		close(pair[0]);
		/* The session ends with its recorder, not with this copy. */
		close(r->control.fd);
		close(st->listener.fd);
		close(r->listener.fd);
		complete_in_copy(r, pair[1]);
	}
	close(pair[1]);
	if (st->copy_pid < 0) {
		close(pair[0]);
		return error_set_errno(err, errno, "cannot start the process that completes the report");
	}
	st->copy.fd = pair[0];
	recorder_watch_source(r, &st->copy);
	return 0;
}

int capture_end(struct recorder *r, struct error *err)
{
	int result;

	notices_check(r, 0);
	drain_hold(&r->drain);
	report_writer_flush(r->drain.session.writer);
	result = fork_copy(r, err);
	if (result == 0)
		result = park(r, err);
	drain_let_go(&r->drain);
	return result;
}
