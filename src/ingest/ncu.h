/* What Nsight Compute prints as CSV: --csv --page raw (a row per kernel), or --page details (a row per metric). */
#ifndef SONDE_INGEST_NCU_H
#define SONDE_INGEST_NCU_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "report/writer.h"

struct ncu_result {
	uint64_t kernels;    /* in the report */
	const char *trouble; /* NULL: all of it was read */
	size_t line;         /* where it was met, from 1 */
};

/* True where a line of the text heads such a table. */
int ncu_is_table(const char *text, size_t len);

/* Fills the writer, which stays the caller's. What was read before trouble is met is kept. */
int ncu_import(const char *text, size_t len, struct report_writer *writer, struct ncu_result *ret, struct error *err);

#endif
