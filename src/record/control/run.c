/* record_run() and record_attach(): the part of a recording that happens in the caller's process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "record/control/attach.h"
#include "record/control/launch.h"
#include "record/profile_options.h"
#include "record/record.h"

/* After an interrupted recording is on disk, the target has this long to end. */
#define LAST_WAIT_MS 1000

/* How often the target is looked at where the kernel gives no pidfd. */
#define LOOK_AGAIN_MS 20

struct run {
	const struct profile_options *options;
	struct record_result *result;
	struct secret secret;
	struct captured captured;
	struct launch_signals signals;
	struct launch launch;
	pid_t recorder;
	int control;
	int signal_fd;
	int target_fd; /* pidfd */
	int target_ended;
	int keys_gone;
	int progress_gone;  /* with their terminal */
	int recorder_done;  /* its result came, or it is gone */
	int recorder_stays; /* the session goes on after its program */
	int got_result;
	int report; /* 0 or a negative errno, as its result said */
	int last_signal;
	struct control_message message;
};

static int make_secret(struct secret *secret, struct error *err)
{
	uint8_t bytes[WIRE_NAME_HEX / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes) ||
	    getrandom(secret->token, sizeof(secret->token), 0) != (ssize_t)sizeof(secret->token))
		return error_set_errno(err, EIO, "no random numbers are available");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(secret->name + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int has_hotkey(const struct run *run)
{
	return run->options->capture_range == CAPTURE_RANGE_HOTKEY;
}

/* Signals are read from a descriptor; no handler is set, so nothing leaks into the
 * target. Ignored ones (nohup) stay ignored. */
static int take_signals(struct run *run, struct error *err)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM };
	struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < COUNT_OF(taken); i++)
		sigaddset(&set, taken[i]);
	if (has_hotkey(run))
		sigaddset(&set, SIGCONT);
	sigprocmask(SIG_BLOCK, &set, &run->signals.mask);
	/* With SIGCHLD ignored no exit status would come. */
	sigaction(SIGCHLD, &normal, &run->signals.child);
	run->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signal_fd < 0)
		return error_set_errno(err, errno, "cannot wait for signals");
	return 0;
}

static void give_signals_back(struct run *run)
{
	struct signalfd_siginfo info;

	/* Those that came late were meant for the recording, which is over. */
	while (run->signal_fd >= 0 && read(run->signal_fd, &info, sizeof(info)) > 0)
		;
	sigaction(SIGCHLD, &run->signals.child, NULL);
	sigprocmask(SIG_SETMASK, &run->signals.mask, NULL);
}

/* A file without a name, on disk where that can be had: a program may print a lot. */
static int hidden_file(const char *name)
{
	static const char *const folders[] = { ".", "/var/tmp", "/tmp" };
	int fd = -1;

	for (size_t i = 0; i < COUNT_OF(folders) && fd < 0; i++)
		fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC | O_APPEND, 0600);
	return fd < 0 ? memfd_create(name, MFD_CLOEXEC) : fd;
}

static void capture_output(struct run *run)
{
	run->captured = (struct captured){ -1, -1 };
	if (run->options->show_output)
		return;
	run->captured.out = hidden_file("sonde-stdout");
	run->captured.err = hidden_file("sonde-stderr");
}

