/* System calls that no reader of files makes: they fail with EPERM from then on, in all threads. A list of what is refused, not of
 * what is allowed: a C library that makes a new harmless call goes on working. */
#include "base/system/confine_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/confine.h"
#include "base/macros.h"

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#define X32_CALLS 0x40000000u
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define NEW_NAMESPACES \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | 0x80u /* of time */)

/* Calls that headers of the machine that compiles may lack; all architectures have the same number. */
/* clang-format off */
enum new_call {
	CALL_OPEN_TREE = 428, CALL_MOVE_MOUNT, CALL_FSOPEN, CALL_FSCONFIG, CALL_FSMOUNT, CALL_FSPICK, CALL_PIDFD_GETFD = 438,
	CALL_PROCESS_MADVISE = 440, CALL_MOUNT_SETATTR = 442, CALL_PROCESS_MRELEASE = 448, CALL_IO_URING_SETUP = 425, CALL_IO_URING_ENTER,
	CALL_IO_URING_REGISTER, CALL_CLONE3 = 435, CALL_FCHMODAT2 = 452, CALL_SETXATTRAT = 463, CALL_REMOVEXATTRAT = 466, CALL_FILE_SETATTR = 469
};

static const uint32_t refused[] = {
	/* the network and other processes' sockets */
	SYS_socket, SYS_connect, SYS_bind, SYS_listen,
	/* other processes */
	SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, CALL_PIDFD_GETFD, CALL_PROCESS_MADVISE, CALL_PROCESS_MRELEASE,
	/* parts of the kernel that had many faults */
	CALL_IO_URING_SETUP, CALL_IO_URING_ENTER, CALL_IO_URING_REGISTER, SYS_bpf, SYS_userfaultfd, SYS_perf_event_open, SYS_keyctl, SYS_add_key,
	SYS_request_key, SYS_fanotify_init,
	/* file systems and namespaces */
	SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, CALL_OPEN_TREE, CALL_MOVE_MOUNT, CALL_FSOPEN, CALL_FSCONFIG, CALL_FSMOUNT,
	CALL_FSPICK, CALL_MOUNT_SETATTR, SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_quotactl, SYS_swapon, SYS_swapoff, SYS_acct,
	/* who may do what with a file, which Landlock leaves alone: also of files that are open for reading only */
	SYS_fchmod, SYS_fchmodat, CALL_FCHMODAT2, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr,
	SYS_lremovexattr, SYS_fremovexattr, CALL_SETXATTRAT, CALL_REMOVEXATTRAT, CALL_FILE_SETATTR, SYS_utimensat,
#ifdef __x86_64__
	SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
	/* the machine */
	SYS_reboot, SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
	SYS_sethostname, SYS_setdomainname, SYS_syslog, SYS_vhangup, SYS_personality,
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
#ifdef __x86_64__
	SYS_iopl, SYS_ioperm, SYS_modify_ldt,
#endif
};
/* clang-format on */

#define REFUSED COUNT_OF(refused)
#define MOST_STEPS (REFUSED * 2 + 64)

struct program {
	struct sock_filter steps[MOST_STEPS];
	unsigned short count;
};

static void put_filter_step(struct program *p, uint16_t code, uint32_t value, uint8_t yes, uint8_t no)
{
	p->steps[p->count++] = (struct sock_filter){ code, yes, no, value };
}

static void put_answer(struct program *p, uint32_t answer)
{
	put_filter_step(p, BPF_RET | BPF_K, answer, 0, 0);
}

static void put_load_step(struct program *p, uint32_t offset)
{
	put_filter_step(p, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void refuse_system_call(struct program *p, uint32_t call, uint32_t error)
{
	put_filter_step(p, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
	put_answer(p, SECCOMP_RET_ERRNO | error);
}

/* A call whose argument (its low half: these have no more) decides. The number is loaded again behind it. */
static void refuse_if(struct program *p, uint32_t call, unsigned argument, uint16_t how, uint32_t value)
{
	put_filter_step(p, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
	put_load_step(p, (uint32_t)(offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t)));
	put_filter_step(p, how, value, 0, 1);
	put_answer(p, SECCOMP_RET_ERRNO | EPERM);
	put_load_step(p, offsetof(struct seccomp_data, nr));
}

#ifdef THIS_ARCHITECTURE
static void make_call_filter(struct program *p, bool accepts, bool runs)
{
	put_load_step(p, offsetof(struct seccomp_data, arch));
	put_filter_step(p, BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0);
	put_answer(p, SECCOMP_RET_ERRNO | EPERM);
	put_load_step(p, offsetof(struct seccomp_data, nr));
#ifdef X32_CALLS
	put_filter_step(p, BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1);
	put_answer(p, SECCOMP_RET_ERRNO | EPERM);
#endif
	for (size_t i = 0; i < REFUSED; i++)
		refuse_system_call(p, refused[i], EPERM);
	if (!accepts) {
		refuse_system_call(p, SYS_accept, EPERM);
		refuse_system_call(p, SYS_accept4, EPERM);
	}
	if (!runs) {
		refuse_system_call(p, SYS_execve, EPERM);
		refuse_system_call(p, SYS_execveat, EPERM);
	}
	/* Threads and processes, but no namespaces; of clone3() the flags cannot be seen, and C libraries then take clone(). */
	refuse_system_call(p, CALL_CLONE3, ENOSYS);
	refuse_if(p, SYS_clone, 0, BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES);
	/* What was put into a terminal would be run by the shell that reads it next. */
	refuse_if(p, SYS_ioctl, 1, BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI);
	refuse_if(p, SYS_ioctl, 1, BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX);
	refuse_if(p, SYS_ioctl, 1, BPF_JMP | BPF_JEQ | BPF_K, FS_IOC_SETFLAGS);
	refuse_if(p, SYS_ioctl, 1, BPF_JMP | BPF_JEQ | BPF_K, FS_IOC_FSSETXATTR);
	put_answer(p, SECCOMP_RET_ALLOW);
}

int confine_calls(bool accepts, bool runs)
{
	struct program program = { .count = 0 };
	struct sock_fprog filter = { .filter = program.steps };

	make_call_filter(&program, accepts, runs);
	filter.len = program.count;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0 ? 0 : -errno;
}

int confine_seccomp_works(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0 ? 0 : -errno;
}
#else
int confine_calls(bool accepts, bool runs)
{
	return -ENOSYS;
}

int confine_seccomp_works(void)
{
	return -ENOSYS;
}
#endif
