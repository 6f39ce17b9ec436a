/* What unrecorded.c makes tables of. */
#include "query/engine/mapping_words.h"

/* Rows of nsys's tables that became slices and instants, and their columns that became arguments. */
/* clang-format off */
#define NSYS_ROWS(COLUMN)                                                                        \
	COLUMN(start, "INTEGER", OF_SOURCE) COLUMN(end, "INTEGER", OF_SOURCE) COLUMN(name, "INTEGER", OF_SOURCE) \
	COLUMN(nameText, "TEXT", OF_SOURCE) COLUMN(class, "TEXT", OF_SOURCE)                     \
	COLUMN(thread, "INTEGER", FROM(TRACK_THREAD, 0)) COLUMN(globalTid, "INTEGER", FROM(TRACK_TID, 0)) \
	COLUMN(globalPid, "INTEGER", FROM(TRACK_PID, 0)) COLUMN(args, "INTEGER", OF_SOURCE)
/* clang-format on */
static const struct mapped_column nsys_rows_columns[] = { NSYS_ROWS(AS_COLUMN) };
struct row_places {
	NSYS_ROWS(AS_MEMBER)
};
#define AT(column) [offsetof(struct row_places, column)]
#define ROW_CELLS(T) \
	AT(name) = FROM(STRING_ID, COLUMN_##T##_NAME), AT(nameText) = FROM(TEXT, COLUMN_##T##_NAME), \
	AT(class) = FROM(TEXT, COLUMN_##T##_CLASS), AT(args) = FROM(NUMBER, COLUMN_##T##_ARGS)
/* clang-format off */
static const struct mapped_source nsys_rows_sources[] = {
	{ .table = TABLE_SLICE, .track_kind = TRACK_GENERIC, CELLS_AT(row_places){
	  ROW_CELLS(SLICE), AT(start) = FROM(NUMBER, COLUMN_SLICE_START), AT(end) = FROM(NUMBER, COLUMN_SLICE_END) } },
	{ .table = TABLE_INSTANT, .track_kind = TRACK_GENERIC, CELLS_AT(row_places){
	  ROW_CELLS(INSTANT), AT(start) = FROM(NUMBER, COLUMN_INSTANT_TIME) } },
};
/* clang-format on */
const struct mapped_table mapped_nsys_rows = { "sonde_nsys_rows", nsys_rows_columns,           COUNT_OF(nsys_rows_columns),
					       nsys_rows_sources, COUNT_OF(nsys_rows_sources), 0 };

/* clang-format off */
static const struct mapped_column nsys_cells_columns[] = {
	KEY("set", "INTEGER", FROM(NUMBER, COLUMN_ARG_SET)), SHOWN("key", "TEXT", FROM(TEXT, COLUMN_ARG_KEY)),
	SHOWN("integer", "INTEGER", FROM(NUMBER, COLUMN_ARG_INTEGER)), SHOWN("real", "REAL", FROM(REAL, COLUMN_ARG_REAL)),
	SHOWN("string", "INTEGER", FROM(STRING_ID, COLUMN_ARG_TEXT)), SHOWN("text", "TEXT", FROM(TEXT, COLUMN_ARG_TEXT)),
	SHOWN("blob", "BLOB", FROM(BLOB, COLUMN_ARG_BLOB)),
};
/* clang-format on */
static const struct mapped_source nsys_cells_sources[] = { { .table = TABLE_ARG } };
const struct mapped_table mapped_nsys_cells = { "sonde_nsys_cells", nsys_cells_columns,           COUNT_OF(nsys_cells_columns),
						nsys_cells_sources, COUNT_OF(nsys_cells_sources), 0 };
