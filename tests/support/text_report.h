/* A report written from lines of text, so that C and other languages can share what is
 * in it: see tests/golden/recording.txt. */
#ifndef SONDE_TESTS_TEXT_REPORT_H
#define SONDE_TESTS_TEXT_REPORT_H

#include "base/error.h"
#include "report/writer.h"

/* Reads `text_path` and appends its rows. -EINVAL names the line. */
int text_report_append(struct report_writer *w, const char *text_path, struct error *err);
/* The whole: writes `report_path`, replacing what was there. */
int text_report_write(const char *text_path, const char *report_path, struct error *err);

#endif
