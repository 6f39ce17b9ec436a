/* Bodies of the CUDA records: what libsonde-cuda.so makes of CUPTI's activity records (docs/cuda.md).
 *
 * They are written by whichever thread CUPTI hands its buffers to, so the ring they are in says
 * nothing about them: each names its thread or stream itself, and `time` may be far older than
 * the record's neighbours. A RECORD_CUDA_BATCH follows the records of one buffer. All times are ticks of the session's
 * clock; 0 = not known. Ids are unique in the process. Numbers of kinds are CUPTI's. */
#ifndef SONDE_FMT_CUDA_WIRE_H
#define SONDE_FMT_CUDA_WIRE_H

#include <stdint.h>

#define CUDA_NO_ID 0xffffffffu

/* RECORD_CUDA_API. domain = CUPTI's callback id, flags as below. */
enum {
	CUDA_API_DRIVER = 1, /* a call of the driver; otherwise of the runtime */
	CUDA_API_STACK = 2   /* the thread itself may have written its stack and a DEFINE_CUDA_STACK with this correlation */
};
struct record_cuda_api {
	uint64_t head;
	uint64_t time; /* start */
	uint64_t end;
	uint32_t tid; /* in the target's namespace */
	uint32_t correlation;
	uint32_t result;
	uint32_t pad;
};

/* Where work ran. */
struct cuda_place {
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
};

struct cuda_graph_place {
	uint64_t node; /* 0 = not in a graph */
	uint32_t graph;
	uint32_t channel; /* hardware channel, 24 bits | type << 24 */
};

struct record_cuda_kernel {
	uint64_t head;
	uint64_t time; /* start */
	uint64_t end;
	struct cuda_place place;
	struct cuda_graph_place graph;
	uint64_t grid;
	uint64_t queued;
	uint64_t submitted;
	uint32_t launch; /* id of a DEFINE_CUDA_LAUNCH */
	uint32_t pad;
};

struct record_cuda_copy {
	uint64_t head;
	uint64_t time;
	uint64_t end;
	struct cuda_place place;
	struct cuda_graph_place graph;
	uint64_t bytes;
	uint64_t count; /* copies in one call, 0 = not told */
	uint8_t kind;
	uint8_t source;
	uint8_t target;
	uint8_t flags;
	uint32_t source_device; /* CUDA_NO_ID = not a peer copy */
	uint32_t source_context;
	uint32_t target_device;
	uint32_t target_context;
	uint32_t pad;
};

struct record_cuda_set {
	uint64_t head;
	uint64_t time;
	uint64_t end;
	struct cuda_place place;
	struct cuda_graph_place graph;
	uint64_t bytes;
	uint32_t value;
	uint16_t memory;
	uint16_t flags;
};

struct record_cuda_sync {
	uint64_t head; /* flags 1: result is known */
	uint64_t time;
	uint64_t end;
	struct cuda_place place; /* device CUDA_NO_ID: the context's */
	uint64_t event_sync;     /* 0 = not told */
	uint32_t kind;
	uint32_t event; /* CUDA_NO_ID = none */
	uint32_t result;
	uint32_t pad;
};

struct record_cuda_event {
	uint64_t head;
	uint64_t time; /* when the device passed it; 0 = not told */
	struct cuda_place place;
	uint64_t event_sync;
	uint32_t event;
	uint32_t pad;
};

struct record_cuda_graph {
	uint64_t head;
	uint64_t time;
	uint64_t end;
	struct cuda_place place;
	uint32_t graph;
	uint32_t exec; /* CUDA_NO_ID = not told */
};

/* + name of a static variable */
struct record_cuda_memory {
	uint64_t head;
	uint64_t time;
	struct cuda_place place; /* stream CUDA_NO_ID: not asynchronous */
	uint64_t address;
	uint64_t bytes;
	uint64_t pc;
	uint32_t operation;
	uint32_t kind;
	uint32_t pool_type; /* 0 = no pool */
	uint32_t pad;
	uint64_t pool;
	uint64_t pool_threshold;
	uint64_t pool_size;
	uint64_t pool_used;
};

struct record_cuda_pool {
	uint64_t head;
	uint64_t time;
	uint32_t device;
	uint32_t correlation;
	uint32_t operation;
	uint32_t type;
	uint64_t address;
	uint64_t keep;
	uint64_t threshold;
	uint64_t size;
	uint64_t used;
};

/* A unified memory counter: migrations become copies, the rest faults. */
struct record_cuda_unified {
	uint64_t head;
	uint64_t time;
	uint64_t end;
	uint64_t value;
	uint64_t address;
	uint32_t kind;
	uint32_t source; /* device ids; CUDA_NO_ID = the host */
	uint32_t target;
	uint32_t stream;
	uint32_t flags; /* cause, or kind of access */
	uint32_t pad;
	uint64_t pc; /* of a CPU's fault, 0 = not told */
};

struct record_cuda_overhead {
	uint64_t head;
	uint64_t time;
	uint64_t end;
	uint32_t kind;
	uint32_t tid;         /* 0 = not told */
	uint32_t correlation; /* 0 = not told */
	uint32_t pad;
};

/* + path of the cache entry */
struct record_cuda_jit {
	uint64_t head;
	uint64_t time;
	uint64_t end;
	uint64_t link;
	uint64_t size;
	uint32_t entry;
	uint32_t operation;
	uint32_t device;
	uint32_t correlation;
	uint32_t tid;
	uint32_t pad;
};

