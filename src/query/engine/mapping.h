/* How SQL tables are made of a report's columns, as data: a table has columns and
 * one or more sources; a source is a table of the report and says where values come from that the columns do not say.
 * Those of nsys are in fmt/nsys/events.def. */
#ifndef SONDE_QUERY_ENGINE_MAPPING_H
#define SONDE_QUERY_ENGINE_MAPPING_H

#include <stdint.h>

#include "fmt/tables.h"

#define MAPPED_MAX_COLUMNS 64

enum convert {
	CONVERT_UNTOLD,   /* in a source: what the column says; else as CONVERT_NULL */
	CONVERT_NULL,     /* no such value in this source */
	CONVERT_CONSTANT, /* `constant` */
	CONVERT_NUMBER,
	CONVERT_NUMBER_OR_NULL, /* zero reads as null, as nsys writes what was not given */
	CONVERT_NUMBER_OR,      /* null reads as `constant`, where nsys has no nulls */
	CONVERT_PLUS,           /* and `constant` */
	CONVERT_ROW_ID,         /* place of the row in the report's table, from 1 */
	CONVERT_FILE_CALL,      /* enum file_call of a function's name */
	CONVERT_REAL,
	CONVERT_TEXT, /* text of a string id */
	CONVERT_STRING_ID,
	CONVERT_BLOB,           /* bytes of a blob id */
	CONVERT_BLOB_STRING_ID, /* id under which StringIds shows a blob */
	CONVERT_GLOBAL_PID,     /* of a process uid */
	CONVERT_GLOBAL_TID,     /* of a thread uid */
	CONVERT_NAMED_TID,      /* globalTid of process uid `column` and tid `column + 1` */
	CONVERT_PRESENT,        /* 1 where there is a value, 0 for null */
	CONVERT_ABSENT,         /* the other way around */
	CONVERT_DOMAIN_ID,      /* of a domain uid */
	CONVERT_DOMAIN_NAME,
	CONVERT_THREAD_NAME_ID, /* the name to show for a thread uid */
	/* Events: slices and instants share the flags column's meaning. `column` is the
	 * one read, `other` the one that qualifies it. */
	CONVERT_END,           /* null where flags (`other`) say that no end was seen */
	CONVERT_DURATION,      /* the same, less column start */
	CONVERT_OPEN,          /* 1 where flags say so, else 0 */
	CONVERT_FREE_TEXT,     /* text, unless it was a registered string */
	CONVERT_REGISTERED_ID, /* string id, if it was a registered string */
	CONVERT_COLOR,         /* null unless flags say that there was one */
	CONVERT_IF,            /* null unless column `other` equals `constant` */
	CONVERT_PAYLOAD,       /* bit pattern; null unless column `other` equals `constant` */
	CONVERT_PAYLOAD_REAL,
	CONVERT_PAYLOAD_FLOAT,
	CONVERT_JSON, /* blob `column` decoded by schema `other`, and what ARG set (column
				  * `constant`) has besides */
	CONVERT_HEX,  /* blob as hexadecimal digits */
	/* CUDA and GPUs (scan_cuda.c). */
	CONVERT_LAUNCH,        /* column `other` of a launch, and `constant`; enum in cuda_index.h */
	CONVERT_LAUNCH_TEXT,   /* the same, where that is a string id */
	CONVERT_API_TEXT,      /* name of a call as nsys's reports print it */
	CONVERT_STREAM,        /* number `other` (STREAM_*) of a stream uid */
	CONVERT_STREAM_PID,    /* globalPid of its process */
	CONVERT_MEMORY_KIND,   /* nsys's number of CUPTI's kind of memory */
	CONVERT_OVERHEAD_KIND, /* nsys's number of CUPTI's kind of overhead */
	CONVERT_OVERHEAD_NAME, /* string id of what it is called */
	CONVERT_NODE_NAME,     /* string id: of the function, else of the type `other` of a graph's node */
	CONVERT_ROUNDED,       /* whole number; else the real one of column `other`, rounded */
	CONVERT_AS_REAL,       /* the other way around: the real one, else the whole one */
	CONVERT_PID,           /* globalPid of a pid; null for 0 */
	CONVERT_FRAME_NAME,    /* string id of a frame's function; of address `other` without one */
	CONVERT_FRAME_MODULE,
	CONVERT_VIEW, /* enum view_value `other` of the column: view_values.h */
	CONVERT_CALL, /* enum call_value `other` of the call that started the row: call_values.h */
	/* What a row inherits from its track. */
	CONVERT_TRACK,
	CONVERT_TRACK_TID,     /* globalTid */
	CONVERT_TRACK_THREAD,  /* uid */
	CONVERT_TRACK_PROCESS, /* uid */
	CONVERT_TRACK_DOMAIN_ID,
	CONVERT_TRACK_DOMAIN_NAME,
	CONVERT_TRACK_DEPTH,
	CONVERT_TRACK_OBJECT,  /* uid of what GPU work is on (`domain`), and `constant` */
	CONVERT_TRACK_PID,     /* globalPid */
	CONVERT_TRACK_STREAM,  /* number `other` (STREAM_*) of the stream; `constant` where it has none */
	CONVERT_TRACK_CONTEXT, /* number `other` (CONTEXT_*) of the context */
	CONVERT_TRACK_VIEW,    /* enum view_value `other` of the track: view_values.h */
	CONVERT_TRACK_METRIC,  /* number `other` (METRIC_*) of the GPU metric */
	CONVERT_LABEL,         /* id of text `constant` (enum made_label) */
	CONVERT_LABEL_TEXT     /* the text itself */
};

