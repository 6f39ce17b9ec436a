/* Recordings that come and go in a program that runs (docs/attach.md): who does what in this folder. */
#ifndef SONDE_AGENT_CORE_ATTACH_H
#define SONDE_AGENT_CORE_ATTACH_H

#include <stdint.h>

#include "fmt/attach.h"

#pragma GCC visibility push(hidden)

/* attach/import_tables.c: our wrappers in the import tables of what is loaded. `modules`: whose. The first takes in what has been
 * loaded since, too. */
void agent_got_patch(uint32_t modules);
void agent_got_restore(void);
/* For good: `function` in the import table of the object that has `inside` in it, in place of the one of that name. */
void agent_got_replace(const void *inside, const char *name, void *function);

/* environment.c: variables by which NVTX and the CUDA driver find us where they are initialised later. */
void agent_environment_enter(const struct attach_request *request);
void agent_environment_leave(void);

/* attach_watch.c: a thread that looks after objects loaded later, and whether the recorder is there. */
void agent_watch_start(uint32_t modules);
void agent_watch_stop(void);

/* nvtx_units.c: names the libraries whose NVTX is out of our reach. */
void agent_nvtx_units(void);

/* attach_cuda.c: the CUDA agent, where there is CUDA. */
void agent_cuda_enter(const struct attach_request *request);
void agent_cuda_leave(void);

/* attach.c: as sonde_attach_leave(), by the watching thread. */
void agent_detach_from_dead(void);

#pragma GCC visibility pop

#endif
