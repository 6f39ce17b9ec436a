/* Symbols that moved into libc.so.6 with glibc 2.34. Bound to their old version, and weak: on
 * older systems they are there only when the program itself has libpthread or libdl. */
#ifndef SONDE_AGENT_CORE_OLD_GLIBC_H
#define SONDE_AGENT_CORE_OLD_GLIBC_H

#include <dlfcn.h>
#include <pthread.h>

#if defined(__x86_64__)
__asm__(".symver dladdr, dladdr@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dlvsym, dlvsym@GLIBC_2.2.5");
__asm__(".symver pthread_key_create, pthread_key_create@GLIBC_2.2.5");
__asm__(".symver pthread_setspecific, pthread_setspecific@GLIBC_2.2.5");
#endif

#pragma weak dladdr
#pragma weak dlsym
#pragma weak dlvsym
#pragma weak pthread_key_create
#pragma weak pthread_setspecific

#endif