/* Which rows of a source count. */
enum row_filter {
	FILTER_NONE,
	FILTER_EQUAL, /* filter_column equals filter_value */
	FILTER_NOT_EQUAL,
	FILTER_BETWEEN,       /* filter_value <= filter_column <= filter_last */
	FILTER_LAST_PROCESS,  /* the last life of its pid */
	FILTER_LAST_THREAD,   /* the last life of its tid, if it has a name */
	FILTER_UNSEEN_THREAD, /* a name given to a thread that has no row of its own */
	FILTER_UNLISTED_GPU   /* a stream that stands for a GPU which has no row of its own */
};

struct mapped_cell {
	uint8_t convert;
	uint8_t column;
	uint8_t other;
	int64_t constant;
};

/* Hidden columns have names no table of nsys has: in a join they would make such a name
 * ambiguous. Table-valued functions also know them by a short name. */
struct mapped_column {
	const char *name;
	const char *declaration; /* INTEGER, TEXT ..., with HIDDEN for what SELECT * leaves out */
	const char *short_name;
	int is_key;              /* rows are looked up by it: joins over it find them by an index made when it pays */
	struct mapped_cell cell; /* where its value comes from, where a source does not say so itself */
};

struct mapped_source {
	enum table_id table;
	uint8_t track_kind; /* 0 = any */
	uint8_t filter;
	uint8_t filter_column;
	int64_t filter_value;
	int64_t filter_last;
	uint8_t unless; /* a column: rows with another number than zero there are left out; 0 = none. Only beside a filter */
	const struct mapped_cell *cells; /* by column; NULL: it says nothing */
};

struct mapped_table {
	const char *name;
	const struct mapped_column *columns;
	unsigned column_count;
	const struct mapped_source *sources;
	unsigned source_count;
	int shows_frames; /* the report's frames are loaded before it is read */
};

static inline const struct mapped_cell *mapped_cell(const struct mapped_table *t, unsigned source, unsigned column)
{
	const struct mapped_cell *cells = t->sources[source].cells;

	return cells && cells[column].convert != CONVERT_UNTOLD ? &cells[column] : &t->columns[column].cell;
}

/* The tables with nsys's names, and FINDINGS. */
extern const struct mapped_table mapped_tables[];
extern const unsigned mapped_table_count;
/* Events of other tools as rows of NVTX_EVENTS, with the string id of their category, and this, as their domain. Known by
 * name, not listed. */
#define IMPORTED_DOMAINS (INT64_C(1) << 32)
extern const struct mapped_table mapped_imported;
/* What nsys/unrecorded.c makes tables of. */
extern const struct mapped_table mapped_nsys_rows;
extern const struct mapped_table mapped_nsys_cells;

/* A table of the report as it is, under the name sonde_<name>. */
struct native_table {
	char name[32];
	struct mapped_table table;
	struct mapped_source source;
};

/* A table with nsys's name, and behind its columns those of the report's that have ROLE_MORE. */
struct more_table {
	const struct mapped_table *of;
	struct mapped_table table;
	struct mapped_source *sources;
	struct mapped_column *columns;
	struct mapped_cell *cells; /* of all sources */
};

struct native_tables {
	struct native_table *tables;
	unsigned count;
	struct mapped_column *columns; /* of all of them */
	struct more_table *more;
	unsigned more_count;
};

int native_tables_make(struct native_tables *ret);
void native_tables_release(struct native_tables *n);

#endif
