#include "inject/borrow.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "inject/restart.h"

/* The thread stands until it is seen to: at first we do not sleep between looks, then briefly, a fifth
 * of a second in all. */
#define STOP_EAGER_POLLS 2000u
#define STOP_POLLS 4000u
#define STOP_PAUSE_NS 100000
#define SYSCALL_STOP (SIGTRAP | 0x80)
/* What is not blocked, for the thread that is started inherits it: SIGSETXID of the C library, as a thread that changes the user waits
 * for all others to take it; and faults, which the program's handler must see. */
#define IN_MASK(signal) BIT64((signal)-1)
#define MASK_WHILE_BORROWED \
	(~(IN_MASK(33) | IN_MASK(SIGSEGV) | IN_MASK(SIGBUS) | IN_MASK(SIGFPE) | IN_MASK(SIGILL) | IN_MASK(SIGTRAP) | IN_MASK(SIGSYS) | \
	   IN_MASK(SIGABRT)))

static int get_registers(const struct borrowed *b, arch_thread_registers *ret)
{
	struct iovec v = { ret, sizeof(*ret) };

	return ptrace(PTRACE_GETREGSET, b->thread, NT_PRSTATUS, &v) < 0 ? -errno : 0;
}

static int set_registers(const struct borrowed *b, const arch_thread_registers *r)
{
	struct iovec v = { (void *)(uintptr_t)r, sizeof(*r) };

	return ptrace(PTRACE_SETREGSET, b->thread, NT_PRSTATUS, &v) < 0 ? -errno : 0;
}

static int get_vectors(struct borrowed *b)
{
	struct iovec v = { b->vectors, sizeof(b->vectors) };

	if (ptrace(PTRACE_GETREGSET, b->thread, ARCH_VECTORS_SET, &v) < 0)
		return -errno;
	b->vectors_size = (uint32_t)v.iov_len;
	return 0;
}

static void set_vectors(struct borrowed *b)
{
	struct iovec v = { b->vectors, b->vectors_size };

	ptrace(PTRACE_SETREGSET, b->thread, ARCH_VECTORS_SET, &v);
}

static void set_mask(const struct borrowed *b, uint64_t mask)
{
	ptrace(PTRACE_SETSIGMASK, b->thread, sizeof(mask), &mask);
}

/* The kernel makes those calls again that say so; these would return, without a reason that the program
 * knows. */
static void mend_call(struct borrowed *b)
{
	arch_thread_registers *r = &b->original;

	if (arch_thread_call(r) >= 0 && arch_thread_result(r) == -EINTR && restart_allowed(arch_thread_call(r))) {
		arch_thread_set_result(r, -ERESTARTNOHAND);
		set_registers(b, r);
	}
}

/* One that did not stop in time, and now has: it must not stand while another is borrowed, which may need
 * what it holds. */
static void let_stray_go(pid_t thread, int status)
{
	struct borrowed stray = { .thread = thread };

	if (!WIFSTOPPED(status))
		return;
	if (get_registers(&stray, &stray.original) == 0)
		mend_call(&stray);
	ptrace(PTRACE_DETACH, thread, 0, status >> 16 ? 0 : WSTOPSIG(status));
}

/* The next change of the thread's state; as waitpid(). */
static pid_t wait_for_thread(pid_t thread, int *ret, int flags)
{
	pid_t r;

	while ((r = waitpid(-1, ret, __WALL | flags)) > 0 && r != thread)
		let_stray_go(r, *ret);
	return r;
}

void borrow_let_strays_go(void)
{
	int status;

	wait_for_thread(0, &status, WNOHANG);
}

