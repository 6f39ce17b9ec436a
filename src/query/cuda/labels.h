/* What nsys calls kinds of GPU work and of memory. */
#ifndef SONDE_QUERY_CUDA_LABELS_H
#define SONDE_QUERY_CUDA_LABELS_H

#include <stdint.h>

/* As they are in column `kind` of cuda_gpu_ops. */
enum { OP_KERNEL = 1, OP_COPY = 2, OP_SET = 3, OP_GRAPH = 4, OP_SYNC = 5 };

/* Of work that is no kernel; NULL where it has none. `copy` is CUPTI's kind. */
const char *cuda_op_label(int64_t kind, int64_t copy);
/* By nsys's number of the kind of memory. */
const char *cuda_memory_label(int64_t kind);

#endif
