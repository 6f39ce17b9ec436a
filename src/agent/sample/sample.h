/* Samples taken in the target, where the kernel lets nobody use perf events: a timer on the CPU
 * time of each thread. How and why: docs/cpu.md. */
#ifndef SONDE_AGENT_SAMPLE_SAMPLE_H
#define SONDE_AGENT_SAMPLE_SAMPLE_H

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "agent/core/agent.h"
#include "agent/core/sampling.h"

#define SAMPLE_HIDDEN __attribute__((visibility("hidden")))

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

/* A timer on this clock whose ticks go to this thread; it runs. */
int sample_make_timer(long clock, int tid, int *ret_timer) SAMPLE_HIDDEN;

/* existing_threads.c: timers for the threads of a program that is attached to. */
void sample_late_start(void) SAMPLE_HIDDEN;
void sample_late_leave(void) SAMPLE_HIDDEN;
int sample_is_late(uint32_t timer) SAMPLE_HIDDEN;

/* restart.c: a call that a tick ended is begun anew. */
void sample_restart(ucontext_t *context) SAMPLE_HIDDEN;

#endif
