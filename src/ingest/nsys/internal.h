#ifndef SONDE_INGEST_NSYS_INTERNAL_H
#define SONDE_INGEST_NSYS_INTERNAL_H

#include <sqlite3.h>

#include "base/buf.h"
#include "base/keymap.h"
#include "base/macros.h"
#include "fmt/nsys/columns.h"
#include "ingest/nsys/nsys.h"
#include "ingest/rows/number_map.h"
#include "ingest/rows/sink.h"

#define NSYS_TIME_LIMIT (INT64_C(1) << 61) /* ns: sums and differences of two stay in range */
#define NSYS_NOT_TOLD INT64_MIN
#define NSYS_NO_NUMBER INT64_C(4294967295) /* what exports write where there is no event or stream */

struct nsys_process {
	int64_t id;    /* globalPid */
	uint64_t name; /* string id */
	int64_t end;   /* last time seen */
	int has_end;
};

struct nsys_thread {
	int64_t id;       /* globalTid */
	uint32_t process; /* index */
	uint64_t name;
	int64_t priority; /* NSYS_NOT_TOLD where that is so */
	int is_running;   /* SCHED_EVENTS: it got a CPU and has not left it */
	int64_t run_start, run_cpu;
	int64_t early_out, early_state; /* it left a CPU at this moment, and is yet to be told to have got it */
	int has_early_out;
};

struct nsys_stream {
	uint64_t process;                                    /* uid */
	int64_t device, context, id, priority, flag, handle; /* NSYS_NOT_TOLD where that is so */
};

struct nsys_context {
	uint64_t process;
	int64_t device, id, null_stream, parent, green, sm_count, handle;
};

struct nsys_device {
	uint64_t process;
	int64_t id, gpu; /* gpu.uid */
	uint64_t uuid;
	int64_t sm_count;
};

struct nsys {
	struct sink sink;
	sqlite3 *db;
	struct nsys_result *result;
	struct buf text;
	struct nsys_map strings;                 /* StringIds.id: string id */
	struct nsys_map process_ids, thread_ids; /* index + 1 */
	struct nsys_process *processes;
	struct nsys_thread *threads;
	uint32_t process_count, thread_count;
	struct keymap track_keys, function_keys, launch_keys, stream_keys, any_device_keys, context_keys, device_keys;
	struct keymap domain_keys, module_keys, symbol_keys, frame_keys, stack_keys, overhead_keys;
	struct sink_track **tracks;
	struct nsys_stream *streams;
	struct nsys_context *contexts;
	struct nsys_device *devices;
	uint32_t *of_any_device; /* by number in any_device_keys: stream */
	struct nsys_domain_place {
		uint64_t process;
		int64_t id;
		int is_reported;
	} * domains;
	struct nsys_map any_domain;               /* domainId: uid of the first of that number */
	uint64_t nvtx_process;                    /* the first that has events */
	struct nsys_map cuda_stacks, osrt_stacks; /* callchain id: stack id */
	struct nsys_map gpus;                     /* TARGET_INFO_GPU.id + 1 of cuDevice */
	struct nsys_map context_devices;          /* device + 1 */
	struct keymap_last {
		int64_t key[6];
		struct sink_track *track;
	} last;
	uint64_t *profilers_overhead;      /* by number in overhead_keys: rows yet to be matched */
	int64_t duration;                  /* of the session; -1: not told */
	int is_ours;                       /* sonde export wrote the file */
	char has_reader[NSYS_TABLE_COUNT]; /* the others are read as tables of no meaning to us */
	uint64_t untimed, backwards, odd, unpaired, deep, unkept, contentless;
	uint64_t nameless; /* cells with the number of a string that is not in the file */
	struct buf unkept_tables;
};

/* Room for one more in an array (`array` is the address of its pointer) of `count`. Without memory the import ends. */
int nsys_room(struct nsys *n, void *array, uint32_t count, size_t size);

/* file.c */
/* *ret_is_cut: it is shorter than it says. */
int nsys_file_open(sqlite3 **ret, const char *path, int *ret_is_cut, struct error *err);
/* 0: there is no such table with rows to read. */
int nsys_has_table(struct nsys *n, const char *table);

enum nsys_kind { NSYS_NUMBER, NSYS_STRING /* StringIds.id */, NSYS_TEXT, NSYS_OTHER /* the caller's */, NSYS_LEFT /* an extra */ };

/* A column by name, and where its value goes in a row of the report. */
struct nsys_column {
	const char *name;
	uint8_t kind;
	uint8_t target;
	int8_t plus;
};

struct nsys_table {
	const char *name;
	const struct nsys_column *columns;
	unsigned count;
};

extern const struct nsys_table nsys_tables[NSYS_TABLE_COUNT]; /* columns.c */

#define NSYS_OLD_DRIVER "CUPTI_ACTIVITY_KIND_DRIVER" /* what old exports have of RUNTIME apart */

#define NSYS_MAX_EXTRAS 48

struct nsys_rows {
	struct nsys *n;
	const char *table;
	const struct nsys_column *columns;
	unsigned count;
	sqlite3_stmt *statement;
	char *extras[NSYS_MAX_EXTRAS]; /* columns of no meaning to us */
	unsigned extra_count;
	uint64_t there; /* which of `columns` the table has, a bit each */
	uint64_t read;
};

