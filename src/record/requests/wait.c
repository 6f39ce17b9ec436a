/* A session that 'start' began and that has no program yet. It records nothing, so all it needs is a process that answers. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "record/requests/requests.h"

/* Commands say what they want at once. */
#define CLIENT_MS 100
/* How often it is looked whether anybody can still find the session. */
#define LOOK_MS 5000

struct waiting {
	int listener;
	const struct steer_request *start;
	struct steer_reply state; /* what there is to be told of it */
	struct steer_reply reply;
	int over;
};

static void refuse_wait_request(struct waiting *w, int code, const char *why)
{
	w->reply.status = code;
	snprintf(w->reply.text, sizeof(w->reply.text), "%s", why);
}

/* Before the answer: who takes the session over wants its name to be free. */
static void end_waiting(struct waiting *w)
{
	steer_unlisten(w->state.id);
	close(w->listener);
	w->over = 1;
}

static void obey_command(struct waiting *w, uint32_t command)
{
	switch (command) {
	case STEER_STATUS: return;
	case STEER_TAKE:
		w->reply.start = *w->start;
		end_waiting(w);
		return;
	case STEER_CANCEL:
	case STEER_SHUTDOWN: end_waiting(w); return;
	case STEER_START: refuse_wait_request(w, EBUSY, "it has already been started, and waits for 'sonde launch'"); return;
	case STEER_STOP: refuse_wait_request(w, EBUSY, "no program was launched in it yet; 'cancel' ends it"); return;
	default: refuse_wait_request(w, EINVAL, "the session does not know that command");
	}
}

static void serve_wait_client(struct waiting *w, int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	struct steer_request request;
	ssize_t n;

	if (!steer_is_allowed(fd) || poll(&wait, 1, CLIENT_MS) != 1)
		return;
	n = recv(fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 || !steer_request_check(&request, (size_t)n))
		return;
	w->reply = w->state;
	obey_command(w, request.command);
	send(fd, &w->reply, sizeof(w->reply), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void leave_terminal(int listener)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (listener > 3)
		close_range(3, (unsigned)listener - 1, 0);
	close_range((unsigned)listener + 1, ~0u, 0);
}

static void answer_commands(struct waiting *w)
{
	struct pollfd wait = { .fd = w->listener, .events = POLLIN };
	int fd;

	prctl(PR_SET_NAME, "sonde-waiting");
	leave_terminal(w->listener);
	if (chdir("/") < 0)
		_exit(1);
	while (!w->over) {
		if (poll(&wait, 1, LOOK_MS) == 0 && !steer_is_there(w->state.id))
			return;
		fd = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		serve_wait_client(w, fd);
		close(fd);
	}
}

int steer_wait_for_launch(const char *name, const struct steer_request *start, struct steer_reply *ret, struct error *err)
{
	struct waiting *w = calloc(1, sizeof(*w));
	pid_t pid;

	if (!w)
		return error_set(err, ENOMEM, "no memory for the session");
	w->state = (struct steer_reply){ .magic = STEER_MAGIC, .state = STEER_WAITING, .began = (int64_t)time(NULL) };
	w->start = start;
	w->listener = steer_listen(name, "", &w->state.id, w->state.name, err);
	*ret = w->state;
	if (w->listener < 0) {
		int r = w->listener;

		free(w);
		return r;
	}
	pid = fork();
	if (pid == 0) {
		answer_commands(w);
		_exit(0);
	}
	if (pid < 0)
		steer_unlisten(w->state.id);
	close(w->listener);
	free(w);
	return pid < 0 ? error_set_errno(err, errno, "cannot start a process") : 0;
}
