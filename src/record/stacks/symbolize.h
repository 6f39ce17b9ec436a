/* Names for a finished report, on any machine that has files with the build-ids it names. */
#ifndef SONDE_RECORD_STACKS_SYMBOLIZE_H
#define SONDE_RECORD_STACKS_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct symbolize_request {
	const char *report;
	const char *output; /* may be the report itself */
	bool overwrite;
	bool all;            /* frames that have names as well */
	const char *folders; /* with debug files: "folder:folder", or NULL */
	/* One call for each thing that is in the way of a name; `text` is half a sentence. */
	void (*trouble)(void *context, const char *text);
	/* And one for each file with frames that still have no name; build_id is "" where it has none. */
	void (*left)(void *context, const char *path, const char *build_id, size_t frames);
	void *context;
};

struct symbolize_result {
	uint64_t frames;    /* in the report */
	uint64_t looked_at; /* that had no name, or all */
	uint64_t named;     /* of these */
};

/* The report is as before when this fails. Nothing is written when nothing was found and output is the report itself. */
int symbolize_report(const struct symbolize_request *request, struct symbolize_result *ret, struct error *err);

#endif
