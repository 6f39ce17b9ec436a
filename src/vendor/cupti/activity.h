/* CUPTI's activity records: kinds, numbers and layouts that are used, as CUPTI 13.0 has them.
 *
 * Each structure is the latest generation; older ones end earlier. CUPTI_ACTIVITY_RECORD() below says how much of it
 * which version fills in. Compared with a toolkit's headers by tests/unit/vendor. */
#ifndef SONDE_VENDOR_CUPTI_ACTIVITY_H
#define SONDE_VENDOR_CUPTI_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

/* cuptiGetVersion() */
enum { CUPTI_11_8 = 18, CUPTI_12_0 = 19, CUPTI_12_2 = 20, CUPTI_12_4 = 22, CUPTI_12_8 = 26, CUPTI_12_9 = 27, CUPTI_13_0 = 130000 };

enum cupti_kind {
	CUPTI_KIND_MEMCPY = 1,
	CUPTI_KIND_MEMSET = 2,
	CUPTI_KIND_DRIVER = 4,
	CUPTI_KIND_RUNTIME = 5,
	CUPTI_KIND_DEVICE = 8,
	CUPTI_KIND_CONTEXT = 9,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_KIND_OVERHEAD = 17,
	CUPTI_KIND_MEMCPY2 = 22,
	CUPTI_KIND_UNIFIED_MEMORY_COUNTER = 25,
	CUPTI_KIND_CUDA_EVENT = 36,
	CUPTI_KIND_STREAM = 37,
	CUPTI_KIND_SYNCHRONIZATION = 38,
	CUPTI_KIND_INTERNAL_LAUNCH_API = 48,
	CUPTI_KIND_MEMORY2 = 49,
	CUPTI_KIND_MEMORY_POOL = 50,
	CUPTI_KIND_GRAPH_TRACE = 51,
	CUPTI_KIND_JIT = 52,
	CUPTI_KINDS = 64 /* more than there are */
};

enum {
	CUPTI_FLUSH_FORCED = 1,
	CUPTI_THREAD_ID_SYSTEM = 1,
	CUPTI_ATTRIBUTE_ZEROED_BUFFERS = 5,
	CUPTI_OBJECT_THREAD = 2,
	CUPTI_NO_VALUE = -1 /* ids of events, streams and contexts that are none */
};

enum cupti_unified_kind {
	CUPTI_UNIFIED_HTOD = 1,
	CUPTI_UNIFIED_DTOH = 2,
	CUPTI_UNIFIED_CPU_FAULT = 3,
	CUPTI_UNIFIED_GPU_FAULT = 4,
	CUPTI_UNIFIED_THRASHING = 5,
	CUPTI_UNIFIED_THROTTLING = 6,
	CUPTI_UNIFIED_REMOTE_MAP = 7,
	CUPTI_UNIFIED_DTOD = 8
};

enum { CUPTI_UNIFIED_ONE_DEVICE = 1, CUPTI_UNIFIED_ALL_DEVICES = 2 };

struct cupti_unified_config {
	uint32_t scope;
	uint32_t kind;
	uint32_t device;
	uint32_t enable;
};

struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config; /* requested | executed << 4 */
	uint8_t shared_config;
	uint16_t registers;
	uint32_t partitioned_requested;
	uint32_t partitioned_executed;
	uint64_t start;
	uint64_t end;
	uint64_t completed;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	int32_t grid[3];
	int32_t block[3];
	int32_t static_shared;
	int32_t dynamic_shared;
	uint32_t local_per_thread;
	uint32_t local_total_old;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued;
	uint64_t submitted;
	uint8_t launch_type;
	uint8_t carveout_requested;
	uint8_t carveout;
	uint8_t pad;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;
	void *access_policy;
	uint32_t channel;
	uint32_t channel_type;
	uint32_t cluster[3];
	uint32_t cluster_policy;
	uint64_t local_total;
	uint32_t cluster_potential; /* 12.0 */
	uint32_t cluster_active;
	uint8_t from_device; /* 13.0 */
	uint8_t pad2[7];
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind;
	uint8_t source_kind;
	uint8_t target_kind;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
	uint32_t runtime_correlation;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel;
	uint32_t channel_type;
	uint8_t from_device; /* 12.8 */
	uint8_t pad2[3];
	uint64_t count; /* 12.8 */
};