static int send_message(struct run *run, uint32_t kind, int value)
{
	memset(&run->message, 0, sizeof(run->message));
	run->message.kind = kind;
	run->message.value = value;
	return send(run->control, &run->message, sizeof(run->message), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* 1: a message came; 0: the recorder is gone. One that ended without having read all of ours resets the
 * connection, which is told once, before what it said last. */
static int receive_message(struct run *run)
{
	ssize_t n;

	do
		n = recv(run->control, &run->message, sizeof(run->message), 0);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	return n == (ssize_t)sizeof(run->message);
}

static int start_recorder(struct run *run, enum elf_peek_kind kind, struct error *err)
{
	int pair[2], size = 1 << 18;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, errno, "cannot make a socket");
	setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	run->recorder = fork();
	if (run->recorder == 0) {
		close(pair[0]);
		_exit(recorder_main(run->options, &run->secret, &run->captured, kind, pair[1]));
	}
	close(pair[1]);
	run->control = pair[0];
	if (run->recorder < 0)
		return error_set_errno(err, errno, "cannot start the recorder");
	return 0;
}

static int wait_until_ready(struct run *run, struct error *err)
{
	if (send_message(run, CONTROL_TARGET, run->launch.pid) < 0 || !receive_message(run))
		return error_set(err, EPIPE, "the recorder ended before it was ready");
	if (run->message.kind == CONTROL_READY) {
		memcpy(run->result->path, run->message.result.path, sizeof(run->result->path));
		return 0;
	}
	if (err)
		*err = run->message.error;
	return run->message.value < 0 ? run->message.value : -EIO;
}

static int start_target(struct run *run, enum elf_peek_kind kind, struct error *err)
{
	char **environment = launch_environment(run->options, &run->secret, kind);
	int r;

	if (!environment)
		return error_set(err, ENOMEM, "no memory for the environment");
	r = launch_prepare(&run->launch, run->options, environment, &run->captured, &run->signals, err);
	launch_free_environment(environment);
	if (r < 0)
		return r;
	r = wait_until_ready(run, err);
	if (r < 0) {
		launch_cancel(&run->launch);
		return r;
	}
	r = launch_go(&run->launch, run->options, err);
	if (r < 0) {
		send_message(run, CONTROL_FAILED, 0);
		return r;
	}
	run->result->started = 1;
	run->target_fd = (int)syscall(SYS_pidfd_open, run->launch.pid, 0);
	send_message(run, CONTROL_STARTED, 0);
	return 0;
}

/* The target runs already and has a parent of its own: only the recorder is waited for. */
static int start_attached(struct run *run, struct error *err)
{
	run->launch.pid = run->options->attach_pid;
	TRY(wait_until_ready(run, err));
	run->result->started = 1;
	run->target_ended = 1;
	send_message(run, CONTROL_STARTED, 0);
	return 0;
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void on_target(struct run *run)
{
	int status = 0;
	pid_t pid = waitpid(run->launch.pid, &status, WNOHANG);

	if (pid == 0 || (pid < 0 && errno == EINTR))
		return;
	run->target_ended = 1;
	run->result->exit_status = shell_status(status);
	send_message(run, CONTROL_EXITED, status);
}

static int can_ask_for_keys(const struct run *run)
{
	return has_hotkey(run) && run->options->key_fd >= 0 && !run->keys_gone;
}

static void on_keys(struct run *run)
{
	int presses = run->options->key_pressed(run->options->key_listener);

	run->keys_gone = presses < 0;
	while (presses-- > 0)
		send_message(run, CONTROL_TOGGLE, 0);
}

static int wants_progress(const struct run *run)
{
	return run->options->kernels && run->options->kernel_progress && !run->progress_gone;
}

static void on_progress(struct run *run)
{
	run->progress_gone = run->options->kernel_progress(run->options->progress_listener) < 0;
}

/* Those that mean something to the recording alone. */
static int is_our_own(struct run *run, int number)
{
	if (has_hotkey(run) && number == SIGUSR1)
		send_message(run, CONTROL_TOGGLE, 0);
	else if (run->options->flight.on && number == SIGUSR2)
		send_message(run, CONTROL_TRIGGER, 0);
	else if (number != SIGCONT)
		return 0;
	else if (can_ask_for_keys(run))
		on_keys(run);
	return 1;
}

/* From the terminal it went to the whole group already; that the terminal is gone only a
 * session's leader is told, and that a time is over only who set the alarm and became us. */
static int is_for_target(const struct signalfd_siginfo *info)
{
	return info->ssi_code != SI_KERNEL || info->ssi_signo == SIGALRM || (info->ssi_signo == SIGHUP && getsid(0) == getpid());
}

/* The others are the program's alone; where it is not ours, those that end a command end the recording. */
static int ends_recording(const struct run *run, int number)
{
	return number == SIGINT || number == SIGTERM || (run->options->attach_pid && number != SIGUSR1 && number != SIGUSR2);
}

static void take_run_signal(struct run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info) || is_our_own(run, (int)info.ssi_signo))
		return;
	if (is_for_target(&info) && !run->target_ended)
		kill(run->launch.pid, (int)info.ssi_signo);
	if (!ends_recording(run, (int)info.ssi_signo))
		return;
	run->result->interrupted++;
	run->last_signal = (int)info.ssi_signo;
	send_message(run, CONTROL_INTERRUPT, (int)info.ssi_signo);
}

static void on_control(struct run *run, struct error *err)
{
	int interrupted = run->result->interrupted, exit_status = run->result->exit_status;
	int came = receive_message(run);

	if (came && run->message.kind == CONTROL_WINDOW) {
		run->options->window_opened(run->options->window_listener, run->message.result.path);
		return;
	}
	if (came && run->message.kind == CONTROL_REPORT) {
		if (run->options->report_ready)
			run->options->report_ready(run->options->report_listener, &run->message.result, run->message.reported != 0,
						   &run->message.error);
		return;
	}
	if (came && run->message.kind == CONTROL_FLIGHT) {
		if (run->message.value < 0)
			snprintf(run->message.result.notes, sizeof(run->message.result.notes), "%s\n", run->message.error.text);
		run->options->flight_report(run->options->flight_listener, &run->message.result);
		return;
	}
	run->recorder_done = 1;
	run->recorder_stays = came && run->message.kind == CONTROL_STAYS;
	if (!came || run->message.kind != CONTROL_RESULT)
		return;
	run->got_result = 1;
	run->report = run->message.value;
	*run->result = run->message.result;
	run->result->started = 1;
	run->result->interrupted = interrupted;
	run->result->exit_status = exit_status;
	if (run->message.value < 0 && err)
		*err = run->message.error;
}

