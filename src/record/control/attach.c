#include "record/control/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/system/monotonic.h"
#include "fmt/attach.h"
#include "record/control/launch.h"
#include "record/control/steering.h"
#include "record/session/process_tree.h"
#include "record/session/window.h"

/* Children that are born meanwhile are looked for again; those of processes with agents bring their own. */
#define ROUNDS 8
#define SETTLE_STEP_MS 10
/* --duration does not wait longer than this for processes that cannot be visited. */
#define ENTER_NS 10000000000ll
/* A little more than the helper takes for one process. */
#define LEAVE_MS 20000

static void close_all_but(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	if (low > 3)
		close_range(3, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
}

static int fill_request(const struct recorder *r, struct attach_request *request)
{
	const struct profile_options *o = r->options;
	const char *cuda = o->trace & TRACE_BIT(TRACE_CUDA) || o->capture_range == CAPTURE_RANGE_CUDA_PROFILER ? o->cuda.agent_path : NULL;

	if (strlen(o->agent_path) >= sizeof(request->agent_path) || (cuda && strlen(cuda) >= sizeof(request->cuda_path)))
		return -ENAMETOOLONG;
	*request = (struct attach_request){ .magic = ATTACH_MAGIC, .version = ATTACH_VERSION, .modules = r->page->modules };
	strcpy(request->agent_path, o->agent_path);
	strcpy(request->cuda_path, cuda ? cuda : "");
	launch_session_text(r->secret, request->session, sizeof(request->session));
	return 0;
}

static int fork_helper(struct recorder *r, struct error *err)
{
	struct attach_request *request = malloc(sizeof(*request));
	int pair[2];

	if (!request || fill_request(r, request) < 0) {
		free(request);
		return error_set(err, ENAMETOOLONG, "the path of the agents is too long");
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		free(request);
		return error_set_errno(err, errno, "cannot make a socket");
	}
	r->attach->helper_pid = fork();
	if (r->attach->helper_pid == 0) {
		prctl(PR_SET_NAME, "sonde-attach");
		close_all_but(pair[1], r->attach->lock);
		attach_helper_main(pair[1], request, request->agent_path);
	}
	free(request);
	close(pair[1]);
	r->attach->helper = (struct source){ SOURCE_ATTACH, pair[0] };
	if (r->attach->helper_pid < 0)
		return error_set_errno(err, errno, "cannot start a process");
	return 0;
}

/* So that 'sonde stop' finds it. Without, unless a name was asked for, there is Ctrl-C. */
static int begin_session(struct recorder *r, struct error *err)
{
	struct error why = { "" };

	if (r->flight)
		return 0;
	if (steering_begin(r, &why) < 0) {
		steering_end(r, NULL);
		return r->options->session_name ? error_set(err, EINVAL, "%s", why.text) : 0;
	}
	r->steering->state = STEER_CAPTURING;
	r->steering->captures = 1;
	return 0;
}

int attach_prepare(struct recorder *r, struct error *err)
{
	r->attach = calloc(1, sizeof(*r->attach));
	if (!r->attach)
		return error_set(err, ENOMEM, "no memory");
	r->attach->helper.fd = -1;
	r->attach->lock = attach_lock(r->target_pid, err);
	if (r->attach->lock < 0)
		return r->attach->lock;
	if (r->options->attach_without) {
		recorder_note(r, "%s", r->options->attach_without);
		session_diagnose(&r->drain.session, SOURCE_RECORDER, DIAGNOSTIC_WARNING, 0, "%s", r->options->attach_without);
	}
	return begin_session(r, err);
}

int attach_start_helper(struct recorder *r, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (!r->attach)
		return 0;
	if (!watch_find(r, r->target_pid))
		return error_set(err, ESRCH, "process %u has ended", r->target_pid);
	if (!attach_wants_agents(r->options))
		return 0;
	TRY(fork_helper(r, err));
	event.data.ptr = &r->attach->helper;
	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->attach->helper.fd, &event) < 0)
		return error_set_errno(err, errno, "cannot wait for events");
	return 0;
}

int attach_is_entering(const struct recorder *r)
{
	return r->attach && r->attach->entering;
}

/* All are visited: the time of --duration begins. */
static void note_agents_entered(struct recorder *r)
{
	r->attach->entering = 0;
	window_start_duration(r);
}

