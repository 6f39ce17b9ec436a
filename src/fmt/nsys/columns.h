/* The tables of nsys that we know, and where their columns stand: NSYS_AT(NVTX_EVENTS, text), in SQL as in the import. */
#ifndef SONDE_FMT_NSYS_COLUMNS_H
#define SONDE_FMT_NSYS_COLUMNS_H

#include <stddef.h>

enum nsys_table_id {
#define TABLE(NAME, ...) NSYS_##NAME,
#define COLUMN(...)
#define INDEXED(...)
#define HIDDEN(...)
#define END(NAME)
#include "fmt/nsys.def"
	NSYS_TABLE_COUNT
};

/* A member of one byte for each column: its offset is the column's number. */
#define TABLE(NAME, ...) struct nsys_at_##NAME {
#define COLUMN(name, ...) char name;
#define INDEXED(name, ...) char name;
#define HIDDEN(name, ...) char name;
#define END(NAME) \
	} \
	;
#include "fmt/nsys.def"

#define NSYS_AT(NAME, column) offsetof(struct nsys_at_##NAME, column)
#define NSYS_WIDTH(NAME) sizeof(struct nsys_at_##NAME) /* hidden columns count */

/* Their names and types, in nsys's order; hidden columns are not among them. */
struct nsys_declared {
	const char *name, *type;
};

struct nsys_declared_table {
	const char *name;
	const struct nsys_declared *columns;
	unsigned count;
};

extern const struct nsys_declared_table nsys_declared[NSYS_TABLE_COUNT];

#endif
