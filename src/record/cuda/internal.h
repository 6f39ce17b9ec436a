/* Parts of record/cuda and what they share. */
#ifndef SONDE_RECORD_CUDA_INTERNAL_H
#define SONDE_RECORD_CUDA_INTERNAL_H

#include "base/macros.h"
#include "fmt/cuda_wire.h"
#include "fmt/kernel_wire.h"
#include "record/cuda/cuda.h"

/* A process may send any number of anything; what is beyond has no rows, and is counted. */
#define CUDA_MAX_IDS (1u << 20)
#define CUDA_MAX_PLACES (1u << 16)
#define CUDA_MAX_CALLS 4096u
#define CUDA_MAX_TRACKS 256u
#define CUDA_WAITING_ROWS (1u << 16)

/* Rows of one table and of one thread, stream or context: gathered until the end of a buffer, then sorted and placed on
 * the first track (track) that is free since their start. For calls this is their nesting. */
struct cuda_rows {
	struct cuda_rows *next_waiting;
	struct cuda_stream *stream; /* of GPU work; NULL otherwise */
	uint64_t thread;            /* uids, for the tracks */
	uint64_t domain;
	uint8_t table;
	uint8_t kind;   /* enum track_kind */
	uint8_t stride; /* of a row: which columns, then all columns */
	uint8_t is_span;
	uint8_t out_of_order;
	uint32_t stacks;      /* rows whose stack is to be looked up */
	uint32_t asked;       /* so many rows were there when stacks were looked up for the first time, */
	uint32_t asked_round; /* after so many whole rounds */
	int64_t *values;
	uint32_t count;
	uint32_t cap;
	struct placed_track *tracks;
	uint32_t track_count;
};

/* The work that ended last, for what waits for it. */
struct cuda_last_work {
	int64_t end;      /* INT64_MIN: none */
	int64_t call_end; /* of the call that started it */
	uint32_t correlation;
};

struct cuda_context {
	uint32_t id;
	uint32_t device;
	uint64_t uid;
	struct cuda_wire_context reported;
	int64_t time;
	int64_t end;
	uint8_t defined;
	uint8_t has_time;
	uint8_t ended;
	struct cuda_rows *memory;
	struct cuda_last_work last;
};

struct cuda_stream {
	uint32_t id; /* CUDA_NO_ID: stands for its context, or for a device's unified memory */
	uint32_t device;
	uint64_t uid;
	struct cuda_context *context; /* NULL: unified memory */
	int32_t priority;
	uint32_t flag;
	int64_t time;
	uint64_t handle; /* 0: not known */
	uint8_t has_time;
	uint8_t has_rest; /* priority and flag */
	uint8_t written;
	struct cuda_rows *work[TRACK_KIND_LIMIT];
	struct cuda_last_work last;
};

struct cuda_thread {
	uint32_t tid;
	uint64_t uid;
	uint8_t own_row; /* nobody else writes its row */
	int64_t start;
	int64_t end;
	char name[16];
	int16_t priority;
	struct cuda_rows *calls;
	struct cuda_rows *overhead;
	struct cuda_rows *jit;
};

struct cuda_module {
	uint32_t id;
	uint32_t context;
	uint64_t size;
	int64_t time;
};

/* Objects with an id of the process, found by it and listed. */
struct cuda_list {
	struct idmap index; /* -> pointer */
	void **items;
	uint32_t count;
	uint32_t cap;
};

/* What is known about the GPU's clock: the least distances seen. */
struct cuda_clock {
	uint8_t reported; /* DEFINE_CUDA_CLOCK came */
	uint32_t method;
	struct cuda_wire_clock wire;
	uint64_t path;
	int64_t early;
	int64_t late;
	uint64_t early_count;
	uint64_t late_count;
	uint64_t before;
};

