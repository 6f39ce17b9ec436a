/* `broken_visitor N COMMAND...`: runs a visitor and kills the process that makes its Nth call of ptrace() or process_vm_writev(), right after that
 * call. Its exit status is 3 when there were not so many calls. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)

/* Whether it stands at the end of one of those calls. */
static int has_called(pid_t pid)
{
	struct __ptrace_syscall_info info;
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0 || info.op != PTRACE_SYSCALL_INFO_EXIT ||
	    ptrace(PTRACE_GETREGS, pid, 0, &registers) < 0)
		return 0;
	return registers.orig_rax == SYS_ptrace || registers.orig_rax == SYS_process_vm_writev;
}

static int follow(long kill_at)
{
	int status, killed = 0;
	long calls = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		int pass_on = 0;

		if (!WIFSTOPPED(status))
			continue;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (!killed && has_called(pid) && ++calls == kill_at) {
				killed = 1;
				kill(pid, SIGKILL);
				continue;
			}
		} else if (!(status >> 16) && WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGTRAP) {
			pass_on = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, pid, 0, pass_on);
	}
	return killed ? 0 : 3;
}

int main(int argc, char **argv)
{
	int status;
	pid_t child;

	if (argc < 3)
		return 2;
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
		return 2;
	if (ptrace(PTRACE_SETOPTIONS, child, 0, OPTIONS) < 0 || ptrace(PTRACE_SYSCALL, child, 0, 0) < 0)
		return 2;
	return follow(atol(argv[1]));
}
