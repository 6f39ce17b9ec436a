/* The shared memory between one target process (the writer) and the recorder.
 *
 * Two mappings reach a target:
 *   session page   one per session, read-only in targets: the gate (which
 *                  modules record now) and the clock to use.
 *   pool           one per process, read-write:
 *
 *     0        struct ring_pool          counters and the three free lists
 *     4096     struct ring_slot[slots]   one per live thread
 *     ...      chunks[chunk_cap]         RING_CHUNK_SIZE each
 *
 * A thread's ring is a slot and a chain of chunks. The thread pops a chunk from
 * `free_chunks` (one compare-and-swap), appends records, publishes each by a
 * release store of `committed`, and links the next chunk when one is full. The
 * recorder follows the chain, and pushes what it has read back on the same list,
 * so that the chunk handed out next is the one still in the cache. Only when the list is
 * empty a chunk never used before is taken, up to `chunk_limit`: memory that
 * is not needed is never touched. Slots go the same way.
 *
 * The free lists are stacks: a 64-bit head of (pops << 32 | index + 1). Only the
 * recorder pushes, so a pop that saw the same pop count saw the same list, and
 * pushes minus pops is the number of free chunks.
 *
 * The pool is a memfd owned by the recorder: what a killed target committed is
 * still there. Nothing in it is trusted by the recorder: every index and size is
 * checked where it is used, and read once.
 */
#ifndef SONDE_RING_LAYOUT_H
#define SONDE_RING_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#define RING_ABI_VERSION 3u
#define RING_SESSION_MAGIC 0x53455344444e4f53ull /* "SONDDSES" */
#define RING_POOL_MAGIC 0x4c4f4f5044444e4full

#define RING_PAGE_SIZE 4096u
#define RING_CHUNK_SIZE 8192u
#define RING_CHUNK_DATA (RING_CHUNK_SIZE - 64u)
#define RING_COMM_SIZE 16u

enum ring_clock { RING_CLOCK_MONOTONIC_RAW = 0, RING_CLOCK_TSC = 1 };

/* The gate: a bit per module that may record now, and above them the number of the capture
 * window, so that a writer sees that there was a pause even if it missed it. */
enum ring_gate {
#define MODULE(id, name, bit) RING_GATE_##id = 1u << (bit),
#define OPTION_MODULE MODULE
#define GATE(id, bit) RING_GATE_##id = 1u << (bit),
#include "fmt/trace_sources.def"
};

enum ring_cuda {
	RING_CUDA_ALL_APIS = 1u << 0,
	RING_CUDA_GRAPH_NODES = 1u << 1, /* a record for each node, not for the graph */
	RING_CUDA_MEMORY = 1u << 2,
	RING_CUDA_CPU_FAULTS = 1u << 3,
	RING_CUDA_GPU_FAULTS = 1u << 4,
	RING_CUDA_EVENT_TIMES = 1u << 5,
	RING_CUDA_FLUSH_ON_STOP = 1u << 6,
	RING_CUDA_PROFILER_API = 1u << 7, /* cudaProfilerStart and Stop open and close the window */
	RING_CUDA_BACKTRACES = 1u << 8,
	RING_CUDA_KEEP_OPEN = 1u << 9,    /* cudaProfilerStop changes nothing */
	RING_CUDA_ARMED = 1u << 10,       /* they have a meaning now */
	RING_CUDA_COUNTERS = 1u << 11,    /* hardware counters of single kernels, and nothing else */
	RING_CUDA_NVTX = 1u << 12,        /* for them, NVTX ranges that are open are kept */
	RING_CUDA_NVTX_PROCESS = 1u << 13 /* pushed ones are those of all threads together */
};

/* -c nvtx: what makes a range the one that opens the window. */
enum ring_nvtx {
	RING_NVTX_ARMED = 1u << 0,
	RING_NVTX_ANY_DOMAIN = 1u << 1,
	RING_NVTX_KEEP_OPEN = 1u << 2, /* its end changes nothing */
	RING_NVTX_TELL = 1u << 3,      /* the recorder wants to know a few of the others, too */
	RING_NVTX_STEPS = 1u << 4      /* they are steps, which are counted (--schedule) */
};
#define RING_NVTX_RANGE 1024u
#define RING_NVTX_DOMAIN 512u