/* Kernels whose counters are being read, together. */
#define CUDA_MOST_BUSY 64u
struct cuda_busy {
	struct {
		uint64_t result;
		struct record_kernel record; /* what was told of it */
		char name[60];
	} items[CUDA_MOST_BUSY];
	uint32_t count;
	int waits;     /* for what ran before the next one, which is called */
	int copies;    /* memory, as much as */
	char next[60]; /* this says */
	uint32_t passes;
	uint32_t pass;     /* how many have begun */
	int64_t since;     /* ns: the pass began */
	uint32_t reported; /* seconds at which it was told of; 0: not yet */
};

/* Graphs whose kernels are not read, by the reason. */
#define CUDA_MOST_REASONS 16u
struct cuda_left_alone {
	char why[120]; /* "": none */
	uint32_t launches;
};

struct cuda_process {
	struct cuda_list contexts;
	struct cuda_list streams; /* by id; 1 << 32 | context; 2 << 32 | device */
	struct cuda_list threads;
	struct cuda_list modules;
	struct idmap devices;              /* id -> gpu.uid */
	struct idmap functions;            /* id -> cuda_function.id [| UNDEFINED] */
	struct idmap launches;             /* id -> cuda_launch.id [| UNDEFINED] */
	uint64_t calls[2][CUDA_MAX_CALLS]; /* string ids [| UNDEFINED] */
	struct cuda_thread *last_thread;
	struct cuda_stream *last_stream;
	struct cuda_rows *waiting;
	uint32_t waiting_rows;
	size_t row_bytes; /* room for rows that wait */
	uint32_t ticks_waited;
	struct cuda_rows *overhead; /* of no thread */
	struct recent_call *recent; /* calls by the low bits of their correlation */
	struct call_stack_entry *stacks;
	int64_t node[COLUMN_CUDA_GRAPH_NODE_STACK + 1]; /* the graph node told of last: graphs.c */
	uint32_t node_present;                          /* 0: none waits */
	struct cuda_clock clock;
	int connected;              /* of a process whose kernels are read: it has been told of */
	struct idmap source_names;  /* of functions and metrics of single instructions -> string id [| UNDEFINED] */
	struct idmap codes;         /* checksum of a cubin -> kernel_code.id */
	struct idmap kernels;       /* number of a kernel whose counters are read -> kernel_result.id */
	struct idmap kernels_ended; /* those that all was told of */
	struct cuda_busy busy;
	struct cuda_left_alone left_alone[CUDA_MOST_REASONS];
	int64_t kernel_ranges; /* NVTX ranges of kernels that were told of: their order */
	uint64_t unplaced;     /* records without a place in time or among the tracks */
};

struct cuda_session {
	uint64_t next_context;
	uint64_t next_stream;
	uint64_t next_function;
	uint64_t next_launch;
	uint64_t next_kernel; /* whose counters are read */
	uint64_t next_code;
	struct idmap functions; /* string id of the mangled name -> id */
	struct idmap launches;  /* hash of all columns -> id */
};

/* In maps of names: used already, still to be told. */
#define CUDA_UNDEFINED (UINT64_C(1) << 62)

/* What a record is decoded with. */
struct cuda_decoder {
	struct session *s;
	struct traced_process *p;
	struct cuda_process *c;
};

/* cuda.c */
struct cuda_process *cuda_of(struct traced_process *p);
struct cuda_session *cuda_session(struct session *s);
void *cuda_list_find(const struct cuda_list *list, uint64_t key);
/* A zeroed object of this size under that key; NULL when there are too many, or no memory. */
void *cuda_list_add(struct cuda_list *list, uint64_t key, size_t size);

/* rows.c. The row to be filled, from column 2 (spans) or 1 on. NULL without memory. */
int64_t *cuda_rows_add(struct cuda_decoder *d, struct cuda_rows *rows, int64_t start, int64_t end, uint32_t present);
/* The rows at *rows, made at first use; NULL without memory. */
struct cuda_rows *cuda_rows_of(struct cuda_rows **rows, enum table_id table, uint64_t thread, uint64_t domain);
/* Sorts and places all that wait. */
void cuda_flush(struct cuda_decoder *d, int everything);
void cuda_rows_free(struct cuda_rows *rows);