/* Between devices. */
struct cupti_memcpy2 {
	uint32_t kind;
	uint8_t copy_kind;
	uint8_t source_kind;
	uint8_t target_kind;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t source_device;
	uint32_t source_context;
	uint32_t target_device;
	uint32_t target_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel;
	uint32_t channel_type;
	uint32_t pad;
};

struct cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
	uint16_t flags;
	uint16_t memory_kind;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel;
	uint32_t channel_type;
	uint32_t pad2;
};

struct cupti_api {
	uint32_t kind;
	uint32_t id;
	uint64_t start;
	uint64_t end;
	uint32_t process;
	uint32_t thread;
	uint32_t correlation;
	uint32_t result;
};

struct cupti_synchronization {
	uint32_t kind;
	uint32_t type;
	uint64_t start;
	uint64_t end;
	uint32_t correlation;
	uint32_t context;
	uint32_t stream;
	uint32_t event;
	uint64_t event_sync; /* 12.8 */
	uint32_t result;
	uint32_t pad;
};

struct cupti_cuda_event {
	uint32_t kind;
	uint32_t correlation;
	uint32_t context;
	uint32_t stream;
	uint32_t event;
	uint32_t pad;
	uint32_t device; /* 12.8 */
	uint32_t pad2;
	void *reserved;
	uint64_t device_time;
	uint64_t event_sync;
};

struct cupti_overhead {
	uint32_t kind;
	uint32_t overhead_kind;
	uint32_t object_kind;
	uint32_t object[3]; /* a thread: process, thread */
	uint64_t start;
	uint64_t end;
	uint32_t correlation; /* 12.2 */
	uint32_t reserved;
};

struct cupti_memory {
	uint32_t kind;
	uint32_t operation;
	uint32_t memory_kind;
	uint32_t correlation;
	uint64_t address;
	uint64_t bytes;
	uint64_t time;
	uint64_t pc;
	uint32_t process;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	const char *name;
	uint32_t async;
	uint32_t pad;
	uint32_t pool_type;
	uint32_t pad2;
	uint64_t pool;
	uint64_t pool_threshold;
	uint64_t pool_size; /* or its process, where it is imported */
	uint64_t pool_used;
};

struct cupti_memory_pool {
	uint32_t kind;
	uint32_t operation;
	uint32_t type;
	uint32_t correlation;
	uint32_t process;
	uint32_t device;
	size_t keep;
	uint64_t address;
	uint64_t size;
	uint64_t threshold;
	uint64_t time;
	uint64_t used;
};

struct cupti_unified {
	uint32_t kind;
	uint32_t counter_kind;
	uint64_t value;
	uint64_t start;
	uint64_t end;
	uint64_t address;
	uint32_t source;
	uint32_t target;
	uint32_t stream;
	uint32_t process;
	uint32_t flags;
	uint32_t pad;
};

struct cupti_graph_trace {
	uint32_t kind;
	uint32_t correlation;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t graph;
	uint32_t context;
	uint32_t stream;
	void *reserved;
};

struct cupti_jit {
	uint32_t kind;
	uint32_t entry;
	uint32_t operation;
	uint32_t device;
	uint64_t start;
	uint64_t end;
	uint32_t correlation;
	uint32_t pad;
	uint64_t link;
	uint64_t size;
	const char *path;
	uint32_t process; /* 12.4 */
	uint32_t thread;
};

struct cupti_device {
	uint32_t kind;
	uint32_t flags;
	uint64_t bandwidth; /* kB/s */
	uint64_t memory;
	uint32_t constant_memory;
	uint32_t l2;
	uint32_t threads_per_warp;
	uint32_t clock; /* kHz */
	uint32_t copy_engines;
	uint32_t sm_count;
	uint32_t max_ipc;
	uint32_t warps_per_sm;
	uint32_t blocks_per_sm;
	uint32_t shared_per_sm;
	uint32_t registers_per_sm;
	uint32_t registers_per_block;
	uint32_t shared_per_block;
	uint32_t threads_per_block;
	uint32_t block[3];
	uint32_t grid[3];
	uint32_t major;
	uint32_t minor;
	uint32_t id;
	uint32_t ecc;
	uint8_t uuid[16];
	const char *name;
	uint8_t visible;
	uint8_t mig;
	uint8_t reserved[6];
	uint32_t gpu_instance;
	uint32_t compute_instance;
	uint8_t mig_uuid[16];
};

