/* What an agent module may use of the core: the gate, the clock and this
 * thread's ring.
 *
 * A module records an event so:
 *
 *	if (!agent_on(RING_GATE_NVTX))
 *		return;
 *	record = agent_begin(size);           // NULL: refused or dropped, and counted
 *	if (record) {
 *		... fill everything but the head ...
 *		agent_end(record, head, size);    // head last: a record is whole or not there
 *	}
 *
 * Between begin and end no call may leave the agent. Nothing here allocates, locks,
 * prints or changes errno. */
#ifndef SONDE_AGENT_CORE_AGENT_H
#define SONDE_AGENT_CORE_AGENT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/system/arch.h"
#include "fmt/record.h"
#include "ring/ring_layout.h"

#define AGENT_EXPORT __attribute__((visibility("default")))
#define AGENT_COLD __attribute__((cold, noinline))
#define agent_likely(x) __builtin_expect(!!(x), 1)
#define agent_unlikely(x) __builtin_expect(!!(x), 0)

/* Per-thread levels of nesting, one per domain id (0 = default domain). */
#define AGENT_LEVEL_DOMAINS 256u
/* Memory a thread keeps for the modules' own use. */
#define AGENT_MODULE_MEMORY (16u << 10)

/* A thread's timer, where samples are taken in the target (src/agent/sample). */
struct agent_sample_thread {
	uint32_t timer;      /* the kernel's number + 1; 0 = none */
	uint32_t paused;     /* the thread blocks the signal */
	uint64_t spent;      /* ns of CPU time no sample stands for so far */
	uint64_t counted;    /* up to this CPU time of the thread, ns */
	uint64_t next;       /* ns from there to the next tick */
	uintptr_t stack_low; /* the thread's own stack */
	uintptr_t stack_end;
};

/* Operators of PyTorch that a thread has open (src/agent/torch). */
#define AGENT_OPERATORS 1024u
struct agent_operators {
	uint32_t depth; /* one above the highest place in use */
	uint32_t turn;
	uint64_t thread; /* torch's number of this thread */
	uint64_t open[AGENT_OPERATORS / 64];
};

struct agent_thread_memory {
	int32_t levels[AGENT_LEVEL_DOMAINS];                   /* zero when a thread begins */
	uint32_t life;                                         /* another number for each thread that had this memory */
	uint32_t capture;                                      /* domain + 1 whose outermost range here is the window; 0 = none */
	uint64_t steps;                                        /* counted since this thread's first */
	struct agent_sample_thread sample;                     /* zero when a thread begins */
	struct agent_operators operators;                      /* zero when a thread begins, and in another window */
	_Alignas(64) uint64_t operator_names[AGENT_OPERATORS]; /* left as it was */
	_Alignas(64) uint8_t module[AGENT_MODULE_MEMORY];      /* left as it was */
};

/* 64 bytes of initial-exec TLS: all there is. */
struct agent_tls {
	uint8_t *write; /* next record */
	uint8_t *end;   /* of the chunk; NULL before the first event */
	uintptr_t busy; /* stack pointer of the event being written; 0 = none */
	/* Whose pool the pointers here are in, and the window in which levels were counted; 0 before the first event. */
	uint32_t attached; /* as agent_pages.attached was */
	uint32_t gate;
	int32_t *levels; /* first member of agent_thread_memory; set once agent_begin succeeded */
	struct ring_slot *slot;
	uint64_t ranges; /* start/end ranges begun by this thread, for their ids */
	uintptr_t call;  /* the OS runtime call this thread is in: a frame on its stack */
};

extern __thread struct agent_tls agent_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline struct agent_thread_memory *agent_memory(void)
{
	return (struct agent_thread_memory *)(void *)agent_tls.levels;
}

/* Three pages: the first is wiped in every forked child (so that a child is off
 * until it has a pool of its own), the second is the session page, mapped over
 * it when the agent attaches, the third the doorbell. */
struct agent_pages {
	_Alignas(4096) _Atomic uint32_t attached; /* AGENT_OFF or agent_attached_word(); 0 = wiped, or not yet attached */
	_Atomic uint32_t files_known;             /* the table of open files is this process's own */
	_Alignas(4096) struct ring_session session;
	_Alignas(4096) struct ring_doorbell doorbell;
	uint8_t fill[4096 - sizeof(struct ring_doorbell)];
};
extern struct agent_pages agent_pages __attribute__((visibility("hidden")));

