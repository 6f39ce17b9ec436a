/* A report to hand on: docs/export.md says what goes and what stays. */
#ifndef SONDE_EXPORT_REDACT_REDACT_H
#define SONDE_EXPORT_REDACT_REDACT_H

#include <stdbool.h>

#include "base/error.h"
#include "report/reader.h"
#include "report/writer.h"

struct redaction;

/* Looks through the report. What the part keeps by time stays so; rows and texts are changed. */
int redaction_begin(struct redaction **ret, struct report *r, struct report_part *part, struct error *err);
/* Whether the report was made so: then nothing is to be added of the place where it is now. */
bool is_redacted(struct report *r);
/* A negative errno when something could not be changed, and is missing. */
int redaction_end(struct redaction *x);

#endif
