/* What /proc says of a process. */
#ifndef SONDE_RECORD_SESSION_PROC_H
#define SONDE_RECORD_SESSION_PROC_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/secrets.h"

/* Text of /proc/PID/FILE, NULs as spaces; empty when there is none. */
void read_proc(uint32_t pid, const char *file, char *ret, size_t size);
/* Its command line, the words with spaces between. */
void read_proc_command(uint32_t pid, enum store_environment store, char *ret, size_t size);
void read_proc_link(uint32_t pid, const char *file, char *ret, size_t size);

#define PRIORITY_UNKNOWN INT16_MIN
/* The kernel's priority of a thread, 20 where nobody changed it; PRIORITY_UNKNOWN where it has ended. */
int16_t read_proc_priority(uint32_t pid, uint32_t tid);

#endif
