/* Samples taken in the target, where the kernel lets nobody use perf events: a timer on the CPU
 * time of each thread. How and why: docs/cpu.md. */
#ifndef SONDE_AGENT_SAMPLE_SAMPLE_H
#define SONDE_AGENT_SAMPLE_SAMPLE_H

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "agent/core/agent.h"

#define SAMPLE_HIDDEN __attribute__((visibility("hidden")))

/* For the core, which tells what happens to the process and its threads. */
/* The process is recorded: the calling thread gets the first timer. */
void agent_sample_start(void) SAMPLE_HIDDEN;
/* The agent leaves the process: nothing may be left that makes a system call. */
void agent_sample_leave(void) SAMPLE_HIDDEN;
/* In a forked child, while the thread still has its parent's memory: timers are not inherited. */
void agent_sample_forked(void) SAMPLE_HIDDEN;
/* Whether new threads are to have a timer. */
int agent_sample_wanted(void) SAMPLE_HIDDEN;
void agent_sample_thread_begins(size_t stack_size) SAMPLE_HIDDEN;
void agent_sample_thread_ends(void) SAMPLE_HIDDEN;

/* For wrappers: how many calls of this thread returned EINTR because of a tick and nothing else.
 * A wrapper whose call did so, and that finds another number than before, calls again. */
static inline uint32_t agent_sample_interrupted(void)
{
	return agent_tls.levels ? agent_memory()->sample.interrupted : 0;
}

/* Within src/agent/sample. */

/* Ignored unless handled: where our handler gets lost, samples do, and not the program. */
#define SAMPLE_SIGNAL SIGURG

/* signals.c: the handler stands before the one of the program, which sees only its own. */
int sample_install(void (*handler)(int, siginfo_t *, void *)) SAMPLE_HIDDEN;
/* The program has its signal back. */
void sample_uninstall(void) SAMPLE_HIDDEN;
/* Whether the kernel still calls us. */
int sample_installed(void) SAMPLE_HIDDEN;
void sample_signals_forked(void) SAMPLE_HIDDEN;
void sample_forward(siginfo_t *info, ucontext_t *context) SAMPLE_HIDDEN;

/* timer.c */
/* The thread is about to block the signal, or no longer blocks it. */
void sample_pause(void) SAMPLE_HIDDEN;
void sample_resume(void) SAMPLE_HIDDEN;

/* restart.c: a call that a tick ended is begun anew. */
void sample_restart(struct agent_sample_thread *mine, ucontext_t *context) SAMPLE_HIDDEN;

#endif
