/* Which ranges are open now: kept for the counters of kernels (RING_CUDA_NVTX), where nothing of NVTX is recorded. Programs get the functions
 * of open_calls.c in place of those that record. */
#ifndef SONDE_AGENT_NVTX_OPEN_H
#define SONDE_AGENT_NVTX_OPEN_H

#include "agent/core/interface.h"
#include "agent/nvtx/nvtx.h"

#pragma GCC visibility push(hidden)

static inline int nvtx_open_is_kept(void)
{
	return (agent_pages.session.cuda_flags & RING_CUDA_NVTX) != 0;
}

/* As NVTX wants it: the level, from 0; negative where it is not known. */
int nvtx_open_push(const struct nvtx_domain *domain, const struct nvtx_text *name, uint32_t color);
int nvtx_open_pop(const struct nvtx_domain *domain);
/* An id; 0: there are too many. */
uint64_t nvtx_open_start(const struct nvtx_domain *domain, const struct nvtx_text *name, uint32_t color);
void nvtx_open_end(uint64_t id);
/* A context or a stream has this name. */
void nvtx_open_name(const void *handle, const struct nvtx_text *name);

/* From now on others of ours in the process can ask. */
void nvtx_open_provide(void);
/* What a program gets for a function; NULL: the one that everybody gets. */
nvtx_function nvtx_open_call(int module, unsigned index);
nvtx_function nvtx_open_extension_call(int extension, unsigned index);

#pragma GCC visibility pop
#endif
