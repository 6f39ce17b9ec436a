/* Traces of torch.profiler (Kineto), and other JSON in the format of Chrome's trace viewer. docs/import.md */
#ifndef SONDE_INGEST_KINETO_KINETO_H
#define SONDE_INGEST_KINETO_KINETO_H

#include "base/error.h"
#include "ingest/input/trace_file.h"
#include "report/writer.h"

struct kineto_result {
	uint64_t events;     /* in the report */
	uint64_t flows;      /* arrows left out because correlation ids say the same */
	uint64_t names;      /* events that tell names and the like ("M") */
	const char *trouble; /* the first; NULL: all of it was read */
	size_t line, offset; /* where it was met; the offset counts from 0 */
	uint64_t before;     /* events before it; reading goes on with the next event that can be read */
	uint64_t troubles;   /* places like this */
};

/* Fills the writer, which stays the caller's. What can be read is kept; -ENODATA, without a sentence, where that is no event at all. */
int kineto_import(struct source *source, struct report_writer *writer, struct kineto_result *ret, struct error *err);

#endif
