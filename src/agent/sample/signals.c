/* The signal is the program's as well: what it sets for it is remembered here, not given to the
 * kernel, and called for every signal that is no tick of ours. Ticks stop while a thread blocks the
 * signal, so that who waits for one (sigwait, signalfd, sigpending) never meets them. */
#include <errno.h>
#include <string.h>

#include "agent/core/syscalls.h"
#include "agent/core/wrappers.h"
#include "agent/sample/sample.h"
#include "base/macros.h"

typedef void (*handler_fn)(int);

static struct {
	int (*sigaction)(int, const struct sigaction *, struct sigaction *);
	handler_fn (*signal)(int, handler_fn);
	handler_fn (*sysv_signal)(int, handler_fn);
	handler_fn (*sigset)(int, handler_fn);
	int (*sigignore)(int);
	int (*siginterrupt)(int, int);
	int (*sigprocmask)(int, const sigset_t *, sigset_t *);
	int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
} real;

static struct {
	void (*handler)(int, siginfo_t *, void *); /* NULL: nothing of this is in force */
	int owner;                                 /* pid */
	/* What the program set. The number is odd while it changes. */
	_Atomic uint32_t version;
	struct sigaction program;
	_Atomic uint32_t reported_own, reported_profiler;
} state;

/* The kernel's own structure: libc's calls may be ours. */
struct kernel_sigaction {
	uintptr_t handler;
	unsigned long flags;
	uintptr_t restorer;
	uint64_t mask;
};

static uint64_t mask_bits(const sigset_t *set)
{
	uint64_t bits;

	arch_copy(&bits, set, sizeof(bits));
	return bits;
}

static int has_signal(const sigset_t *set)
{
	return mask_bits(set) >> (SAMPLE_SIGNAL - 1) & 1;
}

static long set_mask(const uint64_t *bits, uint64_t *old)
{
	return raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)bits, (long)old, sizeof(*bits), 0, 0);
}

/* A child of vfork() works on our memory with signals of its own. */
static int is_owner(void)
{
	return atomic_load_explicit(&agent_pages.attached, memory_order_relaxed) == 0 || raw_getpid() == state.owner;
}

static struct sigaction program_action(void)
{
	struct sigaction action;
	uint32_t version;

	do {
		version = atomic_load_explicit(&state.version, memory_order_acquire);
		arch_copy(&action, &state.program, sizeof(action));
		atomic_thread_fence(memory_order_acquire);
	} while ((version & 1) || version != atomic_load_explicit(&state.version, memory_order_relaxed));
	return action;
}

/* Returns what was there. Signals are blocked meanwhile: a handler would wait for ever. */
static struct sigaction replace_action(const struct sigaction *action)
{
	const uint64_t all = ~0ull;
	uint64_t before = 0;
	struct sigaction old;
	uint32_t version;

	set_mask(&all, &before);
	do
		version = atomic_load(&state.version) & ~1u;
	while (!atomic_compare_exchange_weak(&state.version, &version, version + 1));
	old = state.program;
	arch_copy(&state.program, action, sizeof(*action));
	atomic_store(&state.version, version + 2);
	set_mask(&before, NULL);
	return old;
}

