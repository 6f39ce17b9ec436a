/* NVTX ranges projected onto the GPUs: the work whose calls were made within a range, from the begin of the first
 * to the end of the last. Computed when first asked for. */
#ifndef SONDE_QUERY_NVTX_PROJECTION_H
#define SONDE_QUERY_NVTX_PROJECTION_H

#include "query/index/nvtx_ranges.h"

struct nvtx_projection {
	int64_t first; /* start of the work that started first */
	int64_t last;  /* end of the work that ended last */
	uint64_t ops;  /* 0: no work, and the times mean nothing */
};

struct nvtx_projections {
	struct nvtx_projection *of_range; /* by place in nvtx_ranges.ranges, less 1 */
};

int nvtx_projections_of(struct query *q, const struct nvtx_ranges *ranges, struct nvtx_projections **ret);
/* The same of the work on one stream, added to ret[ranges->count]. */
int nvtx_project_stream(struct query *q, const struct nvtx_ranges *ranges, int64_t stream_uid, struct nvtx_projection *ret);
void nvtx_projections_release(struct nvtx_projections *projections);

#endif
