#include "record/control/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/system/monotonic.h"
#include "base/text/path.h"
#include "record/control/attach.h"
#include "record/control/finish.h"
#include "record/control/flight.h"
#include "record/control/steering.h"
#include "record/session/window.h"

#define SECOND 1000000000ll
/* Copies of timers go through the agent's rings, which are not as roomy as the kernel's. */
#define TIMER_STACK 16384u
/* Between a polite signal and going on without the process. */
#define GRACE_NS (5 * SECOND)
#define CHILD_GRACE_NS (2 * SECOND)
#define SETTLE_STEP_NS (SECOND / 100)
#define LOOK_STEP_NS (SECOND / 50)

int64_t recorder_raw_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

void recorder_note(struct recorder *r, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (r->notes.len + strlen(text) + 2 < RECORD_NOTES_SIZE)
		buf_printf(&r->notes, "%s\n", text);
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void close_all_but(int *keep, size_t count)
{
	unsigned first = 3;

	qsort(keep, count, sizeof(*keep), compare_ints);
	for (size_t i = 0; i < count; i++) {
		if (keep[i] < (int)first)
			continue;
		if (keep[i] > (int)first)
			close_range(first, (unsigned)keep[i] - 1, 0);
		first = (unsigned)keep[i] + 1;
	}
	close_range(first, ~0u, 0);
}

/* Nothing of the terminal, and no descriptor somebody else waits for, stays with us. */
static void leave_terminal(struct recorder *r)
{
	int keep[] = { r->control.fd, r->captured.out, r->captured.err, r->options->kernels ? r->options->kernels->progress : -1 };
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	close_all_but(keep, COUNT_OF(keep));
}

/* Limits of the shell are for programs: as far as we may, we do without. The target, started by another process, keeps its own. */
static void raise_limits(void)
{
	static const int limits[] = { RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA };
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit own;

	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		if (setrlimit(limits[i], &none) == 0 || getrlimit((__rlimit_resource_t)limits[i], &own) < 0)
			continue;
		own.rlim_cur = own.rlim_max;
		setrlimit(limits[i], &own);
	}
	if (getrlimit(RLIMIT_NOFILE, &own) == 0) {
		own.rlim_cur = own.rlim_max;
		setrlimit(RLIMIT_NOFILE, &own);
	}
}

/* The terminal's signals do not reach another session. One sent to us on purpose (the machine
 * is shut down) ends the recording, not the report; those that schedulers send to all processes
 * of a job are for the program. A limit on sizes is an error of writing. */
static void set_signals(struct recorder *r)
{
	static const int ignored[] = { SIGPIPE, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXFSZ };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set;

	for (size_t i = 0; i < COUNT_OF(ignored); i++)
		sigaction(ignored[i], &ignore, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (r->options->flight.on)
		sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_SETMASK, &set, NULL);
	r->signals = (struct source){ SOURCE_SIGNAL, signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK) };
}

static int send_control(struct recorder *r, const struct control_message *message)
{
	return send(r->control.fd, message, sizeof(*message), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* A session's writer takes a name only for a capture. */
static int begin_report(struct recorder *r, char *ret_note, size_t note_size, struct error *err)
{
	struct session *s = &r->drain.session;

	if (r->steering)
		return report_writer_unpark(s->writer, r->path, r->options->force_overwrite, ret_note, note_size, err);
	return report_writer_open(&s->writer, r->path, r->options->force_overwrite, ret_note, note_size, err);
}

int recorder_open_output(struct recorder *r, pid_t pid, struct error *err)
{
	const struct profile_options *o = r->options;
	char note[1024] = "";
	int number = 1, result;

	for (int attempt = 0; attempt < 1000; attempt++) {
		number = o->output_path(o, pid, number, r->path, sizeof(r->path), err);
		if (number < 0)
			return number;
		result = begin_report(r, note, sizeof(note), err);
		/* Somebody else took the number in the meantime. */
		if (number == 0 || (result != -EEXIST && result != -EBUSY))
			break;
		number++;
	}
	if (result == 0 && note[0])
		recorder_note(r, "%s", note);
	return result;
}

static void watch_target(struct recorder *r)
{
	struct watch *w = watch_add(r, r->target_pid, 0);

	if (w)
		snprintf(w->name, sizeof(w->name), "%s", path_name(r->options->program));
}

int recorder_watch_source(struct recorder *r, struct source *source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };

	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, source->fd, &event);
}

