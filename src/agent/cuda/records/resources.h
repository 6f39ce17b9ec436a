/* What CUPTI calls back for. All of it in callbacks, on threads of the program. */
#ifndef SONDE_AGENT_CUDA_RECORDS_RESOURCES_H
#define SONDE_AGENT_CUDA_RECORDS_RESOURCES_H

#include "agent/cuda/cuda.h"
#include "vendor/cupti/callbacks.h"

/* The callbacks that are always on while CUPTI is ours, in a window or not. */
void cuda_resources_enable(int on) __attribute__((visibility("hidden")));
void cuda_resource_callback(uint32_t id, const struct cupti_resource_data *data) __attribute__((visibility("hidden")));
/* graphs.c; 1: it was one of its own. */
int cuda_graph_callback(uint32_t id, const struct cupti_graph_data *data) __attribute__((visibility("hidden")));
/* stacks.c: of a call, for --cudabacktrace. */
void cuda_stack_callback(int domain, uint32_t id, const struct cupti_call_data *data) __attribute__((visibility("hidden")));
/* activities.c: the driver is initialised from now on. */
void cuda_activities_driver_ready(void) __attribute__((visibility("hidden")));

#endif