/* Kinds of calls, for --cudabacktrace. */
enum ring_cuda_call { RING_CUDA_CALL_KERNEL, RING_CUDA_CALL_MEMORY, RING_CUDA_CALL_SYNC, RING_CUDA_CALL_OTHER, RING_CUDA_CALL_KINDS };

static inline uint32_t ring_gate(uint32_t modules, uint32_t window)
{
	return modules | (window & 0xffff) << 8;
}

static inline uint64_t ring_owner(uint64_t process, uint32_t tid)
{
	return process << 32 | tid;
}

struct ring_session {
	uint64_t magic;
	uint32_t abi;
	uint32_t clock;                /* enum ring_clock */
	_Atomic uint32_t gate;         /* ring_gate(); 0 while no window is open */
	uint32_t modules;              /* modules asked for at all (-t) */
	uint64_t osrt_threshold;       /* ticks; shorter calls are not recorded */
	uint64_t osrt_stack_threshold; /* ticks; longer calls come with their stack */
	uint32_t osrt_stack_size;      /* bytes of it */
	uint32_t osrt_files;           /* 1: file calls are recorded with path and bytes, however short */
	uint32_t sample_hz;            /* RING_GATE_SAMPLE: samples a second of CPU time */
	uint32_t sample_stack_size;
	uint32_t torch_shapes;  /* 1: operators come with the sizes and types of their inputs */
	uint32_t cuda_flags;    /* enum ring_cuda */
	uint32_t cuda_flush_ms; /* what CUPTI has finished is fetched this often; 0: as the agent likes */
	/* With --cudabacktrace, ticks by kind of call: longer ones come with their stack. All ones: never. */
	uint64_t cuda_stack_threshold[RING_CUDA_CALL_KINDS];
	uint32_t cuda_stack_size;
	_Atomic uint32_t nvtx_wait;    /* enum ring_nvtx; 0: no range is waited for */
	_Atomic uint32_t windows;      /* opened so far */
	_Atomic uint64_t window_owner; /* ring_owner() of the thread whose range the open window is; 0: of none */
	/* -c nvtx, -p range@domain: changed only while none is waited for. Without a domain's name: the default domain. */
	uint32_t nvtx_range_size;
	uint32_t nvtx_domain_size;
	char nvtx_range[RING_NVTX_RANGE];
	char nvtx_domain[RING_NVTX_DOMAIN];
	uint32_t nvtx_numbered; /* 1: a number may stand behind that name; the same all the time, too */
	/* --schedule: begins of ranges are counted in one thread. */
	_Atomic uint64_t step_owner;     /* ring_owner() of that thread; 0: of the first that comes */
	_Atomic uint64_t step_first;     /* number of its first step */
	_Atomic uint64_t step_next;      /* from this number on the recorder is asked */
	_Atomic uint64_t steps_answered; /* one above the last it was asked about */
					 /* Set by the recorder before it sleeps long; the writer that fills a chunk
	 * clears it and wakes the recorder. On a page of its own, writable. */
};

struct ring_doorbell {
	_Atomic uint32_t sleeping; /* futex word: 1 while the recorder may sleep for long */
	_Atomic uint32_t rounds;   /* over the rings, by the recorder: it goes on counting while it lives */
};

/* One mapping of RING_SESSION_SIZE: page 0 ring_session (read-only in targets),
 * page 1 ring_doorbell. */
#define RING_SESSION_SIZE (2u * RING_PAGE_SIZE)

enum ring_cuda_agent {
	RING_CUDA_HERE = 1u << 0,      /* the process has initialised CUDA */
	RING_CUDA_UNFINISHED = 1u << 1 /* records of the last window are still to come: CUPTI gives them late */
};

