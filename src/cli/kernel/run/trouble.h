/* sonde kernel: what to do where counters cannot be read, or kernels do not end. */
#ifndef SONDE_CLI_KERNEL_RUN_TROUBLE_H
#define SONDE_CLI_KERNEL_RUN_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/doctor/doctor.h"

/* A sentence of the agent's, and what follows from it: who has to change what. `root` is before /proc and /dev; "" is this machine. */
void kernel_explain_failure(FILE *out, const char *root, const char *sentence) __attribute__((nonnull(3)));
/* Programs that are known to hold counters and have a GPU open: a line for each. Returns how many. */
unsigned kernel_name_holders(FILE *out, const char *root);

/* Whether the kernel is known to wait for kernels of other GPUs. */
bool kernel_is_collective(const char *name);
void kernel_warn_of_collective(FILE *out, const char *name);
void kernel_explain_stuck(FILE *out, const char *name, uint32_t number, uint32_t seconds);
void kernel_explain_copies(FILE *out, const char *amount);

#endif
