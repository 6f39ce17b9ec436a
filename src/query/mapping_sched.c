/* SCHED_EVENTS: a run on a CPU is two events, getting it and leaving it. */
#include "query/mapping.h"

#include <stddef.h>

static const struct mapped_column columns[] = {
	{ "start", "INTEGER NOT NULL", NULL, 0 }, { "cpu", "INTEGER NOT NULL", NULL, 0 },
	{ "isSchedIn", "INTEGER NOT NULL", NULL, 0 }, { "globalTid", "INTEGER", NULL, 0 },
	{ "threadState", "INTEGER", NULL, 0 }, { "threadBlock", "INTEGER", NULL, 0 },
	{ "syscallName", "TEXT HIDDEN", NULL, 0 }, { "threadUid", "INTEGER HIDDEN", NULL, 0 },
	{ "processUid", "INTEGER HIDDEN", NULL, 0 },
};

#define EVENT_CELLS(time, in, state, block, syscall)                                             \
	{ { .convert = CONVERT_NUMBER, .column = (time) },                                       \
	  { .convert = CONVERT_NUMBER, .column = COLUMN_RUN_CPU },                               \
	  { .convert = CONVERT_CONSTANT, .constant = (in) }, { .convert = CONVERT_TRACK_TID },   \
	  state, block, syscall, { .convert = CONVERT_TRACK_THREAD }, { .convert = CONVERT_TRACK_PROCESS } }
#define NOTHING { .convert = CONVERT_NULL }

static const struct mapped_cell in_cells[] = EVENT_CELLS(COLUMN_RUN_START, 1, NOTHING, NOTHING, NOTHING);
#define OUT_STATE { .convert = CONVERT_NUMBER, .column = COLUMN_RUN_AFTER }
#define OUT_BLOCK { .convert = CONVERT_PRESENT, .column = COLUMN_RUN_SYSCALL }
#define OUT_SYSCALL { .convert = CONVERT_TEXT, .column = COLUMN_RUN_SYSCALL }
static const struct mapped_cell out_cells[] =
	EVENT_CELLS(COLUMN_RUN_END, 0, OUT_STATE, OUT_BLOCK, OUT_SYSCALL);

/* Who still had a CPU at the end did not leave it. */
static const struct mapped_source sources[] = {
	{ .table = TABLE_RUN, .track_kind = TRACK_RUN, .cells = in_cells },
	{ .table = TABLE_RUN, .track_kind = TRACK_RUN, .filter = FILTER_NOT_EQUAL,
	  .filter_column = COLUMN_RUN_AFTER, .filter_value = RUN_STILL, .cells = out_cells },
};

const struct mapped_table mapped_sched_events = {
	"SCHED_EVENTS", columns, sizeof(columns) / sizeof(columns[0]), sources,
	sizeof(sources) / sizeof(sources[0]), 0,
};

_Static_assert(sizeof(in_cells) / sizeof(in_cells[0]) == sizeof(columns) / sizeof(columns[0]),
	       "a cell per column");
