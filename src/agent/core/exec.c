/* Programs that are started: the recorder is told about each (so that the report can
 * say what could not be traced), and a program that would not start with our
 * library preloaded gets an environment without it.
 *
 * These run in vfork children too, on the parent's memory: no allocation, no
 * state of the parent is touched, no errno of ours; work happens on the stack, by raw
 * system calls. vfork itself is not wrapped. */
#include "agent/core/wrappers.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/core/call.h"
#include "agent/core/state.h"
#include "agent/core/syscalls.h"
#include "base/system/elf_peek.h"
#include "base/macros.h"

/* An environment larger than this is passed on as it is. */
#define ENVIRONMENT_LIMIT 4096
#define PRELOAD "LD_PRELOAD="
#define LIBRARY "libsonde.so"

typedef int (*execve_fn)(const char *, char *const[], char *const[]);
typedef int (*fexecve_fn)(int, char *const[], char *const[]);
typedef int (*spawn_fn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]);

static struct {
	execve_fn execve;
	execve_fn execvpe;
	fexecve_fn fexecve;
	spawn_fn posix_spawn;
	spawn_fn posix_spawnp;
} real;

static int names_agent(const char *entry, size_t length)
{
	size_t want = sizeof(LIBRARY) - 1;

	return length >= want && memcmp(entry + length - want, LIBRARY, want) == 0;
}

static const char *find_preload(char *const environment[])
{
	for (size_t i = 0; environment && environment[i]; i++)
		if (strncmp(environment[i], PRELOAD, sizeof(PRELOAD) - 1) == 0)
			return environment[i];
	return NULL;
}

/* Copies LD_PRELOAD without our entry; returns how many entries are left. */
static unsigned strip_preload(char *to, const char *from)
{
	unsigned left = 0;
	size_t length;

	memcpy(to, PRELOAD, sizeof(PRELOAD));
	to += sizeof(PRELOAD) - 1;
	for (from += sizeof(PRELOAD) - 1; *from; from += length) {
		from += strspn(from, ": ");
		length = strcspn(from, ": ");
		if (length == 0 || names_agent(from, length))
			continue;
		if (left++)
			*to++ = ':';
		memcpy(to, from, length);
		to += length;
		*to = '\0';
	}
	return left;
}

/* Of what is looked at on the way to another program: a thread's stack may be small. Longer ones are not looked at. */
#define PATH_ROOM 1024u

/* The loader needs a descriptor for each library, one after the other, and some stack. */
static int loader_has_room(void)
{
	struct rlimit stack = { RLIM_INFINITY, RLIM_INFINITY };
	long fd = raw_syscall(SYS_fcntl, 2, F_DUPFD_CLOEXEC, 0, 0, 0, 0);

	if (fd >= 0)
		raw_close((int)fd);
	raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&stack, 0, 0);
	return fd != -EMFILE && fd != -EINVAL && stack.rlim_cur >= ELF_PEEK_STACK_LEAST;
}

/* After a chroot, or in another mount namespace, our library may not be there, and without a descriptor left it cannot be opened:
 * the loader would complain on the program's stderr. With a small stack the program would die in it. */
static enum wire_injected carries_agent(char *const environment[])
{
	const char *entry = find_preload(environment);
	char path[PATH_ROOM];
	size_t length;

	for (entry = entry ? entry + sizeof(PRELOAD) - 1 : ""; *entry; entry += length) {
		entry += strspn(entry, ": ");
		length = strcspn(entry, ": ");
		if (!names_agent(entry, length) || length >= sizeof(path))
			continue;
		memcpy(path, entry, length);
		path[length] = '\0';
		if (raw_syscall(SYS_access, (long)path, R_OK, 0, 0, 0, 0) < 0)
			return WIRE_INJECTED_OUT_OF_REACH;
		return loader_has_room() ? WIRE_INJECTED : WIRE_INJECTED_NO_ROOM;
	}
	return WIRE_INJECTED_NOT;
}

/* Whether the dynamic loader of this program could not take our library. Variables that were put there when this program was attached
 * to are not for others. */
static int must_strip(enum elf_peek_kind kind, char *const environment[])
{
	return agent_state.late || kind == ELF_PEEK_32BIT || kind == ELF_PEEK_MACHINE || kind == ELF_PEEK_OTHER_LIBC ||
	       kind == ELF_PEEK_ASAN || carries_agent(environment) > WIRE_INJECTED;
}

