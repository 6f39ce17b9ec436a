/* Private to confine.c: refusing system calls. */
#ifndef SONDE_BASE_SYSTEM_CONFINE_CALLS_H
#define SONDE_BASE_SYSTEM_CONFINE_CALLS_H

#include <stdbool.h>

/* 0, or -errno where the kernel has no seccomp. Needs PR_SET_NO_NEW_PRIVS. */
int confine_calls(bool accepts, bool runs);

#endif