/* names.c */
void cuda_define_call(struct cuda_decoder *d, uint64_t id, const char *text, size_t size);
void cuda_define_function(struct cuda_decoder *d, uint64_t id, const char *text, size_t size);
int cuda_define_launch(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size);
/* String id; 0 for a number that no call has. */
uint64_t cuda_call_name(struct cuda_decoder *d, unsigned is_driver, unsigned number);
/* Ids of the report; 0 when there are too many. */
uint64_t cuda_function_id(struct cuda_decoder *d, uint64_t id);
uint64_t cuda_launch_id(struct cuda_decoder *d, uint64_t id);
/* Rows for what was used and never told. */
void cuda_names_end(struct cuda_decoder *d);

/* devices.c */
int cuda_define_device(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size);
/* `time` NULL: not told. */
int cuda_define_context(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size, const int64_t *time);
int cuda_define_stream(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size, const int64_t *time);
int cuda_define_module(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size, int64_t time);
struct cuda_context *cuda_context_at(struct cuda_decoder *d, uint32_t id, uint32_t device);
struct cuda_stream *cuda_stream_at(struct cuda_decoder *d, const struct cuda_place *place);
struct cuda_stream *cuda_unified_stream(struct cuda_decoder *d, uint32_t device);
/* The rows of a table of work on a stream. */
struct cuda_rows *cuda_work_rows(struct cuda_stream *stream, enum table_id table);
void cuda_places_provisional(struct cuda_decoder *d);
void cuda_places_end(struct cuda_decoder *d);
void cuda_places_free(struct cuda_process *c);

/* threads.c. NULL when there are too many. */
struct cuda_thread *cuda_thread_at(struct cuda_decoder *d, uint32_t tid, int64_t start, int64_t end);
void cuda_threads_provisional(struct cuda_decoder *d);
void cuda_threads_end(struct cuda_decoder *d, int64_t end);
void cuda_threads_free(struct cuda_process *c);

/* activity.c */
int cuda_activity(struct cuda_decoder *d, const uint8_t *bytes, uint32_t size);

/* clock.c */
void cuda_clock_call(struct cuda_process *c, uint32_t correlation, int64_t start, int64_t end);
/* Compares what waits, before it is placed. */
void cuda_clock_compare(struct cuda_process *c);
int cuda_define_clock(struct cuda_decoder *d, uint64_t id, const uint8_t *body, size_t size);
void cuda_clock_provisional(struct cuda_decoder *d);
void cuda_clock_end(struct cuda_decoder *d);
void cuda_clock_free(struct cuda_process *c);

/* graphs.c */
/* Writes the node told of last. */
void cuda_node_row(struct cuda_decoder *d);
/* kernels.c: tells of a kernel whose counters are read and that does not end. */
void cuda_kernel_watch(struct cuda_decoder *d);
/* The process has ended: one that was being read has no values. */
void cuda_kernels_end(struct cuda_decoder *d);
int cuda_define_node(struct cuda_decoder *d, struct traced_thread *t, const struct record_define *define, const uint8_t *body, size_t size,
		     int64_t time);
void cuda_define_graph(struct cuda_decoder *d, const struct traced_thread *t, const struct record_define *define, int64_t time);

/* kernel_launches.c: the id of the result, made where it is the first time that the kernel is mentioned; 0: there are too many. */
uint64_t cuda_kernel_result(struct cuda_decoder *d, uint32_t number);

/* call_stacks.c */
void cuda_define_stack(struct cuda_decoder *d, struct traced_thread *t, uint64_t correlation, uint64_t ticks);
/* What stands in a row's column until its stack is looked up. */
static inline int64_t cuda_stack_later(uint32_t correlation)
{
	return ~(int64_t)correlation;
}
/* Fills the stacks of calls that wait. The first `final` rows have none if it has not come; rows->stacks is how many
 * of the others have to wait. */
void cuda_stacks_fill(struct cuda_process *c, struct cuda_rows *rows, uint32_t final);

#endif
