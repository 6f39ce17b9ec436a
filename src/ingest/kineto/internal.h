#ifndef SONDE_INGEST_KINETO_INTERNAL_H
#define SONDE_INGEST_KINETO_INTERNAL_H

#include "base/buf.h"
#include "base/keymap.h"
#include "ingest/input/json.h"
#include "ingest/kineto/kineto.h"
#include "ingest/rows/sink.h"

#define KINETO_MAX_EXTRAS 16
#define KINETO_MAX_MEMBERS 65536u
#define KINETO_MAX_TRACKS 65536u             /* of each kind; hostile traces have no end of threads */
#define KINETO_MAX_TEXT (4u << 20)           /* longer ones are cut */
#define KINETO_TIME_LIMIT (INT64_C(1) << 61) /* ns: sums and differences of two stay in range */

struct kineto_member {
	struct json_value key;
	struct json_value value;
};

/* Members of an object, in order; the array is used again and again. */
struct kineto_members {
	struct kineto_member *list;
	size_t count, capacity;
	uint64_t lost; /* beyond KINETO_MAX_MEMBERS */
};

/* One element of traceEvents, as it stands. */
struct kineto_event {
	struct json_value name, category, phase, pid, tid, time, duration, args;
	const struct kineto_members *members;           /* of args, where they are an object */
	struct kineto_member extras[KINETO_MAX_EXTRAS]; /* members of no meaning to us */
	unsigned extra_count;
	int64_t start, end; /* ns */
};

struct kineto_process {
	uint64_t uid; /* 0: no number, so no process */
	int64_t pid;
	uint64_t name; /* string id */
	int has_events;
	int has_calls;      /* of CUDA */
	uint64_t gpu_owner; /* where it is a device's row: uid of the process whose work is there; 0: not known */
};

/* A slice whose end is still to come. */
struct kineto_open {
	int64_t start;
	uint64_t name, class, args; /* ids; 0: none */
};

/* The same for one that is of no thread ("b"), found by process, category and id. */
struct kineto_async {
	struct kineto_open slice;
	uint64_t key[2]; /* hash of them */
	uint32_t track;
	uint32_t next; /* of its chain, or of those that are free: number + 1 */
};

/* Slices and marks of a process and category that are of no thread. */
struct kineto_async_track {
	struct sink_track *slices, *instants;
};

/* A row of the trace: pid and tid, on the side of the CPU or of the GPU. */
struct kineto_place {
	uint32_t process;
	uint64_t thread; /* uid; 0: no number, so no thread */
	int64_t tid;
	uint64_t name;
	int has_events;
	int on_gpu;
	struct sink_track *slices, *instants, *calls;
	struct sink_track *ranges; /* annotations: what NVTX's push and pop are elsewhere */
	struct kineto_open *open;
	size_t open_count, open_capacity;
};

struct kineto_stream {
	int64_t device, context, id;
	uint32_t row;     /* process number of the trace's own row for it */
	uint64_t process; /* uid of whose it is, once that is known; 0: not */
	struct sink_track *kernels, *copies, *sets, *syncs;
};

struct kineto_device {
	int64_t id;
	uint64_t gpu;     /* uid */
	int64_t sm_count; /* -1: not told */
	int has_streams;
};

/* Texts said lately, by a cheap hash: most of a trace says the same few over and over. */
#define KINETO_TEXTS 1024u
struct kineto_said {
	char text[56];
	uint32_t id;
	uint32_t len; /* 0: none */
};

