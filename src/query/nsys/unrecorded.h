/* Tables of nsys that Sonde records nothing for: rows of them are in reports that were imported (ingest/nsys/generic.c), and
 * statements made for nsys's files find them in every report, empty. */
#ifndef SONDE_QUERY_NSYS_UNRECORDED_H
#define SONDE_QUERY_NSYS_UNRECORDED_H

#include <stddef.h>
#include <stdint.h>

struct query;

struct nsys_other {
	char name[64];
	const char *columns; /* as in unrecorded_tables.def */
	uint64_t rows;
};

struct nsys_others {
	struct nsys_other *tables;
	size_t count;
};

/* -ENOMEM. */
int nsys_others_load(struct query *q);
void nsys_others_release(struct nsys_others *others);

/* Meta rows that tell of a table: its columns, and each row without a time. */
#define NSYS_COLUMNS_KEY "nsys.columns."
#define NSYS_ROW_KEY "nsys."

#endif