struct ring_pool {
	uint64_t magic;
	uint32_t abi;
	uint32_t slot_count;
	uint32_t chunk_cap;    /* chunks the mapping has room for */
	uint32_t chunk_offset; /* of chunk 0, in bytes */
	uint64_t size;         /* of the mapping */
	_Alignas(64) _Atomic uint64_t free_chunks;
	_Atomic uint32_t chunks_pushed;             /* on that list, ever; modulo 2^32, as pops are */
	_Alignas(64) _Atomic uint64_t free_reserve; /* chunks for definitions only */
	_Alignas(64) _Atomic uint64_t free_slots;
	_Alignas(64) _Atomic uint32_t fresh_chunks; /* chunks from here on were never used */
	_Atomic uint32_t fresh_slots;
	/* How far fresh_chunks may go now, and for events by one more for each slot in use: a thread that has something
	 * to say finds room for it. The recorder raises it. */
	_Atomic uint32_t chunk_limit;
	/* Events of threads that could not have a slot, and events refused because
	 * the thread was inside the agent already. */
	_Alignas(64) _Atomic uint64_t dropped_without_slot;
	/* Programs and forked children that found no way to the recorder: its socket is in another
	 * network namespace. Counted here because there is no other way to tell. */
	_Atomic uint32_t unreachable;
	_Atomic uint32_t cuda;  /* enum ring_cuda_agent */
	uint32_t cost_pair_ps;  /* agent's own cost of one push+pop, in picoseconds; 0 = not measured */
	uint32_t cost_clock_ps; /* cost of reading the clock once */
};

enum ring_slot_state {
	RING_SLOT_FREE = 0,
	RING_SLOT_LIVE = 1,
	RING_SLOT_CLOSED = 2 /* the thread ended; the recorder frees the slot when it has read all */
};

struct ring_slot {
	_Alignas(128) _Atomic uint32_t state;
	_Atomic uint32_t next_free;   /* index + 1 in free_slots */
	uint32_t tid;                 /* in the target's namespace */
	_Atomic uint32_t first_chunk; /* index + 1; 0 = none yet */
	uint64_t start_time;          /* ticks */
	uint64_t end_time;            /* ticks, valid when closed */
	_Atomic uint64_t dropped;     /* events lost because the pool was empty */
	_Atomic uint64_t refused;     /* events lost to the re-entry guard */
	_Atomic uint64_t unmatched;   /* pops without a push */
	_Atomic uint64_t stacks_cut;  /* shortened for want of room; their events are there */
	_Atomic uint64_t details;     /* definitions and the like that were lost */
	char comm[RING_COMM_SIZE];    /* kernel thread name at start, refreshed at the end */
	/* The OS runtime call the thread is in: shown where it never returns. */
	_Atomic uint32_t call;       /* number + 1; 0 = none */
	_Atomic uint64_t call_start; /* ticks */
};

struct ring_chunk {
	_Alignas(64) _Atomic uint32_t committed; /* bytes of data[] that hold whole records */
	_Atomic uint32_t next;                   /* index + 1 of the following chunk; set once, then committed is final */
	_Atomic uint32_t next_free;              /* index + 1 in a free list */
	uint32_t slot;                           /* index of the owner */
	uint8_t pad[48];
	uint8_t data[RING_CHUNK_DATA];
};

_Static_assert(sizeof(struct ring_chunk) == RING_CHUNK_SIZE, "a chunk is one unit of the pool");
_Static_assert(sizeof(struct ring_slot) == 128, "a slot owns its cache lines");
_Static_assert(sizeof(struct ring_session) <= RING_PAGE_SIZE, "the session is one page");
_Static_assert(sizeof(struct ring_pool) <= RING_PAGE_SIZE, "the pool header is one page");

static inline uint32_t ring_list_index(uint64_t head)
{
	return (uint32_t)head;
}
static inline uint32_t ring_list_pops(uint64_t head)
{
	return (uint32_t)(head >> 32);
}
static inline uint64_t ring_list_head(uint32_t pops, uint32_t index_plus_one)
{
	return (uint64_t)pops << 32 | index_plus_one;
}

#endif
