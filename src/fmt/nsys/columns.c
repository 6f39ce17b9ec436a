#include "fmt/nsys/columns.h"
#include "base/macros.h"

#define TABLE(NAME, ...) static const struct nsys_declared NAME##_columns[] = {
#define COLUMN(its_name, type, ...) { #its_name, type },
#define INDEXED(its_name, type, ...) { #its_name, type },
#define HIDDEN(...)
#define END(NAME) \
	} \
	;
#include "fmt/nsys.def"

const struct nsys_declared_table nsys_declared[NSYS_TABLE_COUNT] = {
#define TABLE(NAME, ...) { #NAME, NAME##_columns, COUNT_OF(NAME##_columns) },
#define COLUMN(...)
#define INDEXED(...)
#define HIDDEN(...)
#define END(NAME)
#include "fmt/nsys.def"
};
