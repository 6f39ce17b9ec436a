/* SCHED_EVENTS: a run on a CPU is two events, getting it and leaving it. */
#include "query/mapping_words.h"

static const struct mapped_column columns[] = {
	SHOWN("start", "INTEGER NOT NULL"), SHOWN("cpu", "INTEGER NOT NULL"), SHOWN("isSchedIn", "INTEGER NOT NULL"),
	SHOWN("globalTid", "INTEGER"), SHOWN("threadState", "INTEGER"), SHOWN("threadBlock", "INTEGER"),
	BEHIND("syscallName", "TEXT", NULL), BEHIND("threadUid", "INTEGER", NULL), BEHIND("processUid", "INTEGER", NULL),
};

#define EVENT_CELLS(time, in, state, block, syscall)                                             \
	{ { .convert = CONVERT_NUMBER, .column = (time) },                                       \
	  { .convert = CONVERT_NUMBER, .column = COLUMN_RUN_CPU },                               \
	  { .convert = CONVERT_CONSTANT, .constant = (in) }, { .convert = CONVERT_TRACK_TID },   \
	  state, block, syscall, { .convert = CONVERT_TRACK_THREAD }, { .convert = CONVERT_TRACK_PROCESS } }

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
	"SCHED_EVENTS", columns, COUNT(columns), sources, COUNT(sources), 0,
};

_Static_assert(COUNT(in_cells) == COUNT(columns), "a cell per column");
