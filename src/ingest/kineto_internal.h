#ifndef SONDE_INGEST_KINETO_INTERNAL_H
#define SONDE_INGEST_KINETO_INTERNAL_H

#include "base/buf.h"
#include "ingest/json.h"
#include "ingest/keymap.h"
#include "ingest/kineto.h"
#include "ingest/sink.h"

#define KINETO_MAX_EXTRAS 16
#define KINETO_TIME_LIMIT (INT64_C(1) << 61) /* ns: sums and differences of two stay in range */

struct kineto_member {
	struct json_value key;
	struct json_value value;
};

/* Members of an object, in order; the array is used again and again. */
struct kineto_members {
	struct kineto_member *list;
	size_t count, capacity;
};

/* One element of traceEvents, as it stands. */
struct kineto_event {
	struct json_value name, category, phase, pid, tid, time, duration, args;
	const struct kineto_members *members; /* of args, where they are an object */
	struct kineto_member extras[KINETO_MAX_EXTRAS]; /* members of no meaning to us */
	unsigned extra_count;
	int64_t start, end; /* ns */
};

struct kineto_process {
	uint64_t uid;       /* 0: no number, so no process */
	int64_t pid;
	uint64_t name;      /* string id */
	int has_events;
	int has_calls;      /* of CUDA */
};

/* A slice whose end is still to come ("B" without "E"). */
struct kineto_open {
	int64_t values[TABLE_MAX_COLUMNS];
	uint32_t present;
};

/* A row of the trace: pid and tid, on the side of the CPU or of the GPU. */
struct kineto_place {
	uint32_t process;
	uint64_t thread;    /* uid; 0: no number, so no thread */
	int64_t tid;
	uint64_t name;
	int has_events;
	int on_gpu;
	struct json_value pid_text, tid_text;
	struct sink_track *slices, *instants, *calls;
	struct sink_track *ranges; /* annotations: what NVTX's push and pop are elsewhere */
	struct kineto_open *open;
	size_t open_count, open_capacity;
};

struct kineto_stream {
	int64_t device, context, id;
	struct sink_track *kernels, *copies, *sets, *syncs;
};

struct kineto_device {
	int64_t id;
	uint64_t gpu;       /* uid */
	int64_t sm_count;   /* -1: not told */
};

struct kineto {
	struct sink sink;
	struct json json;
	struct kineto_members members;
	struct buf text;    /* for strings without their escapes */
	struct keymap pids, place_keys, stream_keys, context_keys, device_keys, function_keys, launch_keys, counter_keys;
	struct kineto_process *processes;
	struct kineto_place *places;
	uint32_t place_count;
	struct kineto_stream *streams;
	struct kineto_device *devices;
	struct sink_track **counters;
	uint64_t next_thread;
	int64_t base;       /* ns since 1970 that times count from; -1: not told */
	uint64_t unended, unopened, untimed, odd;
	struct kineto_result *result;
};

/* Room for one more in an array (`array` is the address of its pointer) of `count`. Without memory the import ends. */
int kineto_room(struct kineto *k, void *array, uint32_t count, size_t size);

/* String id of a JSON string or, for other values, of their text. */
uint64_t kineto_text(struct kineto *k, const struct json_value *v);
const char *kineto_cstr(struct kineto *k, const struct json_value *v);

/* kineto_args.c */
/* With the cursor at the brace. Negative where the object is not well-formed, or without memory. */
int kineto_read_members(struct json *j, struct kineto_members *ret);
struct kineto_known {
	const char *key;
	struct json_value *value;
};
/* Splits the arguments: those in `known` (ended by a NULL key) go there, each other becomes a row.
 * Returns the set of the rows, 0 where there are none. */
uint64_t kineto_args(struct kineto *k, const struct kineto_event *e, const struct kineto_known *known);

/* kineto_places.c */
struct kineto_place *kineto_place(struct kineto *k, const struct kineto_event *e, int on_gpu);
void kineto_places_finish(struct kineto *k);

/* kineto_gpu.c */
int kineto_gpu_event(struct kineto *k, const struct kineto_event *e);
struct kineto_device *kineto_device(struct kineto *k, int64_t id);

/* kineto_devices.c */
void kineto_device_properties(struct kineto *k, const struct json_value *list);
void kineto_gpu_finish(struct kineto *k, uint64_t process);

/* kineto_names.c: a function's own name from how people write it. Not terminated: `*ret_len` bytes. */
const char *kineto_short_name(const char *name, size_t *ret_len);

/* kineto_events.c */
void kineto_event(struct kineto *k, struct kineto_event *e);
void kineto_events_finish(struct kineto *k);

#endif
