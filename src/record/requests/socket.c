/* Where sessions' sockets lie, and how to talk to one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text/path.h"
#include "record/requests/requests.h"

/* A busy machine may let a recorder wait for seconds; one that is gone refuses at once. */
#define STATUS_TIMEOUT_MS 10000
#define CONNECT_TRIES 100

static int make_folder_name(char *ret, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && runtime[0] == '/')
		return snprintf(ret, size, "%s/sonde", runtime) < (int)size ? 0 : -ENAMETOOLONG;
	return snprintf(ret, size, "/tmp/sonde-%u", (unsigned)geteuid()) < (int)size ? 0 : -ENAMETOOLONG;
}

/* Anybody may make folders in /tmp: one that is not ours, or open to others, is not used. */
static int check_private(int fd, const char *folder, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, errno, "cannot examine %s", folder);
	if (st.st_uid != geteuid() || st.st_mode & 077)
		return error_set(err, EPERM, "%s is not private (it must be yours alone, mode 0700); sessions cannot be used", folder);
	return 0;
}

/* A descriptor of the folder; -ENOENT where there is none and it is not to be made. */
static int open_folder(int create, struct error *err)
{
	char folder[PATH_MAX];
	int fd, r = make_folder_name(folder, sizeof(folder));

	if (r < 0)
		return error_set_errno(err, -r, "XDG_RUNTIME_DIR cannot be used");
	if (create && mkdir(folder, 0700) < 0 && errno != EEXIST)
		return error_set_errno(err, errno, "cannot make %s, where sessions are (XDG_RUNTIME_DIR names another folder)", folder);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "cannot open %s, where sessions are (XDG_RUNTIME_DIR names another folder)", folder);
	r = check_private(fd, folder, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

static void socket_name(uint32_t id, char *ret, size_t size)
{
	snprintf(ret, size, "%u.socket", id);
}

/* However long the folder's name is, and whatever it is renamed to. */
static void socket_address(int folder, uint32_t id, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%u.socket", folder, id);
}

/* Where many connect at once the recorder needs a moment (EAGAIN). */
static int connect_to(int folder, uint32_t id)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	struct sockaddr_un address;
	int r, fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	socket_address(folder, id, &address);
	for (int i = 0; i < CONNECT_TRIES; i++) {
		r = connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
		if (r != -EAGAIN)
			break;
		nanosleep(&moment, NULL);
	}
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

static int exchange(int fd, const struct steer_request *request, int timeout_ms, struct steer_reply *ret)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	ssize_t n;
	int ready;

	if (send(fd, request, sizeof(*request), MSG_NOSIGNAL) < 0)
		return -errno;
	do
		ready = poll(&wait, 1, timeout_ms);
	while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return -ETIMEDOUT;
	n = recv(fd, ret, sizeof(*ret), MSG_DONTWAIT | MSG_TRUNC);
	if (n != (ssize_t)sizeof(*ret) || ret->magic != STEER_MAGIC)
		return -EPIPE;
	ret->name[sizeof(ret->name) - 1] = ret->program[sizeof(ret->program) - 1] = '\0';
	ret->text[sizeof(ret->text) - 1] = '\0';
	ret->result.path[sizeof(ret->result.path) - 1] = ret->result.notes[sizeof(ret->result.notes) - 1] = '\0';
	return 0;
}

static int ask_in(int folder, uint32_t id, const struct steer_request *request, int timeout_ms, struct steer_reply *ret)
{
	int fd = connect_to(folder, id), r;

	if (fd < 0)
		return fd;
	r = exchange(fd, request, timeout_ms, ret);
	close(fd);
	return r;
}

int steer_ask(uint32_t id, const struct steer_request *request, int timeout_ms, struct steer_reply *ret, struct error *err)
{
	int folder = open_folder(0, err), r;

	if (folder < 0)
		return folder;
	r = ask_in(folder, id, request, timeout_ms, ret);
	close(folder);
	if (r == -ETIMEDOUT)
		return error_set(err, ETIMEDOUT, "session %u did not answer in time", id);
	if (r < 0)
		return error_set(err, -r, "session %u ended", id);
	return 0;
}

/* Numbers of the sockets in the folder, whether somebody listens or not. */
struct numbers {
	uint8_t there[STEER_MAX_SESSIONS + 1];
};

static int find_numbers(int folder, struct numbers *ret)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	unsigned long id;
	char *end;

	memset(ret, 0, sizeof(*ret));
	if (!dir) {
		int r = -errno;

		if (fd >= 0)
			close(fd);
		return r;
	}
	while ((entry = readdir(dir))) {
		id = strtoul(entry->d_name, &end, 10);
		if (id <= STEER_MAX_SESSIONS && strcmp(end, ".socket") == 0)
			ret->there[id] = 1;
	}
	closedir(dir);
	return 0;
}

/* *ret_silent: how many sockets somebody holds who does not answer. */
static int each_in(int folder, int (*callback)(const struct steer_reply *session, void *context), void *context, unsigned *ret_silent)
{
	struct steer_request request = { .magic = STEER_MAGIC, .command = STEER_STATUS };
	struct steer_reply *reply = malloc(sizeof(*reply));
	struct numbers numbers;
	int r = reply ? find_numbers(folder, &numbers) : -ENOMEM;

	*ret_silent = 0;
	for (uint32_t id = 1; id <= STEER_MAX_SESSIONS && r == 0; id++) {
		int answer = numbers.there[id] ? ask_in(folder, id, &request, STATUS_TIMEOUT_MS, reply) : -ENOENT;

		*ret_silent += answer == -ETIMEDOUT;
		if (answer == 0)
			r = callback(reply, context);
	}
	free(reply);
	return r;
}

