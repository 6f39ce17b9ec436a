/* Symbols that moved into libc.so.6 with glibc 2.34. Bound to their old version, and weak: on
 * older systems they are there only when the program itself has libpthread or libdl. */
#ifndef SONDE_AGENT_CORE_OLD_GLIBC_H
#define SONDE_AGENT_CORE_OLD_GLIBC_H

#include <dlfcn.h>
#include <pthread.h>

#include "base/arch.h"

__asm__(".symver dladdr, dladdr@" ARCH_GLIBC_FIRST);
__asm__(".symver dlsym, dlsym@" ARCH_GLIBC_FIRST);
__asm__(".symver dlvsym, dlvsym@" ARCH_GLIBC_FIRST);
__asm__(".symver pthread_attr_getstacksize, pthread_attr_getstacksize@" ARCH_GLIBC_FIRST);
__asm__(".symver pthread_key_create, pthread_key_create@" ARCH_GLIBC_FIRST);
__asm__(".symver pthread_setspecific, pthread_setspecific@" ARCH_GLIBC_FIRST);

#pragma weak dladdr
#pragma weak dlsym
#pragma weak dlvsym
#pragma weak pthread_attr_getstacksize
#pragma weak pthread_key_create
#pragma weak pthread_setspecific

#endif
