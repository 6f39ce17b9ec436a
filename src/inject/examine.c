/* Whether a process may be visited, and if not, what is in the way. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/system/elf_peek.h"
#include "base/macros.h"
#include "inject/image.h"
#include "inject/inject.h"
#include "inject/proc_status.h"

static int add_obstacle(struct inject_report *ret, enum inject_obstacle kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int add_obstacle(struct inject_report *ret, enum inject_obstacle kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret->reason, sizeof(ret->reason), format, args);
	va_end(args);
	ret->obstacle = kind;
	return 0;
}

static long yama_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	long scope = 0;

	if (f && fscanf(f, "%ld", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return scope;
}

static int no_permission(pid_t pid, const struct proc_status *status, struct error *err)
{
	long scope = yama_scope();

	if (status->user != geteuid())
		return error_set(err, EPERM, "process %d (%s) belongs to user %u; root or CAP_SYS_PTRACE is required", (int)pid,
				 status->name, status->user);
	if (scope == 1 || scope == 2)
		return error_set(err, EPERM,
				 "process %d (%s) may not be traced: kernel.yama.ptrace_scope is %ld, which requires root or "
				 "CAP_SYS_PTRACE ('sysctl kernel.yama.ptrace_scope=0' allows it to the process's "
				 "user)",
				 (int)pid, status->name, scope);
	if (scope == 3)
		return error_set(err, EPERM,
				 "process %d (%s) may not be traced: kernel.yama.ptrace_scope is 3, which forbids it to everybody "
				 "until the next boot",
				 (int)pid, status->name);
	return error_set(err, EPERM,
			 "process %d (%s) may not be traced: it made itself undumpable, or has more privileges than Sonde "
			 "(CAP_SYS_PTRACE)",
			 (int)pid, status->name);
}

/* Opening its memory takes the permission that ptrace takes, and disturbs nobody. */
static int check_permission(pid_t pid, pid_t living, const struct proc_status *status, struct error *err)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)living);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return error_set(err, ESRCH, "there is no process %d", (int)pid);
	if (fd < 0)
		return no_permission(pid, status, err);
	close(fd);
	return 0;
}

static int check_process(pid_t pid, struct proc_status *status, struct inject_report *ret, struct error *err)
{
	struct proc_status tracer;

	if (proc_status_read(pid, status) < 0)
		return error_set(err, ESRCH, "there is no process %d", (int)pid);
	if (status->group != (uint32_t)pid)
		return error_set(err, EINVAL, "%d is a thread of process %u (%s)", (int)pid, status->group, status->name);
	if (pid == getpid())
		return error_set(err, EINVAL, "%d is this process itself", (int)pid);
	if (status->kernel)
		return error_set(err, ENOTSUP, "%d (%s) is a kernel thread", (int)pid, status->name);
	ret->threads = status->threads;
	ret->tracer = status->tracer;
	if (!status->tracer)
		return 0;
	proc_status_read((pid_t)status->tracer, &tracer);
	snprintf(ret->tracer_name, sizeof(ret->tracer_name), "%.31s", tracer.name);
	return error_set(err, EBUSY, "process %d (%s) is already traced by %u (%s)", (int)pid, status->name, status->tracer, tracer.name);
}

static int has_other_namespace(pid_t living, const char *name)
{
	char path[64];
	struct stat own, other;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	if (stat(path, &own) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)living, name);
	return stat(path, &other) == 0 && own.st_ino != other.st_ino;
}

/* A container's filter is on all in it, us included: what we may do it may do. */
static int is_locked(const struct proc_status *status)
{
	struct proc_status own;

	if (!status->seccomp)
		return 0;
	return status->seccomp == 1 || proc_status_read(getpid(), &own) < 0 || own.seccomp != status->seccomp ||
	       own.filters != status->filters;
}

static void check_surroundings(pid_t living, const struct proc_status *status, struct inject_report *ret)
{
	/* clang-format off */
	static const struct { const char *name, *what; } spaces[] = {
		{ "mnt", "mount" }, { "net", "network" }, { "pid", "PID" },
	};
	/* clang-format on */

	if (status->state == 'T')
		add_obstacle(ret, INJECT_STOPPED, "is stopped (kill -CONT continues it)");
	if (status->shadow_stack)
		add_obstacle(ret, INJECT_SHADOW_STACK, "runs with a shadow stack");
	if (status->parent && syscall(SYS_kcmp, living, status->parent, KCMP_VM, 0, 0) == 0)
		add_obstacle(ret, INJECT_SHARED_MEMORY, "runs in the memory of its parent (vfork)");
	if (is_locked(status))
		add_obstacle(ret, INJECT_SECCOMP,
			     status->seccomp == 1 ? "is in strict seccomp mode" : "has a seccomp filter on its system calls");
	for (size_t i = 0; i < COUNT_OF(spaces); i++)
		if (has_other_namespace(living, spaces[i].name)) {
			add_obstacle(ret, INJECT_NAMESPACE,
				     "is in another %s namespace: run this inside it "
				     "(nsenter -t PID -a)",
				     spaces[i].what);
			return;
		}
}

static int has_sanitizer(const struct image *image)
{
	static const char *const names[] = { "libasan.so", "libtsan.so", "libmsan.so", "liblsan.so" };

	for (size_t i = 0; i < image->object_count; i++)
		for (size_t j = 0; j < COUNT_OF(names); j++)
			if (strstr(image->objects[i]->path, names[j]))
				return 1;
	return 0;
}

/* By what is mapped rather than by the program's file: it may have been started by hand through its
 * linker. */
static int check_contents(pid_t living, struct inject_report *ret, struct error *err)
{
	enum elf_peek_kind kind;
	struct image image;
	char path[64];

	TRY(image_open(&image, living, err));
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)living);
	kind = elf_peek_path(path);
	if (kind == ELF_PEEK_32BIT)
		add_obstacle(ret, INJECT_32BIT, "is a 32-bit program");
	else if (kind == ELF_PEEK_ASAN || has_sanitizer(&image))
		add_obstacle(ret, INJECT_SANITIZER, "is built with a sanitizer");
	else if (image_object_of(&image, OBJECT_LIBC))
		ret->obstacle = INJECT_NO_OBSTACLE;
	else if (kind == ELF_PEEK_OTHER_LIBC)
		add_obstacle(ret, INJECT_OTHER_LIBC, "uses a C library other than glibc");
	else
		add_obstacle(ret, INJECT_STATIC, "is statically linked");
	image_close(&image);
	return 0;
}

int inject_examine(pid_t pid, struct inject_report *ret, struct error *err)
{
	struct proc_status status;
	pid_t living;

	*ret = (struct inject_report){ 0 };
	TRY(check_process(pid, &status, ret, err));
	living = proc_living_thread(pid);
	if (living < 0)
		return error_set(err, ECHILD, "process %d (%s) has ended and waits for its parent %u (a zombie)", (int)pid, status.name,
				 status.parent);
	TRY(check_permission(pid, living, &status, err));
	check_surroundings(living, &status, ret);
	return ret->obstacle ? 0 : check_contents(living, ret, err);
}
