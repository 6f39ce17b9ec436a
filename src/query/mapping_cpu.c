/* OS runtime calls, files and samples, as nsys's exports have them. What stacks are made of is in
 * callchains.c. */
#include "query/mapping_words.h"

/* nsys's number for calls of the OS runtime; its other numbers are of other sources. */
#define EVENT_CLASS_OSRT 27

static const struct mapped_column mapped_osrt_api_columns[] = {
	SHOWN_AS("start", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_OSRT_START)),
	SHOWN_AS("end", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_OSRT_END)),
	SHOWN_AS("eventClass", "INTEGER NOT NULL", CONSTANT(EVENT_CLASS_OSRT)),
	SHOWN_AS("globalTid", "INTEGER", FROM(TRACK_TID, 0)),
	SHOWN_AS("nameId", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_OSRT_NAME)),
	SHOWN_AS("returnValue", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_OSRT_RESULT)),
	SHOWN_AS("nestingLevel", "INTEGER", FROM(TRACK_DEPTH, 0)),
	SHOWN_AS("callchainId", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_OSRT_STACK)),
	SHOWN_AS("argumentsId", "INTEGER NOT NULL", CONSTANT(0)),
	BEHIND_AS("callName", "TEXT", "name", FROM(TEXT, COLUMN_OSRT_NAME)),
	BEHIND_AS("callDuration", "INTEGER", "duration", WITH(DURATION, COLUMN_OSRT_END, COLUMN_OSRT_FLAGS)),
	BEHIND_AS("callIsOpen", "INTEGER", "open", FROM(OPEN, COLUMN_OSRT_FLAGS)),
	BEHIND_AS("callStack", "INTEGER", "stack", FROM(NUMBER, COLUMN_OSRT_STACK)),
	BEHIND_AS("callFile", "INTEGER", "file", FROM(NUMBER, COLUMN_OSRT_FILE)),
	BEHIND_AS("callBytes", "INTEGER", "bytes", FROM(NUMBER, COLUMN_OSRT_BYTES)),
	BEHIND_AS("callTrack", "INTEGER", "track", FROM(TRACK, 0)), BEHIND_AS("threadUid", "INTEGER", NULL, FROM(TRACK_THREAD, 0)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(TRACK_PROCESS, 0)),
};
static const struct mapped_source mapped_osrt_api_sources[] = {
	{ .table = TABLE_OSRT, .track_kind = TRACK_OSRT },
};
MAPPED(mapped_osrt_api, "OSRT_API");

/* Calls on a file whose opening is known. apiCallId is the rowid of OSRT_API. */
static const struct mapped_column mapped_file_events_columns[] = {
	SHOWN_AS("fileAccessId", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_OSRT_FILE)),
	SHOWN_AS("threadId", "INTEGER NOT NULL", FROM(TRACK_TID, 0)),
	SHOWN_AS("startedAt", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_OSRT_START)),
	SHOWN_AS("endedAt", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_OSRT_END)),
	SHOWN_AS("eventType", "INTEGER NOT NULL", FROM(FILE_CALL, COLUMN_OSRT_NAME)),
	SHOWN_AS("apiCallId", "INTEGER NOT NULL", FROM(ROW_ID, 0)),
	SHOWN_AS("bytesProcessed", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_OSRT_BYTES)),
	SHOWN_AS("context", "TEXT NOT NULL", FROM(TEXT, COLUMN_OSRT_NAME)),
	BEHIND_AS("accessDuration", "INTEGER", "duration", WITH(DURATION, COLUMN_OSRT_END, COLUMN_OSRT_FLAGS)),
	BEHIND_AS("threadUid", "INTEGER", NULL, FROM(TRACK_THREAD, 0)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(TRACK_PROCESS, 0)),
};
static const struct mapped_source mapped_file_events_sources[] = {
	{ .table = TABLE_OSRT, .track_kind = TRACK_OSRT, .filter = FILTER_NOT_EQUAL,
	  .filter_column = COLUMN_OSRT_FILE, .filter_value = 0 },
};
MAPPED(mapped_file_events, "OSRT_FILE_ACCESS_EVENTS");

/* Times that are not known are 0. */
static const struct mapped_column mapped_file_descriptors_columns[] = {
	SHOWN_AS("fileAccessId", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_FILE_ID)),
	SHOWN_AS("processId", "INTEGER NOT NULL", FROM(GLOBAL_PID, COLUMN_FILE_PROCESS)),
	SHOWN_AS("openedAt", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_FILE_OPENED)),
	SHOWN_AS("closedAt", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_FILE_CLOSED)),
	SHOWN_AS("filePath", "TEXT NOT NULL", FROM(TEXT, COLUMN_FILE_PATH)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(NUMBER, COLUMN_FILE_PROCESS)),
};
static const struct mapped_source mapped_file_descriptors_sources[] = { { .table = TABLE_FILE } };
MAPPED(mapped_file_descriptors, "OSRT_FILE_ACCESS_DESCRIPTORS");

/* Samples. cpuCycles is what a sample stands for, in the unit of meta sampling.unit. */
static const struct mapped_column mapped_composite_events_columns[] = {
	SHOWN_AS("id", "INTEGER NOT NULL PRIMARY KEY", FROM(ROW_ID, 0)),
	SHOWN_AS("start", "INTEGER NOT NULL", FROM(NUMBER, COLUMN_SAMPLE_TIME)),
	SHOWN_AS("cpu", "INTEGER", FROM(NUMBER, COLUMN_SAMPLE_CPU)), SHOWN_AS("threadState", "INTEGER", CONSTANT(RUN_STILL)),
	SHOWN_AS("globalTid", "INTEGER", FROM(TRACK_TID, 0)),
	SHOWN_AS("cpuCycles", "INTEGER NOT NULL", FROM(NUMBER_OR, COLUMN_SAMPLE_WEIGHT)),
	BEHIND_AS("sampleStack", "INTEGER", "stack", FROM(NUMBER, COLUMN_SAMPLE_STACK)),
	BEHIND_AS("sampleWeight", "INTEGER", "weight", FROM(NUMBER, COLUMN_SAMPLE_WEIGHT)),
	BEHIND_AS("sampleKernel", "INTEGER", "kernel", FROM(NUMBER, COLUMN_SAMPLE_KERNEL)),
	BEHIND_AS("sampleTrack", "INTEGER", "track", FROM(TRACK, 0)),
	BEHIND_AS("threadUid", "INTEGER", NULL, FROM(TRACK_THREAD, 0)),
	BEHIND_AS("processUid", "INTEGER", NULL, FROM(TRACK_PROCESS, 0)),
};
static const struct mapped_source mapped_composite_events_sources[] = {
	{ .table = TABLE_SAMPLE, .track_kind = TRACK_SAMPLES },
};
MAPPED(mapped_composite_events, "COMPOSITE_EVENTS");