/* -EAGAIN: it has not stopped within a while, and will do so some time. */
static int wait_briefly(pid_t thread, int *ret)
{
	struct timespec pause = { 0, STOP_PAUSE_NS };

	for (unsigned i = 0; i < STOP_POLLS; i++) {
		pid_t r = wait_for_thread(thread, ret, WNOHANG);

		if (r < 0)
			return -ESRCH;
		if (r)
			return 0;
		if (i < STOP_EAGER_POLLS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
	return -EAGAIN;
}

static int seize(pid_t thread)
{
	/* One that did not stop in time before is still ours. */
	if (ptrace(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACESYSGOOD) < 0 && errno != EPERM)
		return -errno;
	return ptrace(PTRACE_INTERRUPT, thread, 0, 0) < 0 ? (errno == ESRCH ? -EPERM : -errno) : 0;
}

int borrow_stop(struct borrowed *ret, const struct image *image, pid_t thread)
{
	int status, r = seize(thread);

	*ret = (struct borrowed){ .thread = thread, .image = image, .status = -1 };
	if (r < 0)
		return r;
	TRY(wait_briefly(thread, &status));
	if (!WIFSTOPPED(status))
		return -ESRCH;
	if (status >> 16 != PTRACE_EVENT_STOP || WSTOPSIG(status) != SIGTRAP) {
		/* A signal came first, or the whole process was stopped. */
		ptrace(PTRACE_DETACH, thread, 0, status >> 16 ? 0 : WSTOPSIG(status));
		return -EAGAIN;
	}
	r = get_registers(ret, &ret->original);
	if (r < 0) {
		ptrace(PTRACE_DETACH, thread, 0, 0);
		return r;
	}
	mend_call(ret);
	return 0;
}

void borrow_release(struct borrowed *b)
{
	ptrace(PTRACE_DETACH, b->thread, 0, 0);
}

/* A call that was interrupted before goes by another number since then; the code knows the real
 * one. */
static long real_call(const struct borrowed *b)
{
	uint64_t instruction = arch_thread_pc(&b->original) - ARCH_CALL_SIZE;
	long call = arch_thread_call(&b->original), found = -1;
	uint8_t code[ARCH_CALL_CODE];

	if (call == SYS_restart_syscall && image_read(b->image, instruction - sizeof(code), code, sizeof(code)) == 0)
		found = arch_number_before(code + sizeof(code), code);
	return found >= 0 ? found : call;
}

/* The registers with which the thread goes on by itself, without the kernel's knowing about an
 * interrupted call: one with a time limit begins anew with the whole of it then. */
static arch_thread_registers resumed(const struct borrowed *b)
{
	arch_thread_registers r = b->original;

	if (arch_thread_call(&r) >= 0 && restart_pending(arch_thread_result(&r)))
		arch_thread_repeat_call(&r, real_call(b));
	arch_thread_no_call(&r);
	return r;
}

/* What a signal handler would return to. Until we take the thread back by ourselves it is its way
 * home: also when we are killed. */
int borrow_prepare(struct borrowed *b, uint64_t trampoline)
{
	uint64_t top = (arch_thread_stack(&b->original) - ARCH_RED_ZONE) & ~(uint64_t)(ARCH_VECTORS_ALIGN - 1);
	uint8_t image[ARCH_VECTORS_LIMIT + ARCH_VECTORS_END];
	arch_thread_registers r = resumed(b);
	struct arch_signal_frame frame;
	uint32_t size;
	int e = get_vectors(b);

	if (e < 0 || ptrace(PTRACE_GETSIGMASK, b->thread, sizeof(b->mask), &b->mask) < 0)
		return -EFAULT;
	memcpy(image, b->vectors, b->vectors_size);
	size = arch_vectors_for_frame(image, b->vectors_size);
	if (!size)
		return -EFAULT;
	top -= (size + ARCH_VECTORS_ALIGN - 1) & ~(uint64_t)(ARCH_VECTORS_ALIGN - 1);
	b->frame = arch_frame_place(top - sizeof(frame));
	arch_frame_fill(&frame, &r, trampoline, top, b->mask);
	if (image_write(b->image, top, image, size) < 0 || image_write(b->image, b->frame, &frame, sizeof(frame)) < 0)
		return -EFAULT;
	return 0;
}

static int is_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGTRAP || number == SIGSYS;
}

/* It stands where signals are looked for: the kernel itself sees to an interrupted call. */
static void let_go(struct borrowed *b, int signal_number)
{
	set_registers(b, &b->original);
	ptrace(PTRACE_DETACH, b->thread, 0, signal_number);
	b->gone = 1;
}

/* Waits for its next stop. */
static int has_thread_ended(struct borrowed *b, int *ret)
{
	pid_t r = wait_for_thread(b->thread, ret, 0);

	if (r > 0 && WIFSTOPPED(*ret))
		return 0;
	b->gone = 1;
	b->status = r > 0 ? *ret : -1;
	return 1;
}

/* Runs to the next entry to or exit from a system call; its registers are then in *r. */
static int run_to_call(struct borrowed *b, arch_thread_registers *r)
{
	int status, pass_on = 0;

	for (;;) {
		/* One that was killed while it stood does not go on, and has a status all the same. */
		ptrace(PTRACE_SYSCALL, b->thread, 0, pass_on);
		if (has_thread_ended(b, &status))
			return -ESRCH;
		pass_on = 0;
		if (WSTOPSIG(status) == SYSCALL_STOP) {
			b->in_call = !b->in_call;
			return get_registers(b, r);
		}
		if (status >> 16)
			continue;
		pass_on = WSTOPSIG(status);
		if (is_fault(pass_on)) {
			set_mask(b, b->mask);
			set_vectors(b);
			let_go(b, 0);
			return -EFAULT;
		}
	}
}

int borrow_call(struct borrowed *b, uint64_t function, const uint64_t arguments[6], long call, long or_call, int64_t *ret)
{
	arch_thread_registers r = b->original;
	int e;

	*ret = -ENOSYS;
	arch_thread_enter(&r, function, b->frame, arguments);
	e = set_registers(b, &r);
	/* After the registers: from now on its way home restores the mask as well. */
	set_mask(b, MASK_WHILE_BORROWED);
	while (e == 0) {
		long number;

		e = run_to_call(b, &r);
		number = arch_thread_call(&r);
		if (e == 0 && b->in_call && number == SYS_rt_sigreturn && arch_frame_returned(&r, b->frame))
			return 0;
		if (e == 0 && !b->in_call && (number == call || number == or_call))
			*ret = arch_thread_result(&r);
	}
	return e;
}

/* It stands before the call that would bring it home. That call is left out, because it would also
 * forget how an interrupted sleep goes on, and the thread is brought to where signals are looked
 * for: if one has come meanwhile, the kernel decides whether an interrupted call returns or begins
 * again. At every moment its registers are such that it could go on without us. */
void borrow_end(struct borrowed *b)
{
	arch_thread_registers r = resumed(b);
	int status;

	if (b->gone)
		return;
	if (!b->in_call) {
		let_go(b, 0);
		return;
	}
	set_vectors(b);
	set_mask(b, b->mask);
	set_registers(b, &r);
	ptrace(PTRACE_INTERRUPT, b->thread, 0, 0);
	ptrace(PTRACE_CONT, b->thread, 0, 0);
	if (!has_thread_ended(b, &status))
		let_go(b, status >> 16 ? 0 : WSTOPSIG(status));
}
