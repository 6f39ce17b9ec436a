/* A report as events on tracks, for formats that viewers read: what is on a track, what an event is called, which
 * call started which work, and the arguments of imported events. One group of rows per track is in memory. */
#ifndef SONDE_EXPORT_TIMELINE_H
#define SONDE_EXPORT_TIMELINE_H

#include "base/idmap.h"
#include "export/internal.h"
#include "query/index/cuda_index.h"
#include "query/index/stack_tree.h"
#include "query/index/times.h"
#include "query/index/track_reader.h"

/* Rows of `tracks` have the numbers TRACK_* of the query's index, and the string id of the track's own name. */
enum { TRACK_TEXT = TRACK_WIDTH, TIMELINE_TRACK_WIDTH };

enum { DEVICE_SM_COUNT = DEVICE_WIDTH, TIMELINE_DEVICE_WIDTH };

struct link_page;
struct arg_groups;

struct timeline {
	struct export *e;
	struct query *q;
	struct report *report;
	struct index_table tracks;      /* by id */
	struct index_table devices;     /* by process and number */
	struct index_table counters[2]; /* NVTX's, and metrics of GPUs, by track */
	struct link_page *links;        /* which correlations have a call and work */
	size_t link_count;
	size_t link_capacity;
	struct idmap link_numbers;   /* their places in `links` */
	struct idmap link_processes; /* numbers of processes, from 1 */
	struct arg_groups *args;
};

int timeline_open(struct timeline *t, struct export *e, struct error *err);
void timeline_close(struct timeline *t);

static inline const int64_t *timeline_track(const struct timeline *t, uint32_t id)
{
	return index_find(&t->tracks, id);
}

static inline const int64_t *timeline_stream(const struct timeline *t, const int64_t *track)
{
	return index_find(&t->q->index.cuda->streams, track[TRACK_DOMAIN]);
}

/* A number of the report's meta table. */
int64_t timeline_meta(const struct timeline *t, const char *key, int64_t otherwise);

/* True where the process has both a call and work of that correlation. */
bool timeline_linked(const struct timeline *t, int64_t process, int64_t correlation);

enum arg_kind { ARG_NOTHING, ARG_INTEGER, ARG_REAL, ARG_TEXT };

struct arg_value {
	const char *key;
	size_t key_len;
	int64_t key_id;
	enum arg_kind kind;
	int64_t integer;
	double real;
	const char *text; /* objects, arrays, true and false are their JSON */
	size_t text_len;
};

typedef void (*arg_fn)(void *context, const struct arg_value *value);
/* Binary payloads are left out. -ENOMEM. */
int timeline_args(struct timeline *t, int64_t set, arg_fn take, void *context);
/* Whether a text is JSON that the importer kept as it was written. */
bool timeline_is_json(const char *text, size_t len);

/* Columns of events: the first ones are the same in all tables, the others depend on the table. */
/* clang-format off */
enum {
	EVENT_START, EVENT_END, EVENT_WHAT, EVENT_CORRELATION, EVENT_ARGS,
	EVENT_CLASS,              /* slices and instants: string id; calls: 1 = driver */
	EVENT_FLAGS,
	EVENT_COLOR, EVENT_PAYLOAD_KIND, EVENT_PAYLOAD,
	EVENT_RESULT = EVENT_COLOR, /* calls */
	EVENT_NODE = EVENT_CLASS,   /* GPU work */
	EVENT_GRAPH = EVENT_FLAGS,
	EVENT_BYTES = EVENT_COLOR,
	EVENT_SOURCE = EVENT_PAYLOAD_KIND,
	EVENT_TARGET = EVENT_PAYLOAD,
	EVENT_CHANNEL,
	EVENT_WIDTH
};
/* clang-format on */

/* Columns of a table that have ROLE_MORE. */
#define EVENT_MORE 8u

/* The rows of one track of a table, in order of start; or of all tracks in the order of the file. */
struct event_reader {
	struct timeline *t;
	enum table_id table;
	bool is_work; /* of a GPU, that may be a node of a CUDA graph */
	bool has_bytes;
	const struct track_groups *groups; /* NULL: the order of the file */
	uint32_t track_id;
	size_t at;            /* entry of groups, or group */
	const int64_t *track; /* of the current group; NULL where it has none */
	uint32_t row;
	uint32_t rows; /* 0: no group is loaded */
	int64_t *values;
	uint8_t *nulls; /* of `more` */
	size_t cap;
	uint8_t more[EVENT_MORE];
	unsigned more_count;
};

/* The tables whose rows are drawn one by one, in the order in which they are written; how many. */
#define EVENT_ROW_TABLES 64
unsigned event_row_tables(enum table_id ret[EVENT_ROW_TABLES]);

void event_reader_init(struct event_reader *r, struct timeline *t, enum table_id table, const struct track_groups *groups,
		       uint32_t track_id);
void event_reader_release(struct event_reader *r);
/* Makes the current row readable: 1, or 0 behind the last; -ENOMEM. The caller counts `row` up. */
int event_reader_load(struct event_reader *r);

/* Rows of several tracks together, in order of start; of two that start together the longer first. */
struct event_merge {
	struct event_reader *readers;
	size_t count, cap;
	uint32_t *heap; /* of readers that have a row, the one that comes next on top; NULL: not begun */
	size_t heap_count;
};

int event_merge_add(struct event_merge *m, struct timeline *t, const struct track_groups *groups, uint32_t track_id);
/* The reader whose row comes next; the caller counts its `row` up. NULL behind the last. -ENOMEM. */
int event_merge_next(struct event_merge *m, struct event_reader **ret);
void event_merge_release(struct event_merge *m);

/* Those that the current row has of `more`, by their names. */
void event_more(const struct event_reader *r, arg_fn take, void *context);

static inline int64_t event_value(const struct event_reader *r, unsigned column)
{
	return r->values[(size_t)column * r->rows + r->row];
}

/* Rows of a point table end where they begin; a report may have any times. */
static inline int64_t event_end(const struct event_reader *r)
{
	int64_t start = event_value(r, EVENT_START), end = event_value(r, EVENT_END);

	return end > start ? end : start;
}

/* What an event is called. Equal ids have equal texts. */
struct event_name {
	uint64_t id;
	const char *text;
	size_t len;
	char made[96];
};

void event_name(const struct event_reader *r, struct event_name *ret);
/* Its category, as Kineto has them where it has one; an id of a string for imported slices (then NULL). */
const char *event_category(const struct event_reader *r, int64_t *ret_id);

/* What a counter is called and whose it is. */
struct counter_name {
	int64_t track;
	const char *text;
	const char *unit;
	int64_t gpu; /* uid; 0: it is a process's */
	int64_t gpu_index;
};

void timeline_counter_name(const struct timeline *t, const int64_t *track, struct counter_name *ret);
/* The number of multiprocessors; 0 where it is not known. */
int64_t timeline_sm_count(const struct timeline *t, const int64_t *stream);

/* How a process, thread, domain or GPU is called; "" for none. */
const char *timeline_text(const struct timeline *t, int64_t id, size_t *ret_len);
const char *timeline_thread_name(const struct timeline *t, int64_t thread);
const char *timeline_domain_name(const struct timeline *t, int64_t domain);

#endif