static void visit(struct recorder *r, uint32_t pid)
{
	struct attach_message message = { .kind = ATTACH_VISIT, .pid = pid };

	if (idmap_get(&r->attach->visited, pid) != IDMAP_NONE || idmap_put(&r->attach->visited, pid, 1) < 0)
		return;
	if (send(r->attach->helper.fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(message))
		r->attach->waiting++;
	else
		idmap_take(&r->attach->visited, pid); /* in the next round */
}

void attach_begin(struct recorder *r)
{
	if (!r->attach || r->attach->helper.fd < 0)
		return;
	r->attach->entering = 1;
	r->attach->enter_by = monotonic_ns() + ENTER_NS;
	visit(r, r->target_pid);
	if (!r->attach->waiting)
		note_agents_entered(r);
}

/* One whose agent came with a fork is there already. */
static int has_agent(const struct recorder *r, uint32_t pid)
{
	const struct watch *w = watch_find(r, pid);

	return w && w->uid;
}

static void visit_children(struct recorder *r)
{
	struct tree tree;

	if (!r->options->children || r->attach->rounds++ >= ROUNDS || tree_read(&tree, r->target_pid, 1) < 0)
		return;
	for (size_t i = 0; i < tree.count; i++)
		if (tree.threads[i].pid == tree.threads[i].tid && !tree.threads[i].ended && !has_agent(r, tree.threads[i].pid))
			visit(r, tree.threads[i].pid);
	tree_release(&tree);
}

/* By us, as far as anybody can tell. Children come and go: of one whose status was not to be had that is no reason to think so. */
static int is_our_doing(const struct recorder *r, const struct attach_message *m)
{
	return m->result == -EOWNERDEAD || (m->result == -ENODATA && m->pid == r->target_pid);
}

static void died(struct recorder *r, const struct attach_message *m, const char *when)
{
	const char *how = m->result == -ENODATA ? "ended for an unknown reason" : "died";

	r->attach->died = 1;
	recorder_note(r, "Process %u %s while the agents were %s. Please report this, with the last lines of 'dmesg'.", m->pid, how, when);
	drain_diagnose(&r->drain, DIAGNOSTIC_ERROR, "Process %u %s while the agents were %s.", m->pid, how, when);
}

static void on_visited(struct recorder *r, const struct attach_message *m)
{
	r->attach->waiting -= r->attach->waiting > 0;
	if (is_our_doing(r, m)) {
		died(r, m, "brought in");
		return;
	}
	if (m->result == 0 || (m->pid != r->target_pid && (m->result == -EBUSY || m->result == -ESRCH || m->result == -ENODATA)))
		return;
	if (m->pid == r->target_pid && m->result != -ESRCH)
		recorder_note(r, "The agents could not be loaded: %s. Only CPU samples and switches were recorded of it.", m->text);
	drain_diagnose(&r->drain, DIAGNOSTIC_WARNING, "Process %u has no agents: %s.", m->pid, m->text);
}

static void on_left(struct recorder *r, const struct attach_message *m)
{
	if (is_our_doing(r, m)) {
		died(r, m, "fetched out");
		return;
	}
	if (m->result == 0 || m->result == -ENODATA)
		return;
	recorder_note(r, "The agents are still in process %u, but inactive: %s.", m->pid, m->text);
	drain_diagnose(&r->drain, DIAGNOSTIC_WARNING, "The agents could not leave process %u: %s.", m->pid, m->text);
}

static void drop_helper(struct recorder *r)
{
	struct attach *a = r->attach;

	recorder_close_source(r, &a->helper);
	a->helper.fd = -1;
	while (a->helper_pid > 0 && waitpid(a->helper_pid, NULL, 0) < 0 && errno == EINTR)
		;
	a->helper_pid = 0;
}

/* 0 when the helper is gone. */
static int take_message(struct recorder *r)
{
	struct attach_message message;
	ssize_t n = recv(r->attach->helper.fd, &message, sizeof(message), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 1;
	if (n != (ssize_t)sizeof(message))
		return 0;
	message.text[sizeof(message.text) - 1] = '\0';
	if (message.kind == ATTACH_VISITED)
		on_visited(r, &message);
	else if (message.kind == ATTACH_LEFT)
		on_left(r, &message);
	return 1;
}

void attach_readable(struct recorder *r)
{
	struct attach *a = r->attach;

	if (!take_message(r)) {
		recorder_note(r, "The process that loads and removes the agents was ended; agents in the program become inactive when "
				 "the recording ends.");
		drop_helper(r);
		a->waiting = 0;
	} else if (!a->waiting) {
		visit_children(r);
	}
	if (a->entering && (!a->waiting || monotonic_ns() > a->enter_by))
		note_agents_entered(r);
}

/* What agents have of the last moments is on its way. */
static void settle_attach_window(struct recorder *r)
{
	struct timespec step = { .tv_nsec = SETTLE_STEP_MS * 1000000l };

	if (atomic_load(&r->page->gate))
		window_close(r);
	while (!window_is_settled(r, monotonic_ns()))
		nanosleep(&step, NULL);
}

/* Until the helper has said something, or somebody is impatient: it does its work all the same. */
static int wait_for_helper(struct recorder *r)
{
	struct pollfd fds[] = { { .fd = r->attach->helper.fd, .events = POLLIN },
				{ .fd = r->command_line_gone ? -1 : r->control.fd, .events = POLLIN },
				{ .fd = r->signals.fd, .events = POLLIN } };
	int before = r->interrupts;

	poll(fds, 3, 100);
	if (fds[1].revents)
		recorder_on_control(r);
	if (r->interrupts > before || fds[2].revents)
		return -EINTR;
	return (fds[0].revents & (POLLIN | POLLHUP)) != 0;
}

void attach_end(struct recorder *r)
{
	struct attach *a = r->attach;
	struct attach_message message = { .kind = ATTACH_LEAVE_ALL };
	int64_t until = monotonic_ns() + LEAVE_MS * 1000000ll;
	int came = 0;

	if (!a || a->helper.fd < 0)
		return;
	settle_attach_window(r);
	send(a->helper.fd, &message, sizeof(message), MSG_NOSIGNAL);
	while (monotonic_ns() < until && came >= 0) {
		came = wait_for_helper(r);
		if (came == 1 && !take_message(r)) {
			drop_helper(r);
			return;
		}
	}
	recorder_note(r, "The agents had not left the program when the report was written.");
}

void attach_explain(struct recorder *r)
{
	if (r->attach && r->target_gone && !r->attach->died)
		recorder_note(r, "Process %u ended while it was recorded.", r->target_pid);
}

void attach_release(struct recorder *r)
{
	if (!r->attach)
		return;
	if (r->attach->helper.fd >= 0)
		close(r->attach->helper.fd);
	if (r->attach->lock >= 0)
		close(r->attach->lock);
	idmap_release(&r->attach->visited);
	free(r->attach);
	r->attach = NULL;
}
