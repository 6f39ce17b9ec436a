/* dlsym() of the whole process, in a file of its own: others name the C library's by its version (vendor/dl.h). */
#include "base/system/arch.h"

ARCH_JUMP_ENTRY(dlsym, agent_choose_dlsym); /* driver_calls.c */
