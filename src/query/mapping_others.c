/* What nsys_others.c makes tables of. */
#include "query/mapping_words.h"

/* Rows of nsys's tables that became slices and instants, and their columns that became arguments. */
static const struct mapped_column nsys_rows_columns[] = {
	SHOWN("start", "INTEGER"), SHOWN("end", "INTEGER"), SHOWN("name", "INTEGER"), SHOWN("nameText", "TEXT"),
	SHOWN("class", "TEXT"), SHOWN("thread", "INTEGER"), SHOWN("globalTid", "INTEGER"), SHOWN("globalPid", "INTEGER"),
	SHOWN("args", "INTEGER"),
};
static const struct mapped_cell nsys_slice_cells[] = {
	FROM(NUMBER, COLUMN_SLICE_START), FROM(NUMBER, COLUMN_SLICE_END), FROM(STRING_ID, COLUMN_SLICE_NAME),
	FROM(TEXT, COLUMN_SLICE_NAME), FROM(TEXT, COLUMN_SLICE_CLASS), FROM(TRACK_THREAD, 0), FROM(TRACK_TID, 0),
	FROM(TRACK_PID, 0), FROM(NUMBER, COLUMN_SLICE_ARGS),
};
static const struct mapped_cell nsys_instant_cells[] = {
	FROM(NUMBER, COLUMN_INSTANT_TIME), NOTHING, FROM(STRING_ID, COLUMN_INSTANT_NAME), FROM(TEXT, COLUMN_INSTANT_NAME),
	FROM(TEXT, COLUMN_INSTANT_CLASS), FROM(TRACK_THREAD, 0), FROM(TRACK_TID, 0), FROM(TRACK_PID, 0),
	FROM(NUMBER, COLUMN_INSTANT_ARGS),
};
static const struct mapped_source nsys_rows_sources[] = {
	{ .table = TABLE_SLICE, .track_kind = TRACK_GENERIC, .cells = nsys_slice_cells },
	{ .table = TABLE_INSTANT, .track_kind = TRACK_GENERIC, .cells = nsys_instant_cells },
};
const struct mapped_table mapped_nsys_rows = { "sonde_nsys_rows", nsys_rows_columns, COUNT(nsys_rows_columns),
					       nsys_rows_sources, COUNT(nsys_rows_sources), 0 };

static const struct mapped_column nsys_cells_columns[] = {
	KEY_AS("set", "INTEGER", FROM(NUMBER, COLUMN_ARG_SET)), SHOWN_AS("key", "TEXT", FROM(TEXT, COLUMN_ARG_KEY)),
	SHOWN_AS("integer", "INTEGER", FROM(NUMBER, COLUMN_ARG_INTEGER)), SHOWN_AS("real", "REAL", FROM(REAL, COLUMN_ARG_REAL)),
	SHOWN_AS("string", "INTEGER", FROM(STRING_ID, COLUMN_ARG_TEXT)), SHOWN_AS("text", "TEXT", FROM(TEXT, COLUMN_ARG_TEXT)),
	SHOWN_AS("blob", "BLOB", FROM(BLOB, COLUMN_ARG_BLOB)),
};
static const struct mapped_source nsys_cells_sources[] = { { .table = TABLE_ARG } };
const struct mapped_table mapped_nsys_cells = { "sonde_nsys_cells", nsys_cells_columns, COUNT(nsys_cells_columns),
						nsys_cells_sources, COUNT(nsys_cells_sources), 0 };
