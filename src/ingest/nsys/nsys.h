/* SQLite exports of Nsight Systems, of any 3.x schema: tables and columns are looked up by name, and none
 * has to be there. docs/import.md */
#ifndef SONDE_INGEST_NSYS_NSYS_H
#define SONDE_INGEST_NSYS_NSYS_H

#include <stdint.h>

#include "base/error.h"
#include "report/writer.h"

struct nsys_result {
	uint64_t rows;     /* read */
	char trouble[512]; /* what ended the reading of a table early; empty: nothing */
	char note[256];    /* what the file lacks, so that the report says less than it could; empty: nothing */
};

/* Fills the writer, which stays the caller's. -EBADMSG: SQLite cannot read the file at all. */
int nsys_import(const char *path, struct report_writer *writer, struct nsys_result *ret, struct error *err);

#endif
