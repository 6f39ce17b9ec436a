/* A visit is made by a child process: waiting for stopped threads disturbs no other waiting of the
 * caller's, and whatever happens to it, the kernel lets go of the other process when it ends. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/system/monotonic.h"
#include "inject/inject.h"
#include "inject/proc_status.h"
#include "inject/visit.h"

#define GRACE_NS 1000000000ll
#define WAIT_PAUSE_NS 300000
#define ARGUMENT_LIMIT (16u << 20)

struct outcome {
	int complete;
	int code;
	int64_t value;
	struct error error;
};

static void child(const struct visit_request *request, pid_t parent, struct outcome *ret)
{
	sigset_t all;

	/* Ctrl-C is for the caller to decide about. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* While it does not run, a thread of the other process may stand still; where this is not
	 * allowed, it must do without. */
	setpriority(PRIO_PROCESS, 0, -20);
	prctl(PR_SET_NAME, "sonde-inject");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	ret->code = visit(request, &ret->value, &ret->error);
	__atomic_store_n(&ret->complete, 1, __ATOMIC_RELEASE);
	_exit(0);
}

/* 0 when it has ended by itself. Somebody else may have waited for it. */
static int await_child(pid_t pid, int64_t end)
{
	struct timespec pause = { 0, WAIT_PAUSE_NS };
	pid_t r;

	while ((r = waitpid(pid, NULL, WNOHANG)) == 0 && monotonic_ns() < end)
		nanosleep(&pause, NULL);
	if (r)
		return 0;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return -ETIMEDOUT;
}

static int run_child(struct visit_request *request, struct outcome *shared, int timeout_ms, struct error *err)
{
	pid_t parent = getpid(), pid;
	int r;

	request->deadline = monotonic_ns() + timeout_ms * 1000000ll;
	pid = fork();
	if (pid < 0)
		return error_set_errno(err, errno, "cannot start a process");
	if (pid == 0)
		child(request, parent, shared);
	r = await_child(pid, request->deadline + GRACE_NS);
	if (__atomic_load_n(&shared->complete, __ATOMIC_ACQUIRE)) {
		if (shared->code < 0)
			error_set(err, -shared->code, "%s", shared->error.text);
		return shared->code;
	}
	if (r < 0)
		return error_set(err, ETIMEDOUT, "process %d does not answer: a call in it does not return", (int)request->pid);
	return error_set(err, EIO, "the visit to process %d was aborted", (int)request->pid);
}

int inject_call_as(struct visit_request *request, int timeout_ms, int64_t *ret_value, struct error *err)
{
	struct outcome *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	if (shared == MAP_FAILED)
		return error_set_errno(err, errno, "out of memory");
	r = run_child(request, shared, timeout_ms, err);
	*ret_value = shared->value;
	munmap(shared, sizeof(*shared));
	return r;
}

/* Its root may be another folder than ours. */
static int check_library(pid_t pid, const char *library, struct error *err)
{
	char path[4200];
	struct stat own, other;

	if (library[0] != '/')
		return error_set(err, EINVAL, "%s: the path of a library must begin with /", library);
	if (stat(library, &own) < 0)
		return error_set_errno(err, errno, "%s", library);
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)proc_living_thread(pid), library);
	if (stat(path, &other) == 0 && (own.st_ino != other.st_ino || own.st_dev != other.st_dev))
		return error_set(err, ENOEXEC, "process %d sees another file than %s there (chroot?)", (int)pid, library);
	if (stat(path, &other) < 0 && errno == ENOENT)
		return error_set(err, ENOEXEC, "process %d does not see %s (chroot?)", (int)pid, library);
	return 0;
}

int inject_call(pid_t pid, const char *library, const char *function, const void *argument, size_t size, int timeout_ms, int64_t *ret_value,
		struct error *err)
{
	struct visit_request request = { .pid = pid, .library = library, .function = function, .argument = argument, .size = size };
	struct inject_report report;

	if (size > ARGUMENT_LIMIT)
		return error_set(err, EINVAL, "the argument has %zu bytes, and may have %u", size, ARGUMENT_LIMIT);
	TRY(inject_examine(pid, &report, err));
	if (report.obstacle)
		return error_set(err, ENOEXEC, "no library can be loaded into process %d, which %s", (int)pid, report.reason);
	TRY(check_library(pid, library, err));
	return inject_call_as(&request, timeout_ms, ret_value, err);
}
