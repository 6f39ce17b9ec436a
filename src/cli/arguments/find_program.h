/* Files the command line has to find before anything is started. */
#ifndef SONDE_CLI_ARGUMENTS_FIND_PROGRAM_H
#define SONDE_CLI_ARGUMENTS_FIND_PROGRAM_H

#include <stddef.h>

#include "base/error.h"

/* The file a program's name stands for, as a shell finds it; says what is wrong
 * when it is not there or cannot be run. */
int find_program(const char *name, char *ret_path, size_t path_size, struct error *err);

/* A library of ours (libsonde.so, libsonde-cuda.so), beside the running binary or where it is installed; -ENOENT. */
int find_agent(const char *name, char *ret_path, size_t path_size);

#endif