struct kineto {
	struct sink sink;
	struct kineto_said said[KINETO_TEXTS];
	struct json json;
	struct json_name names[JSON_NAMES];
	const char *resume; /* where to look for the next event when the one being read is malformed */
	int in_object;      /* the events are a member of an object */
	struct kineto_members members;
	struct buf text; /* for strings without their escapes */
	struct keymap pids, place_keys, stream_keys, context_keys, device_keys, function_keys, launch_keys, counter_keys;
	struct keymap async_keys, owner_keys;
	int64_t first_launch; /* id of the first in launch_keys, which starts over when it is full */
	struct kineto_process *processes;
	struct kineto_place *places;
	uint32_t place_count;
	uint32_t last_place[2]; /* on the side of the CPU, of the GPU */
	struct kineto_stream *streams;
	struct kineto_device *devices;
	struct kineto_counter {
		struct sink_track *track;
		uint32_t process;
	} * counters;
	struct kineto_async_track *async_tracks;
	struct kineto_async *async;
	uint32_t *async_chains; /* number + 1 */
	uint32_t async_count, async_free, async_open;
	struct kineto_sample *calls, *work; /* owners.c */
	uint32_t call_count, work_count;
	unsigned sample_shift;
	uint64_t likely_owner; /* uid of the process whose a device's work is where nothing says so; 0: none */
	uint64_t next_thread;
	int64_t base; /* ns since 1970 that times count from; -1: not told */
	uint64_t unended, unopened, untimed, odd, cut, foreign, crowded;
	struct kineto_result *result;
};

/* Room for one more in an array (`array` is the address of its pointer) of `count`. Without memory the import ends. */
int kineto_room(struct kineto *k, void *array, uint32_t count, size_t size);

/* Arguments differ without end: once KINETO_MAX_TEXTS are known, a new one may be written again and again. */
#define KINETO_MAX_TEXTS 2500000u
uint64_t kineto_argument_text(struct kineto *k, const struct json_value *v);
/* String id of a JSON string or, for other values, of their text. */
uint64_t kineto_text(struct kineto *k, const struct json_value *v);
/* The same of a member's name. */
uint64_t kineto_name(struct kineto *k, const struct json_value *name);
const char *kineto_cstr(struct kineto *k, const struct json_value *v);

/* args.c */
/* With the cursor at the brace. Negative where the object is not well-formed, or without memory. */
int kineto_read_members(struct json *j, struct kineto_members *ret);
struct kineto_known {
	const char *key;
	size_t len;
	struct json_value *value;
};
/* clang-format off */
#define KINETO_KNOWN(name, place) { name, sizeof(name) - 1, place }
#define KINETO_KNOWN_END { NULL, 0, NULL }
/* clang-format on */
/* Splits the arguments: those in `known` go there, each other becomes a row.
 * Returns the set of the rows, 0 where there are none. */
uint64_t kineto_args(struct kineto *k, const struct kineto_event *e, const struct kineto_known *known);

/* processes.c */
struct kineto_place *kineto_place(struct kineto *k, const struct kineto_event *e, int on_gpu);
uint32_t kineto_process(struct kineto *k, const struct json_value *pid);
void kineto_places_finish(struct kineto *k);

/* gpu.c */
int kineto_gpu_event(struct kineto *k, const struct kineto_event *e);
struct kineto_device *kineto_device(struct kineto *k, int64_t id);

/* devices.c */
void kineto_device_properties(struct kineto *k, const struct json_value *list);
void kineto_gpu_finish(struct kineto *k);

/* names.c: a function's own name from how people write it. Not terminated: `*ret_len` bytes. */
const char *kineto_short_name(const char *name, size_t *ret_len);

/* owners.c: which process a device's work is of, by the calls that started it. */
void kineto_owner_call(struct kineto *k, uint64_t process, int64_t correlation, int64_t time);
void kineto_owner_work(struct kineto *k, const struct kineto_stream *s, int64_t correlation, int64_t time);
/* Fills in the streams' process. */
void kineto_owners_finish(struct kineto *k);

/* async.c: events of no thread. 0: it is none. */
int kineto_async_event(struct kineto *k, struct kineto_event *e);
void kineto_async_finish(struct kineto *k);

/* events.c */
#define KINETO_SLICE_COLUMNS \
	(3 | SINK_BIT(COLUMN_SLICE_NAME) | SINK_BIT(COLUMN_SLICE_FLAGS) | SINK_BIT(COLUMN_SLICE_CLASS) | SINK_BIT(COLUMN_SLICE_ARGS))
void kineto_begin_slice(struct kineto *k, const struct kineto_event *e, struct kineto_open *ret);
void kineto_end_slice(struct kineto *k, struct sink_track *t, const struct kineto_open *open, int64_t end, int has_end);
void kineto_instant(struct kineto *k, struct kineto_event *e, struct sink_track **track);
void kineto_event(struct kineto *k, struct kineto_event *e);
void kineto_events_finish(struct kineto *k);

#endif