void recorder_close_source(struct recorder *r, const struct source *source)
{
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, source->fd, NULL);
	close(source->fd);
}

static uint64_t ticks_since_boot(void)
{
	long per_second = sysconf(_SC_CLK_TCK);
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * (uint64_t)per_second + (uint64_t)now.tv_nsec * (uint64_t)per_second / 1000000000u;
}

/* Samples without perf are taken by timers in the target. */
static int open_perf(struct recorder *r, struct error *err)
{
	struct session *s = &r->drain.session;
	const struct cpu_options *cpu = &r->options->cpu;
	struct error why;

	if (!perf_begin(&r->drain.perf, s, r->options, r->target_pid, &why))
		return 0;
	if (r->options->attach_pid && !attach_wants_agents(r->options))
		return error_set(err, EPERM,
				 "process %u cannot be recorded: perf events are refused (%s), and agents are turned off or cannot be "
				 "loaded; 'sonde doctor' prints how to allow perf events",
				 r->target_pid, why.text);
	r->page->modules |= RING_GATE_SAMPLE;
	r->page->sample_hz = (uint32_t)cpu->frequency;
	r->page->sample_stack_size = cpu->backtrace == BACKTRACE_NONE ? 0 :
				     cpu->stack_size < TIMER_STACK    ? (uint32_t)cpu->stack_size :
									TIMER_STACK;
	recorder_note(r, "Samples are taken by timers in the program: perf events are refused (%s).", why.text);
	session_diagnose(s, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0,
			 "Samples are taken by timers in the program, without the kernel's part and without switches: perf events are "
			 "refused (%s). 'sonde doctor' prints how to allow them.",
			 why.text);
	return 0;
}

static int set_up(struct recorder *r, pid_t pid, struct error *err)
{
	struct clock_snapshot first;
	int result = r->options->interactive ? report_writer_open_parked(&r->drain.session.writer, err) : recorder_open_output(r, pid, err);

	if (result < 0)
		return result;
	r->target_pid = (uint32_t)pid;
	r->boot_ticks = ticks_since_boot();
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0 || recorder_watch_source(r, &r->control) < 0 || recorder_watch_source(r, &r->signals) < 0)
		return error_set_errno(err, errno, "cannot wait for events");
	clock_take_snapshot(clock_tsc_trusted(), &first);
	timebase_init(&r->drain.session.time, clock_tsc_trusted(), first.raw);
	roster_init(&r->drain.session.roster);
	if (r->options->interactive && (result = steering_begin(r, err)) < 0)
		return result;
	if (r->options->flight.on && (result = flight_begin(r, err)) < 0)
		return result;
	if ((result = agents_make_session_page(r, err)) < 0 || (result = agents_listen(r, err)) < 0)
		return result;
	if (window_prepare(r) < 0 || (r->capture.fd && recorder_watch_source(r, &r->capture) < 0))
		return error_set_errno(err, errno, "cannot wait for the program's window");
	if (r->options->attach_pid && (result = attach_prepare(r, err)) < 0)
		return result;
	/* Before there are threads: it forks. */
	gpu_monitor_begin(&r->drain.gpu, &r->drain.session, &r->options->gpu, r->page, r->drain.doorbell);
	watch_target(r);
	meta_begin(r);
	if ((result = open_perf(r, err)) < 0 || (result = attach_start_helper(r, err)) < 0)
		return result;
	meta_sampling(r);
	if (r->flight && (result = flight_start(r, err)) < 0)
		return result;
	if (r->options->delay_ns == 0 && !r->options->interactive && !r->options->attach_pid)
		window_begin(r);
	gpu_monitor_wait(&r->drain.gpu, &r->options->gpu);
	perf_start_poller(&r->drain.perf, r->drain.doorbell);
	result = drain_start(&r->drain, err);
	if (result < 0 || !r->steering)
		return result;
	result = steering_first(r, err);
	if (result < 0)
		drain_finish(&r->drain);
	return result;
}

