/* Whether a process that runs can be recorded, and by whom it is already. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "inject/inject.h"
#include "record/control/attach.h"
#include "record/session/process_tree.h"

#define LEAVING_TRIES 500 /* of 20 ms */
#define ENVIRON_LIMIT (1u << 20)
#define AGENT_SOURCES (TRACE_BIT(TRACE_NVTX) | TRACE_BIT(TRACE_OSRT) | TRACE_BIT(TRACE_CUDA))

/* The program itself says when to record. */
static int waits_for_program(const struct profile_options *options)
{
	return options->capture_range != CAPTURE_RANGE_NONE && options->capture_range != CAPTURE_RANGE_HOTKEY;
}

int attach_wants_agents(const struct profile_options *options)
{
	return (options->trace & AGENT_SOURCES) || (options->pytorch & PYTORCH_OPERATORS) || waits_for_program(options);
}

/* An address without a file: the leading NUL is no part of the text. */
static socklen_t abstract_address(struct sockaddr_un *address, const char *name, size_t length)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(address->sun_path + 1, name, length);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

/* Who listens there; 0: nobody. */
static uint32_t listener_of(const char *name, size_t length)
{
	struct sockaddr_un address;
	socklen_t size = abstract_address(&address, name, length), peer_size = sizeof(struct ucred);
	struct ucred peer = { 0 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return 0;
	if (connect(fd, (struct sockaddr *)&address, size) < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) < 0)
		peer.pid = 0;
	close(fd);
	return (uint32_t)peer.pid;
}

/* A descriptor or a negative errno. */
static int hold_name(const char *name)
{
	struct sockaddr_un address;
	socklen_t size = abstract_address(&address, name, strlen(name));
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), code;

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 1) == 0)
		return fd;
	code = errno;
	if (fd >= 0)
		close(fd);
	return -code;
}

/* A recorder that was killed is outlived, for a moment, by the process that fetches its agents out. */
static int is_being_left(const char *name)
{
	uint32_t holder = listener_of(name, strlen(name));

	return holder == 0 || (kill((pid_t)holder, 0) < 0 && errno == ESRCH);
}

int attach_lock(uint32_t pid, struct error *err)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	struct tree_stat stat;
	char name[80];
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/stat", pid);
	if (tree_read_stat(name, &stat) < 0)
		return error_set(err, ESRCH, "there is no process %u", pid);
	snprintf(name, sizeof(name), "sonde-attach-%u-%" PRIu64, pid, stat.start);
	fd = hold_name(name);
	for (int i = 0; i < LEAVING_TRIES && fd == -EADDRINUSE && is_being_left(name); i++) {
		nanosleep(&moment, NULL);
		fd = hold_name(name);
	}
	if (fd >= 0)
		return fd;
	if (fd == -EADDRINUSE)
		return error_set(err, EBUSY, "process %u is already being recorded by process %u (sonde attach)", pid,
				 listener_of(name, strlen(name)));
	return error_set_errno(err, -fd, "cannot make a socket");
}

/* A program that was started with Sonde is recorded as long as its recorder lives. */
static int check_session(pid_t pid, struct error *err)
{
	char path[64], *text = malloc(ENVIRON_LIMIT), *at;
	size_t size = 0;
	uint32_t recorder = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = text ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	while (fd >= 0 && size < ENVIRON_LIMIT && (n = read(fd, text + size, ENVIRON_LIMIT - size)) > 0)
		size += (size_t)n;
	if (fd >= 0)
		close(fd);
	at = size ? memmem(text, size, WIRE_ENV "=1:", sizeof(WIRE_ENV "=1:") - 1) : NULL;
	if (at && (size_t)(text + size - at) > sizeof(WIRE_ENV "=1:") - 1 + WIRE_NAME_HEX)
		recorder = listener_of(at + sizeof(WIRE_ENV "=1:") - 1, WIRE_NAME_HEX);
	free(text);
	return recorder ? error_set(err, EBUSY, "process %d is already being recorded by process %u (it was started with Sonde)", (int)pid,
				    recorder) :
			  0;
}

/* Who may look at a process may sample it, without the permission to stop it. */
static int may_look(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int without_agents(const struct profile_options *o, char *ret_without, size_t size, int code, const char *why, struct error *err)
{
	if (!attach_wants_agents(o))
		return 0;
	if (o->trace_given || waits_for_program(o))
		return error_set(err, code, "%s. Nothing was touched; with -t none CPU samples and switches are recorded", why);
	snprintf(ret_without, size, "%s. Only CPU samples and switches are recorded.", why);
	ret_without[0] = (char)toupper((unsigned char)ret_without[0]);
	return 0;
}

int attach_examine(const struct profile_options *o, char *ret_without, size_t size, struct error *err)
{
	struct inject_report report = { 0 };
	struct error why;
	char text[512];
	int result = inject_examine(o->attach_pid, &report, err);

	ret_without[0] = '\0';
	if (result == -EPERM && may_look(o->attach_pid)) {
		why = *err;
		return without_agents(o, ret_without, size, EPERM, why.text, err);
	}
	if (result < 0)
		return result;
	TRY(check_session(o->attach_pid, err));
	if (attach_wants_agents(o) && !o->agent_path)
		return without_agents(o, ret_without, size, ENOENT, "libsonde.so was not found", err);
	if (report.obstacle == INJECT_NO_OBSTACLE)
		return 0;
	snprintf(text, sizeof(text), "no agent can be loaded into process %d, which %s", (int)o->attach_pid, report.reason);
	return without_agents(o, ret_without, size, ENOEXEC, text, err);
}