/* After an interruption the target is not waited for long once the report is there. */
static int is_last_wait(const struct run *run)
{
	return run->recorder_done && run->result->interrupted;
}

static int wait_ms(const struct run *run)
{
	if (is_last_wait(run))
		return LAST_WAIT_MS;
	return run->target_fd < 0 && !run->target_ended ? LOOK_AGAIN_MS : -1;
}

/* Both must end: the target and the report. */
static void wait_for_both(struct run *run, struct error *err)
{
	struct pollfd fds[5];
	int last, n;

	while (!run->target_ended || !run->recorder_done) {
		fds[0] = (struct pollfd){ .fd = run->signal_fd, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = run->target_ended ? -1 : run->target_fd, .events = POLLIN };
		fds[2] = (struct pollfd){ .fd = run->recorder_done ? -1 : run->control, .events = POLLIN };
		fds[3] = (struct pollfd){ .fd = can_ask_for_keys(run) ? run->options->key_fd : -1, .events = POLLIN };
		fds[4] = (struct pollfd){ .fd = wants_progress(run) ? run->options->progress_fd : -1, .events = POLLIN };
		last = is_last_wait(run);
		n = poll(fds, 5, wait_ms(run));
		if (n < 0)
			continue;
		if (fds[1].revents || (run->target_fd < 0 && !run->target_ended))
			on_target(run);
		if (n == 0 && last)
			break;
		if (fds[0].revents)
			take_run_signal(run);
		if (fds[2].revents)
			on_control(run, err);
		if (fds[3].revents)
			on_keys(run);
		if (fds[4].revents)
			on_progress(run);
	}
	if (!run->target_ended)
		run->result->exit_status = 128 + run->last_signal;
}

static int get_run_outcome(struct run *run, struct error *err)
{
	char path[RECORD_PATH_SIZE];

	if (run->got_result)
		return run->report;
	if (run->recorder_stays)
		return 0;
	if (run->options->interactive)
		return error_set(err, EPIPE,
				 "the recorder was killed; if a capture was under way, `sonde recover` saves what it "
				 "had written to the report's .part file");
	snprintf(path, sizeof(path), "%s", run->result->path);
	snprintf(run->result->path, sizeof(run->result->path), "%.*s.part", (int)sizeof(path) - 8, path);
	return error_set(err, EPIPE, "the recorder was killed; `sonde recover %s` saves what it had written", run->result->path);
}

static void close_all(struct run *run)
{
	int fds[] = { run->control, run->signal_fd, run->target_fd, run->captured.out, run->captured.err };

	for (size_t i = 0; i < COUNT_OF(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	/* It has said all it had to say: it ends by itself. */
	while (run->recorder > 0 && !run->recorder_stays && waitpid(run->recorder, NULL, 0) < 0 && errno == EINTR)
		;
}

static int record_target(const struct profile_options *options, enum elf_peek_kind kind, struct record_result *ret, struct error *err)
{
	struct run *run = calloc(1, sizeof(*run));
	int r;

	if (!run)
		return error_set(err, ENOMEM, "no memory");
	memset(ret, 0, sizeof(*ret));
	run->options = options;
	run->result = ret;
	run->control = run->signal_fd = run->target_fd = -1;
	capture_output(run);
	r = make_secret(&run->secret, err);
	if (r == 0) {
		r = take_signals(run, err);
		if (r == 0)
			r = start_recorder(run, kind, err);
		if (r == 0)
			r = options->attach_pid ? start_attached(run, err) : start_target(run, kind, err);
		if (r == 0) {
			wait_for_both(run, err);
			r = get_run_outcome(run, err);
		}
		close_all(run);
		give_signals_back(run);
	}
	free(run);
	return r;
}

/* Whether the program can carry the agent, and with the limits that it gets. */
static enum elf_peek_kind peek_program(const char *program)
{
	enum elf_peek_kind kind = elf_peek_path(program);
	struct rlimit stack;

	if (kind == ELF_PEEK_OK && getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < ELF_PEEK_STACK_LEAST)
		return ELF_PEEK_SMALL_STACK;
	return kind;
}

int record_run(const struct profile_options *options, struct record_result *ret, struct error *err)
{
	return record_target(options, peek_program(options->program), ret, err);
}

int record_attach(const struct profile_options *options, struct record_result *ret, struct error *err)
{
	struct profile_options own = *options;
	char without[sizeof(err->text)];
	int r = attach_examine(options, without, sizeof(without), err);

	memset(ret, 0, sizeof(*ret));
	if (r < 0)
		return r;
	if (without[0]) {
		own.attach_without = without;
		own.trace = 0;
	}
	return record_target(&own, ELF_PEEK_OK, ret, err);
}
