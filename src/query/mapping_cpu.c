/* OS runtime calls, files and samples, as nsys's exports have them. What stacks are made of is in
 * callchains.c. */
#include "query/mapping_words.h"

/* nsys's number for calls of the OS runtime; its other numbers are of other sources. */
#define EVENT_CLASS_OSRT 27

static const struct mapped_column mapped_osrt_api_columns[] = {
	SHOWN("start", "INTEGER NOT NULL"),
	SHOWN("end", "INTEGER NOT NULL"),
	SHOWN("eventClass", "INTEGER NOT NULL"),
	SHOWN("globalTid", "INTEGER"),
	SHOWN("nameId", "INTEGER NOT NULL"),
	SHOWN("returnValue", "INTEGER NOT NULL"),
	SHOWN("nestingLevel", "INTEGER"),
	SHOWN("callchainId", "INTEGER NOT NULL"),
	SHOWN("argumentsId", "INTEGER NOT NULL"),
	BEHIND("callName", "TEXT", "name"),
	BEHIND("callDuration", "INTEGER", "duration"),
	BEHIND("callIsOpen", "INTEGER", "open"),
	BEHIND("callStack", "INTEGER", "stack"),
	BEHIND("callFile", "INTEGER", "file"),
	BEHIND("callBytes", "INTEGER", "bytes"),
	BEHIND("callTrack", "INTEGER", "track"),
	BEHIND("threadUid", "INTEGER", NULL),
	BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell osrt_api_cells[] = {
	FROM(NUMBER, COLUMN_OSRT_START), FROM(NUMBER, COLUMN_OSRT_END), CONSTANT(EVENT_CLASS_OSRT),
	FROM(TRACK_TID, 0), FROM(NUMBER_OR, COLUMN_OSRT_NAME), FROM(NUMBER_OR, COLUMN_OSRT_RESULT),
	FROM(TRACK_DEPTH, 0), FROM(NUMBER_OR, COLUMN_OSRT_STACK), CONSTANT(0),
	FROM(TEXT, COLUMN_OSRT_NAME), WITH(DURATION, COLUMN_OSRT_END, COLUMN_OSRT_FLAGS),
	FROM(OPEN, COLUMN_OSRT_FLAGS), FROM(NUMBER, COLUMN_OSRT_STACK), FROM(NUMBER, COLUMN_OSRT_FILE),
	FROM(NUMBER, COLUMN_OSRT_BYTES), FROM(TRACK, 0), FROM(TRACK_THREAD, 0), FROM(TRACK_PROCESS, 0),
};
static const struct mapped_source mapped_osrt_api_sources[] = {
	{ .table = TABLE_OSRT, .track_kind = TRACK_OSRT, .cells = osrt_api_cells },
};
MAPPED(mapped_osrt_api, "OSRT_API");

/* Calls on a file whose opening is known. apiCallId is the rowid of OSRT_API. */
static const struct mapped_column mapped_file_events_columns[] = {
	SHOWN("fileAccessId", "INTEGER NOT NULL"),
	SHOWN("threadId", "INTEGER NOT NULL"),
	SHOWN("startedAt", "INTEGER NOT NULL"),
	SHOWN("endedAt", "INTEGER NOT NULL"),
	SHOWN("eventType", "INTEGER NOT NULL"),
	SHOWN("apiCallId", "INTEGER NOT NULL"),
	SHOWN("bytesProcessed", "INTEGER NOT NULL"),
	SHOWN("context", "TEXT NOT NULL"),
	BEHIND("accessDuration", "INTEGER", "duration"),
	BEHIND("threadUid", "INTEGER", NULL),
	BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell file_events_cells[] = {
	FROM(NUMBER, COLUMN_OSRT_FILE), FROM(TRACK_TID, 0), FROM(NUMBER, COLUMN_OSRT_START),
	FROM(NUMBER, COLUMN_OSRT_END), FROM(FILE_CALL, COLUMN_OSRT_NAME), FROM(ROW_ID, 0),
	FROM(NUMBER_OR, COLUMN_OSRT_BYTES), FROM(TEXT, COLUMN_OSRT_NAME),
	WITH(DURATION, COLUMN_OSRT_END, COLUMN_OSRT_FLAGS), FROM(TRACK_THREAD, 0), FROM(TRACK_PROCESS, 0),
};
static const struct mapped_source mapped_file_events_sources[] = {
	{ .table = TABLE_OSRT, .track_kind = TRACK_OSRT, .filter = FILTER_NOT_EQUAL,
	  .filter_column = COLUMN_OSRT_FILE, .filter_value = 0, .cells = file_events_cells },
};
MAPPED(mapped_file_events, "OSRT_FILE_ACCESS_EVENTS");

/* Times that are not known are 0. */
static const struct mapped_column mapped_file_descriptors_columns[] = {
	SHOWN("fileAccessId", "INTEGER NOT NULL"),
	SHOWN("processId", "INTEGER NOT NULL"),
	SHOWN("openedAt", "INTEGER NOT NULL"),
	SHOWN("closedAt", "INTEGER NOT NULL"),
	SHOWN("filePath", "TEXT NOT NULL"),
	BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell file_descriptors_cells[] = {
	FROM(NUMBER, COLUMN_FILE_ID), FROM(GLOBAL_PID, COLUMN_FILE_PROCESS),
	FROM(NUMBER_OR, COLUMN_FILE_OPENED), FROM(NUMBER_OR, COLUMN_FILE_CLOSED),
	FROM(TEXT, COLUMN_FILE_PATH), FROM(NUMBER, COLUMN_FILE_PROCESS),
};
static const struct mapped_source mapped_file_descriptors_sources[] = { SOURCE(FILE, file_descriptors_cells) };
MAPPED(mapped_file_descriptors, "OSRT_FILE_ACCESS_DESCRIPTORS");

/* Samples. cpuCycles is what a sample stands for, in the unit of meta sampling.unit. */
static const struct mapped_column mapped_composite_events_columns[] = {
	SHOWN("id", "INTEGER NOT NULL PRIMARY KEY"),
	SHOWN("start", "INTEGER NOT NULL"),
	SHOWN("cpu", "INTEGER"),
	SHOWN("threadState", "INTEGER"),
	SHOWN("globalTid", "INTEGER"),
	SHOWN("cpuCycles", "INTEGER NOT NULL"),
	BEHIND("sampleStack", "INTEGER", "stack"),
	BEHIND("sampleWeight", "INTEGER", "weight"),
	BEHIND("sampleKernel", "INTEGER", "kernel"),
	BEHIND("sampleTrack", "INTEGER", "track"),
	BEHIND("threadUid", "INTEGER", NULL),
	BEHIND("processUid", "INTEGER", NULL),
};
static const struct mapped_cell composite_events_cells[] = {
	FROM(ROW_ID, 0), FROM(NUMBER, COLUMN_SAMPLE_TIME), FROM(NUMBER, COLUMN_SAMPLE_CPU),
	CONSTANT(RUN_STILL), FROM(TRACK_TID, 0), FROM(NUMBER_OR, COLUMN_SAMPLE_WEIGHT),
	FROM(NUMBER, COLUMN_SAMPLE_STACK), FROM(NUMBER, COLUMN_SAMPLE_WEIGHT),
	FROM(NUMBER, COLUMN_SAMPLE_KERNEL), FROM(TRACK, 0), FROM(TRACK_THREAD, 0), FROM(TRACK_PROCESS, 0),
};
static const struct mapped_source mapped_composite_events_sources[] = {
	{ .table = TABLE_SAMPLE, .track_kind = TRACK_SAMPLES, .cells = composite_events_cells },
};
MAPPED(mapped_composite_events, "COMPOSITE_EVENTS");

_Static_assert(COUNT(osrt_api_cells) == COUNT(mapped_osrt_api_columns), "a cell per column");
_Static_assert(COUNT(file_events_cells) == COUNT(mapped_file_events_columns), "a cell per column");
_Static_assert(COUNT(file_descriptors_cells) == COUNT(mapped_file_descriptors_columns), "a cell per column");
_Static_assert(COUNT(composite_events_cells) == COUNT(mapped_composite_events_columns), "a cell per column");
