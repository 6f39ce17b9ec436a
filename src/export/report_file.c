/* A report as a report: a copy, a part of the time, or one without what it tells of people and places. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "export/internal.h"
#include "export/redact/redact.h"

static bool keeps_event(void *context, int64_t start, int64_t end)
{
	return export_keeps(context, start, end);
}

static int copy_report_part(struct export *e, struct error *err)
{
	const struct export_times *times = &e->request->times;
	struct report_part part = { .from = times->given ? times->start : INT64_MIN,
				    .to = times->given ? times->end : INT64_MAX,
				    .keeps = keeps_event,
				    .context = e };
	struct report *report = query_report(e->q);
	struct redaction *redaction = NULL;
	int r = e->request->redact ? redaction_begin(&redaction, report, &part, err) : 0;
	char path[NAME_MAX + 32];
	int failed;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", e->place.folder, e->place.part);
	if (r >= 0)
		r = report_copy(report, path, 1, &part, err);
	failed = redaction_end(redaction);
	TRY(r);
	return failed < 0 ? error_set_errno(err, -failed, "The report cannot be cleaned") : 0;
}

static int begin_report_file(struct export *e, struct error *err)
{
	return e->shift ? error_set(err, EINVAL,
				    "--ts-shift and --ts-normalize are not supported with -t sonde; a report has its own "
				    "times") :
			  0;
}

static int end_report_file(struct export *e, struct error *err)
{
	(void)e;
	(void)err;
	return 0;
}

static void abandon_report_file(struct export *e)
{
	(void)e;
}

/* clang-format off */
const struct export_format export_report = {
	.name = "sonde", .whole = copy_report_part, .begin = begin_report_file, .end = end_report_file, .give_up = abandon_report_file,
};

const struct export_format export_redacted = {
	.name = "sonde", .whole = copy_report_part, .begin = begin_report_file, .end = end_report_file, .give_up = abandon_report_file,
};
/* clang-format on */
