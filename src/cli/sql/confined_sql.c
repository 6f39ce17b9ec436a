#include "cli/sql/confined_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/output_path.h"

enum message_kind { MESSAGE_LINE, MESSAGE_FORGET, MESSAGE_END };

/* To the process that runs statements; the text follows. */
struct message {
	enum message_kind kind;
	int status;           /* END: so far */
	bool complete;        /* END */
	bool has_output;      /* LINE: names a file for output, and its descriptor comes along */
	char output_why[256]; /* or why it could not be opened */
	bool takes_interrupts;
	size_t size;
};

/* From it. */
struct reply {
	enum sql_answer answer;
	bool pending;
};

union descriptor_room {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

static bool send_all(int socket, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	for (; size; at += n, size -= (size_t)n) {
		n = send(socket, at, size, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

static bool receive_all(int socket, void *data, size_t size)
{
	char *at = data;
	ssize_t n;

	for (; size; at += n, size -= (size_t)n) {
		n = recv(socket, at, size, 0);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

static bool send_message(int socket, struct message *m, const char *text, int fd)
{
	struct iovec part = { m, sizeof(*m) };
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
	return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(*m) && send_all(socket, text, m->size);
}

/* The text is to be freed; NULL: there will be no more. */
static char *receive_message(int socket, struct message *ret, int *ret_fd)
{
	struct iovec part = { ret, sizeof(*ret) };
	union descriptor_room room = { .room = { 0 } };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.room, .msg_controllen = sizeof(room.room) };
	struct cmsghdr *head;
	char *text;

	*ret_fd = -1;
	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != sizeof(*ret))
		return NULL;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
	text = malloc(ret->size + 1);
	if (text && receive_all(socket, text, ret->size)) {
		text[ret->size] = '\0';
		return text;
	}
	free(text);
	return NULL;
}

static void forget_interrupt(void)
{
	struct timespec now = { 0 };
	sigset_t interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigtimedwait(&interrupt, NULL, &now);
}

/* Ctrl-C reaches both processes: here it ends a statement, and what was typed at the prompt is the other's. */
static void take_interrupts(struct sql_shell *shell)
{
	sigset_t interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, NULL);
	forget_interrupt();
	shell->takes_interrupts = 1;
}

static struct reply answer_message(struct sql_shell *shell, const struct message *m, const char *text, int fd)
{
	struct reply reply = { SQL_GO_ON, false };

	if (m->takes_interrupts)
		take_interrupts(shell);
	if (m->kind == MESSAGE_FORGET) {
		buf_clear(&shell->text);
	} else {
		shell->opened_output = m->has_output ? fd : -1;
		snprintf(shell->opened_why, sizeof(shell->opened_why), "%.255s", m->output_why);
		reply.answer = sql_shell_line(shell, text);
		if (shell->opened_output >= 0)
			close(shell->opened_output);
	}
	fflush(shell->cli->out);
	fflush(shell->cli->err);
	reply.pending = shell->text.len > 0;
	return reply;
}

/* Until the other process says that it was all; its exit status. */
static int serve_sql_messages(struct sql_shell *shell, int socket, const struct sql_apart_calls *calls)
{
	struct reply reply = { SQL_GO_ON, false };
	struct message m;
	int status = calls->open(shell), fd;
	char *text;

	if (status)
		return status;
	shell->opens_none = true;
	while (send_all(socket, &reply, sizeof(reply)) && (text = receive_message(socket, &m, &fd))) {
		if (m.kind == MESSAGE_END) {
			free(text);
			status = m.status == 0 && m.complete ? sql_shell_end(shell) : m.status;
			return calls->end(shell, status);
		}
		reply = answer_message(shell, &m, text, fd);
		free(text);
	}
	return calls->end(shell, 1);
}

/* Its exit status. */
static int wait_for_sql_reader(struct sql_shell *shell)
{
	int status;

	close(shell->apart);
	shell->apart = -1;
	while (waitpid(shell->apart_child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	sql_shell_fail(shell, "The process that read the report was ended by a signal");
	return 1;
}

bool sql_apart_start(struct sql_shell *shell, const struct sql_apart_calls *calls, int *ret_status)
{
	struct reply ready;
	int ends[2];

	*ret_status = 1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		sql_shell_fail(shell, "Cannot start a process");
		return false;
	}
	fflush(NULL);
	shell->apart_child = fork();
	close(ends[shell->apart_child != 0]);
	if (shell->apart_child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		shell->apart = -1;
		*ret_status = serve_sql_messages(shell, ends[1], calls);
		fflush(NULL);
		_exit(*ret_status);
	}
	shell->apart = ends[0];
	if (shell->apart_child < 0) {
		close(shell->apart);
		sql_shell_fail(shell, "Cannot start a process");
		return false;
	}
	if (receive_all(shell->apart, &ready, sizeof(ready))) {
		*ret_status = 0;
		return true;
	}
	*ret_status = wait_for_sql_reader(shell);
	return false;
}

static enum sql_answer ask_sql_reader(struct sql_shell *shell, struct message *m, const char *text, int fd)
{
	struct reply reply;

	m->takes_interrupts = shell->takes_interrupts;
	m->size = strlen(text);
	fflush(shell->cli->out);
	fflush(shell->cli->err);
	if (!send_message(shell->apart, m, text, fd) || !receive_all(shell->apart, &reply, sizeof(reply)))
		return SQL_LEAVE;
	if (shell->takes_interrupts)
		forget_interrupt(); /* it was the other's */
	shell->apart_pending = reply.pending;
	return reply.answer;
}

enum sql_answer sql_apart_line(struct sql_shell *shell, const char *line)
{
	struct message m = { .kind = MESSAGE_LINE };
	char name[4096];
	enum sql_answer answer;
	struct error err;
	FILE *file = NULL;

	m.has_output = !shell->apart_pending && sql_shell_names_output(line, name, sizeof(name));
	if (m.has_output) {
		file = output_log_open(name, &err);
		if (!file)
			snprintf(m.output_why, sizeof(m.output_why), "%.255s", err.text);
	}
	answer = ask_sql_reader(shell, &m, line, file ? fileno(file) : -1);
	if (file)
		fclose(file);
	return answer;
}

void sql_apart_forget(struct sql_shell *shell)
{
	struct message m = { .kind = MESSAGE_FORGET };

	ask_sql_reader(shell, &m, "", -1);
}

int sql_apart_end(struct sql_shell *shell, int status, bool complete)
{
	struct message m = { .kind = MESSAGE_END, .status = status, .complete = complete };

	fflush(shell->cli->out);
	send_message(shell->apart, &m, "", -1);
	return wait_for_sql_reader(shell);
}
