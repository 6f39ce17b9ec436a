/* Some system calls return EINTR after any handler, whatever its flags (signal(7)). A program that
 * never had a handler never saw that, and must not because of us. A tick mostly comes
 * when the call has just begun, since it takes CPU time; beginning it anew with the same
 * arguments is as good as never having ended it. */
#include <stdint.h>

#include "agent/core/syscalls.h"
#include "agent/sample/sample.h"
#include "base/macros.h"

/* Calls that have done nothing when they return EINTR. Not connect(), which goes on by itself,
 * nor close(). */
/* clang-format off */
static const uint16_t repeatable[] = {
	SYS_read, SYS_readv, SYS_write, SYS_writev, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg,
	SYS_sendto, SYS_sendmsg, SYS_accept, SYS_accept4,
#ifdef SYS_poll
	SYS_poll, SYS_select, SYS_epoll_wait, SYS_pause,
#endif
	SYS_ppoll, SYS_pselect6, SYS_epoll_pwait, 441 /* epoll_pwait2 */, SYS_nanosleep,
	SYS_clock_nanosleep, SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_semop, SYS_semtimedop,
	SYS_msgrcv, SYS_msgsnd, SYS_mq_timedreceive, SYS_mq_timedsend, SYS_io_getevents,
	333 /* io_pgetevents */, SYS_futex, SYS_wait4, SYS_waitid, SYS_flock, SYS_fcntl,
	SYS_openat, SYS_getrandom,
};
/* clang-format on */

static int is_repeatable(long number)
{
	for (unsigned i = 0; i < COUNT_OF(repeatable); i++)
		if (repeatable[i] == number)
			return 1;
	return 0;
}

/* Something else is about to interrupt the call as well; that one is the program's own. */
static int other_pending(const ucontext_t *context)
{
	uint64_t pending = 0, blocked;

	arch_copy(&blocked, &context->uc_sigmask, sizeof(blocked));
	return raw_syscall(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0, 0) < 0 || (pending & ~blocked) != 0;
}

void sample_restart(ucontext_t *context)
{
	long number;

	if (agent_likely(!arch_call_interrupted(context)) || other_pending(context))
		return;
	number = arch_interrupted_number(context);
	if (is_repeatable(number))
		arch_call_again(context, number);
}
