/* The small tables of a report, loaded once and found by key: who a track, a
 * thread, a process or a domain is. A few dozen bytes per row; the large tables
 * are never loaded. */
#ifndef SONDE_QUERY_INDEX_INDEX_H
#define SONDE_QUERY_INDEX_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "report/reader.h"

/* Rows of `width` numbers, sorted by the first (then the second ...). */
struct index_table {
	int64_t *rows;
	size_t count;
	unsigned width;
};

enum { PROCESS_UID, PROCESS_PID, PROCESS_NAME, PROCESS_PARENT, PROCESS_ORIGIN, PROCESS_MACHINE, PROCESS_START, PROCESS_WIDTH };
enum { THREAD_UID, THREAD_PROCESS, THREAD_TID, THREAD_NAME_ID, THREAD_START, THREAD_WIDTH };
enum { TRACK_ID, TRACK_KIND, TRACK_PROCESS, TRACK_THREAD, TRACK_DOMAIN, TRACK_DEPTH, TRACK_WIDTH };
enum { DOMAIN_UID, DOMAIN_PROCESS, DOMAIN_ID, DOMAIN_NAME, DOMAIN_WIDTH };
/* Lives by the number the kernel gave: the last row of a number is its last life. */
enum { LIFE_NUMBER, LIFE_START, LIFE_UID, LIFE_WIDTH };
enum { GIVEN_PROCESS, GIVEN_TID, GIVEN_ORDER, GIVEN_NAME, GIVEN_WIDTH };
/* clang-format off */
enum { ENTRY_PROCESS, ENTRY_DOMAIN, ENTRY_SCHEMA, ENTRY_INDEX, ENTRY_TYPE, ENTRY_NAME, ENTRY_OFFSET,
       ENTRY_DETAIL, ENTRY_FLAGS, ENTRY_WIDTH };
/* clang-format on */
enum { SCHEMA_PROCESS, SCHEMA_DOMAIN, SCHEMA_ID, SCHEMA_TYPE, SCHEMA_SIZE, SCHEMA_ALIGN, SCHEMA_WIDTH };
enum { ENUM_PROCESS, ENUM_DOMAIN, ENUM_SCHEMA, ENUM_SIZE, ENUM_WIDTH };
enum { LABEL_PROCESS, LABEL_DOMAIN, LABEL_SCHEMA, LABEL_VALUE, LABEL_NAME, LABEL_IS_FLAG, LABEL_WIDTH };
enum { REGISTERED_PROCESS, REGISTERED_ID, REGISTERED_NAME, REGISTERED_WIDTH };
enum { FILE_CALL_NAME, FILE_CALL_KIND, FILE_CALL_WIDTH };
enum { ARG_SET, ARG_ORDER, ARG_BLOB, ARG_SCHEMA, ARG_NUMBER, ARG_WIDTH };

struct cuda_index;

struct query_index {
	struct index_table processes;
	struct index_table threads;
	struct index_table tracks;
	struct index_table domains;
	struct index_table pids;            /* LIFE_*: global pid -> process uid */
	struct index_table tids;            /* LIFE_*: globalTid -> thread uid */
	struct index_table given_names;     /* GIVEN_*: names a program gave its threads */
	struct index_table payload_schemas; /* SCHEMA_* */
	struct index_table payload_entries; /* ENTRY_*: their fields */
	struct index_table payload_enums;   /* ENUM_*: enumerations, used like schemas */
	struct index_table payload_labels;  /* LABEL_*: names of their values */
	struct index_table registered;      /* REGISTERED_*: registered strings, as payloads name them */
	struct index_table handles;         /* the same by the program's handle */
	struct index_table file_calls;      /* FILE_CALL_*: what functions do with files, by string id */
	struct index_table args;            /* ARG_*: payloads beyond an event's first; loaded when asked for */
	int args_loaded;
	struct cuda_index *cuda; /* of reports with CUDA or GPU rows, else empty */
};

int query_index_load(struct query_index *ret, struct report *report, struct error *err);
void query_index_release(struct query_index *index);

/* The given columns of a whole table, in the order of the file; damaged groups are left out. -ENOMEM. */
int index_load(struct index_table *ret, struct report *report, enum table_id table, unsigned width, const uint8_t *columns);

/* Sorts rows by their numbers. */
void index_sort(struct index_table *t);
/* The same where the first number is an id: in a damaged report one may stand there many times, with all that is of it. The row that
 * index_find() gives stays. */
void index_sort_ids(struct index_table *t);

/* Several tables, each sorted. */
struct index_source {
	struct index_table *to;
	enum table_id table;
	unsigned width;
	const uint8_t *columns;
	int has_ids; /* index_sort_ids() */
};
int index_load_sorted(const struct index_source *sources, size_t count, struct report *report);

/* Fills `args`. -ENOMEM. */
int index_load_args(struct query_index *index, struct report *report);

/* The process whose names a process knows besides its own: the one it was forked from; 0 = none. */
int64_t index_forked_from(const struct query_index *index, int64_t process_uid);

/* The row whose first number is `key`; NULL when there is none. */
const int64_t *index_find(const struct index_table *t, int64_t key);
/* The last row whose first `depth` numbers are those of `key`; NULL when there is none. */
const int64_t *index_find_last(const struct index_table *t, const int64_t *key, unsigned depth);
/* The first row not below `key` in its first `depth` numbers: count when there is none. */
size_t index_lower_bound(const struct index_table *t, const int64_t *key, unsigned depth);

/* nsys's serialised ids: the machine (VM 1 where an imported export does not say otherwise), then 24 bits of pid and of tid. */
int64_t index_global_pid(const struct query_index *index, int64_t process_uid);
int64_t index_global_tid(const struct query_index *index, int64_t thread_uid);
int64_t index_process_tid(const struct query_index *index, int64_t process_uid, int64_t tid);
/* Of the machine, and a pid on it. */
int64_t index_global_id(const struct query_index *index, int64_t pid);

/* enum file_call of a function's name; 0 for names that are not known. */
int64_t index_file_call(const struct query_index *index, int64_t name);

/* The name a program gave the thread, else its kernel name; 0 when it has none. */
int64_t index_thread_name(const struct query_index *index, int64_t thread_uid);

#endif
