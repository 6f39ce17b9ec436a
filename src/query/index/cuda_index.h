/* What rows of CUDA and GPU work refer to: launches, streams, contexts, metrics. Loaded once per report. */
#ifndef SONDE_QUERY_INDEX_CUDA_INDEX_H
#define SONDE_QUERY_INDEX_CUDA_INDEX_H

#include "query/index/index.h"

/* Launches have the columns of cuda_launch, and then: */
enum {
	LAUNCH_NAME = COLUMN_CUDA_LAUNCH_FROM_DEVICE + 1, /* string ids */
	LAUNCH_SHORT_NAME,
	LAUNCH_MANGLED,
	LAUNCH_SHAPE,   /* the least id among those with the same grid and block */
	LAUNCH_PRESENT, /* bits of the numbers above: those that are not null */
	LAUNCH_WIDTH
};
_Static_assert(LAUNCH_PRESENT < 64, "a bit for each number");
enum { FUNCTION_ID, FUNCTION_NAME, FUNCTION_SHORT_NAME, FUNCTION_MANGLED, FUNCTION_WIDTH };
/* A stream of a green context has the number of the context that that is a part of as STREAM_CONTEXT; STREAM_GREEN
 * is 0 outside of green contexts. What stands for work on no stream has STREAM_ID 0. STREAM_NAME is the string id of what the
 * program called it by NVTX, 0 where it did not. */
enum { STREAM_UID, STREAM_PROCESS, STREAM_ID, STREAM_CONTEXT, STREAM_DEVICE, STREAM_GREEN, STREAM_GPU, STREAM_NAME, STREAM_WIDTH };
enum { CONTEXT_UID, CONTEXT_PROCESS, CONTEXT_ID, CONTEXT_DEVICE, CONTEXT_PARENT, CONTEXT_IS_GREEN, CONTEXT_WIDTH };
enum { DEVICE_PROCESS, DEVICE_ID, DEVICE_GPU, DEVICE_WIDTH };
/* Those that the report lists, and behind them those that only have a number of a device (GPU_INDEX; the listed ones have NVML's
 * there) and a stream, which stands for all of theirs; 0 for the listed ones. */
enum { GPU_UID, GPU_NAME, GPU_INDEX, GPU_STREAM, GPU_WIDTH };
enum { METRIC_TRACK, METRIC_GPU, METRIC_SOURCE, METRIC_ID, METRIC_TYPE, METRIC_WIDTH };
enum { API_NAME, API_CLEAN_NAME, API_NAME_WIDTH };
enum { ADDRESS_NUMBER, ADDRESS_STRING, ADDRESS_WIDTH };

/* Texts that no row of the report has. They have ids in StringIds, above all strings and blobs. */
#define STRING_ID_MADE ((int64_t)1 << 49)
/* clang-format off */
enum made_label {
	LABEL_EMPTY_LIST,
	LABEL_GRAPH_CREATED, LABEL_GRAPH_CLONED, LABEL_GRAPH_MADE_EXECUTABLE,
	/* In the order of CUgraphNodeType. */
	LABEL_NODE_KERNEL, LABEL_NODE_LAST = LABEL_NODE_KERNEL + 13, LABEL_NODE_OTHER,
	/* In the order of CUPTI's kinds. */
#define OVERHEAD_KIND(number, NAME, ...) LABEL_OVERHEAD_##NAME,
#include "fmt/gpu_enums.def"
	LABEL_COUNT
};
/* clang-format on */

struct cuda_index {
	struct index_table launches;
	struct index_table functions;
	struct index_table streams;   /* by uid */
	struct index_table contexts;  /* by uid */
	struct index_table devices;   /* by process and id */
	struct index_table gpus;      /* by uid */
	struct index_table metrics;   /* by track */
	struct index_table api_names; /* those that are printed otherwise */
	struct index_table addresses; /* of instructions that are in no frame: where CPUs had a fault */
	char **texts;                 /* of ids STRING_ID_MADE + LABEL_COUNT ...: addresses, names of calls, then others */
	size_t text_count;
	size_t text_cap;
	int uses_labels; /* some row shows a label */
};

/* -ENOMEM. */
int cuda_index_load(struct cuda_index **ret, struct report *report);
void cuda_index_free(struct cuda_index *x);

/* The GPU that a process's device is; 0 where nothing is known of it. */
int64_t cuda_device_gpu(const struct cuda_index *x, int64_t process, int64_t device);
/* Whether it is the stream that stands for a GPU. */
int cuda_stands_for_gpu(const struct cuda_index *x, int64_t stream);
/* After devices and streams (cuda_gpus.c). -ENOMEM. */
int cuda_gpus_load(struct cuda_index *x, struct report *report);

/* One past the last made id that rows may show: the labels and addresses. */
int64_t cuda_made_end(const struct cuda_index *x);
/* A text of our own; its id, or -ENOMEM. */
int64_t cuda_add_text(struct cuda_index *x, const char *text, size_t len);
/* The text of an id from STRING_ID_MADE; NULL when there is none. */
const char *cuda_made_text(const struct cuda_index *x, int64_t id, size_t *ret_len);
/* A call's name as nsys's reports print it: without a version of four digits. Returns its length, `len` as it is. */
size_t cuda_clean_length(const char *name, size_t len);

/* The launch of that id; NULL when there is none. Ids are dense in what the recorder writes. */
static inline const int64_t *cuda_launch(const struct cuda_index *x, int64_t id)
{
	const int64_t *rows = x->launches.rows;

	if (id > 0 && (uint64_t)id <= x->launches.count && rows[(size_t)(id - 1) * LAUNCH_WIDTH] == id)
		return rows + (size_t)(id - 1) * LAUNCH_WIDTH;
	return index_find(&x->launches, id);
}

#endif
