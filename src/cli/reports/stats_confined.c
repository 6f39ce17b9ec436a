#include "cli/reports/stats_confined.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the reader asks for: the command with this number is to be started, or (a child) to be waited for. */
struct apart_request {
	int output;
	pid_t child;
};

struct apart_answer {
	int result; /* wait status; or -errno with a sentence */
	pid_t child;
	struct error err;
};

/* A descriptor goes along with an answer. */
union descriptor_room {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

struct asking {
	int socket;
	char **targets;
};

static size_t split_targets(const struct option_texts *outputs, char ***ret)
{
	size_t count = 0, most = 1;
	char **targets, *copy, *rest;

	for (size_t i = 0; i < outputs->count; i++)
		for (const char *c = outputs->items[i]; *c; c++)
			most += *c == ',' || c == outputs->items[i];
	targets = calloc(most + 1, sizeof(*targets));
	for (size_t i = 0; targets && i < outputs->count; i++) {
		copy = strdup(outputs->items[i]);
		for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest))
			targets[count++] = strdup(word);
		free(copy);
	}
	*ret = targets;
	return targets ? count : 0;
}

bool stats_starts_commands(const struct option_texts *outputs)
{
	for (size_t i = 0; i < outputs->count; i++)
		if (outputs->items[i][0] == '@' || strstr(outputs->items[i], ",@"))
			return true;
	return false;
}

static int send_answer(int socket, struct apart_answer *answer, int fd)
{
	struct iovec part = { answer, sizeof(*answer) };
	union descriptor_room room = { .room = { 0 } };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (fd >= 0) {
		message.msg_control = room.room;
		message.msg_controllen = sizeof(room.room);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(*answer) ? 0 : -EPIPE;
}

/* The descriptor that came with it; -1: none. -EPIPE: there is no answer. */
static int receive_answer(int socket, struct apart_answer *answer)
{
	struct iovec part = { answer, sizeof(*answer) };
	union descriptor_room room = { .room = { 0 } };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.room, .msg_controllen = sizeof(room.room) };
	struct cmsghdr *head;
	int fd = -1;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(*answer))
		return -EPIPE;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

static int ask_stats_starter(const struct asking *a, int output, pid_t child, struct apart_answer *answer)
{
	struct apart_request request = { output, child };

	if (send(a->socket, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		return -EPIPE;
	return receive_answer(a->socket, answer);
}

static int start_there(void *context, const char *target, pid_t *ret_child, struct error *err)
{
	struct asking *a = context;
	struct apart_answer answer;
	int fd = -EPIPE;

	for (int i = 0; a->targets[i]; i++)
		if (strcmp(a->targets[i], target) == 0) {
			fd = ask_stats_starter(a, i, 0, &answer);
			break;
		}
	if (fd == -EPIPE)
		return error_set(err, EPIPE, "Cannot start %s", target + 1);
	if (fd < 0) {
		*err = answer.err;
		return answer.result;
	}
	*ret_child = answer.child;
	return fd;
}

static int wait_there(void *context, pid_t child)
{
	struct apart_answer answer = { 0 };

	return ask_stats_starter(context, -1, child, &answer) == -EPIPE ? -EPIPE : answer.result;
}

/* Only children are waited for that were started here. */
static void serve_stats_requests(const struct asking *a, size_t count)
{
	struct apart_request request;
	struct apart_answer answer;
	int fd;

	while (recv(a->socket, &request, sizeof(request), 0) == sizeof(request)) {
		memset(&answer, 0, sizeof(answer));
		fd = -1;
		if (request.child > 0) {
			answer.result = stats_starter_here.wait(NULL, request.child);
		} else if (request.output >= 0 && (size_t)request.output < count && a->targets[request.output][0] == '@') {
			fd = stats_starter_here.start(NULL, a->targets[request.output], &answer.child, &answer.err);
			answer.result = fd < 0 ? fd : 0;
		} else {
			answer.result = -EINVAL;
		}
		if (send_answer(a->socket, &answer, fd) < 0)
			break;
		if (fd >= 0)
			close(fd);
	}
}

static int run_reader(struct asking *a, int (*read)(void *context, const struct stats_starter *starter), void *context)
{
	struct stats_starter starter = { start_there, wait_there, a };
	int status = read(context, &starter);

	fflush(NULL);
	return status;
}

static int status_of(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	if (WIFSIGNALED(status))
		raise(WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int stats_apart(const struct option_texts *outputs, int (*read)(void *context, const struct stats_starter *starter), void *context)
{
	struct asking a = { .socket = -1 };
	size_t count = split_targets(outputs, &a.targets);
	int ends[2], status = -ENOMEM;
	pid_t child = -1;

	if (count && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
		fflush(NULL);
		child = fork();
		a.socket = ends[child == 0];
		close(ends[child != 0]);
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(run_reader(&a, read, context));
		}
		if (child > 0) {
			serve_stats_requests(&a, count);
			status = status_of(child);
		} else {
			status = -errno;
		}
		close(a.socket);
	}
	for (size_t i = 0; i < count; i++)
		free(a.targets[i]);
	free(a.targets);
	return status;
}