/* Removes what an attempt left that recorded nothing. */
static void discard(struct recorder *r)
{
	if (!r->drain.session.writer)
		return;
	if (r->path[0]) /* else a session's, between captures: its file has no name */
		report_writer_remove(r->drain.session.writer);
	report_writer_abandon(r->drain.session.writer);
}

static int receive(struct recorder *r, struct control_message *message)
{
	ssize_t n;

	do
		n = recv(r->control.fd, message, sizeof(*message), 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*message);
}

/* The target's exit is complete when its status is known, or nobody is left to tell it. */
static void settle_target(struct recorder *r)
{
	struct watch *w = watch_find(r, r->target_pid);
	struct mail *mail;

	if (!r->target_gone || !w || !(r->exit_known || r->command_line_gone))
		return;
	mail = r->exit_known && r->target_uid ? drain_mail(MAIL_EXIT) : NULL;
	if (mail) {
		mail->uid = r->target_uid;
		mail->value = r->exit_status;
		drain_post(&r->drain, mail);
	}
	watch_ended(r, w);
}

/* The program runs, and may have done so for a while: what it has asked for meanwhile stays. */
static void time_begins(struct recorder *r)
{
	if (r->window_begun)
		window_start_duration(r);
	else
		r->start_at = monotonic_ns() + r->options->delay_ns;
}

void recorder_on_control(struct recorder *r)
{
	struct control_message message;

	if (!receive(r, &message)) {
		epoll_ctl(r->epoll, EPOLL_CTL_DEL, r->control.fd, NULL);
		r->command_line_gone = 1;
		if (!r->started)
			r->finish = -1; /* it died before the target ran */
		else if (r->options->attach_pid)
			r->finish = 1;
		settle_target(r);
		return;
	}
	switch (message.kind) {
	case CONTROL_STARTED:
		r->started = 1;
		attach_begin(r);
		if (!r->steering || r->steering->state == STEER_CAPTURING)
			time_begins(r);
		return;
	case CONTROL_FAILED: r->finish = -1; return;
	case CONTROL_INTERRUPT:
		r->interrupts++;
		if (message.value == SIGTERM && !r->give_up_at)
			r->give_up_at = monotonic_ns() + GRACE_NS;
		return;
	case CONTROL_TOGGLE: window_toggle(r); return;
	case CONTROL_TRIGGER:
		if (r->flight)
			flight_trigger(r, TRIGGER_SIGNAL, "a signal asked for it", NULL);
		return;
	case CONTROL_EXITED:
		r->exit_known = 1;
		r->exit_status = message.value;
		settle_target(r);
		return;
	}
}

static void on_process(struct recorder *r, struct watch *w)
{
	if (w->pid == r->target_pid && !r->exit_known && !r->command_line_gone && !r->options->attach_pid) {
		/* Its status is on its way through the command line's process. */
		epoll_ctl(r->epoll, EPOLL_CTL_DEL, w->source.fd, NULL);
		r->target_gone = 1;
		return;
	}
	watch_ended(r, w);
}

static void look_at_unwatched(struct recorder *r)
{
	struct watch *next;

	for (struct watch *w = r->unwatched_count ? r->watches : NULL; w; w = next) {
		next = w->next;
		if (watch_sees_end(w))
			on_process(r, w);
	}
}

static void take_recorder_signal(struct recorder *r)
{
	struct signalfd_siginfo info;

	if (read(r->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info) && info.ssi_signo == SIGUSR2)
		flight_trigger(r, TRIGGER_SIGNAL, "a signal asked for it", NULL);
	else
		r->finish = 1;
}

