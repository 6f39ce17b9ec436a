/* Answers of the viewer that are computed when a page is exported: of reports whose events are not in it. */
#ifndef SONDE_CLI_REPORTS_EXPORT_ANSWERS_H
#define SONDE_CLI_REPORTS_EXPORT_ANSWERS_H

#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"

/* A JSON object: requests, their parameters in order of their names, and what they are answered. No '<' is in it. */
int export_answers(void *context, const char *path, FILE *out, struct error *err);

/* Rows that the viewer makes behind the first picture. */
int export_made(void *context, const char *path, struct buf *ret_report, struct buf *ret_tracks, struct error *err);

#endif
