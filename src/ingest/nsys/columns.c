/* What the import does with the columns of fmt/nsys.def. */
#include "ingest/nsys/internal.h"

#define READ_ASIDE NSYS_OTHER, 0, 0
#define READ_LEFT NSYS_LEFT, 0, 0
#define READ_NUMBER(TARGET) NSYS_NUMBER, COLUMN_##TARGET, 0
#define READ_STRING(TARGET) NSYS_STRING, COLUMN_##TARGET, 0
#define READ_TEXT(TARGET) NSYS_TEXT, COLUMN_##TARGET, 0
#define READ_PLUS(TARGET, plus) NSYS_NUMBER, COLUMN_##TARGET, plus

#define TABLE(NAME, ...) static const struct nsys_column NAME##_columns[] = {
#define COLUMN(name, type, import, ...) { #name, READ_##import },
#define INDEXED(name, type, import, ...) { #name, READ_##import },
#define HIDDEN(...)
/* clang-format off */
#define END(NAME) }; \
	_Static_assert(COUNT_OF(NAME##_columns) <= 64, "a bit each in struct nsys_rows");
/* clang-format on */
#include "fmt/nsys.def"

const struct nsys_table nsys_tables[NSYS_TABLE_COUNT] = {
#define TABLE(NAME, ...) { #NAME, NAME##_columns, COUNT_OF(NAME##_columns) },
#define COLUMN(...)
#define INDEXED(...)
#define HIDDEN(...)
#define END(NAME)
#include "fmt/nsys.def"
};