static void on_event(struct recorder *r, struct source *source)
{
	switch (source->kind) {
	case SOURCE_CONTROL: recorder_on_control(r); return;
	case SOURCE_LISTENER: agents_accept(r); return;
	case SOURCE_CONNECTION: agents_readable(r, (struct connection *)source); return;
	case SOURCE_PROCESS: on_process(r, (struct watch *)source); return;
	case SOURCE_CAPTURE: window_requests(r); return;
	case SOURCE_STEER: steering_accept(r); return;
	case SOURCE_STEER_CLIENT: steering_readable(r, (struct steer_client *)source); return;
	case SOURCE_ATTACH: attach_readable(r); return;
	case SOURCE_COPY: steering_copy_done(r); return;
	case SOURCE_TRIGGER: flight_triggers(r); return;
	case SOURCE_FLIGHT_COPY: flight_copy_readable(r); return;
	case SOURCE_SIGNAL: take_recorder_signal(r); return;
	}
}

static void run_clock(struct recorder *r, int64_t now)
{
	if (r->start_at && now >= r->start_at) {
		r->start_at = 0;
		window_begin(r);
	}
	if (r->stop_at && now >= r->stop_at) {
		r->stop_at = 0;
		r->recording_over = RECORDING_ENDED_BY_CLOCK;
		window_close(r);
	}
}

static void end_processes(struct recorder *r, int signal, int64_t now, int64_t grace)
{
	if (r->killed)
		return;
	r->killed = 1;
	watch_find_strays(r);
	if (r->target_gone)
		watch_name_ended(r, signal);
	watch_kill_all(r, signal);
	if (!r->give_up_at || r->give_up_at > now + grace)
		r->give_up_at = now + grace;
}

/* The program started has ended: are others of its tree to be waited for? */
static void after_target(struct recorder *r, int64_t now)
{
	const struct profile_options *o = r->options;

	/* The recording lasts its time, or until 'stop', whatever exits. */
	if (!o->stop_on_exit && (r->stop_at || (r->steering && steering_owns_report(r)))) {
		steering_stay(r);
		return;
	}
	if (!r->watches)
		watch_find_strays(r);
	if (!r->watches) {
		r->finish = 1;
		return;
	}
	if (o->wait == PROFILE_WAIT_PRIMARY) {
		if (o->kill_signal)
			end_processes(r, o->kill_signal, now, CHILD_GRACE_NS);
		else
			r->finish = 1;
	} else if (r->interrupts && !r->give_up_at) {
		r->give_up_at = now + GRACE_NS;
	}
}

/* A program that ended its own recording goes on, unless it was said what is to become of it. */
static void after_recording(struct recorder *r, int64_t now)
{
	const struct profile_options *o = r->options;

	if (!o->kill_signal || (r->recording_over == RECORDING_ENDED_BY_PROGRAM && !o->kill_given))
		r->finish = 1;
	else
		end_processes(r, o->kill_signal, now, GRACE_NS);
}

void recorder_shut_down(struct recorder *r, int signal)
{
	if (signal)
		end_processes(r, signal, monotonic_ns(), GRACE_NS);
	else
		r->finish = 1;
}

static void decide_sampling(struct recorder *r)
{
	int64_t now = monotonic_ns();
	int target_ended = r->target_gone && !watch_find(r, r->target_pid);

	run_clock(r, now);
	steering_step(r, now);
	flight_step(r, now);
	if (r->finish)
		return;
	if (r->recording_over && window_is_settled(r, now))
		after_recording(r, now);
	if (r->interrupts >= (r->options->attach_pid ? 1 : 2) || (r->give_up_at && now >= r->give_up_at))
		r->finish = 1;
	if (!r->finish && target_ended)
		after_target(r, now);
}

