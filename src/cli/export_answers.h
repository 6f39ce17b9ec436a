/* Answers of the viewer that are computed when a page is exported: of reports whose events are not in it. */
#ifndef SONDE_CLI_EXPORT_ANSWERS_H
#define SONDE_CLI_EXPORT_ANSWERS_H

#include <stdio.h>

#include "base/error.h"

/* A JSON object: requests, their parameters in order of their names, and what they are answered. No '<' is in it. */
int export_answers(void *context, const char *path, FILE *out, struct error *err);

#endif
