#include "record/control/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"

extern char **environ;

struct variables {
	char **list;
	size_t count;
	size_t cap;
};

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=");
}

/* Takes ownership of `variable`; a NULL means there was no memory for it. */
static int set_variable(struct variables *v, char *variable)
{
	size_t length = variable ? name_length(variable) : 0;

	if (!variable)
		return -ENOMEM;
	for (size_t i = 0; i < v->count; i++) {
		if (name_length(v->list[i]) == length && strncmp(v->list[i], variable, length) == 0) {
			free(v->list[i]);
			v->list[i] = variable;
			return 0;
		}
	}
	if (!ARRAY_ROOM(v->list, v->count, v->cap, 2)) {
		free(variable);
		return -ENOMEM;
	}
	v->list[v->count++] = variable;
	v->list[v->count] = NULL;
	return 0;
}

static const char *get_variable(const struct variables *v, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < v->count; i++)
		if (strncmp(v->list[i], name, length) == 0 && v->list[i][length] == '=')
			return v->list[i] + length + 1;
	return NULL;
}

static char *format(const char *pattern, const char *a, const char *b, const char *c)
{
	char *text;

	return asprintf(&text, pattern, a, b, c) < 0 ? NULL : text;
}

int launch_can_preload(const char *agent)
{
	return !strpbrk(agent, ": \t\n");
}

static int add_preload(struct variables *v, const char *agent)
{
	const char *own = get_variable(v, "LD_PRELOAD");

	/* First, so that the user's library still finds ours in front of libc. */
	return set_variable(v, format("LD_PRELOAD=%s%s%s", agent, own && *own ? ":" : "", own ? own : ""));
}

void launch_session_text(const struct secret *secret, char *ret, size_t size)
{
	char token[2 * WIRE_TOKEN_SIZE + 1];

	for (size_t i = 0; i < WIRE_TOKEN_SIZE; i++)
		snprintf(token + 2 * i, 3, "%02x", secret->token[i]);
	snprintf(ret, size, "1:%s:%s", secret->name, token);
}

static int add_session(struct variables *v, const struct secret *secret)
{
	char text[LAUNCH_SESSION_SIZE];

	launch_session_text(secret, text, sizeof(text));
	return set_variable(v, format(WIRE_ENV "=%s%s%s", text, "", ""));
}

/* Libraries that NVTX and the CUDA driver load by themselves: in programs that cannot be preloaded too. A variable of the
 * user's own stays. */
static int add_injections(struct variables *v, const struct profile_options *o)
{
	int r = 0;

	if (o->agent_path && !get_variable(v, "NVTX_INJECTION64_PATH"))
		r = set_variable(v, format("NVTX_INJECTION64_PATH=%s%s%s", o->agent_path, "", ""));
	if (r == 0 && o->kernels)
		r = set_variable(v, format("SONDE_KERNEL_REQUEST=%s%s%s", o->kernels->request, "", ""));
	if (r == 0 && o->cuda.agent_path &&
	    (o->trace & TRACE_BIT(TRACE_CUDA) || o->kernels || o->capture_range == CAPTURE_RANGE_CUDA_PROFILER) &&
	    !get_variable(v, "CUDA_INJECTION64_PATH"))
		r = set_variable(v, format("CUDA_INJECTION64_PATH=%s%s%s", o->cuda.agent_path, "", ""));
	return r;
}

char **launch_environment(const struct profile_options *o, const struct secret *secret, enum elf_peek_kind kind)
{
	struct variables v = { 0 };
	int r = set_variable(&v, strdup("PWD=")); /* never an empty list */

	v.count = 0;
	if (r == 0) {
		free(v.list[0]);
		v.list[0] = NULL;
	}
	for (size_t i = 0; o->inherit_environment && environ[i] && r == 0; i++)
		r = set_variable(&v, strdup(environ[i]));
	for (size_t i = 0; i < o->env_count && r == 0; i++)
		r = set_variable(&v, strdup(o->env[i]));
	if (r == 0)
		r = add_session(&v, secret);
	if (r == 0 && o->agent_path && elf_peek_preloadable(kind) && launch_can_preload(o->agent_path))
		r = add_preload(&v, o->agent_path);
	if (r == 0 && elf_peek_loadable(kind))
		r = add_injections(&v, o);
	if (r < 0) {
		launch_free_environment(v.list);
		return NULL;
	}
	return v.list;
}

void launch_free_environment(char **environment)
{
	for (size_t i = 0; environment && environment[i]; i++)
		free(environment[i]);
	free(environment);
}

static void restore_signals(const struct launch_signals *signals)
{
	sigaction(SIGCHLD, &signals->child, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

/* As shells tell a script without "#!" from a program that is damaged or not for this machine. */
static int is_text_file(const char *path)
{
	char start[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, start, sizeof(start));

	if (fd >= 0)
		close(fd);
	return n >= 0 && !memchr(start, '\0', (size_t)n);
}

/* A file without "#!": what a shell would do with it. */
static void exec_as_shell_script(const struct profile_options *o, char **environment)
{
	size_t count = 0;
	char **argv;

	while (o->argv[count])
		count++;
	argv = calloc(count + 2, sizeof(*argv));
	if (!argv)
		return;
	argv[0] = (char *)"sh";
	argv[1] = (char *)o->program;
	for (size_t i = 1; i < count; i++)
		argv[i + 1] = o->argv[i];
	execve("/bin/sh", argv, environment);
	free(argv);
}

static void run_target(const struct profile_options *o, char **environment, const struct captured *captured,
		       const struct launch_signals *signals, int go, int failed)
{
	char byte;
	int code;

	if (read(go, &byte, 1) != 1)
		_exit(127); /* the command line's process gave up, or is gone */
	if (captured->out >= 0)
		dup2(captured->out, STDOUT_FILENO);
	if (captured->err >= 0)
		dup2(captured->err, STDERR_FILENO);
	restore_signals(signals);
	execve(o->program, o->argv, environment);
	code = errno;
	if (code == ENOEXEC && is_text_file(o->program)) {
		exec_as_shell_script(o, environment);
		code = errno;
	}
	if (write(failed, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

int launch_prepare(struct launch *l, const struct profile_options *options, char **environment, const struct captured *captured,
		   const struct launch_signals *signals, struct error *err)
{
	int go[2], failed[2];

	/* Not a pipe: where the process was killed meanwhile, telling it to go would kill us. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0)
		return error_set_errno(err, errno, "cannot make a socket");
	if (pipe2(failed, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return error_set_errno(err, errno, "cannot make a pipe");
	}
	l->pid = fork();
	if (l->pid == 0) {
		close(go[1]);
		close(failed[0]);
		run_target(options, environment, captured, signals, go[0], failed[1]);
	}
	close(go[0]);
	close(failed[1]);
	l->go = go[1];
	l->failed = failed[0];
	if (l->pid < 0) {
		close(go[1]);
		close(failed[0]);
		return error_set_errno(err, errno, "cannot start a process");
	}
	return 0;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int launch_go(struct launch *l, const struct profile_options *options, struct error *err)
{
	int code = 0;
	ssize_t n;

	do
		n = send(l->go, "", 1, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	do
		n = read(l->failed, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(l->go);
	close(l->failed);
	if (n == 0)
		return 0;
	reap(l->pid);
	/* The program itself was found before. */
	if (code == ENOENT)
		return error_set(err, code, "cannot run %s: its interpreter does not exist", options->program);
	return error_set_errno(err, code ? code : EIO, "cannot run %s", options->program);
}

void launch_cancel(struct launch *l)
{
	close(l->go);
	close(l->failed);
	reap(l->pid);
}
