/* Symbols that moved into libc.so.6 with glibc 2.34. Bound to their old version, and weak: on
 * older systems they are there only when the program itself has libpthread. */
#ifndef SONDE_AGENT_CORE_OLD_GLIBC_H
#define SONDE_AGENT_CORE_OLD_GLIBC_H

#include <pthread.h>

#include "base/system/arch.h"

__asm__(".symver pthread_attr_getstacksize, pthread_attr_getstacksize@" ARCH_GLIBC_FIRST);
__asm__(".symver pthread_attr_setstacksize, pthread_attr_setstacksize@" ARCH_GLIBC_FIRST);
__asm__(".symver pthread_key_create, pthread_key_create@" ARCH_GLIBC_FIRST);
__asm__(".symver pthread_setspecific, pthread_setspecific@" ARCH_GLIBC_FIRST);

#pragma weak pthread_attr_getstacksize
#pragma weak pthread_attr_setstacksize
#pragma weak pthread_key_create
#pragma weak pthread_setspecific

#endif