static int has_handler(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Whether calls are restarted, and on which stack a handler runs, is the program's choice where it has
 * a handler. */
static int report_kernel(const struct sigaction *program, struct sigaction *old)
{
	struct sigaction ours = { .sa_sigaction = state.handler, .sa_flags = SA_SIGINFO };

	sigfillset(&ours.sa_mask);
	ours.sa_flags |= has_handler(program) ? program->sa_flags & (SA_RESTART | SA_ONSTACK) : SA_RESTART | SA_ONSTACK;
	return real.sigaction(SAMPLE_SIGNAL, &ours, old);
}

int sample_install(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction none = { .sa_handler = SIG_DFL };

	agent_wrappers_resolve();
	if (!real.sigaction || real.sigaction(SAMPLE_SIGNAL, NULL, &state.program) < 0)
		return -ENOSYS;
	state.handler = handler;
	state.owner = raw_getpid();
	if (report_kernel(has_handler(&state.program) ? &state.program : &none, NULL) == 0)
		return 0;
	state.handler = NULL;
	return -EINVAL;
}

void sample_uninstall(void)
{
	struct sigaction program = program_action();

	if (sample_installed())
		real.sigaction(SAMPLE_SIGNAL, &program, NULL);
	state.handler = NULL;
}

int sample_installed(void)
{
	struct kernel_sigaction action = { 0 };

	raw_syscall(SYS_rt_sigaction, SAMPLE_SIGNAL, 0, (long)&action, sizeof(action.mask), 0, 0);
	return action.handler == (uintptr_t)state.handler;
}

void sample_signals_forked(void)
{
	state.owner = raw_getpid();
}

void sample_forward(siginfo_t *info, ucontext_t *context)
{
	struct sigaction program = program_action(), none = { .sa_handler = SIG_DFL };
	uint64_t mask = mask_bits(&context->uc_sigmask) | mask_bits(&program.sa_mask);

	/* Without us an ignored signal interrupts nothing. */
	if (!has_handler(&program)) {
		sample_restart(context);
		return;
	}
	if (program.sa_flags & (int)SA_RESETHAND)
		replace_action(&none);
	if (!(program.sa_flags & SA_NODEFER))
		mask |= 1ull << (SAMPLE_SIGNAL - 1);
	set_mask(&mask, NULL);
	program.sa_sigaction(SAMPLE_SIGNAL, info, context);
}

/* The program sets the action of the signal, or asks for it. */
static int virtual_sigaction(const struct sigaction *action, struct sigaction *old)
{
	struct sigaction new_action, was;

	if (!action) {
		*old = program_action();
		return 0;
	}
	new_action = *action;
	was = replace_action(&new_action);
	if (old)
		*old = was;
	if (has_handler(&new_action) && !atomic_exchange(&state.reported_own, 1))
		agent_diagnose(DIAGNOSTIC_INFO, "The program handles SIGURG, which Sonde uses for samples; its handler gets only its "
						"own signals.");
	return report_kernel(&new_action, NULL);
}

static void notice_profiler(int number, int handled)
{
	if (state.handler && number == SIGPROF && handled && is_owner() && !atomic_exchange(&state.reported_profiler, 1))
		agent_diagnose(DIAGNOSTIC_INFO, "The program handles SIGPROF itself, as profilers do; samples are "
						"taken with another signal (SIGURG) and leave it alone.");
}

int agent_sample_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction seen;
	int result;

	agent_wrappers_resolve();
	if (agent_unlikely(!real.sigaction)) {
		errno = ENOSYS;
		return -1;
	}
	if (agent_likely(number != SAMPLE_SIGNAL || !state.handler)) {
		result = real.sigaction(number, action, old);
		notice_profiler(number, action && has_handler(action));
		return result;
	}
	if (is_owner())
		return action || old ? virtual_sigaction(action, old) : 0;
	result = real.sigaction(number, action, &seen);
	if (result == 0 && old)
		*old = seen.sa_sigaction == state.handler ? program_action() : seen;
	return result;
}

int __sigaction(int, const struct sigaction *, struct sigaction *);
AGENT_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return agent_sample_sigaction(number, action, old);
}

/* The older ways to set an action, as the C library defines them. */
static handler_fn set_handler(handler_fn handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;

	sigemptyset(&action.sa_mask);
	if (!(flags & SA_NODEFER))
		sigaddset(&action.sa_mask, SAMPLE_SIGNAL);
	return agent_sample_sigaction(SAMPLE_SIGNAL, &action, &old) < 0 ? SIG_ERR : old.sa_handler;
}

static int is_sampling_signal(int number)
{
	agent_wrappers_resolve();
	return agent_unlikely(number == SAMPLE_SIGNAL && state.handler);
}

static handler_fn no_handler(void)
{
	errno = ENOSYS;
	return SIG_ERR;
}

handler_fn agent_sample_signal(int number, handler_fn handler)
{
	handler_fn old;

	if (is_sampling_signal(number) && handler != SIG_ERR)
		return set_handler(handler, SA_RESTART);
	old = real.signal ? real.signal(number, handler) : no_handler();
	notice_profiler(number, handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR);
	return old;
}

