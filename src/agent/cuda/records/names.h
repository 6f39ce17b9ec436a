/* Numbers for what repeats: names of functions, and ways of launching them. Each is told once, before its first use. */
#ifndef SONDE_AGENT_CUDA_RECORDS_NAMES_H
#define SONDE_AGENT_CUDA_RECORDS_NAMES_H

#include "fmt/cuda_wire.h"

/* 0 for NULL. Only by threads that hand out buffers. */
uint32_t cuda_function_number(const char *name) __attribute__((visibility("hidden")));
uint32_t cuda_launch_number(const struct cuda_wire_launch *launch) __attribute__((visibility("hidden")));

/* All are told again: another recorder. */
void cuda_names_forget(void) __attribute__((visibility("hidden")));

#endif