/* 0 where there is nothing to read. */
int nsys_rows_open(struct nsys_rows *ret, struct nsys *n, const struct nsys_table *table);
/* Sorted by these of its columns. */
int nsys_rows_open_sorted(struct nsys_rows *ret, struct nsys *n, const struct nsys_table *table, const unsigned *by, unsigned count);
int nsys_rows_next(struct nsys_rows *rows);
void nsys_rows_close(struct nsys_rows *rows);
/* Tables that are read one after the other, row by row. */
struct nsys_reading {
	enum nsys_table_id table;
	void (*take)(struct nsys_rows *rows);
};
void nsys_read_tables(struct nsys *n, const struct nsys_reading *readings, unsigned count);
/* 0 where it is null, or nothing of the kind. */
int nsys_number(const struct nsys_rows *rows, unsigned column, int64_t *ret);
int64_t nsys_number_or(const struct nsys_rows *rows, unsigned column, int64_t otherwise);
int nsys_real(const struct nsys_rows *rows, unsigned column, double *ret);
/* NULL where it is null. Valid until the next row. */
const char *nsys_cell_text(const struct nsys_rows *rows, unsigned column, size_t *ret_len);
uint64_t nsys_text(const struct nsys_rows *rows, unsigned column);
uint64_t nsys_string(const struct nsys_rows *rows, unsigned column);
uint64_t nsys_string_of(struct nsys *n, int64_t id);
/* The statement on the row of that string: its text is column 0. NULL where there is none. */
sqlite3_stmt *nsys_string_row(struct nsys *n, int64_t id);
/* One column's value to a column of the report. */
void nsys_put(const struct nsys_rows *rows, unsigned from, int64_t *values, uint32_t *present, unsigned column);
/* The columns that say where their values go. */
void nsys_fill(const struct nsys_rows *rows, int64_t *values, uint32_t *present);
/* Start and end from the first two columns; 0 (counted) where the row has no readable start. An end before the start
 * (counted), or none, is the start. */
int nsys_times(const struct nsys_rows *rows, int64_t *values, uint32_t *present);
int nsys_time(const struct nsys_rows *rows, unsigned column, int64_t *ret);
/* A call that had not returned ends with the recording where Sonde wrote the file: SLICE_OPEN, or 0. */
int64_t nsys_call_flags(const struct nsys *n, int64_t end);
/* Columns of no meaning to us as rows of arg: their set, 0 where there are none. */
uint64_t nsys_extras(struct nsys_rows *rows);
/* One row of arg; opens the set where it is 0. */
void nsys_arg(struct nsys *n, uint64_t *set, const char *key, sqlite3_value *value);

void nsys_arg_number(struct nsys *n, uint64_t *set, const char *key, int64_t number);

/* processes.c */
struct nsys_process *nsys_process(struct nsys *n, int64_t global_id);
uint64_t nsys_process_uid(struct nsys *n, int64_t global_id);
struct nsys_thread *nsys_thread(struct nsys *n, int64_t global_tid);
uint64_t nsys_thread_uid(const struct nsys *n, const struct nsys_thread *t);
/* The thread that a column names; NULL where it names none. */
struct nsys_thread *nsys_row_thread(const struct nsys_rows *rows, unsigned column);
/* uid of the process that a column of globalPid names; 0: none. */
uint64_t nsys_row_process(const struct nsys_rows *rows, unsigned column);
void nsys_fail_without_memory(struct nsys *n);
struct sink_track *nsys_track(struct nsys *n, enum track_kind kind, enum table_id table, uint64_t process, uint64_t thread, uint64_t domain,
			      uint64_t other);
/* On a thread: its process is that of the thread. */
struct sink_track *nsys_thread_track(struct nsys *n, enum track_kind kind, enum table_id table, const struct nsys_thread *t,
				     uint64_t domain, uint64_t other);
void nsys_read_names(struct nsys *n);
void nsys_places_finish(struct nsys *n);

/* devices.c */
uint64_t nsys_stream(struct nsys *n, uint64_t process, int64_t device, int64_t context, int64_t green, int64_t id);
uint64_t nsys_context(struct nsys *n, uint64_t process, int64_t device, int64_t id);
void nsys_read_devices(struct nsys *n);
void nsys_devices_finish(struct nsys *n);

/* gpu.c: work of GPUs. memory.c: their memory. */
void nsys_read_work(struct nsys *n);
void nsys_read_memory(struct nsys *n);
uint32_t nsys_function(struct nsys *n, uint64_t name, uint64_t short_name, uint64_t mangled);
/* cuda.c: calls, overhead, graphs. */
void nsys_read_calls(struct nsys *n);
/* nvtx.c */
void nsys_read_nvtx(struct nsys *n);
void nsys_nvtx_finish(struct nsys *n);
/* Of an event that is of no kind we know: a slice, or an instant where it has no end. */
void nsys_put_generic(struct nsys_rows *rows, const struct nsys_thread *thread, uint64_t process, uint64_t class, uint64_t name,
		      uint64_t set);
/* stacks.c */
struct nsys_chains {
	struct nsys_rows rows;
	int is_open, has_row;
	int in_kernel; /* the innermost frame of the chain told last */
};
int nsys_chains_open(struct nsys_chains *c, struct nsys *n, enum nsys_table_id table);
/* The next chain; 0 at the end. */
int nsys_chains_next(struct nsys_chains *c, int64_t *ret_id, uint64_t *ret_stack);
void nsys_chains_close(struct nsys_chains *c);
void nsys_read_chains(struct nsys *n, enum nsys_table_id table, struct nsys_map *ret);
/* Symbol and module are ids of StringIds. */
uint64_t nsys_frame(struct nsys *n, int64_t symbol, int64_t module, int64_t address, int in_kernel, int unresolved);
/* cpu.c: samples, OS runtime, scheduling. */
void nsys_read_cpu(struct nsys *n);
/* metrics.c */
void nsys_read_metrics(struct nsys *n);
/* info.c: how, where and when it was recorded. */
void nsys_read_info(struct nsys *n);
/* generic.c: every other table. */
void nsys_read_others(struct nsys *n);

#endif