static void report_recorder(enum wire_kind kind, const char *path, enum wire_injected injected, pid_t child)
{
	struct wire_request notice;
	size_t length = strnlen(path, WIRE_PATH_SIZE - 1);

	agent_fill_request(&notice, kind);
	notice.injected = injected;
	notice.child = (uint32_t)child;
	memcpy(notice.path, path, length);
	agent_notify(&notice);
}

/* Where execvp would find `file`: into path[PATH_ROOM]; the name itself otherwise. */
static const char *search_path(const char *file, char *path)
{
	const char *directories = getenv("PATH");
	size_t file_length = strlen(file), length;

	if (strchr(file, '/') || !directories)
		return file;
	for (const char *d = directories; *d; d += length + (d[length] == ':')) {
		length = strcspn(d, ":");
		if (length + file_length + 2 > PATH_ROOM || length == 0)
			continue;
		memcpy(path, d, length);
		path[length] = '/';
		memcpy(path + length + 1, file, file_length + 1);
		if (raw_syscall(SYS_access, (long)path, X_OK, 0, 0, 0, 0) == 0)
			return path;
	}
	return file;
}

static size_t count_list_entries(char *const list[])
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* A driver that is told to load a library which is not there would have to cope with that. */
static int is_injection(const char *variable)
{
	const char *file = strrchr(variable, '/');

	return (strncmp(variable, "CUDA_INJECTION64_PATH=", 22) == 0 || strncmp(variable, "NVTX_INJECTION64_PATH=", 22) == 0) && file &&
	       strncmp(file, "/libsonde", 9) == 0;
}

/* The environment to pass on: the given one, or `copy` filled without our entries. */
static char *const *choose_environment(enum elf_peek_kind kind, char *const given[], char **copy, char *preload)
{
	enum wire_injected carried = carries_agent(given);
	int without_injection = agent_state.late || carried > WIRE_INJECTED;
	size_t n = 0;

	if (!given || !copy || !must_strip(kind, given))
		return given;
	for (size_t i = 0; given[i]; i++) {
		if (carried && strncmp(given[i], PRELOAD, sizeof(PRELOAD) - 1) == 0) {
			if (strip_preload(preload, given[i]))
				copy[n++] = preload;
		} else if (!without_injection || !is_injection(given[i])) {
			copy[n++] = given[i];
		}
	}
	copy[n] = NULL;
	return copy;
}

/* The stack space choose_environment needs, in the caller's frame. */
#define ENVIRONMENT_COPY(given) \
	(count_list_entries(given) < ENVIRONMENT_LIMIT ? alloca((count_list_entries(given) + 1) * sizeof(char *)) : NULL)
#define PRELOAD_COPY(given) (find_preload(given) ? alloca(strlen(find_preload(given)) + 1) : NULL)

static int is_exec_watched(void)
{
	return agent_state.configured && agent_state.pool;
}

static int run_execve(execve_fn function, const char *file, const char *path, char *const argv[], char *const environment[])
{
	char **copy = ENVIRONMENT_COPY(environment);
	char *preload = PRELOAD_COPY(environment);
	enum elf_peek_kind kind;

	if (!is_exec_watched())
		return function(file, argv, environment);
	agent_leaving();
	kind = elf_peek_path(path);
	report_recorder(WIRE_EXEC, path, carries_agent(environment), 0);
	return function(file, argv, choose_environment(kind, environment, copy, preload));
}

/* Not by the names of those that are exported: where we came late, these are the C library's. */
static int by_path(const char *path, char *const argv[], char *const environment[])
{
	agent_wrappers_resolve();
	return run_execve(real.execve, path, path, argv, environment);
}

static int execute_by_name(const char *file, char *const argv[], char *const environment[])
{
	char found[PATH_ROOM];

	agent_wrappers_resolve();
	return run_execve(real.execvpe, file, search_path(file, found), argv, environment);
}

AGENT_EXPORT int execve(const char *path, char *const argv[], char *const environment[])
{
	return by_path(path, argv, environment);
}

AGENT_EXPORT int execv(const char *path, char *const argv[])
{
	return by_path(path, argv, environ);
}

AGENT_EXPORT int execvpe(const char *file, char *const argv[], char *const environment[])
{
	return execute_by_name(file, argv, environment);
}

AGENT_EXPORT int execvp(const char *file, char *const argv[])
{
	return execute_by_name(file, argv, environ);
}

/* "/proc/self/fd/N", without stdio. */
static void descriptor_link(int fd, char link[32])
{
	char digits[12];
	size_t n = 0, at = sizeof("/proc/self/fd/") - 1;

	memcpy(link, "/proc/self/fd/", at);
	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	while (n)
		link[at++] = digits[--n];
	link[at] = '\0';
}

