/* The threads a program starts: each begins in the agent, which sets up what belongs to it. */
#ifndef SONDE_AGENT_CORE_THREADS_H
#define SONDE_AGENT_CORE_THREADS_H

/* Looks up the real functions. */
void agent_threads_resolve(void) __attribute__((visibility("hidden")));

#endif
