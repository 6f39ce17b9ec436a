/* no_perf ERRNO[:readv|:pidfd] COMMAND...: runs a command for which perf_event_open (process_vm_readv, pidfd_open) fails with that
 * number. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned call_of(const char *word)
{
	if (strstr(word, ":readv"))
		return SYS_process_vm_readv;
	return strstr(word, ":pidfd") ? SYS_pidfd_open : SYS_perf_event_open;
}

int main(int argc, char **argv)
{
	unsigned code = argc > 2 ? (unsigned)atoi(argv[1]) : 0, number = argc > 2 ? call_of(argv[1]) : 0;
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code & SECCOMP_RET_DATA)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(steps) / sizeof(steps[0]), steps };

	if (!code || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0) {
		perror("no_perf");
		return 99;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 98;
}
