/* What a process may not do once it is confined; each case in a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/system/confine.h"

#define REFUSED(call) ((call) < 0 && errno == EPERM)
#define NO_SECCOMP (confine_seccomp_works() < 0)
#define NO_LANDLOCK (confine_landlock_version() < 1)

static char folder[] = "/var/tmp/sonde-confine-XXXXXX";
static char allowed[64], other[64], outside[64];

static int make_folders(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(allowed, sizeof(allowed), "%s/allowed", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	snprintf(outside, sizeof(outside), "%s/outside", folder);
	close(open(outside, O_CREAT | O_WRONLY, 0600));
	return mkdir(allowed, 0700) < 0 || mkdir(other, 0700) < 0;
}

static int remove_folders(void **state)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

/* 0: what it says holds. A child has no leaks to look for. */
static int child_status(int (*run)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(run());
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void confine_plainly(bool accepts, bool runs)
{
	struct confinement c = { .accepts = accepts, .runs = runs };

	confine_allow(&c, CONFINE_READ, "/");
	confine_allow(&c, CONFINE_READ | CONFINE_WRITE, allowed);
	if (runs)
		confine_allow(&c, CONFINE_READ | CONFINE_RUN, "/");
	confine_enter(&c);
}

static int see_sockets(void)
{
	confine_plainly(false, false);
	return REFUSED(socket(AF_INET, SOCK_STREAM, 0)) && REFUSED(socket(AF_UNIX, SOCK_STREAM, 0)) && REFUSED(connect(0, NULL, 0)) &&
			       REFUSED(bind(0, NULL, 0)) && REFUSED(listen(0, 1)) && REFUSED(accept(0, NULL, NULL)) ?
		       0 :
		       1;
}

static int see_accept(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(address);
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);

	if (bind(server, (struct sockaddr *)&address, sizeof(address.sun_family)) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, (struct sockaddr *)&address, &len) < 0 || connect(client, (struct sockaddr *)&address, len) < 0)
		return 2;
	confine_plainly(true, false);
	return accept4(server, NULL, NULL, SOCK_CLOEXEC) >= 0 && REFUSED(socket(AF_UNIX, SOCK_STREAM, 0)) ? 0 : 1;
}

static int see_programs(void)
{
	char *argv[] = { (char *)"true", NULL };

	confine_plainly(false, false);
	return REFUSED(execv("/bin/true", argv)) && REFUSED(syscall(SYS_execveat, AT_FDCWD, "/bin/true", argv, NULL, 0)) ? 0 : 1;
}

static int see_allowed_program(void)
{
	char *argv[] = { (char *)"true", NULL };

	confine_plainly(false, true);
	execv("/bin/true", argv);
	return 1;
}

static int see_processes_and_kernel(void)
{
	confine_plainly(false, false);
	return REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL)) && REFUSED(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)) &&
			       REFUSED(syscall(425, 1, NULL)) && REFUSED(syscall(SYS_bpf, 0, NULL, 0)) &&
			       REFUSED(syscall(SYS_userfaultfd, 0)) && REFUSED(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)) &&
			       REFUSED(syscall(SYS_keyctl, 0, 0)) && REFUSED(syscall(SYS_mount, "", "", "", 0, NULL)) &&
			       REFUSED(unshare(CLONE_NEWUSER)) && REFUSED(setns(0, 0)) &&
			       REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL)) &&
			       REFUSED(ioctl(0, TIOCSTI, "x")) ?
		       0 :
		       1;
}

/* A file that may be read keeps its owner, mode, times and attributes. */
static int see_marks(void)
{
	struct timespec times[2] = { { 0 }, { 0 } };
	int file = open(outside, O_RDONLY), flags = 0;

	confine_plainly(false, false);
	return REFUSED(chmod(outside, 04755)) && REFUSED(fchmod(file, 04755)) && REFUSED(fchmodat(AT_FDCWD, outside, 04755, 0)) &&
			       REFUSED(syscall(452, AT_FDCWD, outside, 04755, 0)) && REFUSED(chown(outside, 1, 1)) &&
			       REFUSED(fchown(file, 1, 1)) && REFUSED(lchown(outside, 1, 1)) &&
			       REFUSED(setxattr(outside, "user.a", "b", 1, 0)) && REFUSED(fsetxattr(file, "user.a", "b", 1, 0)) &&
			       REFUSED(removexattr(outside, "user.a")) && REFUSED(utimensat(AT_FDCWD, outside, times, 0)) &&
			       REFUSED(ioctl(file, FS_IOC_SETFLAGS, &flags)) ?
		       0 :
		       1;
}

/* Another process of the same user may not be ended; one's own children may. */
static int see_signals(void)
{
	pid_t parent = getppid(), child;
	int status;

	confine_plainly(false, false);
	if (!REFUSED(kill(parent, 0)))
		return 1;
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	return kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child && raise(0) == 0 ? 0 : 2;
}

/* Calls of x32 have numbers of their own. */
static int see_other_calls(void)
{
	confine_plainly(false, false);
#ifdef __x86_64__
	if (!REFUSED(syscall(0x40000000 | SYS_getpid)))
		return 1;
#endif
	return 0;
}

static void *nothing(void *context)
{
	return context;
}