static int each_session(int (*callback)(const struct steer_reply *session, void *context), void *context, unsigned *ret_silent,
			struct error *err)
{
	int folder = open_folder(0, err), r;

	*ret_silent = 0;
	if (folder == -ENOENT)
		return 0;
	if (folder < 0)
		return folder;
	r = each_in(folder, callback, context, ret_silent);
	close(folder);
	return r;
}

int steer_each(int (*callback)(const struct steer_reply *session, void *context), void *context, struct error *err)
{
	unsigned silent;

	return each_session(callback, context, &silent, err);
}

struct search {
	const char *name;
	struct steer_reply *found;
	unsigned count;
};

static int is_meant_session(const struct steer_reply *session, const char *name)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", session->id);
	return !name || strcmp(name, session->name) == 0 || strcmp(name, number) == 0;
}

static int inspect_session(const struct steer_reply *session, void *context)
{
	struct search *search = context;

	if (is_meant_session(session, search->name) && search->count++ == 0)
		*search->found = *session;
	return 0;
}

int steer_find(const char *name, struct steer_reply *ret, struct error *err)
{
	struct search search = { .name = name, .found = ret };
	unsigned silent;

	TRY(each_session(inspect_session, &search, &silent, err));
	if (!search.count && silent)
		return error_set(err, ETIMEDOUT, "%u session(s) did not answer within %d s; their recorders may be stopped or very busy.",
				 silent, STATUS_TIMEOUT_MS / 1000);
	if (!search.count && name)
		return error_set(err, ENOENT, "Unknown session '%s'; 'sonde sessions list' lists the sessions.", name);
	if (!search.count)
		return error_set(err, ENOENT, "There is no session; 'sonde launch program' or 'sonde start' begins one.");
	if (search.count > 1)
		return error_set(err, EINVAL, "There are %u sessions; say which one with --session=NAME.", search.count);
	return 0;
}

static int has_session_name(const struct steer_reply *session, void *context)
{
	return strcmp(session->name, context) == 0;
}

/* A socket nobody listens on was left by a recorder that was killed. */
static int bind_number(int folder, int fd, uint32_t id)
{
	struct sockaddr_un address;
	char name[32];
	int other;

	socket_name(id, name, sizeof(name));
	socket_address(folder, id, &address);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fchmodat(folder, name, 0600, 0) < 0 ? -errno : 0;
	if (errno != EADDRINUSE)
		return -errno;
	other = connect_to(folder, id);
	if (other != -ECONNREFUSED) {
		if (other >= 0)
			close(other);
		return -EADDRINUSE;
	}
	unlinkat(folder, name, 0);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return fchmodat(folder, name, 0600, 0) < 0 ? -errno : 0;
}

static int bind_free(int folder, int fd, uint32_t *ret_id)
{
	int r = -EADDRINUSE;

	for (uint32_t id = 1; id <= STEER_MAX_SESSIONS && r == -EADDRINUSE; id++) {
		r = bind_number(folder, fd, id);
		*ret_id = id;
	}
	return r;
}

static int listen_in(int folder, const char *name, char *ret_name, const char *program, uint32_t *ret_id, struct error *err)
{
	unsigned silent;
	int fd, r;

	if (name && each_in(folder, has_session_name, (void *)(uintptr_t)name, &silent) == 1)
		return error_set(err, EEXIST, "The session '%s' already exists; 'sonde shutdown --session' ends one.", name);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set_errno(err, errno, "cannot make a socket");
	r = bind_free(folder, fd, ret_id);
	if (r == 0 && listen(fd, 16) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return error_set_errno(err, -r, "cannot make the session's socket");
	}
	if (name)
		snprintf(ret_name, STEER_NAME_SIZE, "%s", name);
	else
		snprintf(ret_name, STEER_NAME_SIZE, "profile-%u%s%s", *ret_id, *program ? "-" : "", path_name(program));
	return fd;
}

int steer_listen(const char *name, const char *program, uint32_t *ret_id, char *ret_name, struct error *err)
{
	int folder = open_folder(1, err), fd;

	if (folder < 0)
		return folder;
	/* One at a time: numbers and names are free until taken. Closing the folder lets the next in. */
	flock(folder, LOCK_EX);
	fd = listen_in(folder, name, ret_name, program, ret_id, err);
	close(folder);
	return fd;
}

int steer_is_there(uint32_t id)
{
	struct error err;
	char name[32];
	int there, folder = open_folder(0, &err);

	if (folder < 0)
		return 0;
	socket_name(id, name, sizeof(name));
	there = faccessat(folder, name, F_OK, 0) == 0;
	close(folder);
	return there;
}

int steer_is_allowed(int fd)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

void steer_unlisten(uint32_t id)
{
	struct error err;
	char name[32];
	int folder = open_folder(0, &err);

	if (folder < 0)
		return;
	socket_name(id, name, sizeof(name));
	unlinkat(folder, name, 0);
	close(folder);
}
