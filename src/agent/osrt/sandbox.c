/* Programs that shut themselves in. In a seccomp sandbox a system call the program did not allow may kill it, ours too;
 * in the strict one, and where the program asks for it, reading the clock does. The agent leaves before. */
#include "agent/osrt/osrt.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define SANDBOX_NOTE "the program enters a seccomp sandbox: from here on its own calls are not recorded"
#define CLOCK_NOTE "the program forbids reading the CPU's clock: from here on its own calls are not recorded"

typedef int (*prctl_fn)(long, long, long, long, long);
typedef long (*syscall_fn)(long, long, long, long, long, long);

AGENT_EXPORT int osrt_call_prctl(long option, long a, long b, long c, long d) __asm__("prctl");
AGENT_EXPORT long osrt_call_syscall(long number, long a, long b, long c, long d, long e) __asm__("syscall");

/* Why the agent must not see the end of this call; NULL: it may. A filter that is not there is a question
 * whether the kernel knows filters. */
static const char *reason_to_leave(long option, long a, long b)
{
	if (option == PR_SET_SECCOMP && (a == SECCOMP_MODE_STRICT || (a == SECCOMP_MODE_FILTER && b)))
		return SANDBOX_NOTE;
	if (option == PR_SET_TSC && a == PR_TSC_SIGSEGV)
		return CLOCK_NOTE;
	return NULL;
}

static int ordinary_prctl(prctl_fn real, long option, long a, long b, long c, long d)
{
	struct osrt_frame frame;
	int result;

	osrt_begin(&frame, OSRT_prctl);
	result = real(option, a, b, c, d);
	osrt_end(&frame, result, OSRT_FILE_NONE, NULL);
	return result;
}

int osrt_call_prctl(long option, long a, long b, long c, long d)
{
	prctl_fn real = (prctl_fn)osrt_pick(OSRT_REAL_prctl);
	const char *reason = reason_to_leave((int)option, a, b);
	int result;

	if (reason && agent_leave(reason)) {
		result = real(option, a, b, c, d);
		if (result < 0)
			agent_return();
		return result;
	}
	return osrt_on() ? ordinary_prctl(real, option, a, b, c, d) : real(option, a, b, c, d);
}

/* Only looked at: what libseccomp and others call has no function of its own. The seventh argument is on the
 * stack, or somebody else's memory is: it is not touched, and the jump to the real function leaves it where that looks. */
long osrt_call_syscall(long number, long a, long b, long c, long d, long e)
{
	syscall_fn real = (syscall_fn)osrt_pick(OSRT_REAL_syscall);
	const char *reason = NULL;
	long result;

	if (agent_unlikely(number == SYS_seccomp) && ((int)a == SECCOMP_SET_MODE_STRICT || ((int)a == SECCOMP_SET_MODE_FILTER && c)))
		reason = SANDBOX_NOTE;
	else if (agent_unlikely(number == SYS_prctl))
		reason = reason_to_leave((int)a, b, c);
	if (agent_likely(!reason || !agent_leave(reason)))
		return real(number, a, b, c, d, e);
	result = real(number, a, b, c, d, e);
	if (result < 0)
		agent_return();
	return result;
}