static int see_what_is_left(void)
{
	char word[4], written[80];
	pthread_t thread;
	int file;

	confine_plainly(false, false);
	snprintf(written, sizeof(written), "%s/written", allowed);
	file = open(written, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0 || write(file, "abc", 3) != 3 || pread(file, word, 3, 0) != 3 || ftruncate(file, 1) < 0 || unlink(written) < 0)
		return 1;
	if (open(outside, O_RDONLY) < 0 || pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
		return 2;
	return fork() == 0 ? _exit(0), 0 : 0;
}

static int see_files(void)
{
	char path[100];
	struct confinement c = { .runs = true };

	confine_allow(&c, CONFINE_READ | CONFINE_WRITE, allowed);
	confine_allow(&c, CONFINE_READ, other);
	confine_enter(&c);
	if (open(outside, O_RDONLY) >= 0 || errno != EACCES || open("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES)
		return 1;
	snprintf(path, sizeof(path), "%s/new", other);
	if (open(path, O_WRONLY | O_CREAT, 0600) >= 0 || errno != EACCES || mkdir(path, 0700) == 0)
		return 2;
	if (open(other, O_RDONLY | O_DIRECTORY) < 0 || unlink(outside) == 0 || rename(outside, path) == 0 || truncate(outside, 0) == 0)
		return 3;
	snprintf(path, sizeof(path), "%s/new", allowed);
	if (symlink("/etc", path) == 0 || mknod(path, S_IFIFO | 0600, 0) == 0 || mkdir(path, 0700) < 0)
		return 4;
	execl("/bin/true", "true", (char *)NULL);
	return errno == EACCES ? 0 : 5;
}

/* A link to a file elsewhere stands for its folder, too. */
static int see_folders(void)
{
	struct confinement c = { 0 };
	char link_path[80], target[80];

	snprintf(link_path, sizeof(link_path), "%s/link", other);
	snprintf(target, sizeof(target), "%s/target", allowed);
	close(open(target, O_CREAT | O_WRONLY, 0600));
	if (symlink(target, link_path) < 0)
		return 1;
	confine_allow_folder_of(&c, CONFINE_READ | CONFINE_WRITE, link_path);
	confine_allow_folder_of(&c, CONFINE_READ, NULL);
	confine_enter(&c);
	return open(link_path, O_WRONLY | O_TRUNC) >= 0 && unlink(target) == 0 && unlink(link_path) == 0 ? 0 : 2;
}

/* Too many places: files stay open rather than closed wrongly; calls are refused all the same. */
static int see_too_many(void)
{
	struct confinement c = { 0 };

	for (int i = 0; i <= CONFINE_MOST_PLACES; i++)
		confine_allow(&c, CONFINE_READ, "/usr");
	confine_enter(&c);
	return open(outside, O_RDWR) >= 0 && (NO_SECCOMP || REFUSED(socket(AF_UNIX, SOCK_STREAM, 0))) ? 0 : 1;
}

/* As some containers do. */
static bool have_refused(uint32_t call, uint32_t error)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(steps) / sizeof(steps[0]), steps };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

/* Whatever is missing of what confines, files can be read as before. */
static int see_half_a_kernel(void)
{
	static const uint32_t calls[] = { 444, 445, 446, SYS_seccomp, SYS_prctl };
	static const uint32_t errors[] = { EPERM, ENOSYS, EINVAL, ENOMEM };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) * 4; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			if (!have_refused(calls[i / 4], errors[i % 4]))
				_exit(2);
			confine_plainly(false, false);
			_exit(open(outside, O_RDONLY) < 0);
		}
		if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status))
			return (int)i + 1;
	}
	return 0;
}

static void check(int (*run)(void), int cannot)
{
	if (cannot)
		skip();
	assert_int_equal(child_status(run), 0);
}

/* clang-format off */
#define CALLS_TEST(name) static void test_##name(void **state) { check(see_##name, NO_SECCOMP); }
/* clang-format on */
CALLS_TEST(sockets)
CALLS_TEST(accept)
CALLS_TEST(programs)
CALLS_TEST(allowed_program)
CALLS_TEST(processes_and_kernel)
CALLS_TEST(marks)
CALLS_TEST(other_calls)
CALLS_TEST(what_is_left)
CALLS_TEST(half_a_kernel)

static void test_files(void **state)
{
	check(see_files, NO_LANDLOCK);
}

static void test_folders(void **state)
{
	check(see_folders, NO_LANDLOCK);
}

static void test_signals(void **state)
{
	check(see_signals, confine_landlock_version() < 6);
}

static void test_too_many(void **state)
{
	check(see_too_many, 0);
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sockets), cmocka_unit_test(test_accept), cmocka_unit_test(test_programs), cmocka_unit_test(test_allowed_program),
		cmocka_unit_test(test_processes_and_kernel), cmocka_unit_test(test_other_calls), cmocka_unit_test(test_what_is_left),
		cmocka_unit_test(test_files), cmocka_unit_test(test_half_a_kernel), cmocka_unit_test(test_folders), cmocka_unit_test(test_signals), cmocka_unit_test(test_marks),
		cmocka_unit_test(test_too_many),
	};
	/* clang-format on */

	return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
