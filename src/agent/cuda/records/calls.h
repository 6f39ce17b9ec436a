/* Calls of the runtime and the driver: which are recorded, under which names, and which take their stack along. */
#ifndef SONDE_AGENT_CUDA_RECORDS_CALLS_H
#define SONDE_AGENT_CUDA_RECORDS_CALLS_H

#include <stdint.h>

#include "ring/ring_layout.h"

enum cuda_api_class { CUDA_CLASS_RUNTIME = 0, CUDA_CLASS_DRIVER = 1, CUDA_CLASSES };

/* Asks CUPTI for the names of all calls and picks. */
void cuda_calls_prepare(void) __attribute__((visibility("hidden")));
/* Has CUPTI record them, or stop. */
void cuda_calls_enable(int on) __attribute__((visibility("hidden")));

/* Whether a record of this call is kept. Its name is told before the first. */
int cuda_call_wanted(enum cuda_api_class class, uint32_t id) __attribute__((visibility("hidden")));
/* Ticks from which on the call comes with its stack; all ones: never. */
uint64_t cuda_call_stack_threshold(enum cuda_api_class class, uint32_t id) __attribute__((visibility("hidden")));
int cuda_call_stack_possible(enum cuda_api_class class, uint32_t id) __attribute__((visibility("hidden")));
/* Switches the callbacks of the calls that make managed memory. */
void cuda_calls_enable_managed(int on) __attribute__((visibility("hidden")));
int cuda_call_is_managed(enum cuda_api_class class, uint32_t id) __attribute__((visibility("hidden")));
/* Switches the callbacks that stacks come from. */
void cuda_calls_enable_stacks(int on) __attribute__((visibility("hidden")));

/* A name without what CUDA puts at its end: _v3020, _ptsz, _v2_ptds. */
uint32_t cuda_call_name_size(const char *name) __attribute__((visibility("hidden")));
enum cuda_call_choice { CUDA_CALL_NEVER, CUDA_CALL_ON_REQUEST, CUDA_CALL_ALWAYS };
/* Decides by calls.def; `kind` is for --cudabacktrace, RING_CUDA_CALL_KINDS: no stacks of it. */
enum cuda_call_choice cuda_call_choose(enum cuda_api_class class, const char *name, enum ring_cuda_call *kind)
	__attribute__((visibility("hidden")));

#endif
