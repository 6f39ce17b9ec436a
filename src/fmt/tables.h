/* Table and column numbers, from tables.def. */
#ifndef SONDE_FMT_TABLES_H
#define SONDE_FMT_TABLES_H

#include <stdint.h>

enum table_id {
#define TABLE(id, NAME, name, kind) TABLE_##NAME = id,
#define COLUMN(...)
#include "fmt/tables.def"
#undef TABLE
#undef COLUMN
	TABLE_ID_LIMIT = 256 /* ids are one byte in the file; those unknown are skipped */
};

/* COLUMN_SLICE_START = 0, COLUMN_SLICE_END = 1, ... numbered within each table. */
/* clang-format off */
#define TABLE(id, NAME, name, kind) }; enum column_of_##name {
/* clang-format on */
#define COLUMN(TABLE, NAME, name, type, roles, help) COLUMN_##TABLE##_##NAME,
enum column_numbering_starts {
	COLUMN_NUMBERING_STARTS,
#include "fmt/tables.def"
};
#undef TABLE
#undef COLUMN

enum table_kind { TABLE_KIND_PLAIN, TABLE_KIND_SPAN, TABLE_KIND_POINT };
/* clang-format off */
enum column_type {
	COLUMN_TYPE_TIME, COLUMN_TYPE_DUR, COLUMN_TYPE_INT, COLUMN_TYPE_REAL,
	COLUMN_TYPE_STR, COLUMN_TYPE_BLOB, COLUMN_TYPE_REF, COLUMN_TYPE_FLAG
};
/* clang-format on */

/* What a column is for: readers ask for the role, not for the table. */
enum column_role {
	/* Of events */
	ROLE_NAME = 1 << 0,        /* what the event is: a text, a row that has one, or a number that stands for one */
	ROLE_FLAGS = 1 << 1,       /* enum slice_flags */
	ROLE_RESULT = 1 << 2,      /* what a call returned */
	ROLE_ERROR = 1 << 3,       /* the call failed where it is not 0 */
	ROLE_CORRELATION = 1 << 4, /* a number that a call and what it started have in common */
	ROLE_CALL = 1 << 5,        /* such a number, of the call itself */
	ROLE_WORK = 1 << 6,        /* such a number, of work that the call started on a GPU */
	ROLE_STACK = 1 << 7,       /* stack.id */
	ROLE_ARGS = 1 << 8,        /* arg.set */
	ROLE_BYTES = 1 << 9,       /* moved, set or allocated */
	ROLE_MEMORY = 1 << 10,     /* kind of memory; of two columns the source is first */
	ROLE_CHANNEL = 1 << 11,    /* of the hardware */
	ROLE_CLASS = 1 << 12,
	ROLE_NODE = 1 << 13,  /* of a CUDA graph */
	ROLE_GRAPH = 1 << 14, /* that the node is of */
	ROLE_COLOR = 1 << 15,
	ROLE_PAYLOAD_KIND = 1 << 16,
	ROLE_PAYLOAD = 1 << 17,
	ROLE_HIDDEN = 1 << 18, /* means nothing to people: not among what the viewer lists of an event */
	/* Of texts, for reports that are handed on (src/export/redact/redact.c); others are names */
	ROLE_WORD = 1 << 19, /* a word of Sonde's or of CUDA's: says nothing about a place or a person */
	ROLE_HOST = 1 << 20, /* name of a machine */
	ROLE_PATH = 1 << 21,
	ROLE_COMMAND = 1 << 22, /* command line */
	ROLE_PROSE = 1 << 23,   /* sentences */
	ROLE_INLINED = 1 << 24, /* lines of a function, a path and a number */
	/* Of a number or a text that nsys does not have: exports show it all the same, tables behind nsys's columns, traces for viewers
	 * among the event's arguments */
	ROLE_MORE = 1 << 25
};

#define TABLE_MAX_COLUMNS 32

struct column_schema {
	const char *name;
	enum column_type type;
	uint32_t roles; /* enum column_role */
	const char *help;
};

struct table_schema {
	uint8_t id;
	const char *name;
	enum table_kind kind;
	unsigned column_count;
	const struct column_schema *columns;
};

/* NULL for an id this version does not know. */
const struct table_schema *table_schema(unsigned id);
const struct table_schema *table_schema_by_name(const char *name);

/* The table's first column that has any of the roles; -1: none has, or the table is not known. */
int table_column(unsigned table, uint32_t roles);
/* Flags that may say SLICE_OPEN; -1: rows of the table always have an end. */
int table_open_column(unsigned table);

enum track_kind {
	TRACK_NVTX_PUSHPOP = 1,  /* thread x domain x depth */
	TRACK_NVTX_STARTEND = 2, /* starting thread x domain x lane */
	TRACK_NVTX_MARK = 3,     /* thread x domain */
	TRACK_COUNTER = 4,
	TRACK_GENERIC = 5,     /* imported slices and instants */
	TRACK_SAMPLES = 6,     /* thread */
	TRACK_GPU_METRIC = 18, /* GPU (in `domain`); the counter table, described in gpu_metric */
			       /* Those of one table; TRACK_GPU_KERNEL = 10 ... */
#define TRACKS(NAME, number, ...) TRACK_##NAME = number,
#define TABLE(...)
#define COLUMN(...)
#include "fmt/tables.def"
#undef TABLE
#undef COLUMN
	TRACK_KIND_LIMIT = 32
};

