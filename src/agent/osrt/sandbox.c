/* Programs that give up system calls, or the clock. What they did not choose kills them: from then on
 * no OS runtime call is recorded, because a record may need a system call of our own. */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/osrt/osrt.h"

#define TELL_ROOM 512

typedef long (*six_fn)(long, long, long, long, long, long);
typedef int (*prctl_fn)(long, long, long, long, long);

static _Atomic int sandboxed;

int osrt_is_sandboxed(void)
{
	return atomic_load_explicit(&sandboxed, memory_order_relaxed);
}

static void enter(void)
{
	uint32_t attached = atomic_load(&agent_pages.attached);

	atomic_store(&sandboxed, 1);
	/* Only in the chunk at hand: another one may take a system call. */
	if (attached & agent_pages.session.modules & RING_GATE_OSRT && agent_has_room(TELL_ROOM))
		agent_diagnose(DIAGNOSTIC_INFO, "The program has restricted its system calls (seccomp); "
						"its OS runtime calls are not recorded from here on.");
	if (attached & AGENT_ATTACHED && attached != AGENT_OFF)
		atomic_store(&agent_pages.attached, attached & ~(uint32_t)RING_GATE_OSRT);
}

/* Strict seccomp takes the cycle counter away, too. */
static void restricted(long operation, long how)
{
	if ((operation == PR_SET_TSC && how == PR_TSC_SIGSEGV) ||
	    (operation == PR_SET_SECCOMP && how == SECCOMP_MODE_STRICT))
		agent_give_up();
	else if (operation == PR_SET_SECCOMP)
		enter();
}

AGENT_EXPORT int osrt_call_prctl(long operation, long b, long c, long d, long e) __asm__("prctl");
int osrt_call_prctl(long operation, long b, long c, long d, long e)
{
	prctl_fn real = (prctl_fn)osrt_pick(OSRT_REAL_prctl);
	int watched = (int)operation == PR_SET_SECCOMP || (int)operation == PR_SET_TSC;
	struct osrt_frame frame;
	int result;

	if (agent_unlikely(!osrt_on() || watched)) {
		result = real(operation, b, c, d, e);
		if (watched && result == 0)
			restricted((int)operation, b);
		return result;
	}
	osrt_begin(&frame, OSRT_prctl);
	result = real(operation, b, c, d, e);
	osrt_end(&frame, result, OSRT_FILE_NONE, NULL);
	return result;
}

/* The seventh argument lies on the stack, or nothing of ours does: it is not touched, and the jump to the real
 * function leaves it where that looks for it. */
AGENT_EXPORT long osrt_call_syscall(long number, long a, long b, long c, long d, long e) __asm__("syscall");
long osrt_call_syscall(long number, long a, long b, long c, long d, long e)
{
	six_fn real = (six_fn)osrt_pick(OSRT_REAL_syscall);
	long result;

	if (agent_likely(number != SYS_seccomp && number != SYS_prctl))
		return real(number, a, b, c, d, e);
	result = real(number, a, b, c, d, e);
	if (number == SYS_seccomp && result >= 0 && (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER))
		restricted(PR_SET_SECCOMP, a == SECCOMP_SET_MODE_STRICT ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER);
	else if (number == SYS_prctl && result == 0)
		restricted((int)a, b);
	return result;
}
