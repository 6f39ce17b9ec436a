/* Files of other tools, recognised by what is in them. */
#ifndef SONDE_INGEST_FOREIGN_H
#define SONDE_INGEST_FOREIGN_H

#include "base/error.h"
#include "report/writer.h"

enum foreign_kind {
	FOREIGN_NOT,  /* a report of ours, or the beginning of one */
	FOREIGN_JSON, /* torch.profiler's or Chrome's, plain or packed */
	FOREIGN_SQLITE,
	FOREIGN_CSV,    /* of Nsight Compute */
	FOREIGN_PICKLE, /* a memory snapshot of PyTorch, plain or packed */
	FOREIGN_NSYS,   /* formats that only their own tools read: see foreign_advice() */
	FOREIGN_NCU,
	FOREIGN_PACKED, /* other than traces */
	FOREIGN_EMPTY,
	FOREIGN_UNKNOWN
};

/* Negative errno where the file cannot be read. */
int foreign_recognize(const char *path, enum foreign_kind *ret, struct error *err);

/* True where foreign_import() can make a report of it. */
int foreign_is_readable(enum foreign_kind kind);

/* What to do about one that cannot be read: a sentence without its full stop that follows the file's name. */
void foreign_advice(const char *path, enum foreign_kind kind, char *ret, size_t size);

struct foreign_result {
	char trouble[640]; /* reading ended early, where and why; empty: it did not */
	char note[256];    /* what was read whole but lacks something; empty: nothing */
};

/* Fills the writer, which stays the caller's. */
int foreign_import(const char *path, enum foreign_kind kind, struct report_writer *writer, struct foreign_result *ret, struct error *err);

#endif