/* Whose tracks they are; each has lanes where its events overlap. */
enum track_place {
	TRACKS_OF_THREAD = 1,
	TRACKS_OF_STREAM,  /* its uid is in `domain`; work of a GPU */
	TRACKS_OF_CONTEXT, /* the same */
	TRACKS_OF_GPU      /* the same */
};

struct table_tracks {
	uint8_t kind;  /* enum track_kind */
	uint8_t place; /* enum track_place */
	const char *word;
	const char *category; /* NULL: traces have no such events */
};

/* NULL of tables without a kind of track of their own. */
const struct table_tracks *table_tracks(unsigned table);
/* The table whose tracks are of this kind; 0: several have such tracks, or none. */
unsigned table_of_tracks(unsigned track_kind);
/* Events of the table are work on a GPU's stream. */
static inline int table_is_work(unsigned table)
{
	const struct table_tracks *tracks = table_tracks(table);

	return tracks && tracks->place == TRACKS_OF_STREAM;
}

enum module_kind {
	MODULE_FILE = 1,   /* an ELF file */
	MODULE_KERNEL = 2, /* offsets are addresses: good for one boot */
	MODULE_KERNEL_MODULE = 3,
	MODULE_VDSO = 4,
	MODULE_JIT = 5,   /* code made while running; offsets are addresses */
	MODULE_OTHER = 6, /* mapped, but no ELF file; offsets are file offsets */
	MODULE_SOURCE = 7 /* a source file, of Python for example; offsets are lines */
};

enum symbol_source {
	SYMBOL_SYMTAB = 1,
	SYMBOL_DYNSYM = 2,
	SYMBOL_DEBUG_FILE = 3, /* by build-id or debuglink */
	SYMBOL_KALLSYMS = 4,
	SYMBOL_PERF_MAP = 5,
	SYMBOL_PLT = 6,      /* name@plt */
	SYMBOL_MINIDEBUG = 7 /* .gnu_debugdata */
};

enum run_after {
	RUN_AFTER_UNKNOWN = 0,
	RUN_PREEMPTED = 1, /* it could have gone on */
	RUN_BLOCKED = 2,   /* it waits for something */
	RUN_EXITED = 3,
	RUN_STILL = 4 /* it runs on: the recording, or its window, ended */
};

enum kernel_metric_kind {
	KERNEL_METRIC_VALUE = 1,
	KERNEL_METRIC_RULE = 2,   /* what a rule made of the values */
	KERNEL_METRIC_DEVICE = 3, /* a value that holds for all results of the process on the same device; only the first has it */
	/* Where it was launched: an NVTX range, pushed (outermost first) or started, with its domain as name; and the call. */
	KERNEL_METRIC_PUSHED = 4,
	KERNEL_METRIC_STARTED = 5,
	KERNEL_METRIC_STACK = 6,
	KERNEL_METRIC_PYTHON = 7, /* a function of Python that led to it, with its file; innermost first */
	/* As --range-filter counts them, in `integer`: between cuProfilerStart and Stop, and of the NVTX ranges of --nvtx-include. */
	KERNEL_METRIC_BETWEEN = 8,
	KERNEL_METRIC_RANGE = 9
};

enum slice_flags {
	SLICE_OPEN = 1, /* no end was seen; end is the end of the thread or of the recording */
	SLICE_HAS_COLOR = 2,
	SLICE_REGISTERED = 4, /* the name was a registered string */
	SLICE_BLOB_LOST = 8,  /* its binary payload was dropped, whole or in part */
	SLICE_ASYNC = 16      /* an operator that ends where its result is there: within nothing, and nothing is within it */
};

/* A payload schema from here downwards is none: the blob is NVTX_SCHEMA_TEXT - schema bytes of a payload whose layout
 * is not known, and then what it says as JSON. */
#define NVTX_SCHEMA_TEXT INT64_C(-1)

enum loss_reason {
	LOSS_POOL_EMPTY = 1,    /* rings full up to the cap */
	LOSS_REENTRY = 2,       /* refused by the re-entry guard */
	LOSS_NO_SLOT = 3,       /* more threads than slots */
	LOSS_UNMATCHED_POP = 4, /* pop without push: the program's, or of a push before the window; no loss of ours */
	LOSS_UNMATCHED_END = 5, /* end of an unknown range: the same */
	LOSS_DAMAGED = 6,       /* records the recorder could not read */
	LOSS_PUSH_MISSING = 7,  /* pop whose push, or end whose start, was among the dropped events */
	LOSS_NOT_WRITTEN = 8,   /* the report took no more: the disk was full, or the file as large as it may be */
	LOSS_PERF_RING = 9,     /* samples or switches: the kernel's ring was full */
	LOSS_CUPTI = 10,        /* CUPTI had no buffer for its records */
	LOSS_GPU_SAMPLES = 11,  /* states of GPUs: not read in time, or not written; no events of a program */
	LOSS_GPU_SWITCHES = 12, /* context switches of GPUs: not read in time, or not written; the same */
	LOSS_STACK_CUT = 13,    /* stacks of calls that were shortened, as the rings were nearly full; the calls are there */
	LOSS_DETAIL = 14,       /* names and the like that had no room; the events they belong to are there */
	LOSS_REASONS            /* one above the last */
};

#endif