AGENT_EXPORT int fexecve(int fd, char *const argv[], char *const environment[])
{
	char **copy = ENVIRONMENT_COPY(environment);
	char *preload = PRELOAD_COPY(environment);
	char link[32], path[PATH_ROOM];
	long length;

	agent_wrappers_resolve();
	if (!is_exec_watched() || fd < 0)
		return real.fexecve(fd, argv, environment);
	agent_leaving();
	descriptor_link(fd, link);
	length = raw_syscall(SYS_readlink, (long)link, (long)path, sizeof(path) - 1, 0, 0, 0);
	path[length > 0 ? length : 0] = '\0';
	report_recorder(WIRE_EXEC, path, carries_agent(environment), 0);
	return real.fexecve(fd, argv, choose_environment(elf_peek_path(link), environment, copy, preload));
}

/* Arguments of the execl family, up to the NULL, gathered in the caller's frame. */
static size_t count_arguments(va_list arguments)
{
	size_t n = 1;

	while (va_arg(arguments, char *))
		n++;
	return n;
}

#define GATHER(argv, first) \
	do { \
		va_list arguments_; \
		size_t n_; \
		va_start(arguments_, first); \
		n_ = count_arguments(arguments_); \
		va_end(arguments_); \
		(argv) = alloca((n_ + 1) * sizeof(char *)); \
		va_start(arguments_, first); \
		(argv)[0] = (char *)(uintptr_t)(first); \
		for (size_t i_ = 1; i_ <= n_; i_++) \
			(argv)[i_] = va_arg(arguments_, char *); \
		va_end(arguments_); \
	} while (0)

AGENT_EXPORT int execl(const char *path, const char *first, ...)
{
	char **argv;

	GATHER(argv, first);
	return by_path(path, argv, environ);
}

AGENT_EXPORT int execlp(const char *file, const char *first, ...)
{
	char **argv;

	GATHER(argv, first);
	return execute_by_name(file, argv, environ);
}

AGENT_EXPORT int execle(const char *path, const char *first, ...)
{
	char **argv;
	char *const *environment;
	va_list arguments;

	GATHER(argv, first);
	va_start(arguments, first);
	while (va_arg(arguments, char *))
		;
	environment = va_arg(arguments, char *const *);
	va_end(arguments);
	return by_path(path, argv, environment);
}

static int run_spawn(spawn_fn function, pid_t *child, const char *file, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	char **copy = ENVIRONMENT_COPY(environment);
	char *preload = PRELOAD_COPY(environment);
	pid_t started = 0;
	int result;

	if (!is_exec_watched())
		return function(child, file, actions, attributes, argv, environment);
	result = function(&started, file, actions, attributes, argv, choose_environment(elf_peek_path(path), environment, copy, preload));
	if (result == 0)
		report_recorder(WIRE_SPAWNED, path, carries_agent(environment), started);
	if (child && result == 0)
		*child = started;
	return result;
}

AGENT_EXPORT int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
			     char *const argv[], char *const environment[])
{
	struct agent_call call;
	int on, result;

	agent_wrappers_resolve();
	on = agent_call_begin(&call, OSRT_posix_spawn);
	result = run_spawn(real.posix_spawn, child, path, path, actions, attributes, argv, environment);
	if (on)
		agent_call_end(&call, result);
	return result;
}

AGENT_EXPORT int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
			      const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	char found[PATH_ROOM];
	struct agent_call call;
	int on, result;

	agent_wrappers_resolve();
	on = agent_call_begin(&call, OSRT_posix_spawnp);
	result = run_spawn(real.posix_spawnp, child, file, search_path(file, found), actions, attributes, argv, environment);
	if (on)
		agent_call_end(&call, result);
	return result;
}

/* The others end in one of these. */
static const struct agent_wrapper wrappers[] = {
	{ "execve", ARCH_GLIBC_FIRST, (void **)&real.execve },         { "execvpe", "GLIBC_2.11", (void **)&real.execvpe },
	{ "fexecve", ARCH_GLIBC_FIRST, (void **)&real.fexecve },       { "posix_spawn", "GLIBC_2.15", (void **)&real.posix_spawn },
	{ "posix_spawnp", "GLIBC_2.15", (void **)&real.posix_spawnp },
};
const struct agent_part agent_part_exec = { .wrappers = wrappers, .wrapper_count = COUNT_OF(wrappers) };
