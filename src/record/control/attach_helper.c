/* The process that takes agents into targets and fetches them out. Nothing it does depends on the recorder being alive. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fmt/attach.h"
#include "inject/inject.h"
#include "record/control/attach.h"
#include "record/session/process_tree.h"

#define VISIT_MS 15000
#define LEAVE_MS 15000

/* A process with agents in it. */
struct visited {
	struct visited *next;
	uint32_t pid;
	uint64_t start; /* so that another of the same number is not taken for it */
};

struct helper {
	int socket;
	const struct attach_request *request;
	const char *library;
	struct visited *list;
};

static uint64_t start_of(uint32_t pid)
{
	struct tree_stat stat;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	return tree_read_stat(path, &stat) == 0 ? stat.start : 0;
}

static void reply(const struct helper *h, enum attach_kind kind, uint32_t pid, int result, const char *text)
{
	struct attach_message message = { .kind = kind, .pid = pid, .result = result };

	snprintf(message.text, sizeof(message.text), "%s", text);
	send(h->socket, &message, sizeof(message), MSG_NOSIGNAL);
}

static int call_target_function(const struct helper *h, uint32_t pid, const char *function, int timeout_ms, struct error *err)
{
	int64_t value = 0;
	int result = inject_call((pid_t)pid, h->library, function, h->request, sizeof(*h->request), timeout_ms, &value, err);

	if (result < 0 || value == 0)
		return result;
	if (value == -EBUSY)
		return error_set(err, EBUSY, "process %u is already being recorded", pid);
	if (value == -EPROTO)
		return error_set(err, EPROTO, "process %u has agents of another version of Sonde in it", pid);
	return error_set_errno(err, value < 0 && value > -4096 ? (int)-value : EIO, "the agents refuse to work in process %u", pid);
}

/* A visit that took too long may still succeed: it is left then, too. */
static void begin_visit(struct helper *h, uint32_t pid)
{
	struct visited *v = calloc(1, sizeof(*v));
	struct error err = { "" };
	int result = v ? call_target_function(h, pid, ATTACH_ENTER, VISIT_MS, &err) : -ENOMEM;

	if (v && (result == 0 || result == -ETIMEDOUT)) {
		*v = (struct visited){ h->list, pid, start_of(pid) };
		h->list = v;
	} else {
		free(v);
	}
	reply(h, ATTACH_VISITED, pid, result, err.text);
}

/* Not where another program was executed since: it would get the agents only to have them go. */
static int has_library(const struct helper *h, const struct visited *v)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *maps;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%u/maps", v->pid);
	maps = start_of(v->pid) == v->start ? fopen(path, "re") : NULL;
	while (maps && !found && getline(&line, &room, maps) > 0)
		found = strstr(line, h->library) != NULL;
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

/* -ESRCH: it has ended, or its agent saw that nobody records any more. */
static void leave_all(struct helper *h)
{
	struct error err = { "" };
	struct visited *v;
	int result;

	while ((v = h->list)) {
		h->list = v->next;
		result = has_library(h, v) ? call_target_function(h, v->pid, ATTACH_LEAVE, LEAVE_MS, &err) : 0;
		reply(h, ATTACH_LEFT, v->pid, result == -ESRCH ? 0 : result, err.text);
		free(v);
	}
}

void attach_helper_main(int socket, const struct attach_request *request, const char *library)
{
	struct helper h = { .socket = socket, .request = request, .library = library };
	struct attach_message message;
	ssize_t n;

	for (;;) {
		do
			n = recv(socket, &message, sizeof(message), 0);
		while (n < 0 && errno == EINTR);
		if (n != (ssize_t)sizeof(message) || message.kind != ATTACH_VISIT)
			break;
		begin_visit(&h, message.pid);
	}
	leave_all(&h);
	_exit(0);
}