struct cupti_context {
	uint32_t kind;
	uint32_t context;
	uint32_t device;
	uint16_t api_kind;
	uint16_t null_stream;
	uint32_t parent; /* 12.4 */
	uint8_t green;
	uint8_t pad;
	uint16_t sm_count;
};

struct cupti_stream {
	uint32_t kind;
	uint32_t context;
	uint32_t stream;
	uint32_t priority;
	uint32_t flag;
	uint32_t correlation;
};

/* CUPTI_ACTIVITY_RECORD(kind, structure, version, first field that this version does not have): how far a record is
 * filled in since this version, in rising order. CUPTI_ACTIVITY_WHOLE: to its end. */
#define CUPTI_ACTIVITY_RECORDS \
	CUPTI_ACTIVITY_RECORD(CONCURRENT_KERNEL, cupti_kernel, CUPTI_11_8, cluster_potential) \
	CUPTI_ACTIVITY_RECORD(CONCURRENT_KERNEL, cupti_kernel, CUPTI_12_0, from_device) \
	CUPTI_ACTIVITY_WHOLE(CONCURRENT_KERNEL, cupti_kernel, CUPTI_13_0) \
	CUPTI_ACTIVITY_RECORD(MEMCPY, cupti_memcpy, CUPTI_11_8, from_device) \
	CUPTI_ACTIVITY_WHOLE(MEMCPY, cupti_memcpy, CUPTI_12_8) \
	CUPTI_ACTIVITY_RECORD(MEMCPY2, cupti_memcpy2, CUPTI_11_8, pad) \
	CUPTI_ACTIVITY_RECORD(MEMSET, cupti_memset, CUPTI_11_8, pad2) \
	CUPTI_ACTIVITY_WHOLE(DRIVER, cupti_api, CUPTI_11_8) \
	CUPTI_ACTIVITY_WHOLE(RUNTIME, cupti_api, CUPTI_11_8) \
	CUPTI_ACTIVITY_RECORD(SYNCHRONIZATION, cupti_synchronization, CUPTI_11_8, event_sync) \
	CUPTI_ACTIVITY_WHOLE(SYNCHRONIZATION, cupti_synchronization, CUPTI_12_8) \
	CUPTI_ACTIVITY_RECORD(CUDA_EVENT, cupti_cuda_event, CUPTI_11_8, device) \
	CUPTI_ACTIVITY_WHOLE(CUDA_EVENT, cupti_cuda_event, CUPTI_12_8) \
	CUPTI_ACTIVITY_RECORD(OVERHEAD, cupti_overhead, CUPTI_11_8, correlation) \
	CUPTI_ACTIVITY_WHOLE(OVERHEAD, cupti_overhead, CUPTI_12_2) \
	CUPTI_ACTIVITY_WHOLE(MEMORY2, cupti_memory, CUPTI_11_8) \
	CUPTI_ACTIVITY_WHOLE(MEMORY_POOL, cupti_memory_pool, CUPTI_11_8) \
	CUPTI_ACTIVITY_WHOLE(UNIFIED_MEMORY_COUNTER, cupti_unified, CUPTI_11_8) \
	CUPTI_ACTIVITY_WHOLE(GRAPH_TRACE, cupti_graph_trace, CUPTI_11_8) \
	CUPTI_ACTIVITY_RECORD(JIT, cupti_jit, CUPTI_11_8, process) \
	CUPTI_ACTIVITY_WHOLE(JIT, cupti_jit, CUPTI_12_4) \
	CUPTI_ACTIVITY_WHOLE(DEVICE, cupti_device, CUPTI_11_8) \
	CUPTI_ACTIVITY_RECORD(CONTEXT, cupti_context, CUPTI_11_8, parent) \
	CUPTI_ACTIVITY_WHOLE(CONTEXT, cupti_context, CUPTI_12_4) \
	CUPTI_ACTIVITY_WHOLE(STREAM, cupti_stream, CUPTI_11_8)

#endif
