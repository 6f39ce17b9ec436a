/* Samples taken in the target (src/agent/sample), for the rest of the agent: what happens to the process and its
 * threads, and the functions that share a signal with the program. */
#ifndef SONDE_AGENT_CORE_SAMPLING_H
#define SONDE_AGENT_CORE_SAMPLING_H

#include <signal.h>
#include <stddef.h>

/* The process is recorded: the calling thread gets the first timer. */
void agent_sample_start(void) __attribute__((visibility("hidden")));
/* The agent leaves the process: nothing may be left that makes a system call. */
void agent_sample_leave(void) __attribute__((visibility("hidden")));
/* In a forked child, while the thread still has its parent's memory: timers are not inherited. */
void agent_sample_forked(void) __attribute__((visibility("hidden")));
/* Whether new threads are to have a timer. */
int agent_sample_wanted(void) __attribute__((visibility("hidden")));
void agent_sample_thread_begins(size_t stack_size) __attribute__((visibility("hidden")));
void agent_sample_thread_ends(void) __attribute__((visibility("hidden")));

/* What sigaction() and signal() do. */
int agent_sample_sigaction(int number, const struct sigaction *action, struct sigaction *old) __attribute__((visibility("hidden")));
void (*agent_sample_signal(int number, void (*handler)(int)))(int) __attribute__((visibility("hidden")));

#endif
