/* What `sonde attach` tells the agent it has loaded into a program that runs already (docs/attach.md). The injector copies it
 * into the target's memory and calls sonde_attach_enter() with its address, in a thread that ends afterwards. */
#ifndef SONDE_FMT_ATTACH_H
#define SONDE_FMT_ATTACH_H

#include <stdint.h>

#define ATTACH_MAGIC 0x48434154544144u
#define ATTACH_VERSION 1u
#define ATTACH_SESSION_SIZE 80u
#define ATTACH_PATH_SIZE 4096u

struct attach_request {
	uint64_t magic;
	uint32_t version;
	uint32_t modules;                  /* enum ring_gate: what is to be recorded */
	char session[ATTACH_SESSION_SIZE]; /* as WIRE_ENV has it */
	char agent_path[ATTACH_PATH_SIZE]; /* libsonde.so as the target sees it: for NVTX_INJECTION64_PATH */
	char cuda_path[ATTACH_PATH_SIZE];  /* libsonde-cuda.so; empty: none */
};

/* Exported by libsonde.so. 0, or a negative errno: nothing was changed then. */
#define ATTACH_ENTER "sonde_attach_enter" /* int (const struct attach_request *) */
#define ATTACH_LEAVE "sonde_attach_leave" /* int (const struct attach_request *) */

#endif