static int timeout_ms(const struct recorder *r)
{
	int64_t now = monotonic_ns(), next = INT64_MAX;
	int64_t times[] = { r->start_at, r->stop_at, r->give_up_at, r->flight ? r->flight->due : 0 };

	for (size_t i = 0; i < COUNT_OF(times); i++)
		if (times[i] && times[i] < next)
			next = times[i];
	if ((r->recording_over || r->steering) && !window_is_settled(r, now))
		next = now + SETTLE_STEP_NS;
	if ((r->notices || r->connections || (r->steering && r->steering->clients)) && next > now + SECOND / 5)
		next = now + SECOND / 5;
	if (r->unwatched_count && next > now + LOOK_STEP_NS)
		next = now + LOOK_STEP_NS;
	if (next == INT64_MAX)
		return -1;
	if (next <= now)
		return 0;
	return (next - now) / 1000000 < 60000 ? (int)((next - now + 999999) / 1000000) : 60000;
}

/* Not waited for: a command line that is stopped must not stop the recording. */
static void report_window(struct recorder *r, uint32_t number)
{
	struct control_message *message = calloc(1, sizeof(*message));

	if (!message)
		return;
	message->kind = CONTROL_WINDOW;
	message->value = (int32_t)number;
	snprintf(message->result.path, sizeof(message->result.path), "%s", r->path);
	send(r->control.fd, message, sizeof(*message), MSG_NOSIGNAL | MSG_DONTWAIT);
	free(message);
}

/* Several may have opened since, or before it was known that the program runs. */
static void report_windows(struct recorder *r)
{
	if (!r->options->window_opened || !r->started || r->command_line_gone)
		return;
	while (r->windows_reported != r->windows)
		report_window(r, ++r->windows_reported);
}

static void serve_recorder_events(struct recorder *r)
{
	struct epoll_event event;

	while (!r->finish) {
		/* One at a time: handling one may free what another points to. */
		if (epoll_wait(r->epoll, &event, 1, timeout_ms(r)) == 1)
			on_event(r, event.data.ptr);
		notices_check(r, 0);
		agents_timeout(r);
		look_at_unwatched(r);
		decide_sampling(r);
		report_windows(r);
	}
}

static void tear_down(struct recorder *r)
{
	agents_release(r);
	attach_release(r);
	notices_release(r);
	watch_release(r);
	window_release(r);
	drain_release(&r->drain);
	buf_release(&r->notes);
}

int recorder_main(const struct profile_options *options, const struct secret *secret, const struct captured *captured,
		  enum elf_peek_kind target_kind, int control)
{
	struct recorder *r = calloc(1, sizeof(*r));
	struct control_message *message = calloc(1, sizeof(*message));
	int result;

	if (!r || !message)
		return 1;
	r->options = options;
	r->secret = secret;
	r->captured = *captured;
	r->target_kind = target_kind;
	r->control = (struct source){ SOURCE_CONTROL, control };
	prctl(PR_SET_NAME, "sonde-recorder");
	leave_terminal(r);
	raise_limits();
	set_signals(r);
	if (!receive(r, message) || message->kind != CONTROL_TARGET)
		return 1;
	result = set_up(r, message->value, &message->error);
	message->kind = result < 0 ? CONTROL_REFUSED : CONTROL_READY;
	message->value = result;
	snprintf(message->result.path, sizeof(message->result.path), "%s", r->path);
	send_control(r, message);
	if (result < 0) {
		discard(r);
		if (r->steering)
			steering_end(r, NULL);
		return 1;
	}
	if (r->flight)
		flight_announce(r);
	serve_recorder_events(r);
	attach_end(r);
	if (r->finish < 0) {
		drain_finish(&r->drain);
		discard(r);
	} else if (r->steering && !steering_owns_report(r)) {
		recorder_finish_idle(r, message);
		send_control(r, message);
	} else {
		recorder_finish(r, message);
		send_control(r, message);
	}
	if (r->steering)
		steering_end(r, message);
	flight_end(r);
	tear_down(r);
	free(message);
	free(r);
	return 0;
}
