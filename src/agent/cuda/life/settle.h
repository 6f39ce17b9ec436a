/* Whether every other thread has got on, or sleeps. */
#ifndef SONDE_AGENT_CUDA_LIFE_SETTLE_H
#define SONDE_AGENT_CUDA_LIFE_SETTLE_H

/* Takes `ns`. 0: a thread may have stood in the middle of something all the time, as it wants to run and did not, or it is not known. */
int cuda_settled(long ns) __attribute__((visibility("hidden")));

#endif