/* Whether this thread's pointers are into the pool that is in use. */
static inline int agent_thread_is_current(void)
{
	return agent_tls.attached == atomic_load_explicit(&agent_pages.attached, memory_order_relaxed);
}

/* In `attached`, when the agent is off for good: no module bit is set. */
#define AGENT_OFF 0x80000000u
#define AGENT_ATTACHED 0x7fffffffu /* some of these are set while it is on */

/* All modules, and another number for each pool this process has had: threads see by it that theirs is gone. */
static inline uint32_t agent_attached_word(uint32_t generation)
{
	return 0x7f | (generation & 0x7fffff) << 8;
}

/* A child that came without our fork handler tries once to get a pool. */
AGENT_COLD int agent_revive(unsigned module) __attribute__((visibility("hidden")));

/* The first event of a thread in another capture window: what was open in the one before counts
 * no more. With another pool the thread begins anew. */
AGENT_COLD void agent_new_window(uint32_t attached, uint32_t gate) __attribute__((visibility("hidden")));

/* Off: one load and one branch (the second load hits the same way, no branch). */
static inline int agent_on(unsigned module)
{
	uint32_t attached = atomic_load_explicit(&agent_pages.attached, memory_order_relaxed);
	uint32_t gate = atomic_load_explicit(&agent_pages.session.gate, memory_order_relaxed);

	if (agent_likely(attached & gate & module)) {
		if (agent_unlikely(agent_tls.gate != gate || agent_tls.attached != attached))
			agent_new_window(attached, gate);
		return 1;
	}
	return agent_unlikely(attached == 0) ? agent_revive(module) : 0;
}

