/* Memory snapshots of PyTorch: the pickle that torch.cuda.memory._dump_snapshot() writes. */
#ifndef SONDE_INGEST_SNAPSHOT_SNAPSHOT_H
#define SONDE_INGEST_SNAPSHOT_SNAPSHOT_H

#include "base/error.h"
#include "ingest/input/trace_file.h"
#include "report/writer.h"

/* Fills the writer, which stays the caller's. -EBADMSG: it is not a snapshot that can be read, and *err has a sentence without subject and
 * full stop that follows the name of the file. */
int snapshot_import(struct source *source, struct report_writer *writer, struct error *err);

#endif
