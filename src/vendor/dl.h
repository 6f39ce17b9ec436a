/* dlopen and its relatives, which moved into libc.so.6 with glibc 2.34: bound to their old version,
 * and weak, as older systems have them only where the program has libdl. A program with CUDA in it
 * always has. */
#ifndef SONDE_VENDOR_DL_H
#define SONDE_VENDOR_DL_H

#include <dlfcn.h>

#include "base/system/arch.h"

__asm__(".symver dladdr, dladdr@" ARCH_GLIBC_FIRST);
__asm__(".symver dlclose, dlclose@" ARCH_GLIBC_FIRST);
__asm__(".symver dlerror, dlerror@" ARCH_GLIBC_FIRST);
__asm__(".symver dlopen, dlopen@" ARCH_GLIBC_FIRST);
__asm__(".symver dlsym, dlsym@" ARCH_GLIBC_FIRST);

#pragma weak dladdr
#pragma weak dlclose
#pragma weak dlerror
#pragma weak dlopen
#pragma weak dlsym

#endif