static inline uint64_t agent_now(void)
{
	struct timespec t;

	if (agent_likely(agent_pages.session.clock == RING_CLOCK_TSC))
		return arch_cycles();
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Slow paths: another chunk (and a slot before it), a re-entry, a full pool. */
AGENT_COLD void *agent_begin_slow(uint32_t size) __attribute__((visibility("hidden")));

static inline void *agent_begin_here(void)
{
	agent_tls.busy = arch_stack_pointer();
	atomic_signal_fence(memory_order_seq_cst);
	return agent_tls.write;
}

/* Room for a record of `size` bytes (at most RING_CHUNK_DATA) in this thread's ring. */
static inline void *agent_begin(uint32_t size)
{
	struct agent_tls *tls = &agent_tls;

	if (agent_unlikely(tls->busy || (size_t)(tls->end - tls->write) < record_stride(size)))
		return agent_begin_slow(size);
	return agent_begin_here();
}

/* As agent_begin(), for threads that are not the program's: waits while the pool is full and the recorder reads. */
void *agent_begin_patiently(uint32_t size) __attribute__((visibility("hidden")));
/* As agent_begin(), for a piece of what belongs to an event: one without room is no event that is lost. */
void *agent_begin_piece(uint32_t size) __attribute__((visibility("hidden")));
/* How much of a stack of `size` bytes may be written, behind `head` bytes: where the pool is nearly full, a part of it or nothing (counted),
 * so that there is room for events. */
uint32_t agent_room_for_stack(uint32_t size, uint32_t head) __attribute__((visibility("hidden")));
/* Wakes the recorder, if it sleeps. */
void agent_ring_doorbell(void) __attribute__((visibility("hidden")));

/* For those who go another way than agent_begin_slow(): is there room, and nobody writing? */
static inline int agent_has_room(uint32_t size)
{
	struct agent_tls *tls = &agent_tls;

	return agent_likely(!tls->busy && (size_t)(tls->end - tls->write) >= record_stride(size));
}

/* The chunk that ends here. */
static inline struct ring_chunk *agent_chunk_at(uint8_t *end)
{
	return (struct ring_chunk *)(void *)(end - RING_CHUNK_SIZE);
}

static inline void agent_end(void *record, uint64_t head, uint32_t size)
{
	struct agent_tls *tls = &agent_tls;
	uint8_t *next = (uint8_t *)record + record_stride(size);

	struct ring_chunk *chunk = agent_chunk_at(tls->end);

	*(uint64_t *)record = head;
	tls->write = next;
	atomic_store_explicit(&chunk->committed, (uint32_t)(next - chunk->data), memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	tls->busy = 0;
}

/* The memory of all threads that have or had a place: call until NULL, from *position = 0. */
struct agent_thread_memory *agent_each_memory(uint32_t *position) __attribute__((visibility("hidden")));
/* Whether an instruction is the agent's own. */
int agent_owns_code(uintptr_t address) __attribute__((visibility("hidden")));
/* The calling thread begins anew: not while it writes an event. */
void agent_forget_thread(void) __attribute__((visibility("hidden")));
/* A slot for a thread that has no event yet: agent_tls.slot is set unless there is none left. */
void agent_take_slot(void) __attribute__((visibility("hidden")));

/* Definitions: recorded whenever the process is attached, window or not, and served
 * from the reserve when the pool is empty. NULL when refused (counted). Close with agent_end(). */
void *agent_begin_definition(uint32_t size) __attribute__((visibility("hidden")));
static inline int agent_attached(void)
{
	return atomic_load_explicit(&agent_pages.attached, memory_order_relaxed) & AGENT_ATTACHED;
}

/* Attaches if that has not happened (the library may have come by dlopen); 0 when
 * this process is recorded. Thread-safe, idempotent. */
int agent_start(void) __attribute__((visibility("hidden")));

/* Asks the recorder to open or close the window, and waits for that, two seconds at most. Returns whether it has
 * happened. Not while an event is being written. */
int agent_ask_window(uint32_t request, uint32_t source) __attribute__((visibility("hidden")));
/* A step begins here (--schedule): it is counted if steps are counted in this thread, and the window is what the step's number
 * wants. As agent_ask_window(). */
void agent_step(void) __attribute__((visibility("hidden")));
/* Whether the open window was opened by this thread's request. */
int agent_owns_window(void) __attribute__((visibility("hidden")));

/* The program goes where the agent's system calls, or reading the clock, would kill it: `why` is the last that is
 * written, by any thread. Returns 0 when there is nothing to leave. agent_return() takes it back. */
AGENT_COLD int agent_leave(const char *why) __attribute__((visibility("hidden")));
AGENT_COLD void agent_return(void) __attribute__((visibility("hidden")));

/* The process is about to end without its exit handlers, or to become another program: those who asked for it are
 * told. Nothing happens in forked children of the one that asked. */
void agent_leaving(void) __attribute__((visibility("hidden")));
int agent_on_leaving(void (*leaving)(void)) __attribute__((visibility("hidden")));

/* A thread of the agent's own: not recorded as one that the program began, all signals blocked, a small stack. Returns
 * an errno. */
int agent_start_thread(void *(*routine)(void *), void *argument) __attribute__((visibility("hidden")));

/* Ids of definitions, unique in the process and its forked children's past. */
uint64_t agent_next_string_id(void) __attribute__((visibility("hidden")));
uint64_t agent_next_domain_id(void) __attribute__((visibility("hidden")));

/* Whether recordings may follow on this one, as where the program was attached to. */
int agent_comes_again(void) __attribute__((visibility("hidden")));

/* Ticks: what began before is no part of this recording. */
uint64_t agent_attached_since(void) __attribute__((visibility("hidden")));

/* A pop without a push in this thread. */
AGENT_COLD void agent_count_unmatched(void) __attribute__((visibility("hidden")));

/* Memory for definitions, never given back; zeroed. NULL when there is none. Not for the
 * hot path; lock-free, and safe in a forked child. */
void *agent_permanent(size_t size) __attribute__((visibility("hidden")));

/* Copies at most RING_CHUNK_DATA bytes of memory that another thread may take away meanwhile, as the kernel sees it:
 * returns how many there were. Of a stack the calling thread is on there are always some. */
uint32_t agent_copy_readable(void *to, uintptr_t from, uint32_t size) __attribute__((visibility("hidden")));
uint32_t agent_copy_stack(void *to, uintptr_t from, uint32_t size) __attribute__((visibility("hidden")));

/* Writes a copy of the caller's stack, `size` bytes at most, as RECORD_STACK; returns whether it did. */
int agent_write_stack(uint64_t time, uint32_t size) __attribute__((visibility("hidden")));

/* Tells the recorder which ELF objects are loaded, if that has changed since the last time. */
void agent_report_objects(uint64_t time) __attribute__((visibility("hidden")));

/* One line for the report's diagnostics; text is cut at about 400 bytes. */
void agent_diagnose(enum diagnostic_severity severity, const char *text) __attribute__((visibility("hidden")));

/* Measures what one push and pop cost here and now, once per program, with the
 * ring writing into scratch memory; kept in the pool for the report. */
void agent_measure_cost(void (*pair)(void)) __attribute__((visibility("hidden")));

/* This thread's index for ids, unique among live threads of the process. */
uint32_t agent_slot_index(void) __attribute__((visibility("hidden")));

#endif