/* The end of a buffer. */
struct record_cuda_batch {
	uint64_t head;
	uint64_t time;    /* now */
	uint64_t records; /* in the buffer, those left out too */
	uint64_t dropped; /* by CUPTI, since the last batch */
};

/* RECORD_CAPTURE: the program asks for its window to open or close. CAPTURE_SEEN: the name of a range, behind the
 * record, that is not the one waited for. CAPTURE_STEP and CAPTURE_STEP_SEEN: a step has begun, its number (uint64_t) is
 * behind the record; for the first the thread waits. */
enum capture_request { CAPTURE_START = 1, CAPTURE_STOP = 2, CAPTURE_SEEN = 3, CAPTURE_STEP = 4, CAPTURE_STEP_SEEN = 5 };
enum capture_source { CAPTURE_CUDA_PROFILER = 1, CAPTURE_NVTX = 2 };
struct record_capture {
	uint64_t head; /* flags = enum capture_request, level = enum capture_source */
	uint64_t time;
};

/* Bodies of definitions, behind struct record_define. */

/* DEFINE_CUDA_CALL: id = class << 32 | callback id (class 0 runtime, 1 driver), text = name.
 * DEFINE_CUDA_FUNCTION: id = function, text = mangled name.
 * DEFINE_CUDA_GRAPH: id = graph, extra = original << 32 | exec (0 = none), head level = kind of cuda_graph.
 * DEFINE_CUDA_STACK: id = correlation, extra = time of the RECORD_STACK this thread wrote just before.
 * DEFINE_CUDA_DEVICE: told again when more is known. DEFINE_CUDA_CONTEXT and DEFINE_CUDA_STREAM: told by a callback, which knows the time, and
 * by a record of CUPTI's, which knows the rest and has time 0, in either order.
 * DEFINE_CUDA_STREAM: id = stream, cuda_wire_stream.  DEFINE_CUDA_CONTEXT: id = context, cuda_wire_context. */

struct cuda_wire_launch { /* DEFINE_CUDA_LAUNCH: id = launch */
	uint32_t function;
	int32_t grid[3];
	int32_t block[3];
	int32_t static_shared;
	int32_t dynamic_shared;
	uint32_t shared_executed;
	uint32_t local_per_thread;
	uint64_t local_total;
	uint32_t cluster[3]; /* CUDA_NO_ID = CUPTI is too old */
	uint32_t cluster_policy;
	uint32_t cluster_potential; /* CUDA_NO_ID = not told */
	uint32_t cluster_active;
	int32_t priority; /* INT32_MIN = not known */
	uint16_t registers;
	uint8_t cache_config;
	uint8_t shared_config;
	uint8_t shared_limit;
	uint8_t carveout; /* 0xff = none requested */
	uint8_t launch_type;
	uint8_t from_device;
};

#define CUDA_WIRE_ATTRIBUTES 32

struct cuda_wire_device { /* DEFINE_CUDA_DEVICE: id = device; + name */
	uint8_t uuid[16];
	uint8_t mig_uuid[16];
	uint64_t memory;
	uint64_t bandwidth; /* bytes a second */
	uint64_t clock;     /* Hz */
	uint32_t sm_count;
	uint32_t l2;
	uint32_t major;
	uint32_t minor;
	uint32_t pci_domain; /* CUDA_NO_ID = not known */
	uint32_t pci_bus;
	uint32_t pci_device;
	uint32_t mig; /* 1: a MIG instance */
	uint32_t gpu_instance;
	uint32_t compute_instance;
	/* In the order of enum cuda_attribute; CUDA_NO_ID = not told. */
	uint32_t attributes[CUDA_WIRE_ATTRIBUTES];
};

enum cuda_attribute {
#define CUDA_ATTRIBUTE(NAME, name) CUDA_ATTRIBUTE_##NAME,
#include "fmt/cuda_attributes.def"
#undef CUDA_ATTRIBUTE
	CUDA_ATTRIBUTE_COUNT
};
_Static_assert(CUDA_ATTRIBUTE_COUNT <= CUDA_WIRE_ATTRIBUTES, "all attributes have a place");

struct cuda_wire_context {
	uint32_t device;
	uint32_t null_stream;
	uint32_t parent; /* 0 = none */
	uint32_t green;
	uint32_t sm_count; /* 0 = not told */
	uint32_t ended;    /* 1: destroyed at `time` */
	uint64_t handle;   /* 0 = not known */
};

struct cuda_wire_stream {
	uint32_t context;
	uint32_t device;
	int32_t priority; /* INT32_MIN = not known */
	uint32_t flag;
	uint64_t handle; /* 0 = not known */
};

struct cuda_wire_module { /* DEFINE_CUDA_MODULE: id = module */
	uint32_t context;
	uint32_t ended;
	uint64_t size;
};

struct cuda_wire_node {    /* DEFINE_CUDA_GRAPH_NODE: id = node */
	uint64_t original; /* 0 = none */
	uint32_t graph;
	uint32_t type; /* CUDA_NO_ID = not known */
	uint32_t tid;
	uint32_t function; /* id of a DEFINE_CUDA_FUNCTION, 0 = not known */
	uint32_t stack;    /* 1: a RECORD_STACK with this time came before */
	uint32_t pad;
};

enum { CUDA_CLOCK_SESSION = 1, CUDA_CLOCK_FITTED = 2 };

struct cuda_wire_clock { /* DEFINE_CUDA_CLOCK: id = method; + path of the CUPTI library */
	uint32_t cupti;  /* version */
	uint32_t driver;
	uint64_t error; /* of the fit, ns; the last one counts */
};

#endif
