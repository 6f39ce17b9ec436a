/* Threads that end while CUPTI is finalised: CUPTI's destructor of a thread's data must not run meanwhile. */
#ifndef SONDE_AGENT_CUDA_LIFE_THREAD_ENDS_H
#define SONDE_AGENT_CUDA_LIFE_THREAD_ENDS_H

#pragma GCC visibility push(hidden)

/* Once CUPTI is loaded, before its first use: `function` is any one of its functions. */
void cuda_thread_ends_prepare(const void *function);
/* Whether CUPTI has made such data since, so that the following two do something. */
int cuda_thread_ends_seen(void);
/* From here on threads that end leave CUPTI's data to cuptiFinalize. Returns 0 when one that is in the destructor does not get out of it. */
int cuda_thread_ends_hold(void);
void cuda_thread_ends_release(void);

#pragma GCC visibility pop

#endif