static handler_fn sysv_style(int number, handler_fn handler)
{
	if (is_sampling_signal(number) && handler != SIG_ERR)
		return set_handler(handler, (int)SA_RESETHAND | SA_NODEFER);
	return real.sysv_signal ? real.sysv_signal(number, handler) : no_handler();
}

handler_fn bsd_signal(int, handler_fn);
AGENT_EXPORT handler_fn bsd_signal(int number, handler_fn handler)
{
	return agent_sample_signal(number, handler);
}

AGENT_EXPORT handler_fn ssignal(int number, handler_fn handler)
{
	return agent_sample_signal(number, handler);
}

handler_fn sysv_signal(int, handler_fn);
AGENT_EXPORT handler_fn sysv_signal(int number, handler_fn handler)
{
	return sysv_style(number, handler);
}

handler_fn __sysv_signal(int, handler_fn);
AGENT_EXPORT handler_fn __sysv_signal(int number, handler_fn handler)
{
	return sysv_style(number, handler);
}

static int change_mask(int (*function)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set, sigset_t *old)
{
	int blocks = set && (how == SIG_BLOCK || how == SIG_SETMASK) && has_signal(set);
	int unblocks = set && ((how == SIG_UNBLOCK && has_signal(set)) || (how == SIG_SETMASK && !has_signal(set)));
	int result;

	if (!(blocks || unblocks) || !is_owner())
		return function(how, set, old);
	/* While it is not blocked, what is pending is delivered as the timer stops. */
	if (blocks)
		sample_pause();
	result = function(how, set, old);
	if (unblocks || result)
		sample_resume();
	return result;
}

static int change_process_mask(int how, const sigset_t *set, sigset_t *old)
{
	agent_wrappers_resolve();
	if (agent_likely(real.sigprocmask && !state.handler))
		return real.sigprocmask(how, set, old);
	if (real.sigprocmask)
		return change_mask(real.sigprocmask, how, set, old);
	errno = ENOSYS;
	return -1;
}

AGENT_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return change_process_mask(how, set, old);
}

AGENT_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	agent_wrappers_resolve();
	if (!real.pthread_sigmask)
		return ENOSYS;
	return agent_likely(!state.handler) ? real.pthread_sigmask(how, set, old) : change_mask(real.pthread_sigmask, how, set, old);
}

AGENT_EXPORT handler_fn sigset(int number, handler_fn handler)
{
	sigset_t only, old;
	handler_fn was;

	if (!is_sampling_signal(number) || handler == SIG_ERR)
		return real.sigset ? real.sigset(number, handler) : no_handler();
	sigemptyset(&only);
	sigaddset(&only, number);
	was = handler == SIG_HOLD ? program_action().sa_handler : set_handler(handler, SA_NODEFER);
	if (change_process_mask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &only, &old) < 0)
		return SIG_ERR;
	return has_signal(&old) ? SIG_HOLD : was;
}

AGENT_EXPORT int sigignore(int number)
{
	if (is_sampling_signal(number))
		return set_handler(SIG_IGN, 0) == SIG_ERR ? -1 : 0;
	if (real.sigignore)
		return real.sigignore(number);
	errno = ENOSYS;
	return -1;
}

AGENT_EXPORT int siginterrupt(int number, int interrupt)
{
	struct sigaction action;

	if (is_sampling_signal(number)) {
		action = program_action();
		action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
		return agent_sample_sigaction(number, &action, NULL);
	}
	if (real.siginterrupt)
		return real.siginterrupt(number, interrupt);
	errno = ENOSYS;
	return -1;
}

/* clang-format off */
static const struct agent_wrapper wrappers[] = {
	{ "sigaction", NULL, (void **)&real.sigaction },
	{ "signal", NULL, (void **)&real.signal },
	{ "__sysv_signal", NULL, (void **)&real.sysv_signal },
	{ "sigset", NULL, (void **)&real.sigset },
	{ "sigignore", NULL, (void **)&real.sigignore },
	{ "siginterrupt", NULL, (void **)&real.siginterrupt },
	{ "sigprocmask", NULL, (void **)&real.sigprocmask },
	{ "pthread_sigmask", NULL, (void **)&real.pthread_sigmask },
};
/* clang-format on */

const struct agent_part agent_part_sample = { .wrappers = wrappers, .wrapper_count = COUNT_OF(wrappers), .attached = agent_sample_start };
